// SPDX-License-Identifier: GPL-2.0
// Lock classes: one identity, one id, for any number of concurrent users.
#include <cstring>
#include <set>

#include <gtest/gtest.h>

#include "core.h"

namespace lockscope::test {
namespace {

struct Classes {
	explicit Classes(std::uint32_t max, std::uint32_t bits = 10)
		: keys(ls_tagtab_bytes(bits)), table((max + 1) * sizeof(ls_class))
	{
		ls_classes_init(&all, keys.get(), bits, static_cast<ls_class *>(table.get()), max);
	}
	static ls_class lock_at(std::uint64_t addr, std::uint64_t cache = 0)
	{
		ls_class c{};

		c.kind = LS_KIND_MUTEX;
		c.origin = cache ? LS_ORIGIN_SLAB : LS_ORIGIN_STATIC;
		c.addr = addr;
		c.cache = cache;
		c.key = cache ? ls_key_slab(cache, static_cast<std::uint32_t>(addr), LS_KIND_MUTEX)
			      : ls_key_address(addr);
		return c;
	}
	std::uint32_t add(const ls_class &c)
	{
		created = false;
		return ls_classes_add(&all, &c, &created);
	}
	std::uint32_t find(const ls_class &c) const { return ls_classes_find(&all, c.key); }

