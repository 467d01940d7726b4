// SPDX-License-Identifier: GPL-2.0
// Formats of statistics.
#pragma once

#include "model/stat.h"
#include "report/report.h"

namespace lockscope {

struct StatText {
	std::size_t limit = 20;	 ///< most classes listed, 0 for all
	std::size_t sites = 0;	 ///< call sites listed of each
	bool details = false;	 ///< contexts and histograms of each
};

/// A table as `perf lock contention` prints it, of classes in the order they are in.
std::string text_stat(const StatReport &report, const StatText &options, const TextStyle &style);

/// "schema": "lockscope-stat/1", every class, indented, with a final newline.
std::string json_stat(const StatReport &report);

/// Three digits and a unit: "812 ns", "1.23 us", "45.6 ms", "2.00 s".
std::string duration(std::uint64_t ns);

} // namespace lockscope
