// SPDX-License-Identifier: GPL-2.0
// Programs of contexts that take locks and touch memory, run on lockclass/shadow.c
// and on Eraser side by side.
#pragma once

#include <string>

#include "eraser.h"

namespace lockscope::test {

struct ShadowOp {
	enum Kind : std::uint8_t { Take, TakeShared, Release, Touch, HandOver, Forget } kind;
	std::uint8_t context; // 0 .. kShadowContexts - 1; the acting one
	std::uint8_t what;    // lock, site, or receiver of a hand-over
	std::uint8_t where;   // granule and bytes
};

using ShadowProgram = std::vector<ShadowOp>;

struct ShadowMode {
	bool pass_on = false;
	bool ordered = false; // hand-overs are known
	bool tight = false;   // hardly any room for locksets
};

// What came up in a run.
struct ShadowTally {
	std::uint32_t states[4] = {};
	std::uint32_t races = 0, complete = 0; // reported; those that had to be
	std::uint32_t guarded = 0;	       // accesses to shared memory with a lock left
	std::uint32_t again = 0, handed_over = 0, unknown = 0;
};

constexpr std::uint32_t kShadowContexts = 4, kShadowSites = 8, kShadowLocks = 4;

// The operation that two bytes stand for; any will do.
ShadowOp shadow_op(std::uint8_t first, std::uint8_t second);

// What the two disagree about first; empty when about nothing.
std::string disagreement(const ShadowProgram &program, ShadowMode mode,
			 ShadowTally *tally = nullptr);

// The same disagreement with as few operations as leaving some out can do.
ShadowProgram shrunk(ShadowProgram program, ShadowMode mode);
std::string to_text(const ShadowProgram &program);

} // namespace lockscope::test
