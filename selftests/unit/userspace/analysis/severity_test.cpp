// SPDX-License-Identifier: GPL-2.0
// How much a finding is worth by the instances it was seen with: docs/severity.md.
#include "support.h"

using namespace lockscope;
using namespace lockscope::test;

namespace {

class SeverityTest : public testing::Test {
protected:
	SeverityTest()
	{
		a = log.add_class("a_cache+0x8 struct a.lock", LS_KIND_SPINLOCK, LS_ORIGIN_SLAB);
		b = log.add_class("b_cache+0x8 struct b.lock", LS_KIND_SPINLOCK, LS_ORIGIN_SLAB);
	}

	void ab(std::uint64_t outer, std::uint64_t inner, std::vector<Lock> around = {})
	{
		around.push_back({.cls = a, .address = outer, .function = "one"});
		log.acquire({.pid = 1, .stack = {"one"}}, around,
			    {.cls = b, .address = inner, .function = "one"});
	}
	void ba(std::uint64_t outer, std::uint64_t inner, std::vector<Lock> around = {})
	{
		around.push_back({.cls = b, .address = outer, .function = "two"});
		log.acquire({.pid = 2, .stack = {"two"}}, around,
			    {.cls = a, .address = inner, .function = "two"});
	}
	/* Either side as often as it takes to count. */
	void often()
	{
		log.acquire_again({.pid = 1}, {{.cls = a}}, {.cls = b}, 5000);
		log.acquire_again({.pid = 2}, {{.cls = b}}, {.cls = a}, 5000);
	}
	Finding only()
	{
		model = model_of(log);
		return only_finding(model);
	}
	std::uint64_t shown(const Finding &finding, std::size_t edge, bool inner)
	{
		const auto &witness = finding.edges[edge].shown();
		const Observation &sight = model.observations[witness.observation];
		return (inner ? sight.acquired : sight.held[witness.position]).instance;
	}

	LogBuilder log;
	Model model;
	std::uint32_t a = 0, b = 0;
};

/* What was made before the module came goes by the place that first acquired it. */
TEST_F(SeverityTest, AUnionOfAcquireSitesNeedsItsInstances)
{
	for (bool one : {false, true}) {
		log = LogBuilder();
		a = log.add_class("lock taken in one", LS_KIND_SPINLOCK, LS_ORIGIN_SITE);
		b = log.add_class("b_cache+0x8 struct b.lock", LS_KIND_SPINLOCK, LS_ORIGIN_SLAB);
		ab(0x118, 0x218);
		ba(0x218, one ? 0x118 : 0x128);
		const auto finding = only();
		EXPECT_EQ(finding.severity, one ? Severity::Error : Severity::Note);
		EXPECT_EQ(filter(finding, "mixed-class") != nullptr, !one);
		EXPECT_FALSE(finding.hidden());
	}
}

/* Two nodes of a tree, one taken inside the other. */
class HierarchyTest : public SeverityTest {
protected:
	std::uint32_t nest(std::uint64_t outer, std::uint64_t inner, std::uint64_t related,
			   std::vector<Lock> around = {})
	{
		around.push_back({.cls = a, .address = outer, .function = "nest"});
		const auto ordinal = log.acquire({.pid = ++pid, .stack = {"nest"}}, around,
						 {.cls = a, .address = inner, .function = "nest"});
		marks.push_back({ordinal, 1ull << (around.size() - 1), related});
		return ordinal;
	}
	Finding inverted(std::uint32_t first, std::uint32_t second)
	{
		log.inversion(a, false, first, second);
		model = model_of(log);
		for (const auto &mark : marks)
			for (auto &sight : model.observations)
				if (sight.ordinal == mark.ordinal) {
					sight.new_mask = mark.mask;
					sight.extra = mark.related;
				}
		return only_finding(model);
	}

	struct Mark {
		std::uint32_t ordinal;
		std::uint64_t mask, related;
	};
	std::vector<Mark> marks;
	std::uint32_t pid = 0;
};

} // namespace

