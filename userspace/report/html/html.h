// SPDX-License-Identifier: GPL-2.0
// The report as one HTML file: findings, graph, rules, statistics.
#pragma once

#include "model/stat.h"
#include "report/report.h"

#include <set>
#include <string>

namespace lockscope {

/// A part of the lock-order graph, which the file opens with.
struct GraphPart {
	std::string title;
	std::set<ClassId> locks; ///< others are not in the graph
};

/// One file that loads nothing, at most kMostHtmlBytes. @stat is in the order in which it is to
/// be listed. Names may be anything: they are text, on one line, of valid UTF-8.
std::string html_report(const Model &model, const Analysis &analysis, const ReportOptions &options,
			const StatReport &stat, const GraphPart *part = nullptr);

/// Parts have budgets below; what does not fit is counted in the report.
inline constexpr std::size_t kMostHtmlBytes = 3000000;

} // namespace lockscope
