// SPDX-License-Identifier: GPL-2.0
// Reports in the formats of other people's tools.
#pragma once

#include "report/ci.h"

#include <string>
#include <string_view>

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

struct KcidbOptions {
	CiOptions ci;
	std::string origin = "lockscope"; ///< the CI system that says so, see is_kcidb_origin()
	/// The build that all runs are of, see is_kcidb_id(); empty: one for each kernel is in
	/// the report.
	std::string build;
};

/// Issues, incidents and tests [github.com/kernelci/kcidb-io, schema v5].
std::string kcidb_report(const Model &model, const Analysis &analysis, const KcidbOptions &options);

/// "ci_of_mine", "ci_of_mine:anything"
bool is_kcidb_origin(std::string_view text);
bool is_kcidb_id(std::string_view text);

} // namespace lockscope