TEST_F(SeverityTest, InstancesThatMatchMakeAnError)
{
	ab(0x108, 0x208);
	ba(0x208, 0x108);
	const auto finding = only();
	EXPECT_EQ(finding.severity, Severity::Error);
	ASSERT_TRUE(finding.meeting);
	EXPECT_TRUE(finding.meeting->whole);
	EXPECT_TRUE(finding.filters.empty());
}

TEST_F(SeverityTest, ALaterObservationProvesItAndIsShown)
{
	ab(0x108, 0x208);
	ab(0x118, 0x218);
	ba(0x308, 0x408);
	ba(0x218, 0x118);
	const auto finding = only();
	EXPECT_EQ(finding.severity, Severity::Error);
	EXPECT_EQ(shown(finding, 0, false), shown(finding, 1, true));
	EXPECT_EQ(shown(finding, 0, true), shown(finding, 1, false));
}

TEST_F(SeverityTest, OneLockAloneIsNotEnough)
{
	ab(0x108, 0x208);
	ba(0x308, 0x108);
	const auto finding = only();
	EXPECT_EQ(finding.severity, Severity::Warning);
	const Filter *found = filter(finding, "instances-not-proven");
	ASSERT_TRUE(found);
	EXPECT_NE(found->why.find("b.lock"), std::string::npos) << found->why;
	EXPECT_EQ(found->why.find("a.lock"), std::string::npos) << found->why;
}

/* A directory's lock and a file's: one member of one structure. */
TEST(Severity, RolesOfOneStructureNeedTheirInstances)
{
	for (bool met : {false, true}) {
		LogBuilder log;
		const auto dir =
			log.add_class("inode_cache+0xa0 (xfs dir)", LS_KIND_RWSEM, LS_ORIGIN_SLAB);
		const auto file =
			log.add_class("inode_cache+0xa0 (xfs)", LS_KIND_RWSEM, LS_ORIGIN_SLAB);
		log.acquire({.pid = 1}, {{.cls = dir, .address = 0x108}},
			    {.cls = file, .address = 0x208});
		log.acquire({.pid = 2}, {{.cls = file, .address = met ? 0x208u : 0x218u}},
			    {.cls = dir, .address = 0x108});
		const Finding finding = only_finding(model_of(log));
		EXPECT_EQ(finding.severity, met ? Severity::Error : Severity::Note);
		EXPECT_EQ(filter(finding, "one-structure") != nullptr, !met);
	}
}

TEST_F(SeverityTest, BothLocksButNeverAtOnce)
{
	ab(0x108, 0x208);
	ab(0x118, 0x218);
	ba(0x208, 0x118);
	const auto finding = only();
	EXPECT_EQ(finding.severity, Severity::Warning);
	EXPECT_TRUE(filter(finding, "instances-not-proven"));
	EXPECT_EQ(finding.meeting->proven, 2u);
	EXPECT_FALSE(finding.meeting->whole);
}

TEST_F(SeverityTest, AGlobalLockIsOneInstance)
{
	const auto global = log.add_class("global");
	log.acquire({.pid = 1, .stack = {"one"}}, {{.cls = global}}, {.cls = a, .address = 0x108});
	log.acquire({.pid = 2, .stack = {"two"}}, {{.cls = a, .address = 0x208}}, {.cls = global});
	EXPECT_EQ(only().severity, Severity::Warning);
	log.acquire({.pid = 3, .stack = {"two"}}, {{.cls = a, .address = 0x108}}, {.cls = global});
	EXPECT_EQ(only().severity, Severity::Error);
}

TEST_F(SeverityTest, AnotherBootProvesNothing)
{
	LogBuilder other(2);
	const auto b2 =
		other.add_class("b_cache+0x8 struct b.lock", LS_KIND_SPINLOCK, LS_ORIGIN_SLAB);
	const auto a2 =
		other.add_class("a_cache+0x8 struct a.lock", LS_KIND_SPINLOCK, LS_ORIGIN_SLAB);
	ab(0x108, 0x208);
	other.acquire({.pid = 2}, {{.cls = b2, .address = 0x208}}, {.cls = a2, .address = 0x108});
	const Model both = model_of({&log, &other});
	EXPECT_NE(only_finding(both).severity, Severity::Error);
}

