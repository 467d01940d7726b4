// SPDX-License-Identifier: GPL-2.0
// CPUs that spin for each other, as the last one of them to wait reads it from all held-lock
// stacks; and what looks like it and goes on.
#include <array>

#include <gtest/gtest.h>

#include "core.h"

extern "C" {
#include "lockclass/spinring.h"
}

namespace lockscope::test {
namespace {

constexpr std::uint32_t kCpus = 12;
constexpr std::uint32_t kSleeps = 100; ///< classes from here on do not spin

struct Machine {
	std::array<std::array<ls_ctx, LS_NR_LEVELS>, kCpus> stacks{};
	std::array<std::array<ls_u64, LS_NR_LEVELS>, kCpus> noted{};
} * machine;

const ls_spin_view kView = {
	[](ls_u32 cpu, ls_u32 level) -> const ls_ctx * { return &machine->stacks[cpu][level]; },
	[](ls_u32 cpu, ls_u32 level) { return machine->noted[cpu][level]; },
	[](ls_u32 val) { return (val & LS_VAL_CLASS_MASK) < kSleeps; },
	kCpus,
};

class SpinRing : public testing::Test {
protected:
	SpinRing() { machine = &machine_; }
	~SpinRing() override { machine = nullptr; }

	/// @cpu acquired @lock, whose class has the same number.
	void holds(std::uint32_t cpu, std::uint32_t lock, ls_read read = LS_EXCLUSIVE,
		   std::uint32_t level = LS_TASK, std::uint32_t bits = 0)
	{
		ls_ctx &ctx = machine_.stacks[cpu][level];
		const std::uint32_t val = taken(lock, read) | bits;
		ls_held_push(&ctx, lock, 0x1000 * cpu + lock, val, ls_chain_mix(ctx.key, val));
	}
	/// It is about to wait for it.
	void waits(std::uint32_t cpu, std::uint32_t lock, ls_read read = LS_EXCLUSIVE,
		   std::uint32_t level = LS_TASK)
	{
		holds(cpu, lock, read, level);
		machine_.noted[cpu][level] = lock;
	}
	std::uint32_t ring(std::uint32_t cpu, std::uint32_t level = LS_TASK)
	{
		nr_ = ls_spin_ring(&kView, cpu, level, ring_.data());
		return nr_;
	}
	bool stands() { return ls_spin_ring_stands(&kView, ring_.data(), nr_); }

