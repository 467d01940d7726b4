// SPDX-License-Identifier: GPL-2.0
// Runs of several kernels: an order of one and an order of another close no cycle.
#include "support.h"

#include "analysis/orders/builds.h"
#include "report/report.h"
#include "store/database.h"

#include <cstdio>

using namespace lockscope;
using namespace lockscope::test;

namespace {

/* One run on the kernel of that release; classes a, b and c are global. */
struct Boot {
	explicit Boot(const std::string &release)
	{
		static std::uint64_t runs;
		log = LogBuilder(++runs);
		std::snprintf(log.info().release, sizeof(log.info().release), "%s",
			      release.c_str());
		a = log.add_class("a");
		b = log.add_class("b");
		c = log.add_class("c");
		gate = log.add_class("gate", LS_KIND_MUTEX);
	}

	/* With everything in @around held as well. */
	void order(std::uint32_t outer, std::uint32_t inner, std::uint32_t pid,
		   std::vector<Lock> around = {})
	{
		around.push_back({.cls = outer});
		log.acquire(task(pid), around, {.cls = inner});
	}
	void both_orders(std::vector<Lock> around = {})
	{
		order(a, b, 1, around);
		order(b, a, 2, around);
	}
	static Task task(std::uint32_t pid, bool irq_off = true)
	{
		return {.pid = pid, .stack = {"foo_open", "__x64_sys_openat"}, .irq_off = irq_off};
	}
	static Task handler()
	{
		return {.comm = "swapper/0",
			.level = LS_HARDIRQ,
			.stack = {"foo_irq", "__handle_irq_event_percpu"}};
	}

	LogBuilder log;
	std::uint32_t a = 0, b = 0, c = 0, gate = 0;
};

std::vector<Finding> findings(const std::vector<const LogBuilder *> &runs)
{
	return analyse(model_of(runs)).findings;
}

const Finding *of_kind(const std::vector<Finding> &findings, FindingKind kind, std::size_t edges)
{
	for (const auto &finding : findings)
		if (finding.kind == kind && finding.edges.size() == edges)
			return &finding;
	return nullptr;
}

class Builds : public testing::Test {
protected:
	Boot one{"6.1.0-1-amd64"}, again{"6.1.0-1-amd64"}, other{"6.12.1-amd64"};
};

} // namespace

TEST_F(Builds, OrdersOfTwoKernelsAreANote)
{
	one.order(one.a, one.b, 1);
	other.order(other.b, other.a, 2);
	const auto finding = only_finding(model_of({&one.log, &other.log}));
	EXPECT_EQ(finding.severity, Severity::Note);
	EXPECT_EQ(finding.confidence, Confidence::Possible);
	EXPECT_FALSE(finding.hidden());
	const Filter *found = filter(finding, "different-kernels");
	ASSERT_TRUE(found);
	EXPECT_NE(found->why.find("a -> b on 6.1.0-1-amd64"), std::string::npos) << found->why;
	EXPECT_NE(found->why.find("b -> a on 6.12.1-amd64"), std::string::npos) << found->why;
}

TEST_F(Builds, OrdersOfTwoRunsOfOneKernelAreMoreThanANote)
{
	one.order(one.a, one.b, 1);
	again.order(again.b, again.a, 2);
	other.order(other.b, other.a, 2);
	const auto finding = only_finding(model_of({&one.log, &again.log, &other.log}));
	EXPECT_EQ(finding.severity, Severity::Warning);
	EXPECT_FALSE(filter(finding, "different-kernels"));
}

/* As after an update that keeps the release. */
TEST_F(Builds, OneReleaseMayBeTwoBuilds)
{
	one.order(one.a, one.b, 1);
	again.order(again.b, again.a, 2);
	for (bool same : {true, false}) {
		TempDir dir;
		ASSERT_TRUE(record_image(one.log.image(), dir / "1.db", "boot-1").ok());
		ASSERT_TRUE(record_image(again.log.image(), dir / "2.db", "boot-2").ok());
		if (!same) {
			auto db = Database::open(dir / "2.db", Access::Write);
			ASSERT_TRUE(db.ok());
			ASSERT_TRUE(db->exec("UPDATE run SET build_id = '22bb'").ok());
		}
		auto model = load_stores({dir / "1.db", dir / "2.db"});
		ASSERT_TRUE(model.ok());
		const auto finding = only_finding(*model);
		EXPECT_EQ(finding.severity, same ? Severity::Warning : Severity::Note);
		const Filter *found = filter(finding, "different-kernels");
		ASSERT_EQ(found != nullptr, !same);
		if (found) {
			EXPECT_NE(found->why.find("(build 22bb)"), std::string::npos) << found->why;
		}
	}
}

TEST_F(Builds, AnInterruptOfAnotherKernelIsANote)
{
	one.log.acquire(Boot::handler(), {}, {.cls = one.a});
	other.log.acquire(Boot::task(1, false), {}, {.cls = other.a});
	const auto finding = only_finding(model_of({&one.log, &other.log}));
	EXPECT_EQ(finding.kind, FindingKind::InconsistentIrqState);
	EXPECT_EQ(finding.severity, Severity::Note);
	EXPECT_TRUE(filter(finding, "different-kernels"));
	again.log.acquire(Boot::task(1, false), {}, {.cls = again.a});
	EXPECT_EQ(only_finding(model_of({&one.log, &other.log, &again.log})).severity,
		  Severity::Error);
}

