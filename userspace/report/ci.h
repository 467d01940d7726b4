// SPDX-License-Identifier: GPL-2.0
// A report as a list of test cases, for CI.
#pragma once

#include "report/report.h"

#include <optional>
#include <string>
#include <vector>

namespace lockscope {

struct CiOptions {
	ReportOptions report;
	std::optional<Severity> fail_on = Severity::Error; ///< nullopt: no finding fails
	bool allow_incomplete = false;
};

/// One test case: one line each, but for details. All text is printable and valid UTF-8.
struct CiCase {
	enum class Outcome { Passed, Failed, Skipped };
	Outcome outcome = Outcome::Passed;
	std::string group;   ///< "run", or the kind of a finding
	std::string name;    ///< stable: a finding's id and title
	std::string why;     ///< of one that did not pass
	std::string details; ///< lines; may be empty
};

/// First whether the run is complete, then each finding that is at least as severe as fails,
/// by rank. Hidden ones are skipped, and listed if those of the report are.
std::vector<CiCase> ci_cases(const Model &model, const Analysis &analysis,
			     const CiOptions &options);

/// "Debian 12 kernel" and the like: what the runs were of, as names and values.
std::vector<std::pair<std::string, std::string>> ci_properties(const Model &model);

/// JUnit's XML, as Jenkins and GitLab read it.
std::string junit_report(const Model &model, const Analysis &analysis, const CiOptions &options);

/// KTAP, version 1 [Linux, Documentation/dev-tools/ktap.rst]. Names have '.' for '#', which
/// begins a directive.
std::string ktap_report(const Model &model, const Analysis &analysis, const CiOptions &options);

} // namespace lockscope
