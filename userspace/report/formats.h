// SPDX-License-Identifier: GPL-2.0
// Reports in the formats of other people's tools.
#pragma once

#include "report/report.h"

#include <string>

namespace lockscope {

/// GitHub refuses a run with more. ["SARIF results exceed one or more limits", docs.github.com]
inline constexpr std::size_t kMostSarifResults = 25000;

/// SARIF 2.1.0 [OASIS, 2020], within the limits that GitHub's code scanning sets; bytes of
/// names that are no UTF-8 are replaced.
std::string sarif_report(const Model &model, const Analysis &analysis, const ReportOptions &options,
			 std::size_t most = kMostSarifResults);

/// The findings as the module prints them on the console, in lockdep's and KCSAN's words. Those
/// that the kernel has no words for begin with "lockscope: ".
std::string dmesg_report(const Model &model, const Analysis &analysis,
			 const ReportOptions &options);
/// One of them; @stamped: lines begin with a time.
std::string dmesg_finding(const Model &model, const Finding &finding, bool stamped);

} // namespace lockscope
