// SPDX-License-Identifier: GPL-2.0
// Addresses that come and go: a set-associative map that says what it gives up.
#include <algorithm>
#include <atomic>
#include <map>
#include <random>

#include <gtest/gtest.h>

#include "core.h"

namespace lockscope::test {
namespace {

constexpr std::uint64_t kBase = 0xffff888000000000ull;

struct Map {
	explicit Map(std::uint32_t bits, bool spread = false) : memory(ls_addrmap_bytes(bits))
	{
		if (spread)
			ls_addrmap_init_spread(&map, memory.get(), bits);
		else
			ls_addrmap_init(&map, memory.get(), bits);
	}
	std::uint32_t find(std::uint64_t addr) const { return ls_addrmap_find(&map, addr); }
	bool set(std::uint64_t addr, std::uint32_t id) { return ls_addrmap_set(&map, addr, id); }
	bool add(std::uint64_t addr, std::uint32_t id) { return ls_addrmap_add(&map, addr, id); }
	std::uint32_t remove(std::uint64_t addr) { return ls_addrmap_remove(&map, addr); }
	std::uint64_t *bucket(std::uint64_t addr) const
	{
		return ls_addr_bucket(&map, ls_addr_word(addr));
	}
	// Addresses that fall into the bucket of kBase, kBase first.
	std::vector<std::uint64_t> crowd(std::size_t nr) const
	{
		std::vector<std::uint64_t> found;

		for (std::uint64_t addr = kBase; found.size() < nr; addr += 64)
			if (bucket(addr) == bucket(kBase))
				found.push_back(addr);
		return found;
	}

