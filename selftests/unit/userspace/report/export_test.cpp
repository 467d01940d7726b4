// SPDX-License-Identifier: GPL-2.0
// Formats of lockscope export: crashes for syzkaller, KCIDB's data, profiles for speedscope.
#include "report/logs.h"
#include "support.h"

#include "report/crash.h"
#include "report/formats.h"
#include "report/stat.h"
#include "util/text.h"
#include "util/utf8.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <limits>
#include <map>
#include <set>

using namespace lockscope;
using namespace lockscope::test;
using nlohmann::json;

namespace {

std::set<std::string> titles_of(const LogBuilder &log)
{
	const Model model = model_of(log);
	std::set<std::string> out;
	for (const auto &finding : analyse(model).findings)
		out.insert(crash_of(model, finding).title);
	return out;
}

json kcidb_of(const Model &model, const KcidbOptions &options = {})
{
	const std::string text = kcidb_report(model, analyse(model), options);
	EXPECT_EQ(text, valid_utf8(text));
	return json::parse(text);
}

std::set<std::string> each(const json &list, const char *key)
{
	std::set<std::string> out;
	for (const auto &object : list)
		out.insert(object[key].get<std::string>());
	return out;
}

LogBuilder quiet_log(std::uint64_t instance = 2)
{
	LogBuilder log(instance);
	log.acquire({.pid = 1}, {}, {.cls = log.add_class("a")});
	return log;
}

StatClass stat_class(const std::string &name, std::uint64_t wait, std::uint64_t hold,
		     std::vector<StatSite> sites)
{
	StatClass out;
	out.name = name;
	out.kind = LS_KIND_MUTEX;
	out.waits.sum = wait;
	out.holds.sum = hold;
	out.sites = std::move(sites);
	return out;
}

/// "class>site" with its weight, of one profile.
std::map<std::string, std::uint64_t> samples_of(const json &file, std::size_t profile)
{
	std::map<std::string, std::uint64_t> out;
	const auto &frames = file["shared"]["frames"];
	const auto &from = file["profiles"][profile];
	for (std::size_t i = 0; i < from["samples"].size(); i++) {
		std::vector<std::string> names;
		for (const auto &frame : from["samples"][i])
			names.push_back(frames.at(frame.get<std::size_t>())["name"]);
		out[join(names, ">")] = from["weights"].at(i);
	}
	return out;
}

} // namespace

TEST(Crash, TitlesAreThoseOfSyzkaller)
{
	const auto order = titles_of(small_log());
	EXPECT_TRUE(order.contains("possible deadlock in foo_notify")) << *order.begin();
	const auto others = titles_of(other_kinds());
	for (const char *title :
	     {"possible deadlock in foo_irq_work", "inconsistent lock state in dev_open",
	      "WARNING: locking bug in foo_wait", "INFO: task hung in foo_read",
	      "BUG: sleeping function called from invalid context in foo_irq_sleep",
	      "WARNING: held lock freed in foo_read"})
		EXPECT_TRUE(others.contains(title)) << title;
	EXPECT_EQ(titles_of(race_log()),
		  std::set<std::string>{"KCSAN: data-race in foo_add / foo_show"});
}

