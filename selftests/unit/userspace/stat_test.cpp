// SPDX-License-Identifier: GPL-2.0
// Statistics: added up, kept in a store, and printed.
#include "support.h"

#include "report/stat.h"
#include "source/source.h"
#include "stat/stat.h"
#include "store/merge.h"
#include "store/schema.h"
#include "store/writer.h"

using namespace lockscope;
using namespace lockscope::test;

namespace {

StatTimes times(std::uint64_t count, std::uint64_t each, std::size_t bucket)
{
	StatTimes out;
	out.count = count;
	out.sum = count * each;
	out.max = each;
	out.buckets[bucket] = count;
	return out;
}

StatClass counted(const std::string &name, std::uint64_t n, ls_kind kind = LS_KIND_MUTEX)
{
	StatClass c;
	c.name = name;
	c.kind = kind;
	c.acquired[LS_TASK] = n;
	c.contended[LS_TASK] = n / 2;
	c.readers = 3;
	c.trylocks = 2;
	c.gave_up = 1;
	c.waits = times(n / 2, 1000, 9);
	c.holds = times(n, 100, 6);
	c.sites = {{"f+0x1", n, n / 2, n * 500, n * 100}};
	return c;
}

StatReport report(std::vector<StatClass> classes)
{
	StatReport out;
	out.release = "6.1.0-test";
	out.seconds = 2;
	out.losses = {{"events_missed", 5}};
	out.classes = std::move(classes);
	return out;
}

LogBuilder chains(std::uint64_t instance = 1)
{
	LogBuilder log(instance);
	const auto a = log.add_class("a_lock"), b = log.add_class("b_lock");
	log.acquire({}, {{.cls = a}}, {.cls = b});
	log.acquire_again({}, {{.cls = a}}, {.cls = b}, 9);
	return log;
}

/* A recorder of @log, which counts @report and stores it @times. */
void record_stat(const LogBuilder &log, const std::string &store, const std::string &boot,
		 const StatReport &report, int times = 1)
{
	auto source = image_source(log.image());
	auto writer = StoreWriter::open(store);
	ASSERT_TRUE(writer.ok()) << writer.error().what;
	NoSymbols symbols;
	Recorder recorder(*source, *writer, symbols, {});
	ASSERT_TRUE(recorder.attach("image", boot, "0123456789abcdef").ok());
	ASSERT_TRUE(recorder.drain().ok());
	for (int i = 0; i < times; i++)
		ASSERT_TRUE(recorder.put_stat(report).ok());
}

StatReport stored(const std::vector<std::string> &files)
{
	auto model = load_stores(files);
	EXPECT_TRUE(model.ok()) << (model ? "" : model.error().what);
	return model ? stat_of(*model) : StatReport{};
}

void expect_same(const StatReport &seen, const StatReport &known)
{
	EXPECT_DOUBLE_EQ(seen.seconds, known.seconds);
	EXPECT_EQ(seen.losses, known.losses);
	EXPECT_EQ(json_stat({"", 0, true, {}, seen.classes, 0}),
		  json_stat({"", 0, true, {}, known.classes, 0}));
}

} // namespace

TEST(Stat, ClassesOfOneNameAndKindAreAddedUp)
{
	StatReport sum = report({counted("a", 10), counted("b", 4)});
	StatReport other = report({counted("a", 6), counted("a", 1, LS_KIND_SEMAPHORE)});
	other.classes[0].sites.push_back({"g+0x1", 1, 0, 0, 7});
	other.classes[0].holds.max = 5000;
	sum.add(other);
	EXPECT_DOUBLE_EQ(sum.seconds, 4);
	EXPECT_EQ(sum.losses.at("events_missed"), 10u);
	ASSERT_EQ(sum.classes.size(), 3u);
	const StatClass &a = sum.classes[0];
	EXPECT_EQ(a.kind, LS_KIND_MUTEX);
	EXPECT_EQ(a.all_acquired(), 16u);
	EXPECT_EQ(a.all_contended(), 8u);
	EXPECT_EQ(a.readers, 6u);
	EXPECT_EQ(a.holds.count, 16u);
	EXPECT_EQ(a.holds.max, 5000u);
	EXPECT_EQ(a.holds.buckets[6], 16u);
	ASSERT_EQ(a.sites.size(), 2u);
	EXPECT_EQ(a.sites[0].acquired, 16u);
	EXPECT_EQ(a.sites[0].wait_ns, 8000u);
	EXPECT_EQ(a.sites[1].place, "g+0x1");
	EXPECT_EQ(sum.classes[1].kind, LS_KIND_SEMAPHORE);
	EXPECT_EQ(sum.classes[2].name, "b");
}