	Zeroed memory;
	ls_addrmap map{};
};

TEST(AddressMap, TwoLocksInEightBytesAreTwo)
{
	for (std::uint64_t lock :
	     {std::uint64_t(0xffffffffc0a01010), std::uint64_t(0xffffe8ffffc01230), kBase + 0x40}) {
		Map map(8);

		map.set(ls_addr_of_lock(lock), 1);
		EXPECT_EQ(map.find(ls_addr_of_lock(lock + 4)), 0u);
		map.set(ls_addr_of_lock(lock + 4), 2);
		EXPECT_EQ(map.find(ls_addr_of_lock(lock)), 1u);
		EXPECT_EQ(map.find(ls_addr_of_lock(lock + 4)), 2u);
		EXPECT_EQ(map.remove(ls_addr_of_lock(lock)), 1u);
		EXPECT_EQ(map.find(ls_addr_of_lock(lock + 4)), 2u);
	}
}

TEST(AddressMap, MakesRoomFromWhatIsGone)
{
	Map map(5);
	const auto addr = map.crowd(LS_ADDR_WAYS + 1);

	for (std::uint32_t i = 0; i < LS_ADDR_WAYS; i++)
		EXPECT_TRUE(map.add(addr[i], i + 1));
	EXPECT_FALSE(map.add(addr[LS_ADDR_WAYS], 9));
	ls_addrmap_clean(&map.map, addr[0], [](ls_u64, ls_u32) { return false; });
	EXPECT_FALSE(map.add(addr[LS_ADDR_WAYS], 9));
	// Of the addresses as they were given.
	static std::uint64_t gone;
	gone = addr[3];
	ls_addrmap_clean(&map.map, addr[0],
			 [](ls_u64 at, ls_u32 id) { return at == gone && id == 4; });
	EXPECT_EQ(map.find(addr[3]), 0u);
	EXPECT_EQ(map.find(addr[2]), 3u);
	EXPECT_FALSE(map.set(addr[LS_ADDR_WAYS], 9));
}

TEST(AddressMap, ForgetsTheLocksOfARange)
{
	constexpr std::uint64_t start = 0xffffc90000123000;
	Map map(10);
	std::uint64_t lock;

	for (lock = start - 16; lock < start + 0x100 + 16; lock += 4)
		map.set(ls_addr_of_lock(lock), 7);
	ls_addrmap_forget_locks(&map.map, start, 0x100);
	for (lock = start - 16; lock < start + 0x100 + 16; lock += 4)
		EXPECT_EQ(map.find(ls_addr_of_lock(lock)), lock - start < 0x100 ? 0u : 7u)
			<< lock - start;
}

// Of an area that has fewer places than the map has buckets, and of one that has more.
TEST(AddressMap, ForgetsTheLocksOfARangeOfAnySize)
{
	for (std::uint64_t size : {0x400, 0x408, 0x1000}) {
		constexpr std::uint64_t start = 0xffffc90000123000;
		Map map(11, true);
		std::uint64_t lock;

		for (lock = start - 16; lock < start + size + 16; lock += 4)
			ASSERT_TRUE(map.add(ls_addr_of_lock(lock), 7));
		ls_addrmap_forget_locks(&map.map, start, size);
		for (lock = start - 16; lock < start + size + 16; lock += 4)
			EXPECT_EQ(map.find(ls_addr_of_lock(lock)), lock - start < size ? 0u : 7u)
				<< size << ' ' << lock - start;
	}
}

TEST(AddressMap, ForgetsTheLocksOfARangeInSecondBucketsToo)
{
	constexpr std::uint64_t start = 0xffffc90000123000;
	Map map(10, true);
	std::uint64_t lock;
	int kept = 0;

	for (lock = start; lock < start + 0xa00; lock += 4)
		kept += map.add(ls_addr_of_lock(lock), 7);
	ASSERT_GT(map.map.spilled, 0u);
	ASSERT_GT(kept, 600);
	ls_addrmap_forget_locks(&map.map, start, 0xa00);
	for (lock = start; lock < start + 0xa00; lock += 4)
		EXPECT_EQ(map.find(ls_addr_of_lock(lock)), 0u);
	EXPECT_EQ(map.map.spilled, 0u);
	EXPECT_TRUE(std::all_of(map.map.slots, map.map.slots + 1024,
				[](ls_u64 slot) { return !slot; }));
}

TEST(AddressMap, FindsAnAddressUntilItIsRemoved)
{
	Map m(10);

	EXPECT_EQ(m.find(kBase), 0u);
	EXPECT_FALSE(m.set(kBase, 5));
	EXPECT_EQ(m.find(kBase), 5u);
	EXPECT_EQ(m.find(kBase + 8), 0u);
	EXPECT_EQ(m.remove(kBase), 5u);
	EXPECT_EQ(m.find(kBase), 0u);
	EXPECT_EQ(m.remove(kBase), 0u);
}

TEST(AddressMap, TheLatestIdOfAnAddressHolds)
{
	Map m(10);

	EXPECT_FALSE(m.set(kBase, 5));
	EXPECT_FALSE(m.set(kBase, LS_ADDR_ID_MASK));
	EXPECT_EQ(m.find(kBase), LS_ADDR_ID_MASK);
	EXPECT_EQ(m.remove(kBase), LS_ADDR_ID_MASK);
	EXPECT_EQ(m.find(kBase), 0u);
}

TEST(AddressMap, SmallestMapHasTwoBucketsAndStaysInsideThem)
{
	Map m(4);

	for (std::uint64_t i = 0; i < 200; i++)
		m.set(kBase + i * 8, 1 + i);
	EXPECT_EQ(m.find(kBase + 199 * 8), 200u);
}

TEST(AddressMap, AFullBucketGivesUpExactlyOneEntryAndSaysSo)
{
	Map m(10);
	const auto addrs = m.crowd(LS_ADDR_WAYS + 1);
	unsigned left = 0;

	for (std::size_t i = 0; i < LS_ADDR_WAYS; i++)
		EXPECT_FALSE(m.set(addrs[i], 1 + i));
	EXPECT_TRUE(m.set(addrs[LS_ADDR_WAYS], 100));
	EXPECT_EQ(m.find(addrs[LS_ADDR_WAYS]), 100u);
	for (std::size_t i = 0; i < LS_ADDR_WAYS; i++)
		left += m.find(addrs[i]) == 1 + i;
	EXPECT_EQ(left, LS_ADDR_WAYS - 1u);
}

TEST(AddressMap, ARemovedPlaceIsUsedBeforeALiveOneIsGivenUp)
{
	Map m(10);
	const auto addrs = m.crowd(LS_ADDR_WAYS + 1);

	for (std::size_t i = 0; i < LS_ADDR_WAYS; i++)
		m.set(addrs[i], 1 + i);
	m.remove(addrs[3]);
	EXPECT_FALSE(m.set(addrs[LS_ADDR_WAYS], 100));
	for (std::size_t i = 0; i < LS_ADDR_WAYS; i++)
		EXPECT_EQ(m.find(addrs[i]), i == 3 ? 0u : 1 + i);
}

TEST(AddressMap, AFullBucketRefusesAnAdditionAndKeepsWhatItHas)
{
	Map m(10);
	const auto addrs = m.crowd(LS_ADDR_WAYS + 1);

	for (std::size_t i = 0; i < LS_ADDR_WAYS; i++)
		EXPECT_TRUE(m.add(addrs[i], 1 + i));
	EXPECT_FALSE(m.add(addrs[LS_ADDR_WAYS], 100));
	EXPECT_EQ(m.find(addrs[LS_ADDR_WAYS]), 0u);
	for (std::size_t i = 0; i < LS_ADDR_WAYS; i++)
		EXPECT_EQ(m.find(addrs[i]), 1 + i);
	// An existing entry may change its id, and a free slot is used.
	EXPECT_TRUE(m.add(addrs[3], 50));
	EXPECT_EQ(m.find(addrs[3]), 50u);
	EXPECT_EQ(m.remove(addrs[3]), 50u);
	EXPECT_TRUE(m.add(addrs[LS_ADDR_WAYS], 100));
	EXPECT_EQ(m.find(addrs[LS_ADDR_WAYS]), 100u);
}

TEST(AddressMap, WhatIsOfferedLeavesHalfOfABucket)
{
	Map m(10);
	const auto addrs = m.crowd(LS_ADDR_WAYS);
	const std::size_t half = LS_ADDR_WAYS / 2;

	for (std::size_t i = 0; i < LS_ADDR_WAYS; i++)
		EXPECT_EQ(ls_addrmap_offer(&m.map, addrs[i], 1 + i), i < half);
	for (std::size_t i = half; i < LS_ADDR_WAYS; i++)
		EXPECT_TRUE(m.add(addrs[i], 1 + i));
	for (std::size_t i = 0; i < LS_ADDR_WAYS; i++)
		EXPECT_EQ(m.find(addrs[i]), 1 + i);
	// An existing entry may change its id, in whichever half it is.
	EXPECT_TRUE(ls_addrmap_offer(&m.map, addrs[0], 50));
	EXPECT_TRUE(ls_addrmap_offer(&m.map, addrs[half], 51));
	EXPECT_EQ(m.find(addrs[0]), 50u);
	EXPECT_EQ(m.find(addrs[half]), 51u);
}

TEST(AddressMap, AQuarterFullAddsTasksFromAnywhere)
{
	// As the module's map of tasks: slab objects, at most a quarter of the places.
	Map m(14);
	std::mt19937_64 random(3);
	std::map<std::uint64_t, std::uint32_t> model;
	unsigned refused = 0;

	while (model.size() < 4096) {
		const std::uint64_t addr = kBase + random() % 100000 * 9856;
		const std::uint32_t id = 1 + model.size();

		if (model.contains(addr))
			continue;
		if (m.add(addr, id))
			model[addr] = id;
		else
			refused++;
	}
	EXPECT_LT(refused, 10u);
	for (const auto &[addr, id] : model)
		EXPECT_EQ(m.find(addr), id);
}

// The two kinds of map: with one bucket an address, and with two.
class AddressMapOfKind : public testing::TestWithParam<bool> {};

TEST_P(AddressMapOfKind, AgreesWithAMapWhileNothingIsGivenUp)
{
	Map m(10, GetParam());
	std::map<std::uint64_t, std::uint32_t> model;
	std::mt19937_64 random(2);

	for (int step = 0; step < 50000; step++) {
		const std::uint64_t addr = kBase + random() % 100 * 192;
		const std::uint32_t id = 1 + random() % LS_ADDR_ID_MASK;

		switch (random() % 3) {
		case 0:
			ASSERT_FALSE(m.set(addr, id));
			model[addr] = id;
			break;
		case 1:
			ASSERT_EQ(m.remove(addr), model.contains(addr) ? model[addr] : 0);
			model.erase(addr);
			break;
		default:
			ASSERT_EQ(m.find(addr), model.contains(addr) ? model[addr] : 0);
		}
	}
}

TEST_P(AddressMapOfKind, ThreadsWithAddressesOfTheirOwnDoNotDisturbEachOther)
{
	constexpr unsigned kThreads = 4;
	Map m(12, GetParam());
	std::atomic<unsigned> wrong{0};

	// Few enough for every bucket to have room, so that nothing is given up.
	together(kThreads, [&](unsigned self) {
		for (std::uint32_t step = 1; step < 20000; step++) {
			const std::uint64_t addr = kBase + (self + kThreads * (step % 64)) * 4096;

			wrong += m.set(addr, step & LS_ADDR_ID_MASK);
			wrong += m.find(addr) != (step & LS_ADDR_ID_MASK);
			wrong += m.remove(addr) != (step & LS_ADDR_ID_MASK);
			wrong += m.find(addr) != 0;
		}
	});
	EXPECT_EQ(wrong, 0u);
}

INSTANTIATE_TEST_SUITE_P(BucketsOfAnAddress, AddressMapOfKind, testing::Bool());

TEST(AddressMap, WhatASecondBucketTookIsFoundChangedAndRemoved)
{
	Map m(10, true);
	const auto addrs = m.crowd(LS_ADDR_WAYS + 2);
	const std::uint64_t last = addrs[LS_ADDR_WAYS_FIRST];

	for (std::size_t i = 0; i < addrs.size(); i++)
		EXPECT_FALSE(m.set(addrs[i], 1 + i));
	EXPECT_GT(m.map.spilled, 0u);
	// With room in the first bucket again, an address has one place still.
	EXPECT_EQ(m.remove(addrs[0]), 1u);
	EXPECT_FALSE(m.set(last, 100));
	EXPECT_GT(m.map.spilled, 0u);
	EXPECT_EQ(m.remove(last), 100u);
	EXPECT_EQ(m.find(last), 0u);
	EXPECT_EQ(m.remove(last), 0u);
	for (std::size_t i = 1; i < addrs.size(); i++)
		EXPECT_EQ(m.remove(addrs[i]), i == LS_ADDR_WAYS_FIRST ? 0u : 1 + i);
	EXPECT_EQ(m.map.spilled, 0u);
}

TEST(AddressMap, ThreeFifthsFullOfObjectsItGivesUpNoneWithTwoBuckets)
{
	// As the module's map of kmalloc objects: pages of equal objects, all over the memory.
	for (const bool spread : {false, true}) {
		Map m(14, spread);
		std::mt19937_64 random(5);
		std::map<std::uint64_t, std::uint32_t> model;
		unsigned given_up = 0;

		while (model.size() < (3u << 14) / 5) {
			const std::uint64_t page = kBase + random() % 400000 * 4096;
			const unsigned size = 64u << random() % 5;

			for (std::uint64_t addr = page; addr < page + 4096; addr += size) {
				const std::uint32_t id = 1 + random() % LS_ADDR_ID_MASK;

				given_up += m.set(addr, id);
				model[addr] = id;
			}
		}
		if (!spread) {
			EXPECT_GT(given_up, 100u);
			continue;
		}
		EXPECT_EQ(given_up, 0u);
		for (const auto &[addr, id] : model)
			ASSERT_EQ(m.remove(addr), id);
		EXPECT_EQ(m.map.spilled, 0u);
	}
}

} // namespace
} // namespace lockscope::test
