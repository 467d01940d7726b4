// SPDX-License-Identifier: GPL-2.0
// Criteria apply hierarchically: whatever comes first decides.
#include "support.h"

#include "analysis/rank.h"

using namespace lockscope;
using namespace lockscope::test;

namespace {

Task task(std::uint32_t pid)
{
	return {.pid = pid, .stack = {"fn", "__x64_sys_read"}};
}

std::vector<std::string> titles(const LogBuilder &log)
{
	std::vector<std::string> out;
	for (const auto &finding : analyse(model_of(log)).findings)
		out.push_back(finding.title);
	return out;
}

double points(const Finding &finding, const std::string &name)
{
	for (const auto &feature : finding.features)
		if (feature.name == name)
			return feature.points;
	return -1;
}

} // namespace

TEST(Rank, ObservedComesBeforePossible)
{
	LogBuilder log;
	const auto a = log.add_class("aa"), b = log.add_class("ab");
	const auto x = log.add_class("x+0x8", LS_KIND_MUTEX, LS_ORIGIN_SLAB, 8, 64),
		   y = log.add_class("y");
	const Task thread = {.pid = 1, .comm = "kswapd0", .flags = LS_TASK_KTHREAD};
	log.acquire(thread, {{.cls = a}}, {.cls = b});
	log.acquire(thread, {{.cls = b}}, {.cls = a});
	log.acquire(task(1), {{.cls = x, .address = 0x108}}, {.cls = y});
	log.acquire(task(2), {{.cls = y}}, {.cls = x, .address = 0x208});
	const auto found = titles(log);
	ASSERT_EQ(found.size(), 2u);
	EXPECT_EQ(found[0].rfind("lock order: x+0x8", 0), 0u) << found[0];
}

TEST(Rank, FewerContextsComeFirst)
{
	LogBuilder log;
	std::vector<std::uint32_t> long_one, short_one;
	for (const char *name : {"a1", "a2", "a3"})
		long_one.push_back(log.add_class(name));
	for (const char *name : {"b1", "b2"})
		short_one.push_back(log.add_class(name));
	for (std::uint32_t i = 0; i < 3; i++)
		log.acquire(task(i), {{.cls = long_one[i]}}, {.cls = long_one[(i + 1) % 3]});
	for (std::uint32_t i = 0; i < 2; i++)
		log.acquire(task(i), {{.cls = short_one[i]}}, {.cls = short_one[(i + 1) % 2]});
	EXPECT_EQ(titles(log)[0].rfind("lock order: b1", 0), 0u);
}

TEST(Rank, ProvenInstancesComeBeforeUnproven)
{
	LogBuilder log;
	auto pair = [&](const std::string &name, std::uint64_t second) {
		const auto x = log.add_class(name + "+0x8", LS_KIND_MUTEX, LS_ORIGIN_SLAB, 8, 64);
		const auto y = log.add_class(name + "+0x10", LS_KIND_MUTEX, LS_ORIGIN_SLAB, 16, 64);
		log.acquire(task(1), {{.cls = x, .address = 0x1008}},
			    {.cls = y, .address = 0x1010});
		log.acquire(task(2), {{.cls = y, .address = second + 0x10}},
			    {.cls = x, .address = second + 8});
	};
	pair("unproven", 0x2000);
	pair("zproven", 0x1000);
	const auto found = titles(log);
	ASSERT_EQ(found.size(), 2u);
	EXPECT_EQ(found[0].rfind("lock order: zproven", 0), 0u) << found[0];
}

TEST(Rank, EachCriterionOutweighsAllBelowIt)
{
	const std::vector<std::string> order = {"confidence", "contexts",  "instances", "locality",
						"depth",      "frequency", "novelty"};
	LogBuilder log;
	const auto a = log.add_class("a"), b = log.add_class("b");
	log.acquire(task(1), {{.cls = a}}, {.cls = b});
	log.acquire(task(2), {{.cls = b}}, {.cls = a});
	log.acquire_again(task(1), {{.cls = a}}, {.cls = b}, 10000000);
	log.acquire_again(task(2), {{.cls = b}}, {.cls = a}, 10000000);
	const Finding best = only_finding(model_of(log));
	ASSERT_EQ(best.features.size(), order.size());
	double sum = 0;
	for (std::size_t i = 0; i < order.size(); i++) {
		EXPECT_EQ(best.features[i].name, order[i]);
		EXPECT_FALSE(best.features[i].why.empty());
		sum += best.features[i].points;
	}
	EXPECT_EQ(best.score, sum);
	/* The best below a step of "contexts" is less than that step. */
	EXPECT_EQ(points(best, "contexts"), 960);
	EXPECT_LT(points(best, "instances") + points(best, "locality") + points(best, "depth") +
			  points(best, "frequency") + points(best, "novelty"),
		  960.0 / 6);
	EXPECT_LT(points(best, "locality") + points(best, "depth") + points(best, "frequency") +
			  points(best, "novelty"),
		  points(best, "instances"));
	EXPECT_EQ(points(best, "frequency"), 10);
}

TEST(Rank, SampledCountsBelowTheIntervalAreNoise)
{
	LogBuilder log;
	const auto a = log.add_class("a"), b = log.add_class("b");
	log.acquire(task(1), {{.cls = a}}, {.cls = b});
	log.acquire(task(2), {{.cls = b}}, {.cls = a});
	log.acquire_again(task(1), {{.cls = a}}, {.cls = b}, 64);
	EXPECT_EQ(points(only_finding(model_of(log)), "frequency"), 0);
}

TEST(Rank, HiddenComesLast)
{
	LogBuilder log;
	const auto a = log.add_class("a"), b = log.add_class("b"), g = log.add_class("g");
	const auto x = log.add_class("x"), y = log.add_class("y");
	log.acquire(task(1), {{.cls = g}, {.cls = a}}, {.cls = b});
	log.acquire(task(2), {{.cls = g}, {.cls = b}}, {.cls = a});
	log.acquire(task(1), {{.cls = x}}, {.cls = y});
	log.acquire(task(1), {{.cls = y}}, {.cls = x});
	auto findings = analyse(model_of(log)).findings;
	ASSERT_EQ(findings.size(), 2u);
	EXPECT_FALSE(findings[0].hidden());
	EXPECT_EQ(findings[0].severity, Severity::Error);
	EXPECT_TRUE(findings[1].hidden());
}

TEST(Rank, NewInTheLatestRun)
{
	LogBuilder one(1), two(2);
	for (auto *log : {&one, &two}) {
		log->add_class("a");
		log->add_class("b");
	}
	one.acquire(task(1), {{.cls = 1}}, {.cls = 2});
	two.acquire(task(2), {{.cls = 2}}, {.cls = 1});
	EXPECT_GT(points(only_finding(model_of({&one, &two})), "novelty"), 0);
}
