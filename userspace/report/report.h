// SPDX-License-Identifier: GPL-2.0
// Contents and formats of a report.
#pragma once

#include "analysis/findings.h"
#include "model/model.h"

#include <cstddef>
#include <string>
#include <vector>

namespace lockscope {

struct ReportOptions {
	Confidence min_confidence = Confidence::Possible;
	bool all = false; ///< include hidden findings
	/// Text: include use of semaphores, orders of instances, and what is never seen.
	bool rules = false;
	std::size_t limit = 0; ///< maximum number of findings, 0: all
};

/// The findings to list, in order.
std::vector<const Finding *> select_findings(const Analysis &analysis,
					     const ReportOptions &options);

/// How many findings a report lists, and why it leaves out the others. Each is counted once.
struct Tally {
	std::size_t listed = 0, hidden = 0, suppressed = 0;
	std::size_t not_selected[3] = {}; ///< by Severity, see Selection
	std::size_t uncertain = 0, beyond_limit = 0;

	std::size_t all_not_selected() const
	{
		return not_selected[0] + not_selected[1] + not_selected[2];
	}
};
Tally tally(const Analysis &analysis, const ReportOptions &options);

struct TextStyle {
	std::size_t width = 80; ///< columns
	bool color = false;
};

/// The text report: header, findings, losses, coverage.
std::string text_report(const Model &model, const Analysis &analysis, const ReportOptions &options,
			const TextStyle &style);
/// One finding in full.
std::string text_finding(const Model &model, const Finding &finding, const TextStyle &style);

/// "schema": "lockscope-report/1", indented, with a final newline.
std::string json_report(const Model &model, const Analysis &analysis, const ReportOptions &options);
/// One element of "findings".
std::string json_finding(const Model &model, const Finding &finding, std::size_t rank);

/// "EN", "ER", "SN", "SR", as lockdep has them.
const char *dependency_name(std::uint32_t kind);
/// What that stands for.
const char *dependency_words(std::uint32_t kind);

/// What the runs are of: "kernel 6.1.0, 6.12.1", "trace run.std".
std::string systems_of(const Model &model);
/// Blind spots of LockScope on any kernel in the mode that it ran in, one sentence each.
std::vector<std::string> blind_spots(const Model &model);
/// Where these are never seen: "on any kernel", or "in any trace" when there is nothing else.
const char *where_never_seen(const Model &model);
/// Further blind spots of the backend without the module.
const std::vector<std::string> &bpf_blind_spots();
/// Was a run of @model recorded by that backend?
bool has_bpf_run(const Model &model);

} // namespace lockscope
