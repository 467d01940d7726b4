// SPDX-License-Identifier: GPL-2.0
// Findings with completions: waiter, completer, and the module's findings.
#include "support.h"

#include "analysis/orders/lockgraph.h"
#include "report/report.h"

#include <algorithm>

using namespace lockscope;
using namespace lockscope::test;

namespace {

struct Case {
	LogBuilder log;
	std::uint32_t m, c;

	explicit Case(std::uint64_t instance = 1, ls_kind awaited = LS_KIND_COMPLETION)
		: log(instance), m(log.add_class("m", LS_KIND_MUTEX)),
		  c(log.add_class("c", awaited))
	{
	}
	void waits(const std::vector<Lock> &held, bool gives_up = false)
	{
		log.acquire({.pid = 1}, held,
			    {.cls = c, .function = "waits", .try_lock = gives_up, .wait = true});
	}
	void completes(const std::vector<Lock> &held)
	{
		log.complete({.pid = 2}, held, {.cls = c, .function = "completes"});
	}
	/* The module's word, as it comes with every such cycle. */
	Case &told()
	{
		log.finding({m, c});
		return *this;
	}
};

Case both(ls_kind awaited = LS_KIND_COMPLETION)
{
	Case x(1, awaited);
	x.completes({{.cls = x.m}});
	x.waits({{.cls = x.m}});
	return x;
}

std::vector<Finding> findings(const Case &x)
{
	return analyse(model_of(x.log)).findings;
}

} // namespace

TEST(Completions, WhoWaitsAndWhoCompletesAreTheSides)
{
	const Model model = model_of(both().told().log);
	const Finding finding = only_finding(model);
	EXPECT_EQ(finding.kind, FindingKind::LockOrderCycle);
	EXPECT_EQ(finding.severity, Severity::Error);
	EXPECT_EQ(finding.confidence, Confidence::Observed);
	EXPECT_TRUE(finding.filters.empty());
	EXPECT_EQ(finding.title, "lock order with a completion: c -> m -> c (completes vs waits)");
	ASSERT_EQ(finding.edges.size(), 2u);
	EXPECT_EQ(kind_name(model[finding.edges[0].from].kind), std::string("completion"));
	EXPECT_EQ(finding.edges[0].kind, LS_DEP_EN);

	const std::string text = text_finding(model, finding, {});
	EXPECT_NE(text.find("holds [B], completes [A]"), std::string::npos) << text;
	EXPECT_NE(text.find("holds [B], waits for [A]"), std::string::npos) << text;
}

/* The waiter has completed it itself, before it waited. */
TEST(Completions, NothingFollowsUntilAnotherContextCompletes)
{
	Case x;
	x.log.complete({.pid = 1}, {{.cls = x.m}}, {.cls = x.c, .function = "puts"},
		       LS_COMPLETE_OPEN);
	x.waits({{.cls = x.m}});
	EXPECT_TRUE(findings(x).empty());

	Case seen = x, told = x;
	seen.completes({{.cls = seen.m}});
	seen.told();
	const Model model = model_of(seen.log);
	EXPECT_EQ(only_finding(model).title,
		  "lock order with a completion: c -> m -> c (completes vs waits)");
	told.log.complete({.pid = 1}, {{.cls = told.m}}, {.cls = told.c, .function = "waits"},
			  LS_COMPLETE_CONFIRMED);
	told.told();
	EXPECT_EQ(only_finding(model_of(told.log)).title,
		  "lock order with a completion: c -> m -> c (puts vs waits)");
}

TEST(Completions, AWaitQueueIsWoken)
{
	const Model model = model_of(both(LS_KIND_WAITQUEUE).told().log);
	const Finding finding = only_finding(model);
	EXPECT_EQ(finding.title, "lock order with a wait queue: c -> m -> c (completes vs waits)");
	EXPECT_EQ(kind_name(model[finding.edges[0].from].kind), std::string("waitqueue"));

	const std::string text = text_finding(model, finding, {});
	EXPECT_NE(text.find("holds [B], wakes [A]"), std::string::npos) << text;
	EXPECT_NE(text.find("holds [B], waits for [A]"), std::string::npos) << text;
}

TEST(Completions, ACompleterWithoutTheLockMakesItSilent)
{
	for (ls_kind awaited : {LS_KIND_COMPLETION, LS_KIND_WAITQUEUE}) {
		Case x = both(awaited);
		x.completes({});
		EXPECT_TRUE(findings(x).empty());
		/* What the module said before it knew is no riddle. */
		const auto analysis = analyse(model_of(x.told().log));
		EXPECT_TRUE(analysis.findings.empty());
		EXPECT_TRUE(analysis.self_check.empty());
	}
}