TEST_F(SeverityTest, OftenAndNeverMatchedIsANote)
{
	ab(0x108, 0x208);
	for (std::uint64_t i = 0; i < 20; i++)
		ba(0x1008 + 16 * i, 0x2008 + 16 * i);
	often();
	auto finding = only();
	EXPECT_EQ(finding.severity, Severity::Note);
	const Filter *found = filter(finding, "instances-never-matched");
	ASSERT_TRUE(found);
	EXPECT_FALSE(found->hidden);
	EXPECT_NE(found->why.find("1 held on the other"), std::string::npos) << found->why;
	/* One that does match says otherwise. */
	ba(0x208, 0x108);
	EXPECT_EQ(only().severity, Severity::Error);
}

TEST_F(SeverityTest, ManyInstancesOnBothSidesSayLittle)
{
	for (std::uint64_t i = 0; i < 20; i++) {
		ab(0x11008 + 16 * i, 0x12008 + 16 * i);
		ba(0x1008 + 16 * i, 0x2008 + 16 * i);
	}
	often();
	const auto finding = only();
	EXPECT_EQ(finding.severity, Severity::Warning);
	EXPECT_TRUE(filter(finding, "instances-not-proven"));
}

TEST_F(SeverityTest, SeldomAndNeverMatchedIsAWarning)
{
	ab(0x108, 0x208);
	ba(0x308, 0x408);
	EXPECT_EQ(only().severity, Severity::Warning);
}

/* mount() with a lock held waits for the writeback of its device, and that of others takes it. */
TEST_F(SeverityTest, AnotherItemOfAFunctionForMany)
{
	for (const bool same : {false, true})
		for (const char *module : {"vmlinux", "drv"}) {
			LogBuilder log;
			const auto lock = log.add_class("lock", LS_KIND_MUTEX);
			const auto item = log.add_class("drv_workfn", LS_KIND_WORK,
							LS_ORIGIN_FUNCTION, 0, 0, module);
			const Lock flushed{.cls = item, .address = 0x108},
				running{.cls = item, .address = same ? 0x108u : 0x208u};
			log.acquire({.pid = 1}, {{.cls = lock}}, flushed);
			log.acquire({.pid = 2}, {running}, {.cls = lock});
			const Finding finding = only_finding(model_of(log));
			const bool many = !same && std::string(module) == "vmlinux";
			EXPECT_EQ(filter(finding, "other-work-item") != nullptr, many);
			EXPECT_EQ(finding.severity, same   ? Severity::Error
						    : many ? Severity::Note
							   : Severity::Warning);
		}
}

TEST_F(SeverityTest, AModuleThatDidNotLookProvesNothing)
{
	ab(0x108, 0x208);
	ba(0x308, 0x408);
	often();
	log.info().abi_minor = 5;
	EXPECT_EQ(only().severity, Severity::Warning);
}

TEST_F(SeverityTest, OneLockAroundAllThatMatch)
{
	const auto gate = log.add_class("g_cache+0x8 struct g.lock", LS_KIND_MUTEX, LS_ORIGIN_SLAB);
	ab(0x108, 0x208, {{.cls = gate, .address = 0x508}});
	ba(0x208, 0x108, {{.cls = gate, .address = 0x508}});
	/* The gate itself is not always the same. */
	ab(0x118, 0x218, {{.cls = gate, .address = 0x518}});
	ba(0x318, 0x418, {{.cls = gate, .address = 0x528}});
	auto finding = only();
	EXPECT_EQ(finding.severity, Severity::Warning);
	EXPECT_TRUE(filter(finding, "gate-lock"));
	ba(0x218, 0x118, {{.cls = gate, .address = 0x538}});
	EXPECT_EQ(only().severity, Severity::Error);
}

/* As of two inodes under the lock of the directory that they are in. */
class GatedPairsTest : public SeverityTest {
protected:
	GatedPairsTest()
	{
		gate = log.add_class("g_cache+0x8 struct g.lock", LS_KIND_MUTEX, LS_ORIGIN_SLAB);
	}
	/* Both orders of pair number @i, each behind the gate given. */
	void both(std::uint64_t i, std::uint64_t one, std::uint64_t two)
	{
		const std::uint64_t x = 0x10008 + i * 0x40, y = 0x20008 + i * 0x40;
		ab(x, y, {{.cls = gate, .address = one}});
		ba(y, x, {{.cls = gate, .address = two}});
	}
	std::uint32_t gate = 0;
};

