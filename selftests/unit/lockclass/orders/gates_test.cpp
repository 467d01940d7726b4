// SPDX-License-Identifier: GPL-2.0
// Gates of a dependency: an observation with fewer of them is new.
#include <algorithm>
#include <atomic>
#include <random>
#include <set>
#include <thread>

#include <gtest/gtest.h>

#include "core.h"

namespace lockscope::test {
namespace {

constexpr std::uint64_t kKey = 0x1234567890, kOther = 0x9876543210;
constexpr std::uint32_t kRead = LS_SHARED << LS_VAL_READ_SHIFT;

using Tags = std::vector<ls_u16>;

std::uint64_t lock(std::uint32_t i)
{
	return 0xffff888000001000ull + i * 0x40;
}

Tags held(std::initializer_list<std::uint32_t> exclusive,
	  std::initializer_list<std::uint32_t> shared = {})
{
	Tags tags;

	for (auto i : exclusive)
		tags.push_back(ls_gate_tag(lock(i), 0));
	for (auto i : shared)
		tags.push_back(ls_gate_tag(lock(i), kRead));
	return tags;
}

struct Gates {
	explicit Gates(std::uint32_t bits = 8) : memory(ls_gates_bytes(bits))
	{
		ls_gates_init(&all, memory.get(), bits);
	}
	ls_gates_result peek(const Tags &tags, std::uint64_t key = kKey) const
	{
		return ls_gates_peek(&all, key, tags.data(),
				     static_cast<std::uint32_t>(tags.size()));
	}
	bool mark(const Tags &tags, std::uint64_t key = kKey, bool make = true)
	{
		return ls_gates_mark(&all, key, tags.data(),
				     static_cast<std::uint32_t>(tags.size()), make);
	}
	bool left(std::uint64_t key = kKey) const { return ls_gates_left(&all, key); }

