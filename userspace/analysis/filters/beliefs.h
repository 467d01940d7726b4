// SPDX-License-Identifier: GPL-2.0
// Beliefs about the use of a class, from its counts [RacerX 5.1].
#pragma once

#include "model/model.h"

#include <string>
#include <vector>

namespace lockscope {

/// "lock", "signal" or "undecided": is the semaphore released by the task that acquired it?
const char *semaphore_verdict(const ClassCounts &counts);
/// Standard deviations by which releases by other contexts exceed what a lock would show: (k -
/// n p) / sqrt(n p (1 - p)) with p = 1/5 [RacerX 8.4].
double semaphore_z(const ClassCounts &counts);
/// The same as text: "a signal, no lock: 17 of 20 releases by a task that had not acquired
/// it, z = 7.3".
std::string describe_semaphore(const ClassCounts &counts);

/// The counts of a semaphore class, nullptr for other classes and without counts.
const ClassCounts *semaphore_counts(const Model &model, ClassId cls);
/// Is it a semaphore that counts events, or is handed over? Then it adds no dependencies.
bool counts_events(const Model &model, ClassId cls);
/// Is it a semaphore that is a lock, but is handed over too often to prove anything? See
/// ls_semaphore_used().
bool handed_over(const Model &model, ClassId cls);
/// Is it refuted that its context releases it, or that this is so of an instance all its life?
/// See ls_semaphore_doubted().
bool often_handed_over(const Model &model, ClassId cls);
/// Is it one of which every instance was released by another context at some time, with too
/// few releases to call this an exception?
bool always_handed_over(const Model &model, ClassId cls);

/// An order that nested instances of one class keep.
struct LockRule {
	ClassId cls = kNoClass;
	const char *rule = "";
	std::uint64_t support = 0,
		      against = 0; ///< observed pairs of instances; for annotations, nestings
};
/// The rules that hold, one per class at most: from annotations, else from pointers between
/// the objects, else address order.
std::vector<LockRule> lock_rules(const Model &model);

} // namespace lockscope