TEST(Stat, AStoreKeepsAllOfIt)
{
	TempDir dir;
	StatReport all = report({counted("a", 10), counted("a", 3, LS_KIND_SEMAPHORE)});
	all.classes[0].acquired[LS_HARDIRQ] = 7;
	all.classes[0].waits.buckets[LS_STAT_BUCKETS - 1] = 1;
	all.classes[1].holds = {};
	all.classes[1].sites.clear();
	record_stat(chains(), dir / "1.db", "boot", all);
	const StatReport seen = stored({dir / "1.db"});
	EXPECT_TRUE(seen.exact);
	EXPECT_FALSE(seen.release.empty());
	EXPECT_EQ(seen.left_out, 0u);
	expect_same(seen, all);
}

TEST(Stat, AnotherRecorderOfTheRunGoesOn)
{
	TempDir dir;
	const StatReport one = report({counted("a", 10)});
	/* What one recorder stores replaces what it stored; what two do is added. */
	record_stat(chains(), dir / "1.db", "boot", one, 3);
	expect_same(stored({dir / "1.db"}), one);
	StatReport sum = one;
	sum.add(one);
	record_stat(chains(), dir / "1.db", "boot", one, 2);
	expect_same(stored({dir / "1.db"}), sum);
}

TEST(Stat, ANameThatBecomesKnownReplacesTheOldOne)
{
	TempDir dir;
	auto source = image_source(chains().image());
	auto writer = StoreWriter::open(dir / "1.db");
	ASSERT_TRUE(writer.ok());
	NoSymbols symbols;
	Recorder recorder(*source, *writer, symbols, {});
	ASSERT_TRUE(recorder.attach("image", "boot", "").ok());
	StatReport known = report({counted("a", 10)});
	StatReport early = known;
	early.classes[0].name = "?";
	early.losses = {{"sites", 1}};
	ASSERT_TRUE(recorder.put_stat(early).ok());
	known.classes[0].sites[0].place = "g+0x1";
	ASSERT_TRUE(recorder.put_stat(known).ok());
	expect_same(stored({dir / "1.db"}), known);
}

TEST(Stat, RunsInWhichNobodyCountedAreLeftOut)
{
	TempDir dir;
	const StatReport one = report({counted("a", 10)});
	record_stat(chains(1), dir / "1.db", "boot", one);
	ASSERT_TRUE(record_image(chains(2).image(), dir / "2.db", "boot-2").ok());
	const StatReport both = stored({dir / "1.db", dir / "2.db"});
	EXPECT_EQ(both.left_out, 1u);
	expect_same(both, one);
	const std::string text = text_stat(both, {}, {80, false});
	EXPECT_NE(text.find("Left out: 1 run recorded without --stat"), std::string::npos) << text;

	ASSERT_TRUE(merge_stores({dir / "1.db", dir / "2.db"}, dir / "all.db").ok());
	const StatReport merged = stored({dir / "all.db"});
	EXPECT_EQ(merged.left_out, 1u);
	expect_same(merged, one);
}

TEST(Stat, WithoutCountsThereAreEstimates)
{
	TempDir dir;
	ASSERT_TRUE(record_image(chains().image(), dir / "1.db").ok());
	const StatReport seen = stored({dir / "1.db"});
	EXPECT_FALSE(seen.exact);
	EXPECT_EQ(seen.left_out, 0u);
	ASSERT_EQ(seen.classes.size(), 1u);
	EXPECT_EQ(seen.classes[0].name, "b_lock");
	EXPECT_EQ(seen.classes[0].all_acquired(), 10u);
	EXPECT_NE(text_stat(seen, {}, {80, false}).find("Estimated"), std::string::npos);
	/* As a program wrote it that knew of none. */
	age_store(dir / "1.db", kStatSchema - 1);
	EXPECT_FALSE(stored({dir / "1.db"}).exact);
	/* That store is brought up to date. */
	record_stat(chains(), dir / "1.db", "boot-1", report({counted("a", 10)}));
	EXPECT_TRUE(stored({dir / "1.db"}).exact);
}

TEST(Stat, RowsThatMakeNoSenseAreDamage)
{
	for (const char *sql :
	     {"UPDATE stat SET kind = 99", "UPDATE stat SET waits = x'00'",
	      "UPDATE stat SET acquired = x''", "UPDATE stat SET holds = zeroblob(8 * 44)",
	      "UPDATE stat_site SET class = 'other'"}) {
		TempDir dir;
		record_stat(chains(), dir / "1.db", "boot", report({counted("a", 10)}));
		{
			auto db = Database::open(dir / "1.db", Access::Write);
			ASSERT_TRUE(db.ok() && db->exec(sql).ok());
		}
		auto model = load_stores({dir / "1.db"});
		EXPECT_FALSE(model.ok()) << sql;
	}
}

TEST(Stat, AHistogramWithoutBucketsIsNone)
{
	/* Read while events go on, or made up. */
	StatClass odd = counted("a", 10);
	odd.waits.buckets = {};
	const std::string text = text_stat(report({odd}), {.details = true}, {80, false});
	EXPECT_EQ(text.find("waits, from"), std::string::npos);
	EXPECT_NE(text.find("holds, from"), std::string::npos);
}
