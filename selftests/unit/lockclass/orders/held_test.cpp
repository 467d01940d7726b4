// SPDX-License-Identifier: GPL-2.0
// Held-lock stacks: whatever the order of release, what is left looks as if the
// released lock had never been taken.
#include <random>

#include <gtest/gtest.h>

#include "core.h"

namespace lockscope::test {
namespace {

struct Lock {
	std::uint64_t lock, ip;
	std::uint32_t val;
	bool operator==(const Lock &) const = default;
};

void push(ls_ctx &ctx, const Lock &l)
{
	ls_held_push(&ctx, l.lock, l.ip, l.val, ls_chain_mix(ctx.key, l.val));
}

std::vector<Lock> content(const ls_ctx &ctx)
{
	std::vector<Lock> all;

	for (std::uint32_t i = 0; i < ctx.depth; i++)
		all.push_back({ctx.held[i].lock, ctx.held[i].ip, ctx.held[i].val});
	return all;
}

// The reference: the same locks, and the keys of a context that took just them.
void expect_as_if_taken_in_order(const ls_ctx &ctx, const std::vector<Lock> &model)
{
	std::uint64_t key = 0;

	ASSERT_EQ(content(ctx), model);
	for (std::size_t i = 0; i < model.size(); i++) {
		ASSERT_EQ(ctx.held[i].below, key) << "entry " << i;
		key = ls_chain_mix(key, model[i].val);
	}
	ASSERT_EQ(ctx.key, key);
}

const Lock A{0xa0, 1, taken(1)}, B{0xb0, 2, taken(2)}, C{0xc0, 3, taken(3, LS_SHARED)};

/* Interrupts that come show that a lock which keeps them off is not acquired yet. */
TEST(Held, AnEntryWhoseInterruptComesIsToCome)
{
	const std::uint32_t plain = taken(1), bh = plain | LS_VAL_BH_OFF, irq = bh | LS_VAL_IRQ_OFF;

	for (const auto level : {LS_SOFTIRQ, LS_HARDIRQ, LS_NMI})
		EXPECT_FALSE(ls_held_is_to_come(plain, level));
	EXPECT_TRUE(ls_held_is_to_come(bh, LS_SOFTIRQ));
	EXPECT_FALSE(ls_held_is_to_come(bh, LS_HARDIRQ)) << "one that keeps softirqs off";
	EXPECT_TRUE(ls_held_is_to_come(irq, LS_HARDIRQ));
	EXPECT_TRUE(ls_held_is_to_come(plain | LS_VAL_IRQ_OFF, LS_SOFTIRQ));
	EXPECT_FALSE(ls_held_is_to_come(irq, LS_NMI)) << "nothing keeps NMIs off";
}

TEST(Held, ReleasedInReverseTheKeyFallsBackStepByStep)
{
	ls_ctx ctx{};

	push(ctx, A);
	const std::uint64_t one = ctx.key;
	push(ctx, B);
	EXPECT_NE(ctx.key, one);
	EXPECT_TRUE(ls_held_is_top(&ctx, B.lock));
	EXPECT_FALSE(ls_held_is_top(&ctx, A.lock));
	ls_held_pop_top(&ctx);
	EXPECT_EQ(ctx.key, one);
	ls_held_pop_top(&ctx);
	EXPECT_EQ(ctx.key, 0u);
	EXPECT_EQ(ctx.depth, 0u);
	EXPECT_FALSE(ls_held_is_top(&ctx, A.lock));
}

TEST(Held, TheKeyTellsOrderModeAndContextApart)
{
	std::vector<std::uint64_t> keys;

	for (const auto &sequence : {std::vector<std::uint32_t>{taken(1), taken(2)},
				     {taken(2), taken(1)},
				     {taken(1)},
				     {taken(1), taken(2, LS_SHARED)},
				     {taken(1, LS_RECURSIVE), taken(2)},
				     {taken(1), taken(2) | LS_VAL_TRY},
				     {taken(1), taken(2, LS_EXCLUSIVE, LS_SOFTIRQ)},
				     {taken(1), taken(2) | LS_VAL_IRQ_OFF},
				     {taken(1), taken(2) | LS_VAL_BH_OFF}}) {
		ls_ctx ctx{};

		for (std::uint32_t val : sequence)
			push(ctx, {val, 0, val});
		for (std::uint64_t key : keys)
			EXPECT_NE(ctx.key, key);
		keys.push_back(ctx.key);
	}
}

TEST(Held, ReleaseInTheMiddleLeavesTheOthersAsIfItHadNeverBeenTaken)
{
	ls_ctx ctx{};

	push(ctx, A);
	push(ctx, B);
	push(ctx, C);
	ls_held_remove(&ctx, static_cast<std::uint32_t>(ls_held_find(&ctx, B.lock)));
	expect_as_if_taken_in_order(ctx, {A, C});
	ls_held_remove(&ctx, 0);
	expect_as_if_taken_in_order(ctx, {C});
	ls_held_remove(&ctx, 0);
	expect_as_if_taken_in_order(ctx, {});
}

TEST(Held, DistrustLastsUntilNothingIsHeldWhateverTheOrderOfRelease)
{
	for (std::uint32_t first : {0u, 1u, 2u}) {
		ls_ctx ctx{};

		push(ctx, A);
		push(ctx, B);
		const std::uint64_t trusted = ctx.key;
		EXPECT_FALSE(ls_held_distrusted(&ctx));
		ls_held_distrust(&ctx);
		EXPECT_TRUE(ls_held_distrusted(&ctx));
		EXPECT_NE(ctx.key, trusted);
		push(ctx, C);
		EXPECT_TRUE(ls_held_distrusted(&ctx));
		ls_held_set_read(&ctx, 0, LS_SHARED);
		EXPECT_TRUE(ls_held_distrusted(&ctx));
		ls_held_remove(&ctx, first);
		EXPECT_TRUE(ls_held_distrusted(&ctx));
		ls_held_remove(&ctx, 0);
		EXPECT_TRUE(ls_held_distrusted(&ctx));
		push(ctx, B);
		ls_held_pop_top(&ctx);
		EXPECT_TRUE(ls_held_distrusted(&ctx));
		ls_held_pop_top(&ctx);
		EXPECT_FALSE(ls_held_distrusted(&ctx));
		push(ctx, A);
		push(ctx, B);
		expect_as_if_taken_in_order(ctx, {A, B});
		EXPECT_EQ(ctx.key, trusted);
	}
}

TEST(Held, AnErrorWithNothingHeldLeavesNothingToDistrust)
{
	ls_ctx ctx{};

	ls_held_distrust(&ctx);
	push(ctx, A);
	expect_as_if_taken_in_order(ctx, {A});
	EXPECT_FALSE(ls_held_distrusted(&ctx));
}

TEST(Held, WhatIsHandedOverIsDistrustedWithTheRest)
{
	ls_ctx from{}, to{};

	push(from, A);
	push(from, B);
	ls_held_distrust(&from);
	EXPECT_EQ(ls_held_move(&from, 1, &to), 0u);
	EXPECT_TRUE(ls_held_distrusted(&from));
	EXPECT_TRUE(ls_held_distrusted(&to));
	// It joins what is trusted there: that is not distrusted for it.
	push(from, C);
	ls_ctx other{};
	push(other, A);
	EXPECT_EQ(ls_held_move(&from, 1, &other), 0u);
	EXPECT_FALSE(ls_held_distrusted(&other));
	EXPECT_TRUE(ls_held_distrusted(&from));
}

TEST(Held, ALockTakenTwiceIsFoundAtItsLastPlace)
{
	ls_ctx ctx{};

	push(ctx, A);
	push(ctx, B);
	push(ctx, A);
	EXPECT_EQ(ls_held_find(&ctx, A.lock), 2);
	EXPECT_EQ(ls_held_find(&ctx, B.lock), 1);
	EXPECT_EQ(ls_held_find(&ctx, C.lock), -1);
}

TEST(Held, ADowngradedWriterLooksLikeAReaderFromThereUp)
{
	ls_ctx ctx{};

	push(ctx, A);
	push(ctx, B);
	push(ctx, C);
	ls_held_set_read(&ctx, 1, LS_SHARED);
	expect_as_if_taken_in_order(ctx, {A, {B.lock, B.ip, taken(2, LS_SHARED)}, C});
}

TEST(Held, DowngradeChangesNothingButTheMode)
{
	ls_ctx ctx{};
	const std::uint32_t marks = LS_VAL_TRY | LS_VAL_IRQ_OFF | LS_VAL_BH_OFF;

	push(ctx, {1, 1, taken(LS_VAL_CLASS_MASK, LS_EXCLUSIVE, LS_NMI) | marks});
	ls_held_set_read(&ctx, 0, LS_SHARED);
	EXPECT_EQ(ctx.held[0].val, taken(LS_VAL_CLASS_MASK, LS_SHARED, LS_NMI) | marks);
	ls_held_set_read(&ctx, 0, LS_EXCLUSIVE);
	EXPECT_EQ(ctx.held[0].val, taken(LS_VAL_CLASS_MASK, LS_EXCLUSIVE, LS_NMI) | marks);
}

TEST(Held, HandedOverLocksLieOnTopOfTheReceiversOwn)
{
	ls_ctx from{}, to{};

	push(from, A);
	push(from, B);
	push(from, C);
	push(to, {0xd0, 4, taken(4)});
	EXPECT_EQ(ls_held_move(&from, 1, &to), 0u);
	expect_as_if_taken_in_order(from, {A});
	expect_as_if_taken_in_order(to, {{0xd0, 4, taken(4)}, B, C});
}

TEST(Held, HandingOverNothingChangesNothing)
{
	ls_ctx from{}, to{};

	push(from, A);
	push(to, B);
	EXPECT_EQ(ls_held_move(&from, 1, &to), 0u);
	expect_as_if_taken_in_order(from, {A});
	expect_as_if_taken_in_order(to, {B});
}

TEST(Held, WhatFindsNoRoomInAHandOverIsCounted)
{
	ls_ctx from{}, to{};
	std::vector<Lock> model;

	for (std::uint32_t i = 0; i < LS_MAX_DEPTH - 1; i++) {
		model.push_back({0x1000 + i * 8, i, taken(10 + i)});
		push(to, model.back());
	}
	push(from, A);
	push(from, B);
	push(from, C);
	EXPECT_EQ(ls_held_move(&from, 0, &to), 2u);
	model.push_back(A);
	expect_as_if_taken_in_order(to, model);
	expect_as_if_taken_in_order(from, {});
}

TEST(Held, TheFullDepthIsUsed)
{
	ls_ctx ctx{};
	std::vector<Lock> model;

	for (std::uint32_t i = 0; i < LS_MAX_DEPTH; i++) {
		model.push_back({0x1000 + i * 8, i, taken(1 + i)});
		push(ctx, model.back());
	}
	expect_as_if_taken_in_order(ctx, model);
	ls_held_remove(&ctx, 0);
	model.erase(model.begin());
	expect_as_if_taken_in_order(ctx, model);
}

TEST(Held, ClearedIsAsNew)
{
	ls_ctx ctx{};

	push(ctx, A);
	ctx.lost = 3;
	ctx.busy = 1;
	ls_held_clear(&ctx);
	EXPECT_EQ(ctx.lost, 0u);
	EXPECT_EQ(ctx.busy, 0u);
	expect_as_if_taken_in_order(ctx, {});
}

// Two contexts, every operation, against vectors that are simply edited.
TEST(Held, AgreesWithAListInAnyOrderOfOperations)
{
	std::mt19937 random(3);

	for (int round = 0; round < 300; round++) {
		ls_ctx ctx[2] = {};
		std::vector<Lock> model[2];

		for (int step = 0; step < 200; step++) {
			const unsigned me = random() % 2, pick = random() % 10;
			std::vector<Lock> &mine = model[me], &other = model[!me];

			if (pick < 5 && mine.size() < LS_MAX_DEPTH) {
				mine.push_back({0x100 + random() % 20 * 8, random(),
						taken(1 + random() % 20, ls_read(random() % 3))});
				push(ctx[me], mine.back());
			} else if (pick < 7 && !mine.empty()) {
				ls_held_pop_top(&ctx[me]);
				mine.pop_back();
			} else if (pick < 8 && !mine.empty()) {
				const std::uint64_t lock = mine[random() % mine.size()].lock;
				const int at = ls_held_find(&ctx[me], lock);

				ASSERT_GE(at, 0);
				ls_held_remove(&ctx[me], static_cast<std::uint32_t>(at));
				for (std::size_t i = mine.size(); i-- > 0;) {
					if (mine[i].lock == lock) {
						mine.erase(mine.begin() + static_cast<long>(i));
						break;
					}
				}
			} else if (pick < 9 && !mine.empty()) {
				const std::uint32_t at = random() % mine.size();

				ls_held_set_read(&ctx[me], at, LS_SHARED);
				mine[at].val = (mine[at].val & ~LS_VAL_READ_MASK) |
					       LS_SHARED << LS_VAL_READ_SHIFT;
			} else if (!mine.empty()) {
				const std::uint32_t first = random() % mine.size();
				std::uint32_t lost = 0;

				for (std::size_t i = first; i < mine.size(); i++) {
					if (other.size() < LS_MAX_DEPTH)
						other.push_back(mine[i]);
					else
						lost++;
				}
				mine.resize(first);
				ASSERT_EQ(ls_held_move(&ctx[me], first, &ctx[!me]), lost);
			}
			expect_as_if_taken_in_order(ctx[me], mine);
			expect_as_if_taken_in_order(ctx[!me], other);
			if (HasFatalFailure())
				return;
		}
	}
}

} // namespace
} // namespace lockscope::test
