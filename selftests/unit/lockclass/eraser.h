// SPDX-License-Identifier: GPL-2.0
// Eraser as in its paper [2.2, 2.3], with a full history: unbounded, slow and obvious. Beyond
// it only the other sides of races, and hand-overs.
#pragma once

#include <optional>
#include <set>

#include "locksets.h"

namespace lockscope::test {

class Eraser {
public:
	struct Access {
		std::uint32_t context = 0, site = 0, stamp = 0;
		std::uint8_t bytes = 0, op = 0;
		Locks held;
		bool initial = false; // from the time when one context had it for itself
		std::size_t at = 0;   // its place in the order of everything that happened
	};
	struct Granule {
		ls_shadow_state state = LS_VIRGIN;
		std::uint32_t owner = 0;
		std::optional<std::set<std::uint64_t>> candidates; // none: all locks
		std::vector<Access> history;
	};

	// Returns those before it that @access, of granule @where, races with.
	std::vector<Access> access(std::uint64_t where, Access access);
	void forget(std::uint64_t where) { granules_.erase(where); }
	// What context @from did so far, or knows to be before that, is before what @to does next.
	void hand_over(std::uint32_t from, std::uint32_t to);
	// Did all that others did to granule @where happen before what @context does now?
	bool all_before(std::uint64_t where, std::uint32_t context) const;

	const Granule &granule(std::uint64_t where) { return granules_[where]; }
	// Both of one granule, by different contexts: may they happen at once, seen alone?
	static bool conflict(const Access &a, const Access &b);

private:
	bool before(const Access &a, std::uint32_t context) const;

	std::map<std::uint64_t, Granule> granules_;
	std::size_t now_ = 0;
	std::map<std::uint32_t, std::set<std::size_t>> done_, known_;
};

} // namespace lockscope::test
