// SPDX-License-Identifier: GPL-2.0
// What races, by definition [detection.md 4]: everything that ever happened is kept.
//
//  - Two accesses conflict when they are of two contexts, touch one byte in one life of its
//    memory, one writes and not both are marked.
//  - They are ordered when one context waited for what the other did before, or an object
//    went from one to the other under a lock that both had while they touched it.
//  - They are kept apart by a lock that both hold and one exclusively. An item of work is one
//    for what it does, and off interrupts are one for the memory of the own CPU.
//  - Eraser's states say when it counts [Eraser figure 4, 2.3], for each granule of 8 bytes:
//    not while one context has the memory for itself, nor when that passed it on to a writer
//    once; not while one lock was held for all accesses since it was shared.
#pragma once

#include "program.h"

#include <optional>
#include <utility>

namespace lockscope::access_oracle {

using Locks = std::map<int, bool>; ///< exclusively?

/// What is known to be done: for each context how many of its steps.
using Clock = std::map<int, int>;

struct Knowledge {
	Clock all;
	std::map<int, Clock> of; ///< what is known of one object's accesses only
	void join(const Knowledge &other);
};

struct Touched {
	int step, context, time; ///< of its context's steps
	int first, last;	 ///< bytes
	std::uint32_t op;
	Locks held;
	bool initial = false; ///< while the context had the memory for itself
};

struct Racing {
	int first, second; ///< steps
	int granule;	   ///< of their word
	bool counts;	   ///< by Eraser's states as well
};

/// Races of a program by three ideas of an order. That one waited for another says nothing of
/// the next time, so the module goes by what was waited for directly. What a context does with
/// the same locks as the access by which it passes something on may pass as done before.
struct Races {
	std::vector<Racing> must; ///< directly, with all of such a section: they have to be found
	std::vector<Racing> may;  ///< directly, up to the access: they may be found
	std::vector<Racing> real; ///< transitively, with all of a section
};
Races races_of(const Program &program);

/// What a context holds that guards an access to @word.
Locks guards_of(const Program &program, const Machine &machine, int context, const Word &word);

} // namespace lockscope::access_oracle