TEST(Crash, TheCallerOfALockingFunctionIsToBlame)
{
	const std::string report = "WARNING: possible circular locking dependency detected\n"
				   "a/1 is trying to acquire lock:\n"
				   "(b){mutex}, at: mutex_lock+0x10\n"
				   "but task is already holding lock:\n"
				   "(c){mutex}, at: process_one_work+0x20\n"
				   "Call Trace:\n";
	EXPECT_EQ(crash_title(FindingKind::LockOrderCycle, report), "");
	EXPECT_EQ(crash_title(FindingKind::LockOrderCycle,
			      report + "(d){mutex}, at: __x64_sys_foo+0x1\n"),
		  "");
	EXPECT_EQ(crash_title(FindingKind::NestedLockNotHeld,
			      "WARNING: Nested lock was not taken\nCall Trace:\n <TASK>\n"
			      "  down_write+0x1\n  __x64_sys_foo+0x1\n"),
		  "WARNING: nested lock was not taken in sys_foo");
	EXPECT_EQ(crash_title(FindingKind::LockNotInitialised,
			      "INFO: trying to register non-static key.\nCall Trace:\n <TASK>\n"
			      "  mutex_lock+0x1\n  foo+0x1 [bar]\n"),
		  "INFO: trying to register non-static key in foo");
	EXPECT_EQ(crash_title(FindingKind::DoubleUnlock,
			      "WARNING: bad unlock balance detected!\n[<0x5>] mutex_unlock+0x5\n"
			      "Call Trace:\n  mutex_unlock+0x5\n  foo.isra.0+0x1 [bar]\n"),
		  "WARNING: bad unlock balance in foo");
	EXPECT_EQ(crash_title(FindingKind::WwMisuse, "WARNING: ww_mutex rules broken in foo!\n"),
		  "WARNING: ww_mutex rules broken in foo!");
	EXPECT_EQ(crash_title(FindingKind::LockOrderCycle, "something else\n"), "");
	EXPECT_EQ(crash_title(FindingKind::GuardViolation, "lockscope: a title\n"), "");
}

TEST(Crash, FunctionsThatManyHangInAreTitles)
{
	const auto title = [](const std::string &stack) {
		return crash_title(FindingKind::LongHold,
				   "INFO: task a:1 blocked for more than 2 seconds on a lock.\n"
				   "Call Trace:\n <TASK>\n" +
					   stack);
	};
	EXPECT_EQ(title("  __schedule+0x1\n  foo_wait+0x1\n  __x64_sys_foo+0x1\n"),
		  "INFO: task hung in sys_foo");
	EXPECT_EQ(title("  foo+0x1\n  rtnl_lock_killable+0x1\n  bar+0x1\n"),
		  "INFO: task hung in rtnl_lock_killable");
	EXPECT_EQ(title("  foo+0x1\n  synchronize_net+0x1\n"),
		  "INFO: task hung in synchronize_rcu");
	EXPECT_EQ(title("  __schedule+0x1\n"), "");
}

TEST(Crash, WhatDiffersFromBootToBootIsNotInATitle)
{
	const auto title = [](const std::string &words) {
		return crash_title(FindingKind::DataRace, "BUG: KCSAN: data-race in " + words);
	};
	EXPECT_EQ(title("foo.isra.0 / bar64"), "KCSAN: data-race in foo.isra.NUM / bar64");
	EXPECT_EQ(title("foo_decade / foo_12345678"), "KCSAN: data-race in foo_ADDR / foo_ADDR");
	EXPECT_EQ(title("a  b"), "KCSAN: data-race in a b");
	EXPECT_EQ(title("z" + std::string(200, 'x')).size(), 120u);
	/* The name where a lock was taken stands as it is, one of a stack does not. */
	EXPECT_EQ(
		crash_title(FindingKind::RecursiveLock,
			    "WARNING: possible recursive locking detected\n"
			    "a/1 is trying to acquire lock:\n(b){mutex}, at: __x64_sys_foo+0x1\n"),
		"possible deadlock in __x64_sys_foo");
}

TEST(Crash, TheLogHasTheReportAndMore)
{
	const Model model = model_of(small_log());
	const Crash crash = crash_of(model, analyse(model).findings.front());
	std::string plain;
	for (const auto &line : split(crash.log, '\n'))
		if (line.starts_with("["))
			plain += line.substr(line.find("] ") + 2) + "\n";
		else if (!line.empty())
			EXPECT_TRUE(line.starts_with("lockscope: ")) << line;
	EXPECT_EQ(plain, crash.report);
	EXPECT_TRUE(crash.log.starts_with("lockscope: recorded by "));
	EXPECT_NE(crash.log.find(" on 6.1.0-test-amd64\nlockscope: "), std::string::npos);
	EXPECT_NE(crash.log.find("\nlockscope: lost_stacks 12"), std::string::npos);
	EXPECT_NE(crash.log.find("side 2 holds [B]"), std::string::npos);
}

