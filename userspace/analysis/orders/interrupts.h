// SPDX-License-Identifier: GPL-2.0
// Locks and interrupts: deadlocks with an interrupt as strong cycles.
#pragma once

#include "analysis/orders/cycles.h"
#include "analysis/orders/lockgraph.h"

#include <array>
#include <set>
#include <vector>

namespace lockscope {

/// A cycle through one interrupt; the edge out of the interrupt comes last:
/// safe -> ... -> unsafe, unsafe -> interrupt, interrupt -> safe.
struct InterruptCycle {
	ClassId interrupt = kNoClass;
	ClassId safe = kNoClass;   ///< acquired by the interrupt
	ClassId unsafe = kNoClass; ///< held while it can come; the same one, or one ordered
				   ///< behind the safe one, which may be another instance of it
	Cycle edges;
};

/// All locks acquired by an interrupt and held while it can come. Then, for every pair of a
/// lock acquired in an interrupt and one held while it can come that is ordered behind it, the
/// shortest strong path [lockdep's usage bits]. Left out are
///   - pairs with a lock of the first kind, which is reported by itself;
///   - paths through another lock acquired in that interrupt, or held while it can
///     come: the part between that lock and the end is a cycle of its own, and a fix
///     of that one fixes the longer one too;
///   - paths through the other interrupt: what softirqs can interrupt, hardirqs
///     can, so there is a shorter one.
std::vector<InterruptCycle> interrupt_cycles(const LockGraph &graph);

/// An interrupt, and the locks InterruptCycle::safe and unsafe.
using InterruptEnds = std::array<ClassId, 3>;

/// Other cycles of these, by each dependency that ends in the unsafe lock: the first six of each,
/// 2,000 in all.
std::vector<InterruptCycle> further_interrupt_cycles(const LockGraph &graph,
						     const std::set<InterruptEnds> &ends);

} // namespace lockscope
