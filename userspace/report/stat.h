// SPDX-License-Identifier: GPL-2.0
// Formats of statistics.
#pragma once

#include "model/stat.h"
#include "report/report.h"

namespace lockscope {

struct StatText {
	std::size_t limit = 20; ///< maximum number of classes, 0: all
	std::size_t sites = 0;	///< acquire sites listed per class
	bool details = false;	///< contexts and histograms per class
};

/// A table like that of `perf lock contention`, with classes in their present order.
std::string text_stat(const StatReport &report, const StatText &options, const TextStyle &style);

/// "schema": "lockscope-stat/1", every class, indented, with a final newline.
std::string json_stat(const StatReport &report);

/// Two profiles for speedscope, waiting and holding, in nanoseconds: below each class its
/// acquire sites. Classes in their present order, at most @limit, 0: all.
std::string speedscope_stat(const StatReport &report, std::size_t limit);

/// Three digits and a unit: "812 ns", "1.23 us", "45.6 ms", "2.00 s".
std::string duration(std::uint64_t ns);

} // namespace lockscope