	Machine machine_;
	std::array<ls_spinner, LS_SPIN_CPUS> ring_;
	std::uint32_t nr_ = 0;
};

constexpr std::uint32_t A = 1, B = 2, C = 3, D = 4;

TEST_F(SpinRing, TwoCpusThatEachHoldWhatTheOtherSpinsFor)
{
	holds(0, A);
	waits(0, B);
	holds(1, B);
	waits(1, A);
	for (const std::uint32_t me : {0u, 1u}) {
		ASSERT_EQ(ring(me), 2u);
		EXPECT_EQ(ring_[0].cpu, me);
		EXPECT_EQ(ring_[1].cpu, 1 - me);
		EXPECT_EQ(ring_[0].waits.lock, me ? A : B);
		EXPECT_EQ(ring_[0].holds.lock, me ? B : A);
		EXPECT_EQ(ring_[1].holds.lock, ring_[0].waits.lock);
		EXPECT_EQ(ring_[1].waits.lock, ring_[0].holds.lock);
		EXPECT_TRUE(stands());
	}
}

TEST_F(SpinRing, OneThatHasNotBegunToWaitGoesOn)
{
	holds(0, A);
	waits(0, B);
	holds(1, B);
	EXPECT_EQ(ring(0), 0u);
	/* On its way into the lock, or already its owner: nothing was noted. */
	holds(1, A);
	EXPECT_EQ(ring(0), 0u);
	/* Of an acquisition that is long over. */
	machine_.noted[1][LS_TASK] = C;
	EXPECT_EQ(ring(0), 0u);
}

TEST_F(SpinRing, OneOrderIsNone)
{
	holds(0, A);
	waits(0, B);
	holds(1, B);
	waits(1, C);
	holds(2, C);
	EXPECT_EQ(ring(0), 0u);
	EXPECT_EQ(ring(1), 0u);
}

TEST_F(SpinRing, AsManyAsThereIsRoomForAndNotOneMore)
{
	const auto chain = [&](std::uint32_t n) {
		machine_ = {};
		for (std::uint32_t i = 0; i < n; i++) {
			holds(i, 10 + i);
			waits(i, 10 + (i + 1) % n);
		}
	};
	for (std::uint32_t n = 2; n <= LS_SPIN_CPUS; n++) {
		chain(n);
		EXPECT_EQ(ring(n / 2), n);
	}
	chain(LS_SPIN_CPUS + 1);
	EXPECT_EQ(ring(0), 0u);
}

TEST_F(SpinRing, AnotherRingThatThisOneLeadsIntoIsNotItsOwn)
{
	holds(1, A);
	waits(1, B);
	holds(2, B);
	waits(2, A);
	holds(0, C);
	waits(0, A);
	EXPECT_EQ(ring(0), 0u);
	EXPECT_EQ(ring(1), 2u);
}

TEST_F(SpinRing, AWriterWaitsForReadersAndTheyForIt)
{
	holds(0, A, LS_SHARED);
	waits(0, B);
	holds(1, B);
	waits(1, A);
	EXPECT_EQ(ring(0), 2u);
	EXPECT_EQ(ring(1), 2u);
}

TEST_F(SpinRing, ReadersDoNotWaitForReaders)
{
	holds(0, A, LS_SHARED);
	waits(0, B);
	holds(1, B);
	waits(1, A, LS_RECURSIVE);
	EXPECT_EQ(ring(0), 0u);
	EXPECT_EQ(ring(1), 0u);
}

TEST_F(SpinRing, WhatCannotWaitDoesNot)
{
	holds(0, A);
	waits(0, B);
	holds(1, B);
	holds(1, A, LS_EXCLUSIVE, LS_TASK, LS_VAL_TRY);
	machine_.noted[1][LS_TASK] = A;
	EXPECT_EQ(ring(0), 0u);
	/* Nor does a sleeping lock spin. */
	machine_ = {};
	holds(0, A);
	waits(0, kSleeps);
	holds(1, kSleeps);
	waits(1, A);
	EXPECT_EQ(ring(0), 0u);
}

TEST_F(SpinRing, AnInterruptKeepsWhatItsTaskHolds)
{
	holds(0, A);
	holds(0, C);
	waits(0, B, LS_EXCLUSIVE, LS_HARDIRQ);
	holds(1, B);
	waits(1, A);
	ASSERT_EQ(ring(0, LS_HARDIRQ), 2u);
	EXPECT_EQ(ring_[0].holds.lock, A);
	ASSERT_EQ(ring(1), 2u);
	EXPECT_EQ(ring_[1].level, LS_HARDIRQ);
	/* An interrupt that goes on keeps nothing: what spins below it will again. */
	machine_.noted[0][LS_HARDIRQ] = 0;
	EXPECT_EQ(ring(1), 0u);
}

TEST_F(SpinRing, ATaskThatSpinsBelowAnInterruptIsStuckAllTheSame)
{
	holds(0, A);
	waits(0, B);
	holds(0, D, LS_EXCLUSIVE, LS_HARDIRQ);
	holds(1, B);
	waits(1, A);
	EXPECT_EQ(ring(1), 2u);
}

TEST_F(SpinRing, AnEntryOnTopOfAnInterruptedTaskIsItsOwnersOnlyIfItIsAlone)
{
	/* The interrupt came with one lock held, the only entry of it. */
	holds(0, A);
	waits(0, B, LS_EXCLUSIVE, LS_SOFTIRQ);
	holds(1, B);
	waits(1, A);
	EXPECT_EQ(ring(1), 2u);
	/* Another CPU has one as well: either of them may be about to acquire it. */
	holds(2, A);
	EXPECT_EQ(ring(1), 0u);
	/* One that certainly has it is not stuck. */
	holds(2, C);
	EXPECT_EQ(ring(1), 0u);
}

TEST_F(SpinRing, OneThatMovesOnBreaksIt)
{
	holds(0, A);
	waits(0, B);
	holds(1, B);
	waits(1, A);
	ASSERT_EQ(ring(0), 2u);
	ls_held_pop_top(&machine_.stacks[1][LS_TASK]);
	EXPECT_FALSE(stands());
	/* The same lock at another place. */
	ls_ctx &ctx = machine_.stacks[1][LS_TASK];
	ls_held_push(&ctx, A, 0xbeef, taken(A), ls_chain_mix(ctx.key, taken(A)));
	EXPECT_EQ(ls_spin_ring(&kView, 0, LS_TASK, ring_.data()), 2u);
	ls_held_pop_top(&ctx);
	waits(1, A);
	EXPECT_FALSE(stands());
}

TEST_F(SpinRing, HeldLocksAreThoseOfTheTaskAndOfItsInterrupts)
{
	holds(0, A);
	holds(0, C);
	holds(0, D, LS_EXCLUSIVE, LS_SOFTIRQ);
	waits(0, B, LS_EXCLUSIVE, LS_HARDIRQ);
	holds(1, B);
	waits(1, A);
	ASSERT_EQ(ring(1), 2u);
	std::vector<std::uint64_t> held;
	ls_held h;
	for (std::uint32_t i = 0; ls_spinner_held(&kView, &ring_[1], i, &h); i++)
		held.push_back(h.lock);
	EXPECT_EQ(held, (std::vector<std::uint64_t>{A, C, D}));
}

TEST_F(SpinRing, ADepthThatMakesNoSenseIsBounded)
{
	holds(0, A);
	waits(0, B);
	machine_.stacks[1][LS_TASK].depth = 0xffffffff;
	machine_.stacks[1][LS_TASK].held[LS_MAX_DEPTH - 2].lock = B;
	machine_.stacks[1][LS_TASK].held[LS_MAX_DEPTH - 1].lock = A;
	machine_.noted[1][LS_TASK] = A;
	EXPECT_EQ(ring(0), 2u);
}

} // namespace
} // namespace lockscope::test
