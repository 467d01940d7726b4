// SPDX-License-Identifier: GPL-2.0
// What can deadlock: every way in which instances of a program's contexts run at once.
//
// Any number of tasks and CPUs may run a context at one time. A deadlock is a ring of them,
// each of which waits for a lock that the next one holds, or is interrupted by the next one.
// Each candidate is a place for each of them; it counts when some order of single steps
// leads all of them there, which is tried out step by step.
//
//  - Exclusive excludes all. A reader may have to wait behind a reader, as a writer from
//    elsewhere may wait in between [lockdep-design.rst]; a recursive reader never does.
//    Readers of a queued rwlock are recursive in interrupts and with softirqs off.
//  - An interrupt comes to any task, or softirq, that has it on, and keeps it until it is
//    done.
//  - A trylock that fails leads to code that was never seen: nothing goes on from there.
//  - Orders count that the module may learn. None are learnt after a wrong unlock until
//    nothing is held. Where an interrupt can come is learnt when a lock is acquired, and
//    when one is released that was acquired with the interrupt off.
#pragma once

#include "program.h"

#include <compare>
#include <set>
#include <vector>

namespace lockscope::oracle {

/// Classes of a program are 0 .. 3; these stand for the interrupts.
inline constexpr int kHardirq = -1, kSoftirq = -2;

/// What waits for the second was held, or interrupted, as the first.
struct Dependency {
	int from, to;
	auto operator<=>(const Dependency &) const = default;
};

/// One of a ring. It waits for a lock of the next one, or the next one interrupts it.
struct Side {
	int context;
	std::size_t at; ///< next operation
	int waits_for;	///< lock; -1: interrupted
	int held;	///< lock that the side before waits for; -1: it interrupts that side
};

struct Deadlock {
	std::vector<Side> sides;
	std::vector<Dependency> dependencies; ///< as the classes go round, smallest rotation
};

/// Sides that a deadlock has at most to be looked for.
inline constexpr std::size_t kMostSides = 5;

struct Answer {
	std::vector<Deadlock> can; ///< all deadlocks, one for each ring of dependencies
	/// Rings whose places fit together, but no order of steps leads there: each comes by
	/// locks before, or tries them, that another one has by then.
	std::set<std::vector<Dependency>> unreachable;
};
Answer search(const Program &program);

/// Rotated so that the smallest sequence comes out.
std::vector<Dependency> canonical(std::vector<Dependency> dependencies);

std::string text(const Program &program, const Deadlock &deadlock);

} // namespace lockscope::oracle
