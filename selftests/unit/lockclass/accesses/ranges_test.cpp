// SPDX-License-Identifier: GPL-2.0
// Ranges of per-CPU memory: every byte of a range finds it, no byte beside it does.
#include <atomic>
#include <map>
#include <random>
#include <thread>

#include <gtest/gtest.h>

#include "core.h"

namespace lockscope::test {
namespace {

// As the offsets of a chunk from vmalloc space.
constexpr std::uint64_t kBase = 0x410012345000ull;

struct Ranges {
	explicit Ranges(std::uint32_t max = 4096, std::uint32_t bits = 16)
		: ranges(max * sizeof(ls_range)), grains(ls_addrmap_bytes(bits))
	{
		ls_ranges_init(&table, static_cast<ls_range *>(ranges.get()), max, grains.get(),
			       bits);
	}
	bool add(std::uint64_t start, std::uint64_t size, std::uint64_t site = 1)
	{
		const ls_range r{start, start + size, site, nullptr};
		return ls_ranges_add(&table, &r);
	}
	bool remove(std::uint64_t start) { return ls_ranges_remove(&table, start); }
	// Site of the range around @at, 0 when there is none.
	std::uint64_t site(std::uint64_t at) const
	{
		ls_range r{};
		return ls_ranges_find(&table, at, &r) ? r.site : 0;
	}

	Zeroed ranges, grains;
	ls_ranges table{};
};

TEST(Ranges, EveryByteOfARangeFindsItWhateverItsSizeAndPlace)
{
	for (std::uint64_t size :
	     {4, 8, 12, 28, 32, 36, 200, 256, 1000, 2048, 4096, 20000, 65536}) {
		for (std::uint64_t start : {kBase, kBase + 4, kBase + 36, kBase + 2044}) {
			Ranges t;

			ASSERT_TRUE(t.add(start, size, 7));
			for (std::uint64_t at = start; at < start + size; at++)
				ASSERT_EQ(t.site(at), 7u) << size << " at " << at - start;
			EXPECT_EQ(t.site(start - 1), 0u) << size;
			EXPECT_EQ(t.site(start + size), 0u) << size;
			ASSERT_TRUE(t.remove(start));
			for (std::uint64_t at = start; at < start + size; at++)
				ASSERT_EQ(t.site(at), 0u) << size;
		}
	}
}

TEST(Ranges, NeighboursOfAnySizesAreKeptApart)
{
	Ranges t;
	std::mt19937_64 random(1);
	std::map<std::uint64_t, std::pair<std::uint64_t, std::uint64_t>> model;
	std::uint64_t at = kBase;

	for (std::uint64_t n = 1; n <= 2000; n++) {
		const std::uint64_t size = 4 * (1 + random() % (n % 10 ? 16 : 3000));

		ASSERT_TRUE(t.add(at, size, n));
		model[at] = {size, n};
		at += size + 4 * (random() % 3);
	}
	for (int round = 0; round < 2; round++) {
		for (std::uint64_t p = kBase - 8; p < at + 8; p += 4) {
			auto next = model.upper_bound(p);
			std::uint64_t expected = 0;

			if (next != model.begin()) {
				--next;
				if (p < next->first + next->second.first)
					expected = next->second.second;
			}
			ASSERT_EQ(t.site(p), expected) << p - kBase;
		}
		for (auto it = model.begin(); it != model.end();) {
			if (random() % 2) {
				ASSERT_TRUE(t.remove(it->first));
				it = model.erase(it);
			} else {
				++it;
			}
		}
	}
}

TEST(Ranges, OnlyAStartRemovesARange)
{
	Ranges t;

	ASSERT_TRUE(t.add(kBase, 64));
	EXPECT_FALSE(t.remove(kBase + 4));
	EXPECT_FALSE(t.remove(kBase + 64));
	EXPECT_EQ(t.site(kBase + 63), 1u);
	EXPECT_TRUE(t.remove(kBase));
	EXPECT_FALSE(t.remove(kBase));
}

TEST(Ranges, ARangeWhoseEndWasMissedMakesRoom)
{
	Ranges t;

	ASSERT_TRUE(t.add(kBase, 400, 1));
	ASSERT_TRUE(t.add(kBase, 32, 2));
	EXPECT_EQ(t.site(kBase + 16), 2u);
	EXPECT_EQ(t.site(kBase + 100), 0u);
	// And one whose start lies inside of it.
	ASSERT_TRUE(t.add(kBase + 16, 8, 3));
	EXPECT_EQ(t.site(kBase + 20), 3u);
	EXPECT_EQ(t.site(kBase), 0u);
}

TEST(Ranges, AFullTableRefusesWithoutATrace)
{
	Ranges t(8, 10);
	std::uint64_t nr = 0;

	while (t.add(kBase + nr * 64, 64, nr + 1))
		nr++;
	EXPECT_EQ(nr, 7u);
	EXPECT_EQ(t.site(kBase + nr * 64), 0u);
	EXPECT_TRUE(t.remove(kBase));
	EXPECT_TRUE(t.add(kBase + nr * 64, 64, 9));
	EXPECT_EQ(t.site(kBase + nr * 64 + 63), 9u);
}

TEST(Ranges, FullGrainsRefuseWithoutATrace)
{
	Ranges t(4096, 4);
	std::uint64_t nr = 0;

	while (t.add(kBase + nr * 32, 28, nr + 1))
		nr++;
	EXPECT_LT(nr, 16u);
	for (std::uint64_t at = 0; at < 28; at += 4)
		EXPECT_EQ(t.site(kBase + nr * 32 + at), 0u);
	for (std::uint64_t n = 0; n < nr; n++)
		EXPECT_TRUE(t.remove(kBase + n * 32));
	for (std::uint32_t n = 0; n < 16; n++)
		EXPECT_EQ(t.table.grains.slots[n], 0u);
}

TEST(Ranges, TensOfThousandsFindRoomAtTheModulesSizes)
{
	Ranges t(32768, 18);
	std::uint64_t refused = 0;

	for (std::uint64_t n = 0; n < 20000; n++)
		refused += !t.add(kBase + n * 24, 20, n + 1);
	EXPECT_EQ(refused, 0u);
	EXPECT_EQ(t.site(kBase + 19999 * 24 + 19), 20000u);
}

TEST(Ranges, ALookupBesideChangesFindsTheWholeRangeOrNothing)
{
	Ranges t;
	std::atomic<bool> over{false};
	std::thread writer([&] {
		for (std::uint64_t n = 0; n < 20000; n++) {
			// Two that take turns at one place, of different sizes.
			const std::uint64_t size = n % 2 ? 64 : 512;

			ASSERT_TRUE(t.add(kBase, size, size));
			ASSERT_TRUE(t.remove(kBase));
		}
		over = true;
	});
	while (!over) {
		ls_range r{};

		if (ls_ranges_find(&t.table, kBase + 40, &r)) {
			EXPECT_EQ(r.start, kBase);
			EXPECT_TRUE(r.site == 64 || r.site == 512);
		}
	}
	writer.join();
}

} // namespace
} // namespace lockscope::test
