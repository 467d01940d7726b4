// SPDX-License-Identifier: GPL-2.0
// Findings whose acquires say something of themselves: filters, each with a case in which
// it must not apply.
#include "support.h"

#include "analysis/filters/annotations.h"

using namespace lockscope;
using namespace lockscope::test;
using namespace lockscope::annotations;

namespace {

/* Two of class a, nested, with what the table says of the acquires in the functions. */
class AnnotatedFilter : public testing::Test {
protected:
	AnnotatedFilter()
	{
		a = log.add_class("a", LS_KIND_MUTEX, LS_ORIGIN_SLAB);
		b = log.add_class("b", LS_KIND_MUTEX, LS_ORIGIN_SLAB);
	}

	void both_orders(const std::string &outer, const std::string &inner,
			 std::uint64_t one = 0x1000)
	{
		const auto other = one + 0x1000;
		const auto first =
			log.acquire({.pid = 1}, {{.cls = a, .address = one, .function = outer}},
				    {.cls = a, .address = other, .function = inner});
		const auto second =
			log.acquire({.pid = 2}, {{.cls = a, .address = other, .function = outer}},
				    {.cls = a, .address = one, .function = inner});
		log.inversion(a, false, first, second);
	}

	struct Said {
		std::string function;
		long subclass;
		Says says = Says::Subclass;
		std::string text = "LEVEL";
	};

	Finding judge(const std::vector<Said> &said, bool table_there = true)
	{
		Model model = model_of(log);
		auto table = std::make_shared<Table>();
		auto &notes = table->modules["vmlinux"];
		notes.build_id = "0123456789ab";
		for (auto &code : model.code) {
			code.build_id = "0123456789abcdef";
			for (const auto &one : said) {
				if (code.function != one.function)
					continue;
				const auto note = static_cast<std::uint32_t>(table->notes.size());
				if (one.says == Says::IrqLine)
					notes.in_function[code.function] = {note};
				else
					notes.calls[{code.function, code.offset}] = {
						{note, one.subclass, ""}};
				table->notes.push_back({one.says, "x_nested", one.text,
							code.function, "fs/x.c", 7});
			}
		}
		for (const auto &run : model.runs)
			model.annotations[run.release] = table_there ? table : nullptr;
		return only_finding(model);
	}

