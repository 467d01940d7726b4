// SPDX-License-Identifier: GPL-2.0
// The report as HTML: names are text, whatever they are; what does not fit is counted.
#include "report/logs.h"
#include "report/markup.h"
#include "support.h"

#include "report/html/html.h"
#include "report/html/parts.h"
#include "report/html_assets.h"

#include <nlohmann/json.hpp>

using namespace lockscope;
using namespace lockscope::test;

namespace {

std::string html_of_model(const Model &model, const StatReport &stat = {}, bool all = false)
{
	ReportOptions options;
	options.all = all;
	return html_report(model, analyse(model), options, stat);
}

nlohmann::json graph_of(const std::string &html)
{
	return nlohmann::json::parse(between(html, "id=\"graph-data\">", "</script>"));
}

/// A name that would run a script where it is not escaped, in @place.
std::string evil(const std::string &place)
{
	return "</script><!--<script>" + place + "=1</script><img src=x onerror=\"" + place +
	       "()\">'\" \t\n\x01\xff&lt;" + place;
}

void expect_known_markup(const std::string &html)
{
	EXPECT_EQ(foreign_markup(html), "");
}

} // namespace

TEST(Html, PolicyAllowsNothingButWhatIsInTheFile)
{
	const std::string html = html_of_model(model_of(small_log()));
	const std::string policy = between(html, "Content-Security-Policy\" content=\"", "\"");
	EXPECT_EQ(policy.rfind("default-src 'none'; script-src 'sha256-", 0), 0u) << policy;
	EXPECT_EQ(policy.find("unsafe"), policy.npos) << policy;
	EXPECT_NE(policy.find(html::kScriptHash), policy.npos);
	EXPECT_NE(policy.find(html::kStyleHash), policy.npos);
	/* No attribute that the policy would have to forbid. */
	EXPECT_EQ(markup_of(body_of(html)).count("@style"), 0u);
	EXPECT_EQ(html.find("src=\""), html.npos);
}

TEST(Html, HasEveryFindingWithBothSides)
{
	const Model model = model_of(small_log());
	const Analysis analysis = analyse(model);
	const std::string html = html_report(model, analysis, {}, {});
	for (const auto &finding : analysis.findings)
		EXPECT_EQ(count_of(html, "id=\"f-" + finding.id + "\""),
			  finding.hidden() ? 0u : 1u);
	EXPECT_NE(html.find("holds foo_lock, takes &amp;dev-&gt;bar_mutex"), html.npos);
	EXPECT_NE(html.find("<code>bar_lock_device+0x20</code>"), html.npos);
	EXPECT_NE(html.find("spinlock foo:foo_lock, taken at foo_open"), html.npos);
	EXPECT_NE(html.find("lost_stacks 12"), html.npos);
	EXPECT_GT(count_of(html_of_model(model, {}, true), "<article"), count_of(html, "<article"));
}

TEST(Html, FindingsWithOneCauseStandBelowIt)
{
	const Model model = model_of(small_log());
	const Analysis analysis = analyse(model);
	const std::string html = html_report(model, analysis, {}, {});
	EXPECT_EQ(count_of(html, "<summary>1 more through "), 2u);
	const auto card = [&](const std::string &id) { return html.find("id=\"f-" + id + "\""); };
	std::size_t others = 0;
	for (const auto &finding : analysis.findings) {
		if (finding.hidden() || finding.cause.empty())
			continue;
		others++;
		const auto more = html.rfind("<details class=\"more\">", card(finding.id));
		ASSERT_NE(more, html.npos);
		EXPECT_LT(card(finding.cause), more);
		/* Nothing that would end the group. */
		const std::string within = html.substr(more, card(finding.id) - more);
		EXPECT_GT(count_of(within, "<details"), count_of(within, "</details"));
	}
	EXPECT_EQ(others, 2u);
}

TEST(Html, OtherKindsAndRacesHaveTheirSides)
{
	const std::string kinds = html_of_model(model_of(other_kinds()));
	EXPECT_NE(kinds.find("held-lock-freed"), kinds.npos);
	EXPECT_NE(kinds.find("deadlock: a hardirq comes to"), kinds.npos);
	const std::string race = html_of_model(model_of(race_log()));
	EXPECT_NE(race.find("write of 4 bytes"), race.npos);
	EXPECT_NE(race.find("read of 4 bytes"), race.npos);
	EXPECT_NE(race.find("history, as followed"), race.npos);
	expect_known_markup(kinds);
	expect_known_markup(race);
}

TEST(Html, AnIncompleteRunSaysSoBeforeItsFindings)
{
	LogBuilder log = small_log();
	log.info().losses[LS_LOSS_RECORDS] = 50;
	const std::string html = html_of_model(model_of(log));
	const auto banner = html.find("role=\"alert\"");
	ASSERT_NE(banner, html.npos);
	EXPECT_LT(banner, html.find("id=\"findings\""));
	EXPECT_LT(html.find("id=\"run\""), html.find("id=\"findings\""));
	const std::string whole = html_of_model(model_of(small_log()));
	EXPECT_EQ(whole.find("role=\"alert\""), whole.npos);
	EXPECT_GT(whole.find("id=\"run\""), whole.find("id=\"findings\""));
}

TEST(Html, HostileNamesOfALogAreText)
{
	const Model model = model_of(hostile_log());
	const std::string html = html_of_model(model, {}, true);
	expect_known_markup(html);
	EXPECT_NE(html.find("&lt;/script&gt;&lt;b onclick=\"x\"&gt;"), html.npos);
	const auto graph = graph_of(html);
	EXPECT_EQ(graph["edges"].size(), 6u);
}