TEST(Kcidb, FindingsAreIssuesAndRunsAreTests)
{
	const auto small = small_log(), quiet = quiet_log();
	const Model model = model_of({&small, &quiet});
	const json out = kcidb_of(model);
	EXPECT_EQ(out["version"], (json{{"major", 5}, {"minor", 0}}));
	ASSERT_EQ(out["tests"].size(), 2u);
	EXPECT_EQ(out["tests"][0]["status"], "FAIL");
	EXPECT_EQ(out["tests"][1]["status"], "PASS");
	EXPECT_FALSE(out["tests"][1].contains("log_excerpt"));
	EXPECT_NE(out["tests"][0]["log_excerpt"].get<std::string>().find("circular locking"),
		  std::string::npos);
	EXPECT_EQ(out["issues"].size(), select_findings(analyse(model), {}).size());
	EXPECT_EQ(each(out["incidents"], "issue_id"), each(out["issues"], "id"));
	EXPECT_EQ(each(out["incidents"], "test_id"),
		  std::set<std::string>{out["tests"][0]["id"].get<std::string>()});
	EXPECT_EQ(each(out["tests"], "build_id"), each(out["builds"], "id"));
	EXPECT_EQ(each(out["builds"], "checkout_id"), each(out["checkouts"], "id"));
	EXPECT_EQ(out["issues"][0]["culprit"]["code"], true);
}

TEST(Kcidb, AFindingOfTwoRunsIsOfTheOneThatCompletedIt)
{
	LogBuilder first(1), second(2);
	for (auto *log : {&first, &second}) {
		const auto a = log->add_class("a_lock", LS_KIND_MUTEX),
			   b = log->add_class("b_lock", LS_KIND_MUTEX);
		if (log == &first)
			log->acquire({.pid = 1, .stack = {"f"}}, {{.cls = a}}, {.cls = b});
		else
			log->acquire({.pid = 2, .stack = {"g"}}, {{.cls = b}}, {.cls = a});
	}
	const json out = kcidb_of(model_of({&first, &second}), {.ci = {.fail_on = Severity::Note}});
	ASSERT_EQ(out["incidents"].size(), 1u);
	EXPECT_EQ(out["incidents"][0]["test_id"], out["tests"][1]["id"]);
	EXPECT_EQ(out["tests"][0]["status"], "PASS");
	EXPECT_EQ(out["tests"][1]["status"], "FAIL");
}

TEST(Kcidb, WhatFailsAndWhatIsIncomplete)
{
	const Model model = model_of(small_log());
	EXPECT_EQ(kcidb_of(model, {.ci = {.fail_on = std::nullopt}})["tests"][0]["status"], "PASS");
	/* The limit is for issues alone. */
	KcidbOptions options;
	options.ci.fail_on = Severity::Note;
	options.ci.report.limit = 1;
	EXPECT_EQ(kcidb_of(model, options)["issues"].size(), 1u);
	options.ci.report = {.all = true};
	const json all = kcidb_of(model, options);
	EXPECT_EQ(std::count_if(all["issues"].begin(), all["issues"].end(),
				[](const json &issue) { return !issue["culprit"]["code"]; }),
		  1);
	LogBuilder lossy = quiet_log();
	lossy.info().losses[LS_LOSS_RECORDS] = 50;
	const Model incomplete = model_of(lossy);
	EXPECT_EQ(kcidb_of(incomplete)["tests"][0]["status"], "ERROR");
	EXPECT_EQ(kcidb_of(incomplete, {.ci = {.allow_incomplete = true}})["tests"][0]["status"],
		  "PASS");
}

TEST(Kcidb, ABuildOfTheSubmitter)
{
	const json out = kcidb_of(model_of(small_log()), {{}, "my_ci", "kernelci:64c0"});
	EXPECT_FALSE(out.contains("builds"));
	EXPECT_FALSE(out.contains("checkouts"));
	EXPECT_EQ(out["tests"][0]["build_id"], "kernelci:64c0");
	EXPECT_EQ(out["tests"][0]["origin"], "my_ci");
	EXPECT_TRUE(out["issues"][0]["id"].get<std::string>().starts_with("my_ci:"));
	for (const char *wrong : {"", "My_ci", "my-ci", "ci:", "c\n"})
		EXPECT_FALSE(is_kcidb_origin(wrong)) << wrong;
	EXPECT_TRUE(is_kcidb_origin("my_ci2"));
	for (const char *wrong : {"", "abc", ":1", "My:1", "a:\x01", "a:\xff"})
		EXPECT_FALSE(is_kcidb_id(wrong)) << wrong;
	EXPECT_TRUE(is_kcidb_id("a:"));
}