TEST_F(GatedPairsTest, HiddenWhereAllThatMatchHaveOne)
{
	both(0, 0x508, 0x508);
	both(1, 0x518, 0x518);
	both(2, 0x528, 0x528);
	const auto finding = only();
	EXPECT_TRUE(finding.hidden());
	ASSERT_TRUE(filter(finding, "gate-lock"));
	EXPECT_NE(filter(finding, "gate-lock")->why.find("all 3 sets"), std::string::npos);
}

TEST_F(GatedPairsTest, OnePairWithoutIsAnError)
{
	both(0, 0x508, 0x508);
	both(1, 0x518, 0x518);
	both(2, 0x528, 0x538);
	const auto finding = only();
	EXPECT_EQ(finding.severity, Severity::Error);
	EXPECT_EQ(shown(finding, 0, false), shown(finding, 1, true));
	EXPECT_FALSE(filter(finding, "gate-lock"));
}

/* The one that has none comes behind as many as are tried in search of the best. */
TEST_F(GatedPairsTest, OneLateObservationWithoutIsEnough)
{
	both(0, 0x508, 0x508);
	both(1, 0x518, 0x518);
	for (int i = 0; i < 20; i++)
		ba(0x20008, 0x10008, {{.cls = gate, .address = 0x508}});
	ba(0x20008, 0x10008, {{.cls = gate, .address = 0x538}});
	const auto finding = only();
	EXPECT_FALSE(finding.hidden());
	EXPECT_NE(finding.severity, Severity::Note);
}

TEST_F(GatedPairsTest, AnObservationWithoutAnyIsEnough)
{
	both(0, 0x508, 0x508);
	both(1, 0x518, 0x518);
	ab(0x30008, 0x40008);
	const auto finding = only();
	EXPECT_FALSE(finding.hidden());
	EXPECT_NE(finding.severity, Severity::Note);
}

/* The one that has no gate is of instances that do not match. */
TEST_F(GatedPairsTest, OneSetBehindAGateIsAWarning)
{
	both(0, 0x508, 0x508);
	ab(0x30008, 0x40008);
	const auto finding = only();
	EXPECT_FALSE(finding.hidden());
	EXPECT_EQ(finding.severity, Severity::Warning);
	EXPECT_TRUE(filter(finding, "gate-lock"));
}

/* One more instance of a class of the cycle, held on both sides. */
TEST_F(SeverityTest, AnInstanceOfTheCyclesOwnClassIsAGate)
{
	ab(0x118, 0x218, {{.cls = a, .address = 0x108}});
	ba(0x218, 0x118, {{.cls = a, .address = 0x108}});
	EXPECT_NE(only().severity, Severity::Error);
	EXPECT_TRUE(filter(only(), "gate-lock"));
}

TEST_F(GatedPairsTest, ReadersKeepNobodyApart)
{
	const auto shared = [&](std::uint64_t i) {
		const std::uint64_t x = 0x10008 + i * 0x40, y = 0x20008 + i * 0x40;
		ab(x, y, {{.cls = gate, .address = 0x508 + i, .read = LS_SHARED}});
		ba(y, x, {{.cls = gate, .address = 0x508 + i, .read = LS_SHARED}});
	};
	shared(0);
	shared(1);
	EXPECT_EQ(only().severity, Severity::Error);
}

TEST_F(HierarchyTest, BothOrdersOfOnePairAreAnError)
{
	const auto first = nest(0x108, 0x208, LS_RELATED_LOOKED);
	const auto second = nest(0x208, 0x108, LS_RELATED_LOOKED);
	EXPECT_EQ(inverted(first, second).severity, Severity::Error);
}

TEST_F(HierarchyTest, TheSideShownIsThatOfThePair)
{
	const auto unrelated = nest(0x308, 0x408, 0);
	nest(0x108, 0x208, 0);
	const auto second = nest(0x208, 0x108, 0);
	const auto finding = inverted(unrelated, second);
	ASSERT_EQ(finding.edges.size(), 2u);
	EXPECT_EQ(shown(finding, 0, false), shown(finding, 1, true));
	EXPECT_EQ(finding.severity, Severity::Error);
}

