// SPDX-License-Identifier: GPL-2.0
// How lock classes were used: what stat and top print, and what a store keeps of it.
#pragma once

#include "bpf/stat.h"

#include <array>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace lockscope {

/// Lengths of time in nanoseconds; bucket i has those of 2^i .. 2^(i+1) - 1.
struct StatTimes {
	std::uint64_t count = 0, sum = 0, max = 0;
	std::array<std::uint64_t, LS_STAT_BUCKETS> buckets{};

	std::uint64_t mean() const { return count ? sum / count : 0; }
	void add(const StatTimes &other);
	/// Leave what came after @before, an earlier state of the same; the longest
	/// since then is not known, so that of all stays.
	void subtract(const StatTimes &before);
};

struct StatSite {
	std::string place; ///< "function+0x12 [module]"
	std::uint64_t acquired = 0, contended = 0, wait_ns = 0, hold_ns = 0;
};

struct StatClass {
	std::string name;
	ls_kind kind = LS_KIND_NONE;
	std::array<std::uint64_t, LS_NR_LEVELS> acquired{}, contended{}; ///< by ls_level
	std::uint64_t readers = 0, trylocks = 0; ///< of those acquired
	std::uint64_t gave_up = 0;		 ///< of those contended
	StatTimes waits, holds;
	std::vector<StatSite> sites; ///< most acquisitions first

	std::uint64_t all_acquired() const;
	std::uint64_t all_contended() const;
	void add(const StatClass &other);
	/// Leave what came after @before; call sites stay as they are.
	void subtract(const StatClass &before);
};

struct StatReport {
	std::string release;
	double seconds = 0; ///< measured, 0 unknown
	/// Counted one by one; else estimated from a sample, and nothing of waiting
	/// and holding is known.
	bool exact = true;
	std::map<std::string, std::uint64_t> losses; ///< by what was lost
	std::vector<StatClass> classes;
	/// Runs of a store that are not in it, for nobody counted while they were recorded.
	std::size_t left_out = 0;

	/// Classes of one name and kind become one, and so do their call sites of one place.
	void add(const StatReport &other);
};

} // namespace lockscope
