// SPDX-License-Identifier: GPL-2.0
// What counts of a class say about how it is used [RacerX 5.1].
#pragma once

#include "model/model.h"

#include <string>
#include <vector>

namespace lockscope {

/// "lock", "signal" or "undecided": is the semaphore given back by who took it?
const char *semaphore_verdict(const ClassCounts &counts);
/// By how many standard deviations there are more releases by strangers than a
/// lock would show: (k - n p) / sqrt(n p (1 - p)) with p = 1/5 [RacerX 8.4].
double semaphore_z(const ClassCounts &counts);
/// The same for people: "a signal, no lock: 17 of 20 releases by somebody who had
/// not acquired it, z = 7.3".
std::string describe_semaphore(const ClassCounts &counts);

/// The counts of a class that is a semaphore, nullptr of others and of those that
/// nothing is known of.
const ClassCounts *semaphore_counts(const Model &model, ClassId cls);
/// Is it a semaphore that counts events, or is handed over? Then no order follows from it.
bool counts_events(const Model &model, ClassId cls);
/// Is it a semaphore that is a lock, but handed over too often to prove anything? See
/// ls_semaphore_used().
bool handed_over(const Model &model, ClassId cls);
/// Is it one whose every instance was released by another context at some time, with too few
/// releases to say that this is an exception?
bool always_handed_over(const Model &model, ClassId cls);

/// An order that nested instances of one class keep.
struct LockRule {
	ClassId cls = kNoClass;
	const char *rule = "";
	std::uint64_t support = 0,
		      against = 0; ///< pairs of instances seen; of annotations, nestings
};
/// The rules that hold, one for each class at most: what its author says, else how
/// the objects are linked, else the order of addresses.
std::vector<LockRule> lock_rules(const Model &model);

} // namespace lockscope
