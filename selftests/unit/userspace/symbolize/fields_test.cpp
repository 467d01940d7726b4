// SPDX-License-Identifier: GPL-2.0
// Fields of types, by BTF.
#include "support.h"
#include "symbolize/small_types.h"

#include "symbolize/class_field.h"
#include "symbolize/data_names.h"
#include "symbolize/fields.h"

#include <algorithm>
#include <filesystem>
#include <set>

#include <bpf/btf.h>

using namespace lockscope;
using namespace lockscope::test;

TEST(Fields, WordsOfNames)
{
	EXPECT_EQ(FieldNames::similarity("ext4_inode_cache", "ext4_inode_info"), 2);
	EXPECT_EQ(FieldNames::similarity("UNIX-STREAM", "unix_sock"), 1);
	EXPECT_EQ(FieldNames::similarity("sock_inode_cache", "socket_alloc"), 1);
	EXPECT_EQ(FieldNames::similarity("TCPv6", "tcp6_sock"), 1);
	EXPECT_EQ(FieldNames::similarity("TCPv6", "tcp_sock"), 1);
	EXPECT_EQ(FieldNames::similarity("UDPv6", "tcp6_sock"), 0);
	EXPECT_EQ(FieldNames::similarity("anything_cache", "other_cache"), 0);
}

TEST(Fields, WithoutTypesThereAreNoFields)
{
	TempDir dir;
	EXPECT_EQ(FieldNames(dir.path()).find("dentry", 192, 88, LS_KIND_SPINLOCK).path, "");
	spill(dir / "vmlinux", "not BTF");
	EXPECT_EQ(FieldNames(dir.path()).find("dentry", 192, 88, LS_KIND_SPINLOCK).path, "");
}

TEST(Fields, RealTypesWhereTheyAreThere)
{
	if (access("/sys/kernel/btf/vmlinux", R_OK) != 0)
		GTEST_SKIP() << "no BTF on this kernel";
	FieldNames names;
	/* By the cache's own name, whatever the size. */
	EXPECT_EQ(names.find("no_such_cache", 1, 0, LS_KIND_SPINLOCK).path, "");
	bool found = false;
	for (std::uint32_t offset = 0; offset < 400 && !found; offset += 4)
		found = names.find("dentry", 0, offset, LS_KIND_SPINLOCK).path ==
			"struct dentry.d_lockref.lock";
	EXPECT_TRUE(found);
}

TEST_F(SmallTypes, ACacheOfItsOwnHasItsType)
{
	EXPECT_EQ(names.type_of_cache("both", 32), "struct both");
	EXPECT_EQ(names.find("both", 32, 4, LS_KIND_SPINLOCK).path, "struct both.spin");
	merge({"both"});
	EXPECT_FALSE(names.merged("both"));
	EXPECT_EQ(names.type_of_cache("both", 32), "struct both");
}

TEST_F(SmallTypes, AMergedCacheHasNoTypeAsThereAreSeveral)
{
	ClassFields classes(names);
	DataNames data(names, classes);
	const DataRecord record{0, 32, LS_DATA_SLAB, "vmlinux", "both"};
	EXPECT_EQ(data.type(record), "struct both");
	merge({"both", "owned"});
	for (const char *cache : {"both", "owned"}) {
		EXPECT_TRUE(names.merged(cache));
		EXPECT_EQ(names.type_of_cache(cache, 40), "");
		/* Only one of them has such a lock there. */
		EXPECT_EQ(names.find(cache, 40, 4, LS_KIND_SPINLOCK).path, "struct both.spin");
		EXPECT_EQ(names.find(cache, 40, 24, LS_KIND_SPINLOCK).path, "");
	}
	EXPECT_FALSE(names.merged("another"));
	EXPECT_EQ(data.type(record), "") << "merged since it was asked first";
}

TEST_F(SmallTypes, OneOfUnknownTypeInAMergedCacheMayHaveAnyLock)
{
	merge({"both", "nobodys_cache"});
	EXPECT_EQ(names.find("both", 32, 4, LS_KIND_SPINLOCK).path, "");
	EXPECT_EQ(names.find("nobodys_cache", 32, 4, LS_KIND_SPINLOCK).path, "");
	EXPECT_EQ(names.type_of_cache("both", 32), "");
}

TEST_F(SmallTypes, WhatAFunctionAllocatesIsWhatItHandsOut)
{
	EXPECT_EQ(names.type_of_allocation("both_create", 32), "struct both");
	EXPECT_EQ(names.type_of_allocation("owned_new", 64), "struct owned") << "40 take 64";
	/* Something else that it needs besides. */
	EXPECT_EQ(names.type_of_allocation("both_create", 64), "");
	EXPECT_EQ(names.type_of_allocation("owned_new", 32), "");
	/* A function with the object as argument did not allocate it. */
	EXPECT_EQ(names.type_of_allocation("owned_use", 64), "");
	/* Of two functions of that name the size may decide. */
	EXPECT_EQ(names.type_of_allocation("both_static", 16), "struct link");
	EXPECT_EQ(names.type_of_allocation("nobody_knows", 32), "");
}