TEST_F(HierarchyTest, WithoutTheFirstOrderItIsAWarning)
{
	const auto unrelated = nest(0x308, 0x408, 0);
	const auto second = nest(0x208, 0x108, 0);
	const auto finding = inverted(unrelated, second);
	EXPECT_EQ(finding.edges.size(), 1u);
	EXPECT_EQ(finding.severity, Severity::Warning);
	EXPECT_TRUE(filter(finding, "first-order-not-kept"));
}

TEST_F(HierarchyTest, ARingShowsAllItsSides)
{
	const auto first = nest(0x108, 0x208, 0);
	nest(0x208, 0x308, 0);
	const auto last = nest(0x308, 0x108, 0);
	const auto finding = inverted(first, last);
	EXPECT_EQ(finding.edges.size(), 3u);
	EXPECT_EQ(finding.severity, Severity::Error);
}

/* Read and then written, written and then read recursively: the second waits for no reader. */
TEST_F(HierarchyTest, ARecursiveReaderClosesNoRing)
{
	log.acquire({.pid = 1}, {{.cls = a, .address = 0x108, .read = LS_SHARED}},
		    {.cls = a, .address = 0x208});
	const auto last = log.acquire({.pid = 2}, {{.cls = a, .address = 0x208}},
				      {.cls = a, .address = 0x108, .read = LS_RECURSIVE});
	EXPECT_EQ(inverted(0, last).edges.size(), 1u);
}

TEST_F(HierarchyTest, AReaderInsideAReaderClosesARing)
{
	log.acquire({.pid = 1}, {{.cls = a, .address = 0x108, .read = LS_SHARED}},
		    {.cls = a, .address = 0x208, .read = LS_SHARED});
	const auto last = log.acquire({.pid = 2}, {{.cls = a, .address = 0x208}},
				      {.cls = a, .address = 0x108});
	EXPECT_EQ(inverted(0, last).edges.size(), 2u);
	EXPECT_EQ(inverted(0, last).severity, Severity::Error);
}

TEST_F(HierarchyTest, EachRightByTheTreeOfItsTimeIsANote)
{
	const auto back = LS_RELATED_LOOKED | LS_RELATED_BACK;
	const auto first = nest(0x108, 0x208, back);
	const auto second = nest(0x208, 0x108, back);
	const auto finding = inverted(first, second);
	EXPECT_EQ(finding.severity, Severity::Note);
	EXPECT_TRUE(filter(finding, "follows-hierarchy"));
	EXPECT_FALSE(finding.hidden());
}

TEST_F(HierarchyTest, OneOrderAgainstTheTreeStaysAnError)
{
	const auto first = nest(0x108, 0x208, LS_RELATED_LOOKED | LS_RELATED_BACK);
	const auto second = nest(0x208, 0x108, LS_RELATED_LOOKED | LS_RELATED_FORTH);
	EXPECT_EQ(inverted(first, second).severity, Severity::Error);
}

TEST_F(HierarchyTest, ObjectsThatPointToEachOtherAreNoTree)
{
	const auto both = LS_RELATED_LOOKED | LS_RELATED_BACK | LS_RELATED_FORTH;
	const auto first = nest(0x108, 0x208, both);
	const auto second = nest(0x208, 0x108, both);
	EXPECT_EQ(inverted(first, second).severity, Severity::Error);
}

namespace {

/* A lock held for longer than it was, as it seems, under which all others are taken. */
LogBuilder through_one(std::size_t others)
{
	LogBuilder log;
	const auto one = log.add_class("one");
	for (std::uint32_t i = 0; i < others; i++) {
		const auto other = log.add_class("other" + std::to_string(i), LS_KIND_SPINLOCK,
						 LS_ORIGIN_SLAB);
		log.acquire({.pid = 1, .stack = {"f"}}, {{.cls = other, .address = 0x108}},
			    {.cls = one});
		log.acquire_again({.pid = 1}, {{.cls = other}}, {.cls = one}, 1000);
		log.acquire({.pid = 2, .stack = {"g"}}, {{.cls = one}},
			    {.cls = other, .address = 0x208});
	}
	return log;
}

std::size_t with_cause(const Analysis &analysis)
{
	std::size_t n = 0;
	for (const auto &finding : analysis.findings)
		n += !finding.cause.empty();
	return n;
}

} // namespace

