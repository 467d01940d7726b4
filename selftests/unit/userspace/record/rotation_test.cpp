// SPDX-License-Identifier: GPL-2.0
// Which access sites are probed when, and what is put into the module for it.
#include "record/probes.h"
#include "record/rotation.h"

#include <gtest/gtest.h>

#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <fstream>
#include <set>

using namespace lockscope;
using namespace std::chrono_literals;

namespace {

std::vector<ls_site> sites_at(std::initializer_list<std::uint64_t> ips)
{
	std::vector<ls_site> out;
	for (auto ip : ips) {
		ls_site site{};
		site.ip = ip;
		out.push_back(site);
	}
	return out;
}

std::vector<ls_site> many(std::size_t n)
{
	std::vector<ls_site> out(n);
	for (std::size_t i = 0; i < n; i++)
		out[i].ip = 0x1000 + i;
	return out;
}

std::set<std::uint64_t> ips(const std::vector<ls_site> &sites)
{
	std::set<std::uint64_t> out;
	for (const auto &site : sites)
		out.insert(site.ip);
	return out;
}

std::set<std::uint64_t> turn(Rotation &rotation)
{
	rotation.begin_turn();
	const auto live = rotation.live();
	rotation.armed(live);
	return ips(live);
}

} // namespace

TEST(Rotation, FewSitesAreAllThereAllTheTime)
{
	Rotation rotation(sites_at({3, 1, 2}), {.live = 3});
	EXPECT_EQ(turn(rotation), (std::set<std::uint64_t>{1, 2, 3}));
	EXPECT_TRUE(rotation.is_complete());
	EXPECT_EQ(rotation.live()[0].ip, 1u);
}

TEST(Rotation, OneAddressIsOneSite)
{
	EXPECT_EQ(Rotation(sites_at({7, 5, 7}), {}).sites(), 2u);
}

TEST(Rotation, AllHaveTheirTurnBeforeAnyHasTwo)
{
	Rotation rotation(many(100), {.live = 30});
	std::set<std::uint64_t> seen;
	for (int i = 0; i < 3; i++) {
		const auto now = turn(rotation);
		EXPECT_EQ(now.size(), 30u);
		EXPECT_FALSE(rotation.is_complete());
		seen.insert(now.begin(), now.end());
	}
	EXPECT_EQ(seen.size(), 90u);
	const auto last = turn(rotation);
	seen.insert(last.begin(), last.end());
	EXPECT_EQ(seen.size(), 100u);
	EXPECT_EQ(rotation.turned(), 100u);
	EXPECT_EQ(rotation.most_live(), 30u);
}

TEST(Rotation, AFewAtATimeTheLongestFirst)
{
	Rotation rotation(many(10), {.live = 4});
	const auto first = turn(rotation);
	auto before = first;
	for (int i = 0; i < 4; i++) {
		rotation.begin_turn(1);
		const auto live = rotation.live();
		rotation.armed(live);
		const auto now = ips(live);
		ASSERT_EQ(now.size(), 4u);
		std::size_t stay = 0;
		for (auto ip : now)
			stay += before.count(ip);
		EXPECT_EQ(stay, 3u);
		before = now;
	}
	for (auto ip : before)
		EXPECT_EQ(first.count(ip), 0u);
}

TEST(Rotation, ColdSitesComeFirst)
{
	Rotation rotation(sites_at({1, 2, 3, 4}), {.live = 2});
	for (int i = 0; i < 2; i++) {
		rotation.begin_turn();
		const auto live = rotation.live();
		rotation.armed(live);
		std::vector<std::uint32_t> hits;
		for (const auto &site : live)
			hits.push_back(site.ip == 2 || site.ip == 3 ? 1000 : 1);
		EXPECT_FALSE(rotation.measure(hits, 1));
	}
	EXPECT_EQ(turn(rotation), (std::set<std::uint64_t>{1, 4}));
	EXPECT_EQ(rotation.hits(), 2002u);
}

TEST(Rotation, CountersGoOnOverTurns)
{
	Rotation rotation(sites_at({1, 2}), {.live = 2});
	turn(rotation);
	rotation.measure(std::vector<std::uint32_t>{10, 20}, 1);
	turn(rotation);
	rotation.measure(std::vector<std::uint32_t>{15, 20}, 1);
	EXPECT_EQ(rotation.hits(), 35u);
}

TEST(Rotation, WhatTheKernelRefusesIsNeverAskedForAgain)
{
	Rotation rotation(sites_at({1, 2, 3}), {.live = 3});
	rotation.begin_turn();
	auto live = rotation.live();
	live[1].error = -EILSEQ;
	rotation.armed(live);
	EXPECT_EQ(ips(rotation.live()), (std::set<std::uint64_t>{1, 3}));
	EXPECT_TRUE(rotation.is_complete());
	/* The kernel counts what it refused as well. */
	rotation.measure(std::vector<std::uint32_t>{1, 0, 5}, 1);
	EXPECT_EQ(rotation.hits(), 6u);
	EXPECT_EQ(turn(rotation), (std::set<std::uint64_t>{1, 3}));
	EXPECT_EQ(rotation.refused(), (std::map<int, std::size_t>{{EILSEQ, 1}}));
	EXPECT_EQ(rotation.turned(), 2u);
}