TEST(Kcidb, HostileNamesAndLongLogs)
{
	Model model = model_of(hostile_log());
	model.runs[0].release = std::string("6.1\0\x1b\xff/../x", 11);
	model.runs[0].started = std::numeric_limits<std::int64_t>::max();
	model.runs[0].updated = std::numeric_limits<std::int64_t>::min();
	const json out = kcidb_of(model);
	EXPECT_FALSE(out["tests"][0].contains("start_time"));
	const std::string text = out.dump();
	EXPECT_EQ(text.find("\\u0000"), std::string::npos);
	EXPECT_EQ(text.find("\\u001b"), std::string::npos);
	EXPECT_FALSE(out["issues"].empty());

	LogBuilder many;
	for (int i = 0; i < 30; i++) {
		const auto a = many.add_class("a" + std::to_string(i), LS_KIND_MUTEX),
			   b = many.add_class("b" + std::to_string(i), LS_KIND_MUTEX);
		many.acquire({.pid = 1, .stack = {"f"}}, {{.cls = a}}, {.cls = b});
		many.acquire({.pid = 2, .stack = {"g"}}, {{.cls = b}}, {.cls = a});
	}
	const std::string log = kcidb_of(model_of(many))["tests"][0]["log_excerpt"];
	EXPECT_LE(log.size(), 16384u);
	EXPECT_GT(log.size(), 15000u);
	EXPECT_EQ(log.back(), '\n');
}

TEST(Speedscope, SitesBelowTheirClass)
{
	StatReport report;
	report.release = "6.1.0-test";
	report.classes = {
		stat_class("a_lock", 100, 50, {{"f+0x1", 5, 1, 70, 50}, {"g+0x2", 1, 0, 0, 0}}),
		stat_class("b_lock", 0, 7, {{"f+0x1", 1, 0, 0, 3}})};
	const json file = json::parse(speedscope_stat(report, 0));
	EXPECT_EQ(samples_of(file, 0),
		  (std::map<std::string, std::uint64_t>{{"a_lock (mutex)>f+0x1", 70},
							{"a_lock (mutex)", 30}}));
	EXPECT_EQ(samples_of(file, 1),
		  (std::map<std::string, std::uint64_t>{{"a_lock (mutex)>f+0x1", 50},
							{"b_lock (mutex)>f+0x1", 3},
							{"b_lock (mutex)", 4}}));
	EXPECT_EQ(file["profiles"][0]["endValue"], 100);
	EXPECT_EQ(file["profiles"][1]["endValue"], 57);
	/* One frame for the site of both classes. */
	EXPECT_EQ(file["shared"]["frames"].size(), 3u);
	EXPECT_EQ(samples_of(json::parse(speedscope_stat(report, 1)), 1).size(), 1u);
}

TEST(Speedscope, HostileFigures)
{
	constexpr auto most = std::numeric_limits<std::uint64_t>::max();
	StatReport report;
	report.classes = {stat_class("\xff\"\\\n</script>", most, 1,
				     {{"\x1b", 1, 1, most, 9}, {"x", 1, 1, most, 9}}),
			  stat_class("", most, 0, {})};
	const std::string text = speedscope_stat(report, 0);
	EXPECT_EQ(text, valid_utf8(text));
	const json file = json::parse(text);
	EXPECT_EQ(file["profiles"][0]["endValue"], most);
	EXPECT_EQ(samples_of(file, 0),
		  (std::map<std::string, std::uint64_t>{
			  {"\xef\xbf\xbd\"\\?</script> (mutex)>?", most}, {" (mutex)", most}}));
	EXPECT_EQ(json::parse(speedscope_stat({}, 0))["profiles"].size(), 2u);
}