TEST(Causes, ManyThroughOneLockAreOne)
{
	const auto analysis = analyse(model_of(through_one(5)));
	ASSERT_EQ(analysis.findings.size(), 5u);
	EXPECT_EQ(with_cause(analysis), 4u);
	EXPECT_TRUE(analysis.findings.front().cause.empty());
	for (std::size_t i = 1; i < 5; i++)
		EXPECT_EQ(analysis.findings[i].cause, analysis.findings.front().id);
}

TEST(Causes, TwoAreTwo)
{
	EXPECT_EQ(with_cause(analyse(model_of(through_one(2)))), 0u);
}

/* Tree blocks of three levels and of another structure: no two share a dependency. */
TEST(Causes, WaysToNestInOneStructureAreOne)
{
	LogBuilder log;
	std::uint64_t address = 0x108;
	auto both = [&](const std::string &name, const char *one, const char *other) {
		const auto a = log.add_class(name + one, LS_KIND_RWSEM, LS_ORIGIN_SLAB),
			   b = log.add_class(name + other, LS_KIND_RWSEM, LS_ORIGIN_SLAB);
		for (const auto &[from, to] : {std::pair(a, b), std::pair(b, a)}) {
			log.acquire({.pid = 1, .stack = {"f"}}, {{.cls = from, .address = address}},
				    {.cls = to, .address = address + 0x10});
			address += 0x20;
		}
	};
	both("blocks+0x48", " (level 0)", " (level 1)");
	both("blocks+0x48", " (level 2)", " (level 3)");
	both("inodes+0x48", " (dir)", " (file)");
	const auto analysis = analyse(model_of(log));
	ASSERT_EQ(analysis.findings.size(), 3u);
	std::vector<const Finding *> blocks;
	for (const auto &finding : analysis.findings) {
		EXPECT_EQ(finding.severity, Severity::Note) << finding.title;
		if (finding.title.find("blocks") != std::string::npos)
			blocks.push_back(&finding);
		else
			EXPECT_TRUE(finding.cause.empty());
	}
	ASSERT_EQ(blocks.size(), 2u);
	EXPECT_TRUE(blocks[0]->cause.empty());
	EXPECT_EQ(blocks[1]->cause, blocks[0]->id);
	EXPECT_TRUE(blocks[1]->through.empty());
}

TEST(Causes, OneRareDependencyClosesSeveral)
{
	LogBuilder log;
	const auto a = log.add_class("a"), b = log.add_class("b"), c = log.add_class("c"),
		   d = log.add_class("d");
	const Task task{.pid = 1, .stack = {"f"}};
	for (auto middle : {b, d}) {
		log.acquire(task, {{.cls = a}}, {.cls = middle});
		log.acquire(task, {{.cls = middle}}, {.cls = c});
		log.acquire_again(task, {{.cls = a}}, {.cls = middle}, 1000);
		log.acquire_again(task, {{.cls = middle}}, {.cls = c}, 1000);
	}
	log.acquire({.pid = 2, .stack = {"g"}}, {{.cls = c}}, {.cls = a});
	const auto analysis = analyse(model_of(log));
	ASSERT_EQ(analysis.findings.size(), 2u);
	EXPECT_EQ(analysis.findings[1].cause, analysis.findings[0].id);
	EXPECT_EQ(with_cause(analysis), 1u);
}

/* One side acquired a under the gate, which the other one holds, and passed a before. */
class PassedTest : public SeverityTest {
protected:
	PassedTest() { gate = log.add_class("the_gate", LS_KIND_MUTEX); }
	void leaves(std::uint32_t under, std::uint64_t one = 0x108, std::uint64_t two = 0x208)
	{
		log.acquire({.pid = 1, .stack = {"one"}},
			    {{.cls = a, .address = one, .function = "one", .passed = under}},
			    {.cls = b, .address = two, .function = "one"});
	}
	std::uint32_t passes(std::uint32_t passed, std::uint64_t one = 0x108,
			     std::uint64_t two = 0x208)
	{
		return log.acquire({.pid = 2, .stack = {"two"}},
				   {{.cls = gate, .function = "two", .passed = passed << 16},
				    {.cls = b, .address = two, .function = "two"}},
				   {.cls = a, .address = one, .function = "two"});
	}
	static constexpr std::uint32_t kFact = 0x1230, kOther = 0x4560;
	std::uint32_t gate = 0;
};

