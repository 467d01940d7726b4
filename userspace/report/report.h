// SPDX-License-Identifier: GPL-2.0
// What goes into a report, and its formats.
#pragma once

#include "analysis/findings.h"
#include "model/model.h"

#include <cstddef>
#include <string>
#include <vector>

namespace lockscope {

struct ReportOptions {
	Confidence min_confidence = Confidence::Possible;
	bool all = false;      ///< hidden findings too
	bool rules = false;    ///< text: how semaphores are used, orders of instances
	std::size_t limit = 0; ///< most findings listed, 0 for all
};

/// The findings to list, in order.
std::vector<const Finding *> select_findings(const Analysis &analysis,
					     const ReportOptions &options);

struct TextStyle {
	std::size_t width = 80; ///< columns
	bool color = false;
};

/// The report for people: header, findings, losses, coverage.
std::string text_report(const Model &model, const Analysis &analysis, const ReportOptions &options,
			const TextStyle &style);
/// One finding in full.
std::string text_finding(const Model &model, const Finding &finding, const TextStyle &style);

/// "schema": "lockscope-report/1", indented, with a final newline.
std::string json_report(const Model &model, const Analysis &analysis, const ReportOptions &options);
/// One element of its "findings".
std::string json_finding(const Model &model, const Finding &finding, std::size_t rank);

/// "EN", "ER", "SN", "SR"
const char *dependency_name(std::uint32_t kind);

/// What LockScope cannot see on any kernel the way it ran, one sentence each.
std::vector<std::string> blind_spots(const Model &model);
/// What the backend without the module does not see beyond that.
const std::vector<std::string> &bpf_blind_spots();
/// Did such a backend record any of @model?
bool has_bpf_run(const Model &model);

} // namespace lockscope