TEST(Rotation, HottestSitesGoWhenTheBudgetIsSpent)
{
	Rotation rotation(sites_at({1, 2, 3}), {.live = 3, .hits_per_second = 100});
	turn(rotation);
	EXPECT_FALSE(rotation.measure(std::vector<std::uint32_t>{90, 5, 5}, 1));
	EXPECT_TRUE(rotation.measure(std::vector<std::uint32_t>{190, 10, 10}, 1));
	EXPECT_EQ(ips(rotation.live()), (std::set<std::uint64_t>{2, 3}));
	EXPECT_EQ(rotation.held_back(), 1u);
	EXPECT_FALSE(rotation.is_complete());
}

TEST(Rotation, ATooHotSiteIsTriedAgainByAndBy)
{
	Rotation rotation(sites_at({1, 2}), {.live = 2, .hits_per_second = 100});
	turn(rotation);
	EXPECT_TRUE(rotation.measure(std::vector<std::uint32_t>{400, 0}, 1));
	EXPECT_EQ(turn(rotation).count(1), 0u);
	EXPECT_EQ(turn(rotation).count(1), 0u);
	EXPECT_EQ(turn(rotation).count(1), 1u);
}

TEST(Rotation, WithoutABudgetNothingIsHeldBack)
{
	Rotation rotation(sites_at({1}), {.live = 1});
	turn(rotation);
	EXPECT_FALSE(rotation.measure(std::vector<std::uint32_t>{4000000000u}, 1));
}

TEST(Probes, BudgetIsAShareOfAllProcessors)
{
	EXPECT_DOUBLE_EQ(hits_within(10, 2), 2 * hits_within(5, 2));
	EXPECT_DOUBLE_EQ(hits_within(5, 4), 2 * hits_within(5, 2));
	/* 1640 instructions each, of 1e9 a second. */
	EXPECT_NEAR(hits_within(100, 1), 609756, 1);
}

namespace {

/// Functions that increment memory once, and one that does nothing.
class FakeCode final : public CodeSource {
public:
	FakeCode()
	{
		for (int i = 0; i < 8; i++)
			functions_.push_back(
				{"count_" + std::to_string(i), "mod",
				 0xffffffffc0001000u + 0x100u * static_cast<unsigned>(i), 4, 0});
		functions_.push_back({"idle", "mod", 0xffffffffc0002000u, 1, 0});
	}
	Result<std::vector<std::uint8_t>> read(const Function &function) const override
	{
		if (function.name == "idle")
			return std::vector<std::uint8_t>{0xc3};
		/* incl (%rax); ret */
		return std::vector<std::uint8_t>{0xff, 0x00, 0xc3, 0x90};
	}
};

/// A module that records its requests.
class FakeModule final : public Source {
public:
	std::vector<ls_site> probes;
	std::vector<std::vector<ls_site>> asked;
	std::uint32_t hits = 0, max_probes = 4096;
	std::set<std::uint64_t> refused;

	Result<ls_info> info() override { return ls_info{}; }
	Result<std::size_t> read(std::uint64_t, std::span<std::byte>) override
	{
		return std::size_t{0};
	}
	Result<std::vector<ls_chain>> chains(std::uint32_t) override
	{
		return std::vector<ls_chain>{};
	}
	Result<std::vector<ls_prim_info>> prims() override { return std::vector<ls_prim_info>{}; }
	Result<std::vector<ls_class_counts>> counts() override
	{
		return std::vector<ls_class_counts>{};
	}
	Status control(ls_ctl_op) override { return success(); }
	bool live() const override { return true; }
	Result<std::optional<ls_access_info>> access_info() override
	{
		ls_access_info info{};
		info.max_probes = max_probes;
		info.probe_hits = hits;
		return std::optional(info);
	}
	Status probe(std::vector<ls_site> &sites) override
	{
		for (auto &site : sites)
			site.error = refused.count(site.ip) ? -EINVAL : 0;
		probes = sites;
		asked.push_back(sites);
		return success();
	}
	Result<std::vector<std::uint32_t>> probe_hits(std::size_t n) override
	{
		return std::vector<std::uint32_t>(n, hits);
	}
};

std::string list_file(const std::string &text)
{
	static int number;
	const auto path =
		std::filesystem::path(testing::TempDir()) /
		("rotation_" + std::to_string(::getpid()) + "_" + std::to_string(number++));
	std::ofstream(path) << text;
	return path;
}

} // namespace

TEST(Probes, OnePatternAfterAnotherEachFunctionOnce)
{
	auto found = probe_sites(FakeCode(), {"mod:count_1", "count_*"}, {});
	ASSERT_TRUE(found);
	EXPECT_EQ(found->functions, 8u);
	EXPECT_EQ(found->sites.size(), 8u);
}

