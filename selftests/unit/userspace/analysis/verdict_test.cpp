// SPDX-License-Identifier: GPL-2.0
// What a verdict of lockscope confirm changes: docs/severity.md.
#include "support.h"

#include "analysis/verdicts.h"

#include "analysis/rank.h"

#include <algorithm>
#include <vector>

using namespace lockscope;
using namespace lockscope::test;

namespace {

class VerdictTest : public testing::Test {
protected:
	static Task by(std::uint32_t pid)
	{
		return {.pid = pid, .stack = {"fn", "__x64_sys_read"}};
	}

	/* Both orders of two locks; with @gate, which hides the finding. */
	void abba(const std::string &name, bool gate = false)
	{
		const auto a = log.add_class(name + "_a"), b = log.add_class(name + "_b");
		std::vector<Lock> first, second;
		if (gate) {
			const auto g = log.add_class(name + "_gate");
			first = second = {{.cls = g}};
		}
		first.push_back({.cls = a});
		second.push_back({.cls = b});
		log.acquire(by(1), first, {.cls = b});
		log.acquire(by(2), second, {.cls = a});
	}

	void judge(const std::string &id, VerdictResult result)
	{
		Verdict verdict;
		verdict.finding = id;
		verdict.result = result;
		verdict.reason = result == VerdictResult::Refuted ? "gate" : "";
		verdict.why = "the reason";
		verdict.tries = 3;
		model.verdicts[id] = verdict;
	}

	/* The only finding, before and after a verdict on it. */
	Finding judged(VerdictResult result)
	{
		model = model_of(log);
		before = only_finding(model);
		judge(before.id, result);
		Finding after = only_finding(model);
		EXPECT_EQ(after.id, before.id);
		EXPECT_TRUE(after.verdict.has_value());
		return after;
	}

	static const Feature *feature(const Finding &finding, const std::string &name)
	{
		for (const auto &each : finding.features)
			if (each.name == name)
				return &each;
		return nullptr;
	}

	LogBuilder log;
	Model model;
	Finding before;
};

} // namespace

TEST_F(VerdictTest, WithoutOneNothingChanges)
{
	abba("x");
	model = model_of(log);
	judge("0123456789abcdef", VerdictResult::Confirmed);
	const Finding finding = only_finding(model);
	EXPECT_FALSE(finding.verdict);
	EXPECT_EQ(finding.confidence, Confidence::Observed);
	EXPECT_FALSE(feature(finding, "verdict"));
}

TEST_F(VerdictTest, ConfirmedContradictsFilters)
{
	abba("x", true);
	const Finding after = judged(VerdictResult::Confirmed);
	EXPECT_TRUE(before.hidden());
	EXPECT_TRUE(filter(before, "gate-lock"));
	EXPECT_TRUE(after.filters.empty());
	EXPECT_EQ(after.severity, Severity::Error);
	EXPECT_EQ(after.confidence, Confidence::Confirmed);
	ASSERT_TRUE(feature(after, "verdict"));
	EXPECT_GT(feature(after, "verdict")->points, 0);
}

/* Two sides that meet may store the same constant all the same. */
TEST_F(VerdictTest, ConfirmedLeavesTheSeverityOfARace)
{
	const auto writer = log.access({.pid = 1}, {.op = LS_ACC_WRITE, .function = "writes"}),
		   reader = log.access({.pid = 1},
				       {.op = LS_ACC_READ | LS_ACC_MARKED, .function = "reads"});
	log.race(writer, reader);
	const Finding after = judged(VerdictResult::Confirmed);
	EXPECT_EQ(before.severity, Severity::Note);
	EXPECT_LT(before.confidence, Confidence::Confirmed);
	EXPECT_EQ(after.severity, before.severity);
	EXPECT_EQ(after.filters.size(), before.filters.size());
	EXPECT_EQ(after.confidence, Confidence::Confirmed);
	EXPECT_GT(after.score, before.score);
}

TEST_F(VerdictTest, ConfirmedOfOneContextAlone)
{
	const auto a = log.add_class("a"), b = log.add_class("b");
	const Task thread = {.pid = 1, .comm = "thread", .flags = LS_TASK_KTHREAD};
	log.acquire(thread, {{.cls = a}}, {.cls = b});
	log.acquire(thread, {{.cls = b}}, {.cls = a});
	const Finding after = judged(VerdictResult::Confirmed);
	EXPECT_EQ(before.confidence, Confidence::Possible);
	EXPECT_EQ(after.confidence, Confidence::Confirmed);
	EXPECT_EQ(after.severity, Severity::Error);
}