	Zeroed memory;
	ls_gates all{};
};

TEST(Gates, AnotherInstanceIsNewsOnce)
{
	Gates g;

	EXPECT_EQ(g.peek(held({1})), LS_GATES_UNKNOWN);
	EXPECT_TRUE(g.mark(held({1})));
	EXPECT_EQ(g.peek(held({1})), LS_GATES_KNOWN);
	EXPECT_TRUE(g.left());
	// More than before keeps no more apart.
	EXPECT_EQ(g.peek(held({2, 1})), LS_GATES_KNOWN);
	EXPECT_EQ(g.peek(held({2})), LS_GATES_FEWER);
	EXPECT_TRUE(g.mark(held({2})));
	EXPECT_FALSE(g.left());
	for (std::uint32_t i = 0; i < 5; i++)
		EXPECT_EQ(g.peek(held({i})), LS_GATES_KNOWN);
	EXPECT_EQ(g.peek(held({1}), kOther), LS_GATES_UNKNOWN);
}

TEST(Gates, AGateThatIsOnlyReadIsLess)
{
	Gates g;

	g.mark(held({1}));
	EXPECT_EQ(g.peek(held({}, {1})), LS_GATES_FEWER);
	// Held twice: as a writer it is what it was.
	EXPECT_EQ(g.peek(held({1}, {1})), LS_GATES_KNOWN);
	g.mark(held({}, {1}));
	EXPECT_EQ(g.peek(held({}, {1})), LS_GATES_KNOWN);
	EXPECT_EQ(g.peek(held({1})), LS_GATES_KNOWN);
	EXPECT_TRUE(g.left());
	EXPECT_EQ(g.peek(held({}, {2})), LS_GATES_FEWER);
}

TEST(Gates, WhatIsLeftOutIsNoGate)
{
	Gates g;
	Tags tags = held({1, 2});

	tags[0] = 0;
	g.mark(tags);
	EXPECT_EQ(g.peek(held({2})), LS_GATES_KNOWN);
	EXPECT_EQ(g.peek(held({1})), LS_GATES_FEWER);
}

TEST(Gates, WhatIsAskedForIsNewsWhateverIsHeld)
{
	Gates g;

	EXPECT_TRUE(ls_gates_ask(&g.all, kKey));
	EXPECT_TRUE(g.left());
	EXPECT_EQ(g.peek(held({1})), LS_GATES_ASKED);
	g.mark(held({1}), kKey, false);
	EXPECT_EQ(g.peek(held({1})), LS_GATES_KNOWN);
	EXPECT_EQ(g.peek(held({2})), LS_GATES_FEWER);
	// A second request does not change it.
	EXPECT_TRUE(ls_gates_ask(&g.all, kKey));
	EXPECT_EQ(g.peek(held({1})), LS_GATES_KNOWN);
	// Nothing held at all: no gate.
	EXPECT_TRUE(ls_gates_ask(&g.all, kOther));
	g.mark({}, kOther, false);
	EXPECT_FALSE(g.left(kOther));
}

TEST(Gates, NoEntryIsMadeUnlessItMayBe)
{
	Gates g;

	EXPECT_TRUE(g.mark(held({1}), kKey, false));
	EXPECT_EQ(g.peek(held({1})), LS_GATES_UNKNOWN);
	EXPECT_EQ(g.all.nr, 0u);
}

TEST(Gates, AFullTableSaysSo)
{
	Gates g(4);
	std::uint64_t key = 1;

	while (g.mark(held({1}), key))
		ASSERT_LT(key++, 17u);
	EXPECT_EQ(g.all.nr, 16u);
	EXPECT_FALSE(ls_gates_ask(&g.all, key));
	EXPECT_EQ(g.peek(held({1}), key), LS_GATES_UNKNOWN);
	EXPECT_TRUE(g.mark(held({2}), 1));
	ls_gates_clear(&g.all);
	EXPECT_TRUE(g.mark(held({1}), key));
}

// Against sets: an observation is new if it lacks a gate of all earlier ones.
TEST(Gates, RandomObservations)
{
	std::mt19937 random(7);

	for (int round = 0; round < 2000; round++) {
		Gates g;
		std::set<std::uint32_t> common;

		for (int i = 0; i < 8; i++) {
			std::set<std::uint32_t> now;
			Tags tags;

			while (now.size() < random() % (LS_GATES_KEPT + 1))
				now.insert(random() % 10);
			for (auto n : now)
				tags.push_back(ls_gate_tag(lock(n), 0));
			std::shuffle(tags.begin(), tags.end(), random);
			if (i == 0)
				common = now;
			const auto had = common.size();
			std::erase_if(common, [&](auto n) { return !now.contains(n); });
			const auto expect = i == 0		  ? LS_GATES_UNKNOWN
					    : common.size() < had ? LS_GATES_FEWER
								  : LS_GATES_KNOWN;
			ASSERT_EQ(g.peek(tags), expect);
			g.mark(tags);
			ASSERT_EQ(g.left(), !common.empty());
		}
	}
}

// Gates beyond LS_GATES_KEPT are not compared, and never make an observation new.
TEST(Gates, MoreThanIsKept)
{
	Gates g;
	Tags tags;

	for (std::uint32_t i = 0; i < 64; i++)
		tags.push_back(ls_gate_tag(lock(i), 0));
	g.mark(tags);
	EXPECT_EQ(g.peek(tags), LS_GATES_KNOWN);
	EXPECT_EQ(g.peek(Tags(tags.begin(), tags.begin() + LS_GATES_KEPT)), LS_GATES_KNOWN);
	EXPECT_EQ(g.peek(Tags(tags.begin() + 1, tags.end())), LS_GATES_FEWER);
}

TEST(Gates, SeveralContextsAtOnce)
{
	Gates g(6);
	std::vector<std::thread> threads;
	std::atomic<bool> go{false};

	for (std::uint32_t t = 0; t < 3; t++)
		threads.emplace_back([&, t] {
			while (!go)
				;
			for (std::uint64_t key = 1; key <= 32; key++)
				while (g.peek(held({9, t}), key) != LS_GATES_KNOWN)
					g.mark(held({9, t}), key);
		});
	go = true;
	for (auto &thread : threads)
		thread.join();
	for (std::uint64_t key = 1; key <= 32; key++) {
		EXPECT_EQ(g.peek(held({9}), key), LS_GATES_KNOWN);
		EXPECT_EQ(g.peek(held({8}), key), LS_GATES_FEWER);
	}
}

} // namespace
} // namespace lockscope::test
