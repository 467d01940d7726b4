// SPDX-License-Identifier: GPL-2.0
// The tagged table under its hooks: one word a slot, no locks, bounded runs.
#include <atomic>
#include <map>
#include <random>

#include <gtest/gtest.h>

#include "core.h"

namespace lockscope::test {
namespace {

struct Table {
	explicit Table(std::uint32_t bits) : bits(bits), memory(ls_tagtab_bytes(bits))
	{
		ls_tagtab_init(&tab, memory.get(), bits);
	}
	// A key that lives in @place when nothing is in its way.
	std::uint64_t key_at(std::uint64_t place, std::uint64_t tag) const
	{
		return place << (64 - bits) | tag;
	}
	std::uint32_t find(std::uint64_t key) const { return ls_tagtab_find(&tab, key); }
	std::uint32_t insert(std::uint64_t key, std::uint32_t id)
	{
		return ls_tagtab_insert(&tab, key, id);
	}

	std::uint32_t bits;
	Zeroed memory;
	ls_tagtab tab{};
};

TEST(TagTable, FindsWhatWasInsertedAndNothingElse)
{
	Table t(8);

	EXPECT_EQ(t.find(ls_mix(1)), 0u);
	EXPECT_EQ(t.insert(ls_mix(1), 7), 7u);
	EXPECT_EQ(t.find(ls_mix(1)), 7u);
	EXPECT_EQ(t.find(ls_mix(2)), 0u);
}

TEST(TagTable, KeepsTheLargestIdWhole)
{
	Table t(8);

	EXPECT_EQ(t.insert(ls_mix(5), LS_TAG_ID_MASK), LS_TAG_ID_MASK);
	EXPECT_EQ(t.find(ls_mix(5)), LS_TAG_ID_MASK);
}

TEST(TagTable, ALineHasTheFirstEightPlacesOfAKey)
{
	Table t(8);

	// All want place 19: each next one lies one place further along.
	for (std::uint32_t id = 1; id <= 9; id++)
		t.insert(t.key_at(19, id), id);
	for (std::uint32_t id = 1; id <= 9; id++) {
		const std::uint64_t key = t.key_at(19, id);
		EXPECT_EQ(ls_tag_match(ls_tagtab_first(&t.tab, key), key), id <= 2) << id;
		EXPECT_EQ(ls_tagtab_below(&t.tab, key, LS_TAG_ID_MASK), id <= 8) << id;
		EXPECT_EQ(ls_tagtab_below(&t.tab, key, 5), id < 5) << id;
		EXPECT_EQ(t.find(key), id);
	}
	EXPECT_FALSE(ls_tagtab_below(&t.tab, t.key_at(19, 10), LS_TAG_ID_MASK));
}

TEST(TagTable, TheFirstInsertOfAKeyWins)
{
	Table t(8);

	EXPECT_EQ(t.insert(ls_mix(1), 7), 7u);
	EXPECT_EQ(t.insert(ls_mix(1), 8), 7u);
	EXPECT_EQ(t.find(ls_mix(1)), 7u);
}

TEST(TagTable, TheFastLookupShowsAKeyInItsFirstTwoPlacesOnly)
{
	Table t(8);
	const std::uint64_t keys[] = {t.key_at(9, 100), t.key_at(9, 200), t.key_at(9, 300)};

	for (std::uint32_t i = 0; i < 3; i++)
		t.insert(keys[i], i + 1);
	for (std::uint32_t i = 0; i < 3; i++) {
		const std::uint64_t slot = ls_tagtab_first(&t.tab, keys[i]);

		EXPECT_EQ(ls_tag_match(slot, keys[i]), i < 2) << "key " << i;
		EXPECT_EQ(t.find(keys[i]), i + 1);
	}
}

TEST(TagTable, AnEmptySlotMatchesNoIdOfTheKeyWhoseTagIsZero)
{
	Table t(8);

	// The tag of this key is that of an empty slot.
	EXPECT_EQ(t.find(t.key_at(3, 0)), 0u);
	t.insert(t.key_at(3, 0), 4);
	EXPECT_EQ(t.find(t.key_at(3, 0)), 4u);
}

TEST(TagTable, ARemovedSlotMatchesNoKeyWhoseTagIsTheTombstones)
{
	Table t(8);

	t.insert(t.key_at(3, 50), 4);
	ls_tagtab_remove(&t.tab, t.key_at(3, 50));
	EXPECT_EQ(t.find(t.key_at(3, 1)), 0u);
	EXPECT_EQ(t.insert(t.key_at(3, 1), 9), 9u);
	EXPECT_EQ(t.find(t.key_at(3, 1)), 9u);
}

TEST(TagTable, RemovalDoesNotCutOffKeysBehindIt)
{
	Table t(8);

	for (std::uint32_t i = 1; i <= 5; i++)
		t.insert(t.key_at(20, 100 + i), i);
	ls_tagtab_remove(&t.tab, t.key_at(20, 102));
	EXPECT_EQ(t.find(t.key_at(20, 102)), 0u);
	for (std::uint32_t i : {1u, 3u, 4u, 5u})
		EXPECT_EQ(t.find(t.key_at(20, 100 + i)), i);
}

TEST(TagTable, AReusedTombstoneDoesNotHideALaterDuplicate)
{
	Table t(8);

	t.insert(t.key_at(20, 101), 1);
	t.insert(t.key_at(20, 102), 2);
	ls_tagtab_remove(&t.tab, t.key_at(20, 101));
	// The free place lies before the key's own.
	EXPECT_EQ(t.insert(t.key_at(20, 102), 3), 2u);
	EXPECT_EQ(t.insert(t.key_at(20, 103), 4), 4u);
	EXPECT_EQ(t.find(t.key_at(20, 102)), 2u);
}

TEST(TagTable, RemovingWhatIsNotThereChangesNothing)
{
	Table t(8);

	t.insert(t.key_at(20, 101), 1);
	ls_tagtab_remove(&t.tab, t.key_at(20, 102));
	ls_tagtab_remove(&t.tab, t.key_at(77, 102));
	EXPECT_EQ(t.find(t.key_at(20, 101)), 1u);
}

TEST(TagTable, ARunNearTheEndStaysInsideTheTable)
{
	Table t(4);

	for (std::uint32_t i = 1; i <= 6; i++)
		EXPECT_EQ(t.insert(t.key_at(13, 100 + i), i), i);
	for (std::uint32_t i = 1; i <= 6; i++)
		EXPECT_EQ(t.find(t.key_at(13, 100 + i)), i);
}

TEST(TagTable, ARunEndsAtTheProbeLimit)
{
	Table t(9);

	for (std::uint32_t i = 1; i <= LS_TAG_PROBES; i++)
		ASSERT_EQ(t.insert(t.key_at(0, 1000 + i), i), i);
	EXPECT_EQ(t.insert(t.key_at(0, 5000), 500), 0u);
	EXPECT_EQ(t.find(t.key_at(0, 5000)), 0u);
	EXPECT_EQ(t.find(t.key_at(0, 1000 + LS_TAG_PROBES)), std::uint32_t{LS_TAG_PROBES});
}

TEST(TagTable, ASmallTableFillsToItsLastSlot)
{
	Table t(4);

	for (std::uint32_t i = 1; i <= 16; i++)
		ASSERT_EQ(t.insert(ls_mix(i), i), i);
	EXPECT_EQ(t.insert(ls_mix(17), 17), 0u);
	EXPECT_EQ(t.find(ls_mix(17)), 0u);
	ls_tagtab_remove(&t.tab, ls_mix(4));
	EXPECT_EQ(t.insert(ls_mix(17), 17), 17u);
}

TEST(TagTable, AnIdIsChangedOnlyFromWhatItIs)
{
	Table t(8);

	EXPECT_FALSE(ls_tagtab_change(&t.tab, t.key_at(20, 101), 1, 2));
	t.insert(t.key_at(20, 101), 1);
	t.insert(t.key_at(20, 102), 5);
	EXPECT_FALSE(ls_tagtab_change(&t.tab, t.key_at(20, 102), 1, 2));
	EXPECT_TRUE(ls_tagtab_change(&t.tab, t.key_at(20, 102), 5, 6));
	EXPECT_EQ(t.find(t.key_at(20, 101)), 1u);
	EXPECT_EQ(t.find(t.key_at(20, 102)), 6u);
}

TEST(TagTable, AgreesWithAMap)
{
	std::mt19937_64 random(1);

	for (int round = 0; round < 50; round++) {
		Table t(7);
		std::map<std::uint64_t, std::uint32_t> model;

		for (int step = 0; step < 600; step++) {
			const std::uint64_t key = ls_mix(1 + random() % 60);
			const std::uint32_t id = 1 + random() % 1000;

			switch (random() % 3) {
			case 0:
				EXPECT_EQ(t.insert(key, id),
					  model.try_emplace(key, id).first->second);
				break;
			case 1:
				ls_tagtab_remove(&t.tab, key);
				model.erase(key);
				break;
			default:
				EXPECT_EQ(t.find(key), model.contains(key) ? model[key] : 0);
			}
		}
	}
}

TEST(TagTable, RacingInsertsOfOneKeyAgreeOnOneId)
{
	constexpr std::uint32_t kKeys = 3000, kThreads = 4;
	Table t(13);
	std::vector<std::vector<std::uint32_t>> got(kThreads, std::vector<std::uint32_t>(kKeys));

	together(kThreads, [&](unsigned self) {
		for (std::uint32_t k = 0; k < kKeys; k++)
			got[self][k] = t.insert(ls_mix(k + 1), 1 + k * kThreads + self);
	});
	for (std::uint32_t k = 0; k < kKeys; k++) {
		const std::uint32_t id = t.find(ls_mix(k + 1));

		EXPECT_EQ((id - 1) / kThreads, k);
		for (const auto &ids : got)
			EXPECT_EQ(ids[k], id);
	}
}

TEST(TagTable, ReadersSeeAKeyWithItsIdOrNotAtAllWhileItComesAndGoes)
{
	constexpr std::uint32_t kKeys = 64;
	Table t(7);
	std::atomic<bool> wrong{false};

	together(3, [&](unsigned self) {
		std::mt19937 random(self);

		for (int step = 0; step < 60000; step++) {
			const std::uint32_t k = random() % kKeys;

			// One writer for each key: removal may not race with its insert.
			if (self < 2 && k % 2 == self) {
				if (random() % 2)
					t.insert(ls_mix(k + 1), k + 1);
				else
					ls_tagtab_remove(&t.tab, ls_mix(k + 1));
				continue;
			}
			const std::uint32_t id = t.find(ls_mix(k + 1));

			if (id && id != k + 1)
				wrong = true;
		}
	});
	EXPECT_FALSE(wrong);
}

} // namespace
} // namespace lockscope::test
