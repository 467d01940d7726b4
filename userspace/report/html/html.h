// SPDX-License-Identifier: GPL-2.0
// The report as one HTML file: findings, graph, rules, statistics.
#pragma once

#include "model/stat.h"
#include "report/report.h"

#include <cstdint>
#include <set>
#include <string>
#include <vector>

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

/// The Content Security Policy of the file, for a server's header as well.
std::string html_policy();

/// A line of an index of stores; links are encoded already.
struct HtmlIndexRow {
	std::string name, link;
	std::uint64_t bytes = 0;
	std::string changed; ///< date and time
};

/// A page with links to the reports, as JSON and to the metrics of stores, under the same
/// policy. @left_out: more of them, for which there is no room.
std::string html_index(const std::string &folder, const std::vector<HtmlIndexRow> &rows,
		       std::size_t left_out);

/// Parts have budgets below; what does not fit is counted in the report.
inline constexpr std::size_t kMostHtmlBytes = 3000000;

} // namespace lockscope