TEST(Completions, WhoIsNotWatchedIsSaid)
{
	const auto said = [](std::initializer_list<ls_prim_state> states) {
		Case x;
		for (ls_prim_state state : states) {
			ls_prim_info prim{};
			prim.function[0] = static_cast<char>('a' + x.log.prims().size());
			prim.kind = LS_KIND_WAITQUEUE;
			prim.state = static_cast<__u8>(state);
			x.log.prims().push_back(prim);
		}
		const auto spots = blind_spots(model_of(x.log));
		return std::any_of(spots.begin(), spots.end(), [](const std::string &spot) {
			return spot.find("waitqueues=1") != std::string::npos;
		});
	};
	EXPECT_TRUE(said({}));
	EXPECT_TRUE(said({LS_PRIM_OFF}));
	EXPECT_FALSE(said({LS_PRIM_DIRECT, LS_PRIM_ABSENT}));

	Case on(1), off(2);
	ls_prim_info prim{};
	prim.kind = LS_KIND_WAITQUEUE;
	prim.state = LS_PRIM_FTRACE;
	on.log.prims().push_back(prim);
	EXPECT_EQ(blind_spots(model_of({&on.log, &off.log})).size(),
		  blind_spots(model_of(on.log)).size() + 1)
		<< "one run was without";
}

TEST(Completions, WhoGivesUpIsInNoDeadlock)
{
	Case x;
	x.completes({{.cls = x.m}});
	x.waits({{.cls = x.m}}, true);
	EXPECT_TRUE(findings(x).empty());
}

TEST(Completions, RecursiveReadersAreNotKeptOut)
{
	Case x;
	x.completes({{.cls = x.m, .read = LS_RECURSIVE}});
	x.waits({{.cls = x.m, .read = LS_SHARED}});
	EXPECT_TRUE(findings(x).empty());
	x.waits({{.cls = x.m}});
	EXPECT_EQ(findings(x).size(), 1u);
}

TEST(Completions, WhatTheModuleSawApartIsHidden)
{
	const auto found = findings(both());
	ASSERT_EQ(found.size(), 1u);
	const Filter *apart = filter(found[0], "other-completer");
	ASSERT_NE(apart, nullptr);
	EXPECT_TRUE(apart->hidden);
	EXPECT_EQ(found[0].severity, Severity::Note);
}

TEST(Completions, SidesOfTwoRunsNobodyHasJudged)
{
	Case one(1), two(2);
	one.completes({{.cls = one.m}});
	two.waits({{.cls = two.m}});
	const auto found = analyse(model_of({&one.log, &two.log})).findings;
	ASSERT_EQ(found.size(), 1u);
	EXPECT_EQ(filter(found[0], "other-completer"), nullptr);
	EXPECT_EQ(found[0].confidence, Confidence::Possible);
}

TEST(Completions, AGateDoesNotKeepWhoCompletesApart)
{
	Case x;
	const auto g = x.log.add_class("g", LS_KIND_MUTEX);
	x.completes({{.cls = g}, {.cls = x.m}});
	x.waits({{.cls = g}, {.cls = x.m}});
	x.log.finding({g, x.c});
	const auto found = findings(x.told());
	ASSERT_EQ(found.size(), 2u);
	for (const auto &finding : found)
		EXPECT_EQ(filter(finding, "gate-lock"), nullptr);
}

TEST(Completions, LocksBetweenThemMakeALongerCycle)
{
	Case x;
	const auto l = x.log.add_class("l", LS_KIND_MUTEX);
	x.completes({{.cls = l}});
	x.waits({{.cls = x.m}});
	EXPECT_TRUE(findings(x).empty());
	x.log.acquire({.pid = 3}, {{.cls = l}}, {.cls = x.m});
	const auto found = findings(x);
	ASSERT_EQ(found.size(), 1u);
	EXPECT_EQ(found[0].edges.size(), 3u);
	EXPECT_FALSE(found[0].hidden());
}

TEST(Completions, NoInterruptGetsStuckInThem)
{
	Case x;
	const auto s = x.log.add_class("s");
	/* s is acquired in interrupts and held by the completer; m is held with them on. */
	x.log.acquire({.pid = 4, .level = LS_HARDIRQ}, {}, {.cls = s});
	x.log.acquire({.pid = 5, .irq_off = true}, {{.cls = s}},
		      {.cls = x.c, .function = "waits", .wait = true});
	x.completes({{.cls = x.m}});
	x.log.acquire({.pid = 6}, {}, {.cls = x.m});
	EXPECT_TRUE(findings(x).empty());
}
