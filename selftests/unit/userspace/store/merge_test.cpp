// SPDX-License-Identifier: GPL-2.0
// Several boots: one graph, classes united by name.
#include "support.h"

#include "store/database.h"
#include "store/merge.h"
#include "store/schema.h"

#include <filesystem>

using namespace lockscope;
using namespace lockscope::test;

namespace {

/* One side of an ABBA; ids of the classes differ from boot to boot. */
LogBuilder side(bool reversed, std::uint64_t instance)
{
	LogBuilder log(instance);
	if (reversed)
		log.add_class("unrelated");
	const auto a = log.add_class("a_lock"), b = log.add_class("b_mutex", LS_KIND_MUTEX);
	if (reversed)
		log.acquire({.pid = 2, .comm = "two"}, {{.cls = b}}, {.cls = a});
	else
		log.acquire({.pid = 1, .comm = "one"}, {{.cls = a}}, {.cls = b});
	return log;
}

class MergeTest : public testing::Test {
protected:
	MergeTest()
	{
		EXPECT_TRUE(record_image(side(false, 1).image(), dir / "1.db", "boot-1").ok());
		EXPECT_TRUE(record_image(side(true, 2).image(), dir / "2.db", "boot-2").ok());
	}
	Model load(const std::string &file)
	{
		auto model = load_stores({file});
		EXPECT_TRUE(model.ok()) << (model ? "" : model.error().what);
		return model ? *model : Model{};
	}
	TempDir dir;
};

} // namespace

TEST_F(MergeTest, OneBootAloneShowsNothing)
{
	EXPECT_TRUE(analyse(load(dir / "1.db")).findings.empty());
	EXPECT_TRUE(analyse(load(dir / "2.db")).findings.empty());
}

TEST_F(MergeTest, BothTogetherShowThePossibleCycle)
{
	ASSERT_TRUE(merge_stores({dir / "1.db", dir / "2.db"}, dir / "all.db").ok());
	const Model merged = load(dir / "all.db");
	const Finding finding = only_finding(merged);
	EXPECT_EQ(finding.confidence, Confidence::Possible);
	EXPECT_EQ(merged.runs.size(), 2u);
	EXPECT_EQ(merged.classes.size(), 3u);

	/* The same without a merged file. */
	auto both = load_stores({dir / "2.db", dir / "1.db"});
	ASSERT_TRUE(both.ok());
	EXPECT_EQ(only_finding(*both).id, finding.id);
}

/* What report refuses would be refused with all other runs of the merged store. */
TEST_F(MergeTest, ADamagedStoreIsRefusedBeforeAnythingIsWritten)
{
	{
		auto db = open_store(dir / "2.db", Access::Write);
		ASSERT_TRUE(db);
		ASSERT_TRUE(db->exec("UPDATE sight SET held = x'0102'").ok());
	}
	const auto merged = merge_stores({dir / "1.db", dir / "2.db"}, dir / "all.db");
	ASSERT_FALSE(merged.ok());
	EXPECT_NE(merged.error().what.find("2.db"), std::string::npos) << merged.error().what;
	EXPECT_FALSE(std::filesystem::exists(std::string(dir / "all.db")));
}

TEST_F(MergeTest, EqualNamesOfDifferentKindsStayApart)
{
	LogBuilder log(3);
	const auto b = log.add_class("b_mutex", LS_KIND_RWSEM), a = log.add_class("a_lock");
	log.acquire({.pid = 3}, {{.cls = b}}, {.cls = a});
	ASSERT_TRUE(record_image(log.image(), dir / "3.db", "boot-3").ok());
	ASSERT_TRUE(merge_stores({dir / "1.db", dir / "3.db"}, dir / "all.db").ok());
	EXPECT_TRUE(analyse(load(dir / "all.db")).findings.empty());
}

TEST_F(MergeTest, MergingTwiceChangesNothing)
{
	ASSERT_TRUE(merge_stores({dir / "1.db", dir / "2.db"}, dir / "all.db").ok());
	ASSERT_TRUE(merge_stores({dir / "1.db", dir / "all.db"}, dir / "more.db").ok());
	ASSERT_TRUE(merge_stores({dir / "2.db"}, dir / "more.db").ok());
	EXPECT_EQ(load(dir / "more.db").runs.size(), 2u);
	EXPECT_EQ(load(dir / "more.db").observations.size(), 2u);
}

TEST_F(MergeTest, StoresOfVersion1AreTakenIn)
{
	age_store(dir / "1.db", 1);
	ASSERT_TRUE(merge_stores({dir / "1.db", dir / "2.db"}, dir / "all.db").ok());
	EXPECT_EQ(analyse(load(dir / "all.db")).findings.size(), 1u);
	ASSERT_TRUE(merge_stores({dir / "2.db"}, dir / "1.db").ok());
	EXPECT_EQ(analyse(load(dir / "1.db")).findings.size(), 1u);
}

TEST_F(MergeTest, CountsOfAllRunsAddUp)
{
	for (int run = 1; run <= 2; run++) {
		LogBuilder log(static_cast<std::uint64_t>(run));
		const auto sem = log.add_class("sem", LS_KIND_SEMAPHORE);
		log.count_semaphore(sem, 10, static_cast<std::uint64_t>(run));
		const std::string n = std::to_string(run);
		ASSERT_TRUE(record_image(log.image(), dir / ("c" + n + ".db"), "c" + n).ok());
	}
	ASSERT_TRUE(merge_stores({dir / "c1.db", dir / "c2.db"}, dir / "all.db").ok());
	const Model model = load(dir / "all.db");
	ASSERT_EQ(model.counts.size(), 1u);
	EXPECT_EQ(model.counts.begin()->second.releases, 20u);
	EXPECT_EQ(model.counts.begin()->second.unmatched_releases, 3u);
}

TEST_F(MergeTest, TheLongerRecordingOfARunWins)
{
	LogBuilder longer = side(false, 1);
	const auto c = longer.add_class("c_lock");
	longer.acquire({}, {{.cls = 1}}, {.cls = c});
	ASSERT_TRUE(record_image(longer.image(), dir / "longer.db", "boot-1").ok());
	ASSERT_TRUE(merge_stores({dir / "longer.db", dir / "1.db"}, dir / "x.db").ok());
	ASSERT_TRUE(merge_stores({dir / "1.db", dir / "longer.db"}, dir / "y.db").ok());
	EXPECT_EQ(load(dir / "x.db").observations.size(), 2u);
	EXPECT_EQ(load(dir / "y.db").observations.size(), 2u);
	EXPECT_EQ(load(dir / "y.db").runs.size(), 1u);
}

TEST_F(MergeTest, BadInputsAreRefusedBeforeAnythingIsWritten)
{
	spill(dir / "bad.db", "nonsense");
	EXPECT_FALSE(merge_stores({dir / "1.db", dir / "bad.db"}, dir / "out.db").ok());
	EXPECT_FALSE(merge_stores({dir / "1.db", dir / "missing.db"}, dir / "out.db").ok());
	auto itself = merge_stores({dir / "1.db"}, dir / "1.db");
	ASSERT_FALSE(itself.ok());
	EXPECT_EQ(itself.error().exit, Exit::Usage);
	EXPECT_EQ(load(dir / "1.db").runs.size(), 1u);
	EXPECT_TRUE(slurp(dir / "out.db").empty());
}