TEST_F(VerdictTest, ASuppressionStandsAboveAConfirmation)
{
	abba("x", true);
	judged(VerdictResult::Confirmed);
	Analysis analysis = analyse(model);
	auto entries = parse_suppressions("id=" + before.id + " reason=\"known\"", "file");
	ASSERT_TRUE(entries.ok());
	apply_suppressions(model, analysis, *entries, "2026-06-01");
	const Finding &finding = analysis.findings.at(0);
	EXPECT_TRUE(finding.suppressed());
	ASSERT_EQ(finding.filters.size(), 1u);
	EXPECT_EQ(finding.severity, Severity::Note);
	EXPECT_EQ(finding.confidence, Confidence::Confirmed);
}

TEST_F(VerdictTest, RefutedIsANoteAndStaysVisible)
{
	abba("x");
	const Finding after = judged(VerdictResult::Refuted);
	EXPECT_EQ(before.severity, Severity::Error);
	EXPECT_EQ(after.severity, Severity::Note);
	EXPECT_EQ(after.confidence, before.confidence);
	EXPECT_FALSE(after.hidden());
	ASSERT_TRUE(filter(after, "refuted"));
	EXPECT_EQ(filter(after, "refuted")->why, "the reason (3 tries)");
	EXPECT_EQ(after.filters.size(), 1u);
	EXPECT_FALSE(feature(after, "verdict"));
	/* For the exit status it is what it was. */
	EXPECT_EQ(unrefuted(after), Severity::Error);
	EXPECT_EQ(unrefuted(before), Severity::Error);
}

/* Stores of older releases have it. */
TEST_F(VerdictTest, AnOrderIsNoReason)
{
	abba("x");
	model = model_of(log);
	before = only_finding(model);
	judge(before.id, VerdictResult::Refuted);
	model.verdicts.at(before.id).reason = "order";
	const Finding after = only_finding(model);
	EXPECT_EQ(after.severity, before.severity);
	EXPECT_FALSE(filter(after, "refuted"));
	EXPECT_EQ(after.verdict->result, VerdictResult::NotReached);
}

TEST_F(VerdictTest, RefutedHidesNothingLess)
{
	abba("x", true);
	const Finding after = judged(VerdictResult::Refuted);
	EXPECT_TRUE(after.hidden());
	EXPECT_TRUE(filter(after, "gate-lock"));
	EXPECT_TRUE(filter(after, "refuted"));
	EXPECT_EQ(unrefuted(after), Severity::Note);
}

TEST_F(VerdictTest, NotReachedChangesNothing)
{
	for (bool gate : {false, true}) {
		log = LogBuilder();
		abba("x", gate);
		const Finding after = judged(VerdictResult::NotReached);
		EXPECT_EQ(after.severity, before.severity);
		EXPECT_EQ(after.confidence, before.confidence);
		EXPECT_EQ(after.score, before.score);
		EXPECT_EQ(after.filters.size(), before.filters.size());
		EXPECT_EQ(after.features.size(), before.features.size());
	}
}

TEST_F(VerdictTest, ConfirmedComesFirstAndRefutedLast)
{
	for (const char *name : {"a", "b", "c", "d"})
		abba(name, *name == 'd');
	/* More points than any cycle by its observations. */
	log.fault(LS_FINDING_DOUBLE_UNLOCK, {}, {}, {.cls = log.add_class("m")});
	model = model_of(log);
	const Analysis plain = analyse(model);
	ASSERT_EQ(plain.findings.size(), 5u);
	EXPECT_EQ(plain.findings[0].kind, FindingKind::DoubleUnlock);
	EXPECT_TRUE(plain.findings[4].hidden());
	judge(plain.findings[4].id, VerdictResult::Confirmed);
	judge(plain.findings[1].id, VerdictResult::Refuted);
	const Analysis judged = analyse(model);
	ASSERT_EQ(judged.findings.size(), 5u);
	EXPECT_EQ(judged.findings[0].id, plain.findings[4].id);
	EXPECT_GT(judged.findings[0].score, judged.findings[1].score);
	EXPECT_EQ(judged.findings[1].id, plain.findings[0].id);
	EXPECT_EQ(judged.findings[4].id, plain.findings[1].id);
}