	Zeroed keys, table;
	ls_classes all{};
	bool created = false;
};

TEST(Classes, AnIdentityKeepsTheIdItGotFirst)
{
	Classes c(10);
	const ls_class a = Classes::lock_at(0x1000), b = Classes::lock_at(0x2000);

	EXPECT_EQ(c.find(a), LS_CLASS_NONE + 0u);
	EXPECT_EQ(c.add(a), 1u);
	EXPECT_TRUE(c.created);
	EXPECT_EQ(c.add(b), 2u);
	EXPECT_EQ(c.add(a), 1u);
	EXPECT_FALSE(c.created);
	EXPECT_EQ(c.find(a), 1u);
	EXPECT_EQ(c.all.nr, 2u);
}

TEST(Classes, AClassIsReadyWithAllItWasMadeOf)
{
	Classes c(10);
	ls_class a = Classes::lock_at(0x1000);

	ls_copy_label(a.label, "inode_cache", sizeof(a.label));
	a.offset = 0x1a8;
	a.object_size = 640;
	a.canonical = 77; // a name is the thread's to give
	const ls_class &made = c.all.table[c.add(a)];

	EXPECT_EQ(made.state, LS_CLASS_READY);
	EXPECT_STREQ(made.label, "inode_cache");
	EXPECT_EQ(made.offset, 0x1a8u);
	EXPECT_EQ(made.object_size, 640u);
	EXPECT_EQ(made.kind, LS_KIND_MUTEX);
	EXPECT_EQ(made.canonical, 0u);
}

TEST(Classes, AFullTableSaysSoAndStillFindsItsOwn)
{
	Classes c(3);

	for (std::uint64_t i = 1; i <= 3; i++)
		EXPECT_EQ(c.add(Classes::lock_at(i * 0x100)), i);
	EXPECT_EQ(c.add(Classes::lock_at(0x9000)), LS_CLASS_NONE + 0u);
	EXPECT_FALSE(c.created);
	EXPECT_EQ(c.add(Classes::lock_at(0x200)), 2u);
	EXPECT_EQ(c.all.nr, 3u);
}

TEST(Classes, NoMoreIdsThanAHeldWordCanName)
{
	Classes c(1);

	// Only the bound is looked at: no table of that size is needed.
	ls_classes_init(&c.all, c.keys.get(), 10, static_cast<ls_class *>(c.table.get()), 1u << 24);
	EXPECT_EQ(c.all.max, LS_VAL_CLASS_MASK);
}

TEST(Classes, AnIdWithoutAKeyBecomesAHole)
{
	// A table of 16 keys: the seventeenth class gets an id but no key.
	Classes c(100, 4);

	for (std::uint64_t i = 1; i <= 16; i++)
		EXPECT_EQ(c.add(Classes::lock_at(i * 0x100)), i);
	EXPECT_EQ(c.add(Classes::lock_at(0x9000)), LS_CLASS_NONE + 0u);
	EXPECT_EQ(c.all.table[17].state, LS_CLASS_HOLE);
}

TEST(Classes, AnAliasLeadsToTheSameClass)
{
	Classes c(10);
	const std::uint32_t id = c.add(Classes::lock_at(0x1000));

	ls_classes_alias(&c.all, ls_key_address(0x5000), id);
	EXPECT_EQ(ls_classes_find(&c.all, ls_key_address(0x5000)), id);
}

TEST(Classes, AnAliasDoesNotTakeAKeyFromItsClass)
{
	Classes c(10);
	const ls_class a = Classes::lock_at(0x1000), b = Classes::lock_at(0x2000);

	c.add(a);
	c.add(b);
	ls_classes_alias(&c.all, a.key, 2);
	EXPECT_EQ(c.find(a), 1u);
}

TEST(Classes, AnUnloadedModulesLocksAreForgottenAndNobodyElses)
{
	Classes c(10);
	const ls_class before = Classes::lock_at(0x0fff), first = Classes::lock_at(0x1000),
		       last = Classes::lock_at(0x1fff), behind = Classes::lock_at(0x2000);

	for (const ls_class &lock : {before, first, last, behind})
		c.add(lock);
	ls_classes_forget_range(&c.all, 0x1000, 0x2000);
	EXPECT_EQ(c.find(before), 1u);
	EXPECT_EQ(c.find(first), 0u);
	EXPECT_EQ(c.find(last), 0u);
	EXPECT_EQ(c.find(behind), 4u);
	// A later lock at this address is another one.
	EXPECT_EQ(c.add(first), 5u);
	EXPECT_TRUE(c.created);
	EXPECT_EQ(c.all.table[2].state, LS_CLASS_READY);
}

TEST(Classes, AliasesAreForgottenWithTheirClass)
{
	Classes c(10);
	const std::uint32_t gone = c.add(Classes::lock_at(0x1000)),
			    stays = c.add(Classes::lock_at(0x2000));

	ls_classes_alias(&c.all, ls_key_address(0x5000), gone);
	ls_classes_alias(&c.all, ls_key_address(0x6000), stays);
	ls_classes_forget_range(&c.all, 0x1000, 0x2000);
	EXPECT_EQ(ls_classes_find(&c.all, ls_key_address(0x5000)), 0u);
	EXPECT_EQ(ls_classes_find(&c.all, ls_key_address(0x6000)), stays);
}

TEST(Classes, ADestroyedCachesLocksAreForgottenAndNobodyElses)
{
	Classes c(10);
	const ls_class here = Classes::lock_at(0x40, 0xc000),
		       there = Classes::lock_at(0x40, 0xd000), fixed = Classes::lock_at(0x40);

	c.add(here);
	c.add(there);
	c.add(fixed);
	ls_classes_forget_cache(&c.all, 0xc000);
	EXPECT_EQ(c.find(here), 0u);
	EXPECT_EQ(c.find(there), 2u);
	EXPECT_EQ(c.find(fixed), 3u);
}

TEST(Classes, KeysOfDifferentSortsDoNotMeet)
{
	std::set<std::uint64_t> keys;
	std::size_t made = 0;

	for (std::uint64_t at :
	     {0xffff888012345600ull, 0xffffffff81234560ull, 0xffffffffc0123450ull}) {
		for (std::uint64_t key :
		     {ls_key_address(at), ls_key_site(at), ls_key_slab(at, 0, 1),
		      ls_key_slab(at, 8, 1), ls_key_slab(at, 8, 3), ls_key_alloc(at, 8, 1, 1),
		      ls_key_alloc(at, 8, 3, 1), ls_key_alloc(at, 8, 1, 2),
		      ls_key_alloc(at, 16, 1, 1), ls_key_init(at, at), ls_key_init(at, at + 1)}) {
			keys.insert(key);
			made++;
		}
	}
	EXPECT_EQ(keys.size(), made);
}

TEST(Classes, LabelsAreCutAndAlwaysEnded)
{
	char label[8];

	std::memset(label, 'x', sizeof(label));
	ls_copy_label(label, "abc", sizeof(label));
	EXPECT_STREQ(label, "abc");
	EXPECT_EQ(label[7], 0);
	ls_copy_label(label, "abcdefghij", sizeof(label));
	EXPECT_STREQ(label, "abcdefg");
}

TEST(Classes, RacingForOneIdentityMakesOneClass)
{
	constexpr std::uint32_t kIdentities = 1500, kThreads = 4;
	Classes c(kIdentities * kThreads, 14);
	std::vector<std::vector<std::uint32_t>> got(kThreads,
						    std::vector<std::uint32_t>(kIdentities));
	std::uint32_t created[kThreads] = {}, ready = 0, holes = 0;

	together(kThreads, [&](unsigned self) {
		for (std::uint32_t i = 0; i < kIdentities; i++) {
			const ls_class lock = Classes::lock_at(0x1000 + i * 8);
			bool mine;

			got[self][i] = ls_classes_add(&c.all, &lock, &mine);
			created[self] += mine;
		}
	});
	for (std::uint32_t i = 0; i < kIdentities; i++) {
		EXPECT_NE(got[0][i], LS_CLASS_NONE + 0u);
		for (std::uint32_t t = 1; t < kThreads; t++)
			EXPECT_EQ(got[t][i], got[0][i]);
		EXPECT_EQ(c.all.table[got[0][i]].addr, 0x1000u + i * 8);
	}
	for (std::uint32_t id = 1; id <= c.all.nr; id++) {
		ready += c.all.table[id].state == LS_CLASS_READY;
		holes += c.all.table[id].state == LS_CLASS_HOLE;
	}
	EXPECT_EQ(ready, kIdentities);
	EXPECT_EQ(ready + holes, c.all.nr);
	EXPECT_EQ(created[0] + created[1] + created[2] + created[3], kIdentities);
}

} // namespace
} // namespace lockscope::test