/* What two kernels have together is shorter than what one has. */
TEST_F(Builds, ACycleOfOneKernelIsFoundBesideThoseOfTwo)
{
	one.order(one.a, one.b, 1);
	one.order(one.b, one.c, 2);
	one.order(one.c, one.a, 3);
	other.order(other.b, other.a, 1);
	other.order(other.c, other.b, 2);
	const auto all = findings({&one.log, &other.log});
	const Finding *ring = of_kind(all, FindingKind::LockOrderCycle, 3);
	ASSERT_TRUE(ring);
	EXPECT_EQ(ring->severity, Severity::Error);
	for (const auto &finding : all)
		EXPECT_EQ(finding.severity == Severity::Note, &finding != ring);
	EXPECT_EQ(all.size(), 3u);
}

TEST_F(Builds, AnInversionOfOneKernelIsFoundBesideAStateOfTwo)
{
	one.log.acquire(Boot::handler(), {}, {.cls = one.a});
	one.order(one.a, one.b, 1);
	one.log.acquire(Boot::task(2, false), {}, {.cls = one.b});
	other.log.acquire(Boot::task(1, false), {}, {.cls = other.a});
	const auto all = findings({&one.log, &other.log});
	const Finding *inversion = of_kind(all, FindingKind::IrqInversion, 3);
	ASSERT_TRUE(inversion);
	EXPECT_EQ(inversion->severity, Severity::Error);
	const Finding *state = of_kind(all, FindingKind::InconsistentIrqState, 2);
	ASSERT_TRUE(state);
	EXPECT_EQ(state->severity, Severity::Note);
}

TEST_F(Builds, WhatOneKernelKeepsApartAnotherDoesNotBringTogether)
{
	one.both_orders({{.cls = one.gate}});
	other.order(other.a, other.b, 1);
	EXPECT_TRUE(only_finding(model_of({&one.log, &other.log})).hidden());
	/* But with both orders and no gate it does. */
	other.order(other.b, other.a, 2);
	for (const auto &runs : {std::vector<const LogBuilder *>{&one.log, &other.log},
				 std::vector<const LogBuilder *>{&other.log, &one.log}})
		EXPECT_EQ(only_finding(model_of(runs)).severity, Severity::Error);
}

/* The second of that name in one build may be the third in the next one. */
TEST_F(Builds, NumbersAreOfOneKernel)
{
	const auto shared = one.log.add_class("lock#2+0x8");
	again.log.add_class("unrelated");
	const auto there = again.log.add_class("lock#2+0x8");
	const auto other_one = other.log.add_class("lock#2+0x8");
	one.order(shared, one.a, 1);
	other.order(other.a, other_one, 2);
	const Model model = model_of({&one.log, &other.log});
	EXPECT_TRUE(analyse(model).findings.empty());
	EXPECT_EQ(kept_apart(model), std::vector<std::string>{"lock#2+0x8"});
	EXPECT_NE(
		text_report(model, analyse(model), {}, {200, false}).find("Not united: lock#2+0x8"),
		std::string::npos);
	again.order(again.a, there, 2);
	const Model same = model_of({&one.log, &again.log});
	EXPECT_EQ(only_finding(same).severity, Severity::Warning);
	EXPECT_TRUE(kept_apart(same).empty());
}

TEST_F(Builds, NumbersOfAModuleAreOfItsBuild)
{
	auto lock = [](Boot &boot) {
		boot.log.module("foo", {"foo_lock"});
		return boot.log.add_class("foo:lock#1", LS_KIND_MUTEX, LS_ORIGIN_STATIC, 0, 0,
					  "foo");
	};
	const auto first = lock(one), second = lock(again);
	one.log.acquire(Boot::task(1), {{.cls = first, .function = "foo_lock"}}, {.cls = one.a});
	again.log.acquire(Boot::task(2), {{.cls = again.a}},
			  {.cls = second, .function = "foo_lock"});
	for (const std::string build : {"", "11aa", "22bb"}) {
		TempDir dir;
		ASSERT_TRUE(record_image(one.log.image(), dir / "1.db", "boot-1").ok());
		ASSERT_TRUE(record_image(again.log.image(), dir / "2.db", "boot-2").ok());
		for (const std::string file : {"1.db", "2.db"}) {
			const std::string is = file == "1.db" && !build.empty() ? "11aa" : build;
			auto db = Database::open(dir / file, Access::Write);
			ASSERT_TRUE(db.ok());
			ASSERT_TRUE(db->exec("UPDATE code SET build_id = '" + is +
					     "' WHERE module = 'foo'")
					    .ok());
		}
		auto model = load_stores({dir / "1.db", dir / "2.db"});
		ASSERT_TRUE(model.ok());
		const bool same = build == "11aa";
		EXPECT_EQ(analyse(*model).findings.size(), same ? 1u : 0u) << build;
		EXPECT_EQ(kept_apart(*model).empty(), same) << build;
	}
}