TEST(Probes, PatternsFromAFileMayFitNothing)
{
	auto found =
		probe_sites(FakeCode(), {"@" + list_file("# words\nmod:count_2\n\nnone:f\n")}, {});
	ASSERT_TRUE(found);
	EXPECT_EQ(found->functions, 1u);
	EXPECT_EQ(found->absent, 1u);
}

TEST(Probes, ErrorsNameTheActionAndTheEnvironment)
{
	const FakeCode code;
	for (const auto &[pattern, what] : std::vector<std::pair<std::string, std::string>>{
		     {"no_such", "no function fits \"no_such\""},
		     {"idle", "nothing to watch"},
		     {"@/no/such/file", "/no/such/file"},
		     {"@" + list_file("none:f\n"), "no function is there of those in"},
		     {"@" + list_file("# nothing\n"), "names no functions"}}) {
		auto found = probe_sites(code, {pattern}, {});
		ASSERT_FALSE(found) << pattern;
		EXPECT_NE(found.error().what.find(what), std::string::npos) << found.error().what;
		EXPECT_EQ(found.error().exit, Exit::Environment);
	}
}

TEST(Probes, TurnsPassAndTheEndTakesAllAway)
{
	FakeModule module;
	auto probes = Probes::begin(module, {{"count_*"}, 3, 100}, FakeCode(), {});
	ASSERT_TRUE(probes);
	EXPECT_EQ(module.probes.size(), 3u);
	const auto first = ips(module.probes);
	ASSERT_TRUE((*probes)->tick());
	EXPECT_EQ(ips(module.probes), first);
	for (int i = 1; i <= 3; i++)
		ASSERT_TRUE((*probes)->tick(Probes::Clock::now() + i * 6s));
	for (auto ip : ips(module.probes))
		EXPECT_EQ(first.count(ip), 0u);
	ASSERT_TRUE((*probes)->end());
	EXPECT_TRUE(module.probes.empty());
	EXPECT_NE((*probes)->summary().find("probes on 3 of 8 sites at a time in 8 functions, "
					    "6 had their turn"),
		  std::string::npos)
		<< (*probes)->summary();
}

TEST(Probes, AShortRecordingHintsHowLongOneTakes)
{
	FakeModule module;
	auto shortly = Probes::begin(module, {{"count_*"}, 2, 100}, FakeCode(), {});
	ASSERT_TRUE(shortly);
	ASSERT_TRUE((*shortly)->end());
	/* Four turns of five seconds. */
	EXPECT_NE((*shortly)->hint().find("all 8 sites to have a turn, record for about 1 minute,"),
		  std::string::npos)
		<< (*shortly)->hint();
	auto most = Probes::begin(module, {{"count_*"}, 4, 100}, FakeCode(), {});
	ASSERT_TRUE(most);
	ASSERT_TRUE((*most)->end());
	EXPECT_EQ((*most)->hint(), "");
}

TEST(Probes, LeavingTakesAllAway)
{
	FakeModule module;
	{
		auto probes = Probes::begin(module, {{"count_*"}, 3, 5}, FakeCode(), {});
		ASSERT_TRUE(probes);
		EXPECT_FALSE(module.probes.empty());
	}
	EXPECT_TRUE(module.probes.empty());
}

TEST(Probes, TheModuleSaysHowMany)
{
	FakeModule module;
	module.max_probes = 2;
	auto probes = Probes::begin(module, {{"count_*"}, 400, 5}, FakeCode(), {});
	ASSERT_TRUE(probes);
	EXPECT_EQ(module.probes.size(), 2u);
}

TEST(Probes, RefusalsAreTold)
{
	FakeModule module;
	module.refused = {0xffffffffc0001000u, 0xffffffffc0001100u};
	auto probes = Probes::begin(module, {{"count_*"}, 400, 5}, FakeCode(), {});
	ASSERT_TRUE(probes);
	EXPECT_NE((*probes)->summary().find("the kernel refused 2: EINVAL"), std::string::npos);
	for (unsigned int i = 0; i < 8; i++)
		module.refused.insert(0xffffffffc0001000u + 0x100u * i);
	auto none = Probes::begin(module, {{"count_*"}, 400, 5}, FakeCode(), {});
	ASSERT_FALSE(none);
	EXPECT_NE(none.error().what.find("refused every probe"), std::string::npos);
}

TEST(Probes, HotSitesGoAtOnce)
{
	FakeModule module;
	auto probes = Probes::begin(module, {{"count_*"}, 400, 5}, FakeCode(), {});
	ASSERT_TRUE(probes);
	module.hits = 2000000000;
	ASSERT_TRUE((*probes)->tick(Probes::Clock::now() + 300ms));
	EXPECT_LT(module.probes.size(), 8u);
	EXPECT_NE((*probes)->summary().find("too hot for the budget"), std::string::npos);
}
