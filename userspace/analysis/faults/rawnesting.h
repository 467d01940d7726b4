// SPDX-License-Identifier: GPL-2.0
// Nesting that only PREEMPT_RT forbids: there a spinlock_t or an rwlock_t sleeps,
// and a raw_spinlock_t still spins.
#pragma once

#include "analysis/evidence.h"
#include "analysis/finding.h"

#include <cstddef>
#include <vector>

namespace lockscope {

/// Coverage: raw_spin_lock() and spin_lock() are one function, so only types distinguish them.
struct RawNesting {
	std::size_t known = 0, spinlocks = 0; ///< classes; with a type, and in total
};
RawNesting raw_nesting_coverage(const Model &model);

/// A spinlock_t or rwlock_t acquired under a raw_spinlock_t, one finding for each pair of
/// classes. Locks of unknown type are skipped.
std::vector<Finding> raw_nesting(const Model &model, const ObservationsByPlace &by_place);

} // namespace lockscope