/* The longer cycles through the same dependencies are only of interest then. */
TEST_F(VerdictTest, RefutedShortCyclesMakeWayForLongerOnes)
{
	std::vector<std::uint32_t> locks;
	for (const char *name : {"a", "b", "c"})
		locks.push_back(log.add_class(name));
	for (std::uint32_t i = 0; i < 3; i++)
		for (std::uint32_t j = 0; j < 3; j++)
			if (i != j)
				log.acquire(by(3 * i + j), {{.cls = locks[i]}}, {.cls = locks[j]});
	model = model_of(log);
	const Analysis plain = analyse(model);
	ASSERT_EQ(plain.findings.size(), 3u);
	for (const auto &finding : plain.findings) {
		EXPECT_EQ(finding.classes.size(), 2u);
		judge(finding.id, VerdictResult::Refuted);
	}
	const Analysis longer = analyse(model);
	ASSERT_GT(longer.findings.size(), 3u);
	EXPECT_EQ(longer.findings[0].classes.size(), 3u);
	EXPECT_EQ(longer.findings[0].severity, Severity::Error);
	EXPECT_TRUE(longer.findings[0].further);
	/* Refuted as well it stays in the list. */
	judge(longer.findings[0].id, VerdictResult::Refuted);
	const Analysis refuted = analyse(model);
	const auto at = std::find_if(
		refuted.findings.begin(), refuted.findings.end(),
		[&](const Finding &finding) { return finding.id == longer.findings[0].id; });
	ASSERT_NE(at, refuted.findings.end());
	EXPECT_EQ(at->severity, Severity::Note);
}

/* A fault that one observation shows needs no verdict: it did happen. */
TEST_F(VerdictTest, FaultsThatHappenedStayAsTheyAre)
{
	log.fault(LS_FINDING_DOUBLE_UNLOCK, {}, {}, {.cls = log.add_class("m")});
	model = model_of(log);
	const Finding plain = only_finding(model);
	judge(plain.id, VerdictResult::Refuted);
	const Finding after = only_finding(model);
	EXPECT_FALSE(after.verdict);
	EXPECT_EQ(after.severity, plain.severity);
	EXPECT_EQ(after.score, plain.score);
	EXPECT_TRUE(after.filters.empty());
}

TEST_F(VerdictTest, TwoInstancesInBothOrders)
{
	const auto cls = log.add_class("c+0x8", LS_KIND_MUTEX, LS_ORIGIN_SLAB, 8, 64);
	const Lock x{.cls = cls, .address = 0x1008}, y{.cls = cls, .address = 0x2008};
	const auto first = log.acquire(by(1), {x}, y);
	const auto second = log.acquire(by(2), {y}, x);
	log.inversion(cls, false, first, second);
	EXPECT_EQ(judged(VerdictResult::Confirmed).confidence, Confidence::Confirmed);
	EXPECT_EQ(judged(VerdictResult::Refuted).severity, Severity::Note);
}

TEST_F(VerdictTest, LocksInInterrupts)
{
	const auto cls = log.add_class("foo_lock");
	log.acquire({.pid = 1, .level = LS_HARDIRQ, .stack = {"foo_irq"}}, {}, {.cls = cls});
	log.acquire(by(2), {}, {.cls = cls});
	EXPECT_EQ(judged(VerdictResult::Confirmed).confidence, Confidence::Confirmed);
	EXPECT_EQ(judged(VerdictResult::Refuted).severity, Severity::Note);
}

/* Several kernels: the doubt comes after all others. */
TEST_F(VerdictTest, ConfirmedThoughNoOneKernelShowsIt)
{
	LogBuilder other(2);
	const auto b = other.add_class("b"), a = other.add_class("a");
	other.acquire(by(2), {{.cls = b}}, {.cls = a});
	std::snprintf(other.info().release, sizeof(other.info().release), "other");
	const auto a1 = log.add_class("a"), b1 = log.add_class("b");
	log.acquire(by(1), {{.cls = a1}}, {.cls = b1});
	model = model_of({&log, &other});
	const Finding plain = only_finding(model);
	ASSERT_TRUE(filter(plain, "different-kernels"));
	judge(plain.id, VerdictResult::Confirmed);
	const Finding after = only_finding(model);
	EXPECT_TRUE(after.filters.empty());
	EXPECT_EQ(after.confidence, Confidence::Confirmed);
	EXPECT_EQ(after.severity, Severity::Error);
}
