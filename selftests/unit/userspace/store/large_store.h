// SPDX-License-Identifier: GPL-2.0
// Stores of any size, with known faults, written by the project's own store code.
#pragma once

#include "util/result.h"

#include <cstdint>
#include <string>

namespace lockscope::test {

/// What a store is to have.
struct LargeStore {
	std::uint32_t findings = 1000; ///< faults, each with an identifier of its own
	std::uint32_t edges = 10000;   ///< orders of two classes, at the least
	std::uint32_t runs = 3;	       ///< of one build, at most 16
	/// The same faults and orders, but for 0 with classes, code and stacks numbered in another
	/// order, other tasks, CPUs, instances and addresses, and observed in another order.
	std::uint64_t order = 0;
	std::uint32_t without = 10; ///< faults whose number ends in this digit are left out
};

/// What a store has.
struct Planted {
	std::uint64_t findings = 0, edges = 0, classes = 0, observations = 0, stacks = 0;
};

/// Write the store, which must not exist.
Result<Planted> write_large_store(const std::string &path, const LargeStore &wanted);

} // namespace lockscope::test