TEST_F(SmallTypes, LocksOfAnObjectTellItsTypeTogether)
{
	add_module("mod");
	using Places = std::vector<FieldNames::LockPlace>;
	const auto of = [&](const char *module, const Places &places) {
		return names.type_of_object(module, 257, 512, places);
	};
	EXPECT_EQ(of("mod", {{64, LS_KIND_SPINLOCK}}), "struct unit");
	EXPECT_EQ(of("mod", {{64, LS_KIND_SPINLOCK}, {72, LS_KIND_SPINLOCK}}), "struct unit");
	/* One that is not there makes it another type, one of another kind as well. */
	EXPECT_EQ(of("mod", {{64, LS_KIND_SPINLOCK}, {80, LS_KIND_SPINLOCK}}), "");
	EXPECT_EQ(of("mod", {{64, LS_KIND_MUTEX}}), "");
	EXPECT_EQ(of("mod", {}), "");
	/* Types of a module say nothing of others' objects, nor do sizes that do not fit. */
	EXPECT_EQ(of("another", {{64, LS_KIND_SPINLOCK}}), "");
	EXPECT_EQ(names.type_of_object("mod", 513, 1024, {{64, LS_KIND_SPINLOCK}}), "");
	/* The kernel has so many types that one lock is chance. */
	EXPECT_EQ(names.type_of_object("mod", 17, 32, {{4, LS_KIND_SPINLOCK}}), "");
	EXPECT_EQ(names.type_of_object(
			  "mod", 17, 32,
			  {{0, LS_KIND_SPINLOCK}, {4, LS_KIND_SPINLOCK}, {12, LS_KIND_SPINLOCK}}),
		  "struct both");
	EXPECT_EQ(names.field("struct unit", 72, LS_KIND_SPINLOCK).path, "struct unit.list");
	EXPECT_EQ(names.field("struct unit", 72, LS_KIND_SPINLOCK).type, "raw_spinlock_t");
	EXPECT_EQ(names.field("struct unit", 76, LS_KIND_SPINLOCK).path, "");
}

TEST_F(SmallTypes, ObjectsMayEndWithAnArray)
{
	add_module("mod");
	const auto of = [&](std::uint32_t size) {
		return names.type_of_object("mod", size, size, {{8, LS_KIND_SPINLOCK}});
	};
	EXPECT_EQ(of(104), "struct head");
	EXPECT_EQ(of(104 + 3 * 24), "struct head");
	EXPECT_EQ(of(104 + 3 * 24 + 8), "") << "no whole number of elements";
}

TEST_F(SmallTypes, ACacheCalledAfterAStructAndMore)
{
	add_module("mod");
	const auto of = [&](const char *cache, std::uint32_t size) {
		return names.find(cache, size, 16, LS_KIND_SPINLOCK).path;
	};
	EXPECT_EQ(of("request_line_more", 300), "struct request_line.lock");
	EXPECT_EQ(of("request_line_more", 100), "") << "too short for one";
	EXPECT_EQ(of("request_lines", 300), "");
	/* One word is too little, of what is longer too. */
	EXPECT_EQ(names.find("unit_more", 500, 64, LS_KIND_SPINLOCK).path, "");
}

TEST_F(SmallTypes, ClassesOfAModulesMemory)
{
	add_module("mod");
	ClassFields classes(names);
	ClassRecord record;
	record.id = record.canonical = 1;
	record.kind = LS_KIND_SPINLOCK;
	record.origin = LS_ORIGIN_ALLOC;
	record.offset = 64;
	record.object_size = 512;
	record.module = "mod";
	record.name = "kmalloc-512+0x40 @ unit_probe";
	EXPECT_EQ(classes.find(record).path, "struct unit.busy");
	EXPECT_EQ(classes.allocated("unit_probe", "mod", 512), "struct unit");
	/* Another lock, where the only type has none: neither is known any more. */
	ClassRecord odd = record;
	odd.offset = 100;
	odd.name = "kmalloc-512+0x64 @ unit_probe";
	EXPECT_EQ(classes.find(odd).path, "");
	EXPECT_EQ(classes.find(record).path, "");
	/* What a function hands out is what it allocates. */
	record.name = "kmalloc-32+0x4 @ both_create";
	record.module = "vmlinux";
	record.offset = 4;
	record.object_size = 32;
	EXPECT_EQ(classes.find(record).path, "struct both.spin");
	/* A cache by the module that takes its locks. */
	record.origin = LS_ORIGIN_SLAB;
	record.name = "raid-mdN+0x8";
	record.offset = 8;
	record.object_size = 104 + 24;
	EXPECT_EQ(classes.find(record).path, "");
	record.module = "mod";
	EXPECT_EQ(classes.find(record).path, "struct head.gate");
}

