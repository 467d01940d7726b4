// SPDX-License-Identifier: GPL-2.0
// The contents of a large store, before anything has a number.
#pragma once

#include "large_store.h"

#include "lockclass/abi.h"

#include <cstdint>
#include <string>
#include <unordered_set>
#include <vector>

namespace lockscope::test {

/// Random numbers that are the same everywhere.
class Random {
public:
	explicit Random(std::uint64_t seed) : state_(seed) {}
	std::uint64_t next();
	std::uint32_t below(std::uint32_t bound)
	{
		return static_cast<std::uint32_t>(next() % bound);
	}
	template <typename T> void shuffle(std::vector<T> &items)
	{
		for (std::size_t i = items.size(); i > 1; i--)
			std::swap(items[i - 1], items[next() % i]);
	}

private:
	std::uint64_t state_;
};

struct PlannedClass {
	std::string name, module, field;
	ls_kind kind = LS_KIND_MUTEX;
	ls_origin origin = LS_ORIGIN_STATIC;
};

/// A lock in a class's only instance, or in the one with that number.
struct PlannedLock {
	std::uint32_t cls = 0, flags = 0, instance = 1;
};

struct PlannedObservation {
	std::uint32_t run = 0, what = LS_SIGHT_ACQUIRE;
	std::vector<PlannedLock> held;
	PlannedLock acquired;
};

struct PlannedRace {
	std::uint32_t run = 0, number = 0, data = 0, offset = 0, flags = 0;
	std::uint32_t guard = 0; ///< a class, of the second access
};

/// A cycle that the module reported, or an inversion: by observations.
struct PlannedReport {
	std::uint32_t kind = 0;
	std::vector<std::size_t> observations;
};

struct Plan {
	std::vector<PlannedClass> classes{PlannedClass{}}; ///< [0] unused
	std::vector<PlannedObservation> observations;
	std::vector<PlannedReport> reports;
	std::vector<PlannedRace> races;
	std::unordered_set<std::uint64_t> edges; ///< from << 32 | to
	std::uint64_t findings = 0;
	std::uint32_t data = 0; ///< slab caches with raced members
};

/// Members of one cache that are raced for.
inline constexpr std::uint32_t kMembers = 8;

Plan plan_of(const LargeStore &wanted);

} // namespace lockscope::test
