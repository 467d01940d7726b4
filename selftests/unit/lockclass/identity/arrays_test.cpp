// SPDX-License-Identifier: GPL-2.0
// Arrays of locks: regular distances under one acquire site, and nothing else.
#include <gtest/gtest.h>

#include "core.h"

namespace lockscope::test {
namespace {

constexpr std::uint32_t kSpin = LS_KIND_SPINLOCK;
constexpr std::uint64_t kType = 7, kIp = 0xffffffff81001000, kOther = 0xffffffff81002000;

struct Arrays {
	explicit Arrays(std::uint32_t max = 200, std::uint32_t bits = 10)
		: slots(ls_tagtab_bytes(bits)), table((max + 1) * sizeof(ls_array))
	{
		ls_arrays_init(&all, slots.get(), bits, static_cast<ls_array *>(table.get()), max);
	}
	const ls_array *see(std::uint32_t offset, std::uint64_t ip = kIp,
			    std::uint64_t type = kType, std::uint32_t kind = kSpin)
	{
		return ls_arrays_see(&all, type, kind, offset, ip, &full);
	}
	const ls_array *find(std::uint32_t offset, std::uint32_t kind = kSpin) const
	{
		return ls_arrays_find(&all, kType, kind, offset);
	}
	// The code at kIp takes enough elements from @first on, @stride apart.
	const ls_array *fill(std::uint32_t first, std::uint32_t stride)
	{
		const ls_array *array = nullptr;

		for (std::uint32_t i = 0; i < LS_ARRAY_ELEMENTS; i++)
			array = see(first + i * stride);
		return array;
	}

	Zeroed slots, table;
	ls_arrays all{};
	bool full = false;
};

TEST(Arrays, RegularElementsOfOneSiteAreAnArray)
{
	Arrays a;

	for (std::uint32_t i = 0; i + 1 < LS_ARRAY_ELEMENTS; i++)
		EXPECT_EQ(a.see(24 + i * 64), nullptr) << i;
	const ls_array *array = a.see(24 + LS_ARRAY_ELEMENTS * 64);
	ASSERT_NE(array, nullptr);
	EXPECT_EQ(array->stride, 64u);
	EXPECT_EQ(array->first, 24u);
}

TEST(Arrays, AnElementIsKnownWhicheverSiteTakesIt)
{
	Arrays a;
	const ls_array *array = a.fill(0, 32);

	ASSERT_NE(array, nullptr);
	EXPECT_EQ(a.see(5 * 32, kOther), array);
	EXPECT_EQ(a.see(5 * 32 + 8, kOther), nullptr) << "another member of the element";
	EXPECT_EQ(a.find(5 * 32, LS_KIND_MUTEX), nullptr) << "another kind";
	EXPECT_EQ(a.find(32 * LS_ARRAY_ELEMENTS * 4), nullptr) << "far behind the last";
}

TEST(Arrays, MembersOfAStructureAreNone)
{
	Arrays a;
	std::uint32_t offset = 0;

	// Eight bytes is all that distances of members have in common, and most places are empty.
	for (std::uint32_t i = 0; i < 64; i++, offset += 8 * (i % 7 + 2))
		EXPECT_EQ(a.see(offset), nullptr) << i;
}

TEST(Arrays, DenseLocksAreAnArrayHoweverNear)
{
	Arrays a;

	EXPECT_NE(a.fill(16, 4), nullptr);
	EXPECT_FALSE(a.full);
}

TEST(Arrays, SoManyLocksAreAnArrayHoweverFewOfItsPlaces)
{
	Arrays a;

	// Spinlocks of a hash table, at random.
	for (std::uint32_t i = 0; i + 1 < LS_ARRAY_MANY; i++)
		EXPECT_EQ(a.see(i * i * 4), nullptr) << i;
	EXPECT_EQ(ls_arrays_taken(&a.all, kType, kSpin, kIp), LS_ARRAY_MANY - 1);
	EXPECT_EQ(ls_arrays_taken(&a.all, kType, kSpin, kOther), 0u);
	const ls_array *array = a.see(LS_ARRAY_MANY * LS_ARRAY_MANY * 4);
	ASSERT_NE(array, nullptr);
	EXPECT_EQ(array->stride, 4u);
}

TEST(Arrays, ManySitesThatTakeOneLockEachShowNone)
{
	Arrays a;

	for (std::uint32_t i = 0; i < 64; i++)
		EXPECT_EQ(a.see(i * 64, kIp + i * 16), nullptr);
}

TEST(Arrays, OneLockTakenOftenIsNone)
{
	Arrays a;

	for (int i = 0; i < 100; i++)
		EXPECT_EQ(a.see(64), nullptr);
}

TEST(Arrays, OneTypeSaysNothingOfAnother)
{
	Arrays a;

	ASSERT_NE(a.fill(0, 64), nullptr);
	EXPECT_EQ(a.see(64, kIp, kType + 1), nullptr);
}

TEST(Arrays, TwoMembersOfOneElementAreTwoArrays)
{
	Arrays a;
	const ls_array *one = a.fill(0, 712), *two = nullptr;

	for (std::uint32_t i = 0; i < LS_ARRAY_ELEMENTS; i++)
		two = a.see(16 + i * 712, kOther);
	ASSERT_NE(one, nullptr);
	ASSERT_NE(two, nullptr);
	EXPECT_NE(one, two);
}

TEST(Arrays, AFullTableMakesNoArrays)
{
	Arrays a(1, 4);

	EXPECT_EQ(a.fill(0, 64), nullptr);
	EXPECT_LE(a.all.nr, 1u);
	EXPECT_TRUE(a.full);
}

TEST(Arrays, ManyThreadsFindTheSameArray)
{
	Arrays a;

	together(4, [&](unsigned) {
		bool full = false;

		for (std::uint32_t i = 0; i < LS_ARRAY_ELEMENTS; i++)
			ls_arrays_see(&a.all, kType, kSpin, i * 64, kIp, &full);
	});
	const ls_array *array = a.see(3 * 64);
	ASSERT_NE(array, nullptr);
	EXPECT_EQ(array->stride % 64, 0u);
}

} // namespace
} // namespace lockscope::test
