// SPDX-License-Identifier: GPL-2.0
#include "support.h"

#include "symbolize/fields.h"
#include "symbolize/lines.h"
#include "symbolize/symbols.h"

using namespace lockscope;
using namespace lockscope::test;

TEST(SymbolTable, FindsTheFunctionOfAReturnAddress)
{
	auto table = SymbolTable::parse("ffffffff81000000 T first\n"
					"ffffffff81000100 t second\n"
					"ffffffff81000100 T alias\n"
					"ffffffff81000200 D data\n"
					"ffffffffc0000000 t in_module\t[mod]\n");
	ASSERT_TRUE(table.ok());
	auto at = table->find(0xffffffff81000010);
	ASSERT_TRUE(at);
	EXPECT_EQ(at->function, "first");
	EXPECT_EQ(at->offset, 0x10u);
	EXPECT_EQ(at->module, "vmlinux");
	/* A call at the very end of a function returns to the next one. */
	EXPECT_EQ(table->find(0xffffffff81000100)->function, "first");
	EXPECT_EQ(table->find(0xffffffff81000101)->function, "second");
	EXPECT_EQ(table->find(0xffffffffc0000004)->module, "mod");
	EXPECT_FALSE(table->find(0));
	EXPECT_FALSE(table->find(0x1000));
	EXPECT_FALSE(table->find(0xffffffffd0000000));
}

TEST(SymbolTable, HiddenAddressesAndNothingAreErrors)
{
	auto hidden = SymbolTable::parse("0000000000000000 T first\n");
	ASSERT_FALSE(hidden.ok());
	EXPECT_NE(hidden.error().what.find("hides"), std::string::npos);
	EXPECT_FALSE(hidden.error().hint.empty());
	EXPECT_FALSE(SymbolTable::parse("").ok());
	EXPECT_FALSE(SymbolTable::parse("junk\n\nx y z\n").ok());
}

TEST(Fields, WordsOfNames)
{
	EXPECT_EQ(FieldNames::similarity("ext4_inode_cache", "ext4_inode_info"), 2);
	EXPECT_EQ(FieldNames::similarity("UNIX-STREAM", "unix_sock"), 1);
	EXPECT_EQ(FieldNames::similarity("sock_inode_cache", "socket_alloc"), 1);
	EXPECT_EQ(FieldNames::similarity("anything_cache", "other_cache"), 0);
}

TEST(Fields, WithoutTypesThereAreNoFields)
{
	TempDir dir;
	EXPECT_EQ(FieldNames(dir.path()).find("dentry", 192, 88, LS_KIND_SPINLOCK), "");
	spill(dir / "vmlinux", "not BTF");
	EXPECT_EQ(FieldNames(dir.path()).find("dentry", 192, 88, LS_KIND_SPINLOCK), "");
}

TEST(Fields, RealTypesWhereTheyAreThere)
{
	if (access("/sys/kernel/btf/vmlinux", R_OK) != 0)
		GTEST_SKIP() << "no BTF on this kernel";
	FieldNames names;
	/* By the cache's own name, whatever the size. */
	EXPECT_EQ(names.find("no_such_cache", 1, 0, LS_KIND_SPINLOCK), "");
	bool found = false;
	for (std::uint32_t offset = 0; offset < 400 && !found; offset += 4)
		found = names.find("dentry", 0, offset, LS_KIND_SPINLOCK) ==
			"struct dentry.d_lockref.lock";
	EXPECT_TRUE(found);
}

TEST(Lines, PathsAsDevelopersKnowThem)
{
	EXPECT_EQ(source_path("./fs/ext4/inode.c", "/build/linux"), "fs/ext4/inode.c");
	EXPECT_EQ(source_path("/build/linux/fs/inode.c", "/build/linux"), "fs/inode.c");
	EXPECT_EQ(source_path("/elsewhere/driver/main.c", "/build/linux"), "driver/main.c");
	EXPECT_EQ(source_path("/elsewhere/driver/main.c", ""), "driver/main.c");
}

TEST(Lines, NothingIsFoundWhereNothingIs)
{
	TempDir dir;
	LineFinder finder("0.0.0", {dir.path(), dir / "missing"});
	EXPECT_TRUE(finder.find("mod", "aabb", "f", 10).empty());
	spill(dir / "mod.ko", "not ELF");
	LineFinder again("0.0.0", {dir.path()});
	EXPECT_TRUE(again.find("mod", "aabb", "f", 10).empty());
	EXPECT_TRUE(again.find("mod", "", "f", 10).empty());
}