TEST_F(PassedTest, KeepsThemApart)
{
	leaves(kFact);
	passes(kFact);
	const auto finding = only();
	EXPECT_EQ(finding.severity, Severity::Warning);
	EXPECT_FALSE(finding.hidden());
	EXPECT_TRUE(filter(finding, "passed-before"));
	EXPECT_FALSE(filter(finding, "gate-lock"));
}

TEST_F(PassedTest, IsNotHiddenWithSeveralSets)
{
	leaves(kFact);
	passes(kFact);
	leaves(kOther, 0x118, 0x218);
	passes(kOther, 0x118, 0x218);
	const auto finding = only();
	EXPECT_FALSE(finding.hidden());
	EXPECT_TRUE(filter(finding, "passed-before"));
}

TEST_F(PassedTest, AnotherFactOrTwoReadersDoNot)
{
	for (auto [under, passed] : {std::pair{kFact, kOther}, std::pair{kFact, 0u},
				     std::pair{0u, kFact}, std::pair{kFact | 1, kFact | 3}}) {
		log = LogBuilder();
		a = log.add_class("a_cache+0x8 struct a.lock", LS_KIND_SPINLOCK, LS_ORIGIN_SLAB);
		b = log.add_class("b_cache+0x8 struct b.lock", LS_KIND_SPINLOCK, LS_ORIGIN_SLAB);
		gate = log.add_class("the_gate", LS_KIND_MUTEX);
		leaves(under);
		passes(passed);
		EXPECT_EQ(only().severity, Severity::Error);
	}
}

TEST_F(PassedTest, OneObservationWithoutIsEnough)
{
	leaves(kFact);
	passes(kFact);
	const auto without = passes(0);
	EXPECT_EQ(only().severity, Severity::Error);
	/* Unless what it did before is not known. */
	for (auto &observation : model.observations)
		if (observation.ordinal == without)
			observation.extra = LS_PAST_UNKNOWN;
	EXPECT_EQ(only_finding(model).severity, Severity::Warning);
}

TEST_F(PassedTest, WhatIsNotKnownCountsWhereItHeldLess)
{
	leaves(kFact);
	passes(kFact);
	const auto alone = log.acquire({.pid = 2, .stack = {"two"}},
				       {{.cls = b, .address = 0x208, .function = "two"}},
				       {.cls = a, .address = 0x108, .function = "two"});
	model = model_of(log);
	for (auto &observation : model.observations)
		if (observation.ordinal == alone)
			observation.extra = LS_PAST_UNKNOWN;
	EXPECT_EQ(only_finding(model).severity, Severity::Error);
}

TEST_F(HierarchyTest, TwoOfOneClassThatNeverMeet)
{
	auto taken = [&](std::uint32_t passed) {
		return log.acquire({.pid = 2, .stack = {"nest"}},
				   {{.cls = b, .address = 0x308, .passed = passed << 16},
				    {.cls = a, .address = 0x118, .function = "nest"}},
				   {.cls = a, .address = 0x108, .function = "nest"});
	};
	const auto first =
		log.acquire({.pid = 1, .stack = {"nest"}},
			    {{.cls = a, .address = 0x108, .function = "nest", .passed = 0x1230}},
			    {.cls = a, .address = 0x118, .function = "nest"});
	auto finding = inverted(first, taken(0x1230));
	EXPECT_EQ(finding.severity, Severity::Warning);
	EXPECT_TRUE(filter(finding, "passed-before"));
	EXPECT_EQ(finding.edges.size(), 2u);
	finding = inverted(first, taken(0));
	EXPECT_EQ(finding.severity, Severity::Error);
	EXPECT_FALSE(filter(finding, "passed-before"));
}
