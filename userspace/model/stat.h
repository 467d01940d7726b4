// SPDX-License-Identifier: GPL-2.0
// Statistics of lock classes: for stat, top and a store.
#pragma once

#include "bpf/stat.h"

#include <array>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace lockscope {

/// Durations in nanoseconds; bucket i has those of 2^i .. 2^(i+1) - 1.
struct StatTimes {
	std::uint64_t count = 0, sum = 0, max = 0;
	std::array<std::uint64_t, LS_STAT_BUCKETS> buckets{};

	std::uint64_t mean() const { return count ? sum / count : 0; }
	void add(const StatTimes &other);
	/// Subtract @before, an earlier state; the maximum since then is not known, so the
	/// overall one stays.
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
	std::uint64_t readers = 0, trylocks = 0;			 ///< of those acquired
	std::uint64_t gave_up = 0;					 ///< of those contended
	StatTimes waits, holds;
	std::vector<StatSite> sites; ///< most acquisitions first

	std::uint64_t all_acquired() const;
	std::uint64_t all_contended() const;
	void add(const StatClass &other);
	/// Subtract @before; acquire sites are not changed.
	void subtract(const StatClass &before);
};

struct StatReport {
	std::string release;
	double seconds = 0; ///< measured, 0 unknown
	/// Every event was counted; otherwise estimated from a sample, without wait and hold
	/// times.
	bool exact = true;
	std::map<std::string, std::uint64_t> losses; ///< by what was lost
	std::vector<StatClass> classes;
	/// Runs of a store that are not included, for lack of statistics.
	std::size_t left_out = 0;

	/// Merges classes of one name and kind, and their acquire sites at one place.
	void add(const StatReport &other);
};

} // namespace lockscope