TEST(Html, EveryFieldOfAModelMayBeHostile)
{
	const LogBuilder kinds = other_kinds(), race = race_log();
	Model model = model_of({&kinds, &race});
	int n = 0;
	auto spoil = [&](std::string &text) { text = evil("evil" + std::to_string(n++)); };
	for (auto &cls : model.classes) {
		spoil(cls.name);
		spoil(cls.module);
		spoil(cls.type);
	}
	for (std::size_t i = 1; i < model.code.size(); i++) {
		auto &code = model.code[i];
		spoil(code.function);
		spoil(code.module);
		code.lines = {{"", "", 3, true}, {"", "", 4, false}};
		for (auto &line : code.lines) {
			spoil(line.function);
			spoil(line.file);
		}
	}
	for (auto &observation : model.observations)
		spoil(observation.comm);
	for (auto &data : model.data) {
		spoil(data.name);
		spoil(data.type);
		spoil(data.module);
	}
	for (auto &access : model.accesses) {
		spoil(access.comm);
		spoil(access.member);
		for (auto &guard : access.guards) {
			spoil(guard.name);
			spoil(guard.place);
		}
	}
	for (auto &run : model.runs) {
		spoil(run.release);
		spoil(run.backend);
		spoil(run.problem);
		run.end = RunEnd::Failed;
		for (auto &primitive : run.primitives)
			spoil(primitive.function);
	}
	Analysis analysis = analyse(model);
	ASSERT_GT(analysis.findings.size(), 3u);
	for (auto &finding : analysis.findings) {
		Verdict verdict;
		verdict.finding = finding.id;
		spoil(verdict.reason);
		spoil(verdict.why);
		const nlohmann::json side = {{"holds", evil("a")},   {"acquires", evil("b")},
					     {"task", evil("c")},    {"context", evil("d")},
					     {"stack", {evil("e")}}, {"held", {evil("f")}}};
		verdict.evidence = nlohmann::json{{"sides", {side}}}.dump(
			-1, ' ', false, nlohmann::json::error_handler_t::replace);
		finding.verdict = verdict;
		spoil(finding.title);
		finding.filters.push_back({evil("filter"), false, evil("why"), Severity::Error});
		finding.features.push_back({evil("feature"), 10, evil("reason")});
	}
	analysis.self_check.missing = {evil("check")};
	StatReport stat;
	stat.losses[evil("loss")] = 3;
	stat.classes.resize(1);
	stat.classes[0].name = evil("stat");
	stat.classes[0].sites = {{evil("site"), 1, 2, 3, 4}};
	stat.classes[0].waits.buckets[3] = 4;
	ReportOptions options;
	options.all = true;
	const std::string html = html_report(model, analysis, options, stat);
	expect_known_markup(html);
	const auto graph = graph_of(html);
	EXPECT_GT(graph["strings"].size(), 3u);
	for (int i = 0; i < n; i++)
		EXPECT_EQ(html.find("<script>evil" + std::to_string(i)), html.npos);
}

TEST(Html, StatisticsHaveHistograms)
{
	StatReport stat;
	stat.classes.resize(1);
	auto &c = stat.classes[0];
	c.name = "foo_lock";
	c.acquired[LS_TASK] = 7;
	c.contended[LS_TASK] = 3;
	c.waits = {3, 3000, 2000, {}};
	c.waits.buckets[9] = 1;
	c.waits.buckets[11] = 2;
	const std::string html = html_of_model(model_of(small_log()), stat);
	const std::string picture = between(html, "<svg", "</svg>");
	EXPECT_EQ(count_of(picture, "<rect"), 3u);
	EXPECT_NE(picture.find("from 2.05 us: 2"), picture.npos) << picture;
	expect_known_markup(html);
}

TEST(Html, WhatHasNoRoomIsCounted)
{
	LogBuilder log;
	std::vector<std::uint32_t> classes;
	const std::string tail(200, 'x');
	constexpr std::uint32_t kLocks = 1400;
	for (std::uint32_t i = 0; i < kLocks; i++)
		classes.push_back(log.add_class("lock_" + std::to_string(i) + tail, LS_KIND_MUTEX));
	/* Each pair in both orders. */
	for (std::uint32_t i = 0; i + 1 < kLocks; i += 2)
		for (const bool turned : {false, true})
			log.acquire({.pid = 10 + i + turned,
				     .stack = {"f" + std::to_string(i) + tail.substr(0, 40),
					       "__x64_sys_read"}},
				    {{.cls = classes[i + turned]}}, {.cls = classes[i + !turned]});
	const Model model = model_of(log);
	const Analysis analysis = analyse(model);
	ASSERT_EQ(analysis.findings.size(), kLocks / 2);
	const std::string html = html_report(model, analysis, {}, {});
	EXPECT_LE(html.size(), kMostHtmlBytes);
	const auto full = count_of(html, "class=\"body\""), all = count_of(html, "<article");
	EXPECT_GT(full, 50u);
	EXPECT_LT(full, all);
	EXPECT_NE(html.find("Of " + std::to_string(all - full) + " findings only the title"),
		  html.npos);
	if (all < kLocks / 2)
		EXPECT_NE(html.find("No room here for " + std::to_string(kLocks / 2 - all)),
			  html.npos);
	EXPECT_EQ(graph_of(html)["edges"].size() + graph_of(html)["left_out"].get<std::size_t>(),
		  kLocks);
}
