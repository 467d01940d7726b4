// SPDX-License-Identifier: GPL-2.0
// Rings of waits, statistics in tables, identity of locks without the module.
#include "report/stat.h"
#include "source/order_log.h"
#include "stat/stat.h"
#include "waits/waits.h"

#include <gtest/gtest.h>

#include <cstring>

namespace lockscope {
namespace {

using Rings = std::vector<std::vector<std::size_t>>;

ls_wait_rec wait(std::uint32_t pid, std::uint32_t owner)
{
	ls_wait_rec rec{};
	rec.pid = pid;
	rec.owner_pid = owner;
	rec.flags = owner ? LS_WAIT_OWNER : 0;
	return rec;
}

Rings rings(const std::vector<ls_wait_rec> &waits, std::vector<bool> counts = {})
{
	counts.resize(waits.size());
	return wait_rings(waits, counts);
}

TEST(WaitRings, ChainIsNone)
{
	EXPECT_EQ(rings({wait(1, 2), wait(2, 3), wait(4, 2)}), Rings{});
}

TEST(WaitRings, UnknownOwnerIsNone)
{
	EXPECT_EQ(rings({wait(1, 2), wait(2, 0)}), Rings{});
}

TEST(WaitRings, TwoWaitForEachOther)
{
	EXPECT_EQ(rings({wait(1, 2), wait(2, 1)}), (Rings{{0, 1}}));
}

TEST(WaitRings, OneWaitsForItself)
{
	EXPECT_EQ(rings({wait(7, 7)}), (Rings{{0}}));
}

TEST(WaitRings, WhoWaitsForARingIsNotInIt)
{
	EXPECT_EQ(rings({wait(9, 1), wait(1, 2), wait(2, 3), wait(3, 1)}), (Rings{{1, 2, 3}}));
}

TEST(WaitRings, TwoRings)
{
	EXPECT_EQ(rings({wait(1, 2), wait(3, 4), wait(2, 1), wait(4, 3)}), (Rings{{0, 2}, {1, 3}}));
}

TEST(WaitRings, AnybodyMayGiveASemaphoreBack)
{
	EXPECT_EQ(rings({wait(1, 2), wait(2, 1)}, {false, true}), Rings{});
	EXPECT_EQ(rings({wait(1, 2), wait(2, 1)}, {true, false}), Rings{});
}

TEST(Duration, HasThreeDigitsAndAUnit)
{
	EXPECT_EQ(duration(0), "0 ns");
	EXPECT_EQ(duration(999), "999 ns");
	EXPECT_EQ(duration(1000), "1.00 us");
	EXPECT_EQ(duration(12'345), "12.3 us");
	EXPECT_EQ(duration(999'700), "1.00 ms");
	EXPECT_EQ(duration(7'000'000'000), "7.00 s");
}

TEST(Stat, SubtractsWhatWasBefore)
{
	StatClass now, before;
	before.acquired[LS_TASK] = 3;
	before.holds.count = 2;
	before.holds.buckets[4] = 2;
	now.add(before);
	now.acquired[LS_TASK] += 4;
	now.holds.count += 1;
	now.holds.buckets[5] += 1;
	now.subtract(before);
	EXPECT_EQ(now.all_acquired(), 4u);
	EXPECT_EQ(now.holds.count, 1u);
	EXPECT_EQ(now.holds.buckets[4], 0u);
	EXPECT_EQ(now.holds.buckets[5], 1u);
}

TEST(Stat, SortsByWhatIsAsked)
{
	StatReport report;
	report.classes.resize(3);
	report.classes[0].name = "few";
	report.classes[0].acquired[LS_TASK] = 1;
	report.classes[1].name = "many";
	report.classes[1].acquired[LS_TASK] = 9;
	report.classes[2].name = "waited";
	report.classes[2].waits.sum = 5;
	arrange(report, "wait", "");
	EXPECT_EQ(report.classes[0].name, "waited");
	EXPECT_EQ(report.classes[1].name, "many");
	arrange(report, "acquired", "");
	EXPECT_EQ(report.classes[0].name, "many");
	arrange(report, "acquired", "w*");
	ASSERT_EQ(report.classes.size(), 1u);
	EXPECT_EQ(report.classes[0].name, "waited");
}

TEST(Stat, ClassesOfAModuleAreItsVariablesAndWhatItAcquires)
{
	StatReport report;
	report.classes.resize(4);
	report.classes[0].name = "my_driver:lock";
	report.classes[1].name = "ext4_inode_cache+0x8";
	report.classes[1].sites.resize(2);
	report.classes[1].sites[0].place = "ext4_get+0x12 [ext4]";
	report.classes[1].sites[1].place = "my_get+0x12 [my_driver]";
	report.classes[2].name = "other:lock";
	report.classes[3].name = "init_task+0x8";
	report.classes[3].sites.resize(1);
	report.classes[3].sites[0].place = "fork+0x12";
	StatReport of_kernel = report;
	arrange(report, "acquired", "", "my-dri*");
	ASSERT_EQ(report.classes.size(), 2u);
	EXPECT_EQ(report.classes[0].name, "ext4_inode_cache+0x8");
	EXPECT_EQ(report.classes[1].name, "my_driver:lock");
	arrange(of_kernel, "acquired", "", "vmlinux");
	ASSERT_EQ(of_kernel.classes.size(), 1u);
	EXPECT_EQ(of_kernel.classes[0].name, "init_task+0x8");
}

/* A kernel of two functions and one variable. */
std::optional<OrderClasses::Symbol> code(std::uint64_t ip)
{
	return OrderClasses::Symbol{ip < 0x2000 ? "first" : "second", ip & 0xfff, "vmlinux"};
}
std::optional<OrderClasses::Symbol> data(std::uint64_t address)
{
	return OrderClasses::Symbol{"big_lock", address - 0xffffffff81000000ull, "mod"};
}

OrderClasses classes()
{
	return OrderClasses(code, data, {{LS_KIND_SEMAPHORE, 4}});
}

ls_order_lock lock(std::uint64_t address, std::uint64_t ip, std::uint32_t val)
{
	return {address, ip, val, 0};
}

ls_order_ident ident(ls_order_sort sort, const char *name, std::uint32_t offset = 0,
		     std::uint32_t life = 0)
{
	ls_order_ident out{};
	out.sort = sort;
	out.offset = offset;
	out.ip = 0x1010;
	out.life = life;
	std::strncpy(out.name, name, sizeof(out.name) - 1);
	return out;
}

TEST(OrderClasses, NamesAsTheModuleDoes)
{
	auto all = classes();
	all.find(lock(0xffffffff81000000, 0x1000, LS_KIND_MUTEX), {});
	all.find(lock(0xffffffff81000000, 0x1000, LS_KIND_SEMAPHORE), {});
	all.find(lock(0x1, 0x1000, LS_KIND_RWSEM), ident(LS_ORDER_SLAB, "inode_cache", 0x98));
	all.find(lock(0x2, 0x1000, LS_KIND_MUTEX), ident(LS_ORDER_INIT, "&x->m"));
	all.find(lock(0x3, 0x2001, LS_KIND_MUTEX), {});
	all.find(lock(0x4, 0x1000, LS_KIND_MUTEX), ident(LS_ORDER_INIT, ""));
	std::vector<std::string> names;
	for (const auto &cls : all.take_new())
		names.push_back(cls.name);
	EXPECT_EQ(names, (std::vector<std::string>{"mod:big_lock", "mod:big_lock+0x4",
						   "inode_cache+0x98", "&x->m @ first",
						   "lock taken in second", "mutex of first+0x10"}));
}

TEST(OrderClasses, PlacesThatMeetAreOne)
{
	auto all = classes();
	const auto id = all.find(lock(0x10, 0x1000, LS_KIND_MUTEX), {});
	EXPECT_EQ(all.find(lock(0x10, 0x2000, LS_KIND_MUTEX), {}), id);
	EXPECT_EQ(all.find(lock(0x20, 0x2000, LS_KIND_MUTEX), {}), id);
	EXPECT_NE(all.find(lock(0x10, 0x1000, LS_KIND_RWSEM), {}), id);
}

/* Lock @to taken under @from, both of one initialiser. */
ls_order_observation nested(std::uint64_t from, std::uint64_t to, std::uint32_t life = 0,
			    std::uint32_t val = LS_KIND_MUTEX)
{
	ls_order_observation sight{};
	sight.nr_held = 1;
	sight.held[0] = lock(from, 0x1000, val);
	sight.idents[0] = ident(LS_ORDER_INIT, "&x->m", 0, life);
	sight.lock = lock(to, 0x2000, val);
	sight.idents[1] = ident(LS_ORDER_INIT, "&x->m", 0, life);
	return sight;
}

std::uint32_t findings(const std::vector<ls_order_observation> &sights)
{
	OrderLog log(classes(), code);
	for (const auto &sight : sights)
		log.add(sight);
	return log.findings();
}

TEST(OrderLog, TwoInstancesInBothOrdersAreAFinding)
{
	EXPECT_EQ(findings({nested(1, 2), nested(2, 1)}), 1u);
	EXPECT_EQ(findings({nested(1, 2), nested(2, 3), nested(3, 1)}), 1u);
}

TEST(OrderLog, ConsistentInstancesAreNone)
{
	EXPECT_EQ(findings({nested(1, 2), nested(2, 3), nested(1, 3)}), 0u);
}

TEST(OrderLog, MemoryUsedAgainIsAnotherLock)
{
	EXPECT_EQ(findings({nested(1, 2, 0), nested(2, 1, 1)}), 0u);
}

TEST(OrderLog, TheSameInstanceTwiceIsAFinding)
{
	EXPECT_EQ(findings({nested(1, 1)}), 1u);
	/* A trylock does not wait. */
	EXPECT_EQ(findings({nested(1, 1, 0, LS_KIND_MUTEX | LS_VAL_TRY)}), 0u);
}

TEST(OrderLog, IsALogThatReadersTake)
{
	OrderLog log(classes(), code);
	log.add(nested(1, 2));
	log.add(nested(2, 1));
	LogDecoder decoder;
	std::vector<LogRecord> records;
	EXPECT_EQ(decoder.decode(log.bytes(), records), log.bytes().size());
	EXPECT_EQ(decoder.malformed(), 0u);
	EXPECT_EQ(decoder.problem(), "");
	std::size_t sights = 0;
	for (const auto &record : records)
		sights += std::holds_alternative<ObservationRecord>(record);
	EXPECT_EQ(sights, 2u);
	EXPECT_EQ(log.observations(), 2u);
}

} // namespace
} // namespace lockscope
