// SPDX-License-Identifier: GPL-2.0
// Locks and interrupts: deadlocks with an interrupt as strong cycles.
#pragma once

#include "analysis/orders/cycles.h"
#include "analysis/orders/lockgraph.h"

#include <vector>

namespace lockscope {

/// A cycle through one interrupt; the edge out of the interrupt comes last:
/// safe -> ... -> unsafe, unsafe -> interrupt, interrupt -> safe.
struct InterruptCycle {
	ClassId interrupt = kNoClass;
	ClassId safe = kNoClass;   ///< the lock that the interrupt takes
	ClassId unsafe = kNoClass; ///< the lock held while it can come; the same one, or ordered
				   ///< behind the safe one
	Cycle edges;
};

/// All locks that an interrupt takes and that are held while it can come, then
/// for every two locks of which one is taken in an interrupt and the other, held
/// while it can come, is ordered behind it, the shortest strong path [lockdep's
/// usage bits]. Left out are
///   - pairs with a lock of the first sort, which is reported by itself;
///   - paths that pass another lock taken in that interrupt, or held while it can
///     come: what is between that lock and the end is a cycle of its own, and
///     whatever is done about that one mends the longer one too;
///   - paths through the other interrupt: what softirqs can interrupt, hardirqs
///     can, so there is a shorter one.
std::vector<InterruptCycle> interrupt_cycles(const LockGraph &graph);

} // namespace lockscope