	LogBuilder log;
	std::uint32_t a, b, sights[2] = {};
};

TEST_F(AnnotatedFilter, ADeclaredNestingIsVouchedForInBothOrders)
{
	both_orders("take", "take_child");
	const auto finding = judge({{"take_child", 1}});
	const auto *said = filter(finding, "annotated-nesting");
	ASSERT_NE(said, nullptr);
	EXPECT_TRUE(said->hidden);
	EXPECT_EQ(finding.severity, Severity::Note);
	EXPECT_NE(said->why.find("subclass LEVEL (1) under 0 at fs/x.c:7"), std::string::npos)
		<< said->why;
}

TEST_F(AnnotatedFilter, ButNotOneOfTheSameSubclass)
{
	both_orders("take", "take_child");
	EXPECT_EQ(filter(judge({{"take_child", 1}, {"take", 1}}), "annotated-nesting"), nullptr);
}

TEST_F(AnnotatedFilter, NorOneThatNothingIsSaidOf)
{
	both_orders("take", "take_child");
	EXPECT_EQ(filter(judge({}), "annotated-nesting"), nullptr);
	EXPECT_EQ(filter(judge({{"take_child", 1}}, false), "annotated-nesting"), nullptr);
	EXPECT_EQ(filter(judge({{"take_child", kNotConstant}}), "annotated-nesting"), nullptr);
}

TEST_F(AnnotatedFilter, NorOneOfTheSameClassElsewhere)
{
	both_orders("take", "take_child");
	both_orders("take", "take_any", 0x4000);
	const auto finding = judge({{"take_child", 1}});
	EXPECT_EQ(filter(finding, "annotated-nesting"), nullptr);
	EXPECT_EQ(finding.severity, Severity::Error);
}

/* A directory is held as I_MUTEX_PARENT (1), what lies in it locked as I_MUTEX_NORMAL (0). */
TEST_F(AnnotatedFilter, InodesHaveAnOrderThatIsNotThatOfTheirNumbers)
{
	const struct {
		long outer, inner;
		bool vouched;
	} cases[] = {
		{1, 5, true},  {5, 2, true},  {2, 0, true},  {0, 3, true},
		{3, 4, true},  {1, 0, true},  {0, 4, true},  {5, 1, false},
		{2, 5, false}, {4, 0, false}, {1, 1, false},
	};
	for (const auto &c : cases) {
		log = LogBuilder();
		a = log.add_class("a", LS_KIND_MUTEX, LS_ORIGIN_SLAB);
		both_orders("take", "take_inner");
		const auto finding =
			judge({{"take", c.outer, Says::Subclass, "I_MUTEX_OUTER"},
			       {"take_inner", c.inner, Says::Subclass, "I_MUTEX_INNER"}});
		EXPECT_EQ(filter(finding, "annotated-nesting") != nullptr, c.vouched)
			<< c.inner << " under " << c.outer;
	}
	/* As do_rmdir() and vfs_rmdir() have it: nothing is said of the inner one. */
	EXPECT_TRUE(filter(judge({{"take", 1, Says::Subclass, "I_MUTEX_PARENT"}}),
			   "annotated-nesting"));
	EXPECT_FALSE(filter(judge({{"take", 4, Says::Subclass, "I_MUTEX_NONDIR2"}}),
			    "annotated-nesting"));
	EXPECT_FALSE(filter(judge({{"take", 1}}), "annotated-nesting"));
}

TEST_F(AnnotatedFilter, DeclaredUnderWhatIsNotKnownIsANote)
{
	both_orders("take", "take_child");
	const auto finding = judge({{"take_child", 1}, {"take", kNotConstant}});
	EXPECT_TRUE(filter(finding, "author-orders"));
	EXPECT_FALSE(finding.hidden());
	EXPECT_EQ(finding.severity, Severity::Note);
	EXPECT_FALSE(filter(judge({{"take_child", 1}, {"take", 1}}), "author-orders"));
	EXPECT_FALSE(filter(judge({{"take_child", kNotConstant}}), "author-orders"));
	EXPECT_FALSE(filter(judge({{"take", 1}}), "author-orders"));
	EXPECT_FALSE(
		filter(judge({{"take_child", 1}, {"take", kNotConstant}}, false), "author-orders"));
}

/* The order that is not kept is one of those known. */
TEST_F(AnnotatedFilter, AllNestingsSpeakForOneThatIsNotKept)
{
	for (bool plain : {false, true}) {
		log = LogBuilder();
		a = log.add_class("a", LS_KIND_MUTEX, LS_ORIGIN_SLAB);
		const auto other = log.acquire(
			{.pid = 1}, {{.cls = a, .address = 0x3000, .function = "take"}},
			{.cls = a, .address = 0x4000, .function = plain ? "take" : "take_child"});
		const auto second =
			log.acquire({.pid = 2}, {{.cls = a, .address = 0x2000, .function = "take"}},
				    {.cls = a, .address = 0x1000, .function = "take_child"});
		log.inversion(a, false, other, second);
		const auto finding = judge({{"take_child", 1}, {"take", kNotConstant}});
		EXPECT_TRUE(filter(finding, "first-order-not-kept"));
		EXPECT_EQ(filter(finding, "author-orders") != nullptr, !plain);
		EXPECT_EQ(finding.severity, plain ? Severity::Warning : Severity::Note);
	}
}

TEST_F(AnnotatedFilter, TheOtherWayRoundIsAFault)
{
	both_orders("take_child", "take");
	EXPECT_EQ(filter(judge({{"take_child", 1}}), "annotated-nesting"), nullptr);
}

TEST_F(AnnotatedFilter, ANestLockVouchesWhileItIsHeld)
{
	const auto nested = [&](bool gate) {
		std::vector<Lock> held;
		if (gate)
			held.push_back({.cls = b, .function = "take_gate"});
		for (std::uint64_t other : {0u, 0x1000u}) {
			auto with = held;
			with.push_back({.cls = a, .address = 0x1000 + other, .function = "take"});
			sights[other != 0] = log.acquire(
				{.pid = other ? 2u : 1u}, with,
				{.cls = a, .address = 0x2000 - other, .function = "take_next"});
		}
		log.inversion(a, false, sights[0], sights[1]);
	};
	nested(true);
	EXPECT_NE(
		filter(judge({{"take_next", kNotConstant, Says::NestLock, "&x->b"}}), "nest-lock"),
		nullptr);
	EXPECT_EQ(
		filter(judge({{"take_next", kNotConstant, Says::NestLock, "&x->c"}}), "nest-lock"),
		nullptr)
		<< "another lock than the one that was named";
	log = LogBuilder();
	a = log.add_class("a", LS_KIND_MUTEX, LS_ORIGIN_SLAB);
	b = log.add_class("b", LS_KIND_MUTEX, LS_ORIGIN_SLAB);
	nested(false);
	EXPECT_EQ(
		filter(judge({{"take_next", kNotConstant, Says::NestLock, "&x->b"}}), "nest-lock"),
		nullptr);
}

TEST_F(AnnotatedFilter, ALockThatIsAnotherToItsAuthors)
{
	log.acquire({.pid = 1}, {{.cls = a, .address = 0x1000, .function = "take_parent"}},
		    {.cls = b, .address = 0x5000, .function = "take_b"});
	log.acquire({.pid = 2}, {{.cls = b, .address = 0x6000, .function = "take_b"}},
		    {.cls = a, .address = 0x2000, .function = "take_child"});
	const auto *said = filter(judge({{"take_child", 1}}), "annotated-subclass");
	EXPECT_NE(said, nullptr);
	EXPECT_EQ(filter(judge({{"take_child", 1}, {"take_parent", 1}}), "annotated-subclass"),
		  nullptr);
	EXPECT_EQ(filter(judge({}), "annotated-subclass"), nullptr);
}

/* As chan->nesting of L2CAP: which class it is to its authors, no table can say. */
TEST_F(AnnotatedFilter, ASubclassOfRunTimeNeedsTheObjects)
{
	for (bool one : {false, true}) {
		log = LogBuilder();
		a = log.add_class("a", LS_KIND_MUTEX, LS_ORIGIN_SLAB);
		b = log.add_class("b", LS_KIND_MUTEX, LS_ORIGIN_SLAB);
		log.acquire({.pid = 1}, {{.cls = a, .address = 0x1000, .function = "take"}},
			    {.cls = b, .address = 0x5000, .function = "take_b"});
		log.acquire({.pid = 2},
			    {{.cls = b, .address = one ? 0x5000u : 0x6000u, .function = "take_b"}},
			    {.cls = a, .address = 0x1000, .function = "take_nested"});
		const auto finding = judge({{"take_nested", kNotConstant}});
		EXPECT_EQ(filter(finding, "computed-subclass") != nullptr, !one);
		EXPECT_EQ(finding.severity == Severity::Note, !one);
		EXPECT_FALSE(finding.hidden());
		EXPECT_EQ(filter(judge({{"take_nested", 1}, {"take", 1}}), "computed-subclass"),
			  nullptr);
	}
}

/* As ei_start_xmit() of 8390: the handler takes the lock, and its line is disabled meanwhile. */
TEST_F(AnnotatedFilter, OneInterruptIsKeptAwayByItsLine)
{
	const auto lock = log.add_class("x->page_lock", LS_KIND_SPINLOCK, LS_ORIGIN_SLAB);
	log.acquire({.level = LS_HARDIRQ}, {},
		    {.cls = lock, .address = 0x1000, .function = "x_interrupt"});
	log.acquire({.pid = 1}, {}, {.cls = lock, .address = 0x1000, .function = "x_xmit"});
	const std::vector<Said> said = {{"x_xmit", kNotConstant, Says::IrqLine, "dev->irq"}};
	const auto finding = judge(said);
	EXPECT_NE(filter(finding, "annotated-irq-line"), nullptr);
	EXPECT_EQ(finding.severity, Severity::Note);
	EXPECT_EQ(filter(judge({}), "annotated-irq-line"), nullptr);
	EXPECT_EQ(judge({}).severity, Severity::Error);
	log.acquire({.pid = 2}, {}, {.cls = lock, .address = 0x1000, .function = "x_timeout"});
	EXPECT_EQ(filter(judge(said), "annotated-irq-line"), nullptr) << "once without";
}

TEST_F(AnnotatedFilter, ButSoftirqsAreNot)
{
	const auto lock = log.add_class("x->page_lock", LS_KIND_SPINLOCK, LS_ORIGIN_SLAB);
	log.acquire({.level = LS_SOFTIRQ}, {},
		    {.cls = lock, .address = 0x1000, .function = "x_timer"});
	log.acquire({.pid = 1}, {}, {.cls = lock, .address = 0x1000, .function = "x_xmit"});
	EXPECT_EQ(filter(judge({{"x_xmit", kNotConstant, Says::IrqLine, "dev->irq"}}),
			 "annotated-irq-line"),
		  nullptr);
}

TEST_F(AnnotatedFilter, OneObjectIsOneLockWhateverTheySay)
{
	log.acquire({.pid = 1}, {{.cls = a, .address = 0x1000, .function = "take_parent"}},
		    {.cls = b, .address = 0x5000, .function = "take_b"});
	log.acquire({.pid = 2}, {{.cls = b, .address = 0x5000, .function = "take_b"}},
		    {.cls = a, .address = 0x1000, .function = "take_child"});
	EXPECT_EQ(filter(judge({{"take_child", 1}}), "annotated-subclass"), nullptr);
}

} // namespace