TEST(Fields, SizesThatAnAllocationMayBeOf)
{
	using Sizes = std::pair<std::uint32_t, std::uint32_t>;
	for (std::uint32_t size : {8, 16, 32, 64, 96, 128, 192, 256, 512, 4096, 8192}) {
		const auto [least, most] = FieldNames::allocated_sizes(size);
		EXPECT_EQ(most, size);
		EXPECT_LE(least, most);
	}
	EXPECT_EQ(FieldNames::allocated_sizes(96), Sizes(65, 96));
	EXPECT_EQ(FieldNames::allocated_sizes(128), Sizes(97, 128));
	EXPECT_EQ(FieldNames::allocated_sizes(192), Sizes(129, 192));
	EXPECT_EQ(FieldNames::allocated_sizes(256), Sizes(193, 256));
	EXPECT_EQ(FieldNames::allocated_sizes(4096), Sizes(2049, 4096));
}

TEST_F(SmallTypes, PointersSayWhatTheyLeadTo)
{
	auto behind = [&](std::uint32_t via, std::uint32_t offset) {
		return names.pointee("struct owned", via, offset, LS_KIND_SPINLOCK);
	};
	EXPECT_EQ(behind(24, 4), "struct both.spin");
	EXPECT_EQ(behind(32, 16), "struct both.queue") << "declared only where it is used";
	EXPECT_EQ(behind(24, 24), "") << "no lock there";
	EXPECT_EQ(behind(24, static_cast<std::uint32_t>(-4)), "") << "before it";
	EXPECT_EQ(behind(0, 4), "") << "to a link, which has no lock";
	EXPECT_EQ(behind(8, 0), "") << "to nobody knows what";
	EXPECT_EQ(behind(16, 0), "") << "a number";
	EXPECT_EQ(behind(28, 4), "") << "in the middle of a pointer";
	EXPECT_EQ(names.pointee("struct nobody_knows", 24, 4, LS_KIND_SPINLOCK), "");
}

TEST_F(SmallTypes, TheFieldTellsRawFromSleeping)
{
	auto at = [&](std::uint32_t offset) {
		return names.find("both", 32, offset, LS_KIND_SPINLOCK);
	};
	EXPECT_EQ(at(0).path, "struct both.raw");
	EXPECT_EQ(at(0).type, "raw_spinlock_t");
	/* Its rlock is a raw one, but what is taken is what lies around it. */
	EXPECT_EQ(at(4).path, "struct both.spin");
	EXPECT_EQ(at(4).type, "spinlock_t");
	EXPECT_EQ(at(12).path, "struct both.many[]");
	EXPECT_EQ(at(12).type, "spinlock_t");
	EXPECT_EQ(at(16).type, "spinlock_t") << "of a wait queue";
	EXPECT_EQ(at(24).path, "");
	EXPECT_EQ(at(24).type, "");
	EXPECT_EQ(names.find("both", 32, 4, LS_KIND_MUTEX).path, "");
}

TEST_F(SmallTypes, VariablesTellTheirType)
{
	auto of = [&](const char *name) { return names.variable(name, LS_KIND_SPINLOCK).type; };
	EXPECT_EQ(of("percpu:runqueues"), "raw_spinlock_t");
	EXPECT_EQ(of("percpu:runqueues+0x4"), "spinlock_t");
	EXPECT_EQ(of("one_raw"), "raw_spinlock_t");
	EXPECT_EQ(of("module:one_raw"), "raw_spinlock_t");
	EXPECT_EQ(of("one_raw+0x4"), "") << "beyond it";
	EXPECT_EQ(of("twice"), "") << "which of the two?";
	EXPECT_EQ(of("nobody_knows"), "");
	EXPECT_EQ(names.variable("one_raw", LS_KIND_RWLOCK).type, "");
}

TEST(Fields, MembersOfRealTypesWhereTheyAreThere)
{
	if (access("/sys/kernel/btf/vmlinux", R_OK) != 0)
		GTEST_SKIP() << "no BTF on this kernel";
	FieldNames names;
	ASSERT_EQ(names.type_of_cache("dentry", 0), "struct dentry");
	EXPECT_EQ(names.type_of_cache("no_such_cache", 0), "");
	std::set<std::string> members;
	for (std::uint32_t offset = 0; offset < 400; offset++)
		members.insert(names.path("struct dentry", offset, LS_KIND_NONE));
	/* Down to the innermost. */
	for (const char *member : {"d_flags", "d_parent"})
		EXPECT_TRUE(members.count(member)) << member;
	EXPECT_TRUE(std::any_of(members.begin(), members.end(), [](const auto &member) {
		return member.starts_with("d_lockref.");
	}));
	EXPECT_FALSE(members.count("d_lockref"));
	EXPECT_EQ(names.path("struct dentry", 100000, LS_KIND_NONE), "");
	EXPECT_EQ(names.path("struct no_such_struct", 0, LS_KIND_NONE), "");
	EXPECT_EQ(names.type_of_percpu("runqueues"), "struct rq");
	EXPECT_EQ(names.type_of_percpu("no_such_symbol"), "");
}
