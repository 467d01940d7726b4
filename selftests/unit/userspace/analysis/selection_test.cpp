// SPDX-License-Identifier: GPL-2.0
// Which findings are wanted, and which of them are new against earlier runs.
#include "support.h"

#include "analysis/history.h"
#include "report/report.h"

#include <nlohmann/json.hpp>

#include <cstdio>

using namespace lockscope;
using namespace lockscope::test;

namespace {

/* One boot; locks and functions of several modules. */
struct Boot {
	explicit Boot(const std::string &release = "6.1.0-1-amd64")
	{
		static std::uint64_t boots;
		log = LogBuilder(++boots);
		std::snprintf(log.info().release, sizeof(log.info().release), "%s",
			      release.c_str());
		a = log.add_class("a_lock");
		b = log.add_class("b_lock");
		log.module("my_driver", {"my_ioctl"});
	}

	Boot &order(std::uint32_t outer, std::uint32_t inner, std::uint32_t pid,
		    const std::string &function = "open_it")
	{
		log.acquire({.pid = pid, .stack = {function, "__x64_sys_openat"}}, {{.cls = outer}},
			    {.cls = inner});
		return *this;
	}
	Boot &ab() { return order(a, b, 1); }
	Boot &ba() { return order(b, a, 2); }

	LogBuilder log;
	std::uint32_t a = 0, b = 0;
};

/* The runs start one after the other, in the order of @boots. */
struct Analysed {
	explicit Analysed(const std::vector<const Boot *> &boots, const Selection &selection = {},
			  std::vector<std::int64_t> started = {})
	{
		std::vector<const LogBuilder *> logs;
		for (const auto *boot : boots)
			logs.push_back(&boot->log);
		model = model_of(logs);
		for (std::size_t i = 0; i < model.runs.size(); i++)
			model.runs[i].started =
				started.empty() ? static_cast<std::int64_t>(1000 + i) : started[i];
		analysis = analyse(model);
		apply_selection(model, analysis, selection);
	}

	const Finding &only() const
	{
		EXPECT_EQ(analysis.findings.size(), 1u);
		static const Finding none;
		return analysis.findings.empty() ? none : analysis.findings.front();
	}
	bool lists_it() const { return select_findings(analysis, {}).size() == 1; }

	Model model;
	Analysis analysis;
};

Selection of_modules(std::vector<std::string> modules)
{
	Selection out;
	out.modules = std::move(modules);
	return out;
}

} // namespace

TEST(History, OneRunHasNoNews)
{
	const Analysed x({&Boot().ab().ba()});
	EXPECT_FALSE(x.only().fresh);
	EXPECT_FALSE(x.only().first_run);
	EXPECT_FALSE(x.analysis.new_since);
	EXPECT_EQ(text_report(x.model, x.analysis, {}, {200, false}).find("ew in run"),
		  std::string::npos);
}

TEST(History, NewIsWhatTheLastRunCompleted)
{
	const Boot one = Boot().ab(), two = Boot().ba(), both = Boot().ab().ba(), none;
	const Analysed fresh({&one, &two});
	EXPECT_EQ(fresh.only().fresh, true);
	EXPECT_EQ(fresh.only().first_run, 1u);
	EXPECT_EQ(fresh.analysis.new_since, 1u);
	const Analysed again({&both, &both});
	EXPECT_EQ(again.only().fresh, false);
	EXPECT_EQ(again.only().first_run, 0u);
	EXPECT_EQ(again.only().last_run, 1u);
	const Analysed later({&one, &two, &none});
	EXPECT_EQ(later.only().fresh, false);
	EXPECT_EQ(later.only().first_run, 1u);
	EXPECT_EQ(later.only().last_run, 1u);
}

TEST(History, TimeDecidesNotTheOrderOfFiles)
{
	const Boot both = Boot().ab().ba(), one = Boot().ab();
	EXPECT_EQ(Analysed({&both, &one}, {}, {2000, 1000}).only().fresh, true);
	EXPECT_EQ(Analysed({&both, &one}, {}, {1000, 2000}).only().fresh, false);
}

/* A finding is shown by its best build; an earlier build knew it, too. */
TEST(History, AnotherBuildCounts)
{
	const Boot old = Boot("6.1.0-1-amd64").ab().ba();
	Boot now("6.12.1-amd64");
	now.ab().ba();
	for (std::uint32_t pid = 10; pid < 14; pid++)
		now.order(now.a, now.b, pid, "open_" + std::to_string(pid));
	EXPECT_EQ(Analysed({&old, &now}).only().fresh, false);
	EXPECT_EQ(Analysed({&now, &old}).only().fresh, false);
}

/* A recursive reader does not wait for a reader; a writer does. */
TEST(History, OrdersThatAreTooWeakCompleteNothing)
{
	auto boot = [](ls_read inner) {
		auto out = std::make_unique<Boot>();
		const auto b = out->log.add_class("b_rwlock", LS_KIND_RWLOCK);
		out->log.acquire({.pid = 1, .stack = {"f"}}, {{.cls = out->a}},
				 {.cls = b, .read = inner});
		out->log.acquire({.pid = 2, .stack = {"g"}}, {{.cls = b, .read = LS_SHARED}},
				 {.cls = out->a});
		return out;
	};
	const auto weak = boot(LS_RECURSIVE), strong = boot(LS_EXCLUSIVE);
	EXPECT_TRUE(Analysed({weak.get(), weak.get()}).analysis.findings.empty());
	EXPECT_EQ(Analysed({weak.get(), strong.get()}).only().first_run, 1u);
	EXPECT_EQ(Analysed({strong.get(), weak.get()}).only().first_run, 0u);
}

TEST(History, FaultsRacesAndInversionsAreKnownBySight)
{
	auto boot = [](std::uint64_t number, bool faulty) {
		LogBuilder log(number);
		const auto m = log.add_class("m", LS_KIND_MUTEX), s = log.add_class("s");
		const auto data = log.add_data("foo:count", LS_DATA_STATIC, 0, "foo");
		log.acquire({.pid = 1, .stack = {"f"}}, {}, {.cls = m});
		if (!faulty)
			return log;
		log.fault(LS_FINDING_DOUBLE_UNLOCK, {}, {}, {.cls = m});
		const auto write = log.access({.pid = 1, .stack = {"f"}}, {.data = data});
		const auto read = log.access({.pid = 2, .stack = {"g"}},
					     {.data = data, .op = LS_ACC_READ, .function = "r"});
		log.race(write, read, LS_RACE_CAUGHT, {{write, 1, 0xff, 1}});
		const auto first = log.acquire({.pid = 3}, {{.cls = s, .address = 0x10}},
					       {.cls = s, .address = 0x20});
		const auto second = log.acquire({.pid = 4}, {{.cls = s, .address = 0x20}},
						{.cls = s, .address = 0x10});
		log.inversion(s, false, first, second);
		return log;
	};
	const LogBuilder clean = boot(2001, false), one = boot(2002, true), two = boot(2003, true);
	auto history = [](const std::vector<const LogBuilder *> &logs) {
		Model model = model_of(logs);
		for (std::size_t i = 0; i < model.runs.size(); i++)
			model.runs[i].started = static_cast<std::int64_t>(i);
		std::vector<std::optional<std::uint32_t>> out;
		for (const auto &finding : analyse(model).findings)
			out.push_back(finding.first_run);
		return out;
	};
	const std::optional<std::uint32_t> at_once = 0, later = 1;
	EXPECT_EQ(history({&one, &clean, &two}), std::vector(3, at_once));
	EXPECT_EQ(history({&clean, &one, &two}), std::vector(3, later));
}

TEST(Selection, ByModuleOfLocksAndCode)
{
	Boot boot;
	const auto mine = boot.log.add_class("my_driver:lock", LS_KIND_SPINLOCK, LS_ORIGIN_STATIC,
					     0, 0, "my_driver");
	boot.order(mine, boot.a, 1).order(boot.a, mine, 2);
	for (const char *module : {"my_driver", "my-driver", "my*", "vmlinux"})
		EXPECT_TRUE(Analysed({&boot}, of_modules({module})).lists_it()) << module;
	for (const char *module : {"driver", "xfs", ""})
		EXPECT_FALSE(Analysed({&boot}, of_modules({module})).lists_it()) << module;
	EXPECT_TRUE(Analysed({&boot}, of_modules({"xfs", "my_driver"})).lists_it());

	/* Locks of the kernel, taken by a module. */
	Boot through;
	through.order(through.a, through.b, 1, "my_ioctl").ba();
	EXPECT_TRUE(Analysed({&through}, of_modules({"my_driver"})).lists_it());
	const Boot apart = Boot().ab().ba();
	EXPECT_FALSE(Analysed({&apart}, of_modules({"my_driver"})).lists_it());
}

/* The kernel's own functions are on every stack. */
TEST(Selection, FunctionsOfTheKernelDoNotCount)
{
	Boot boot;
	const auto x = boot.log.add_class("my_driver:x", LS_KIND_SPINLOCK, LS_ORIGIN_STATIC, 0, 0,
					  "my_driver"),
		   y = boot.log.add_class("my_driver:y", LS_KIND_SPINLOCK, LS_ORIGIN_STATIC, 0, 0,
					  "my_driver");
	boot.order(x, y, 1).order(y, x, 2);
	EXPECT_TRUE(Analysed({&boot}, of_modules({"my_driver"})).lists_it());
	EXPECT_FALSE(Analysed({&boot}, of_modules({"vmlinux"})).lists_it());
}

TEST(Selection, ByKindAndClassAndBoth)
{
	const Boot boot = Boot().ab().ba();
	auto lists = [&](std::vector<FindingKind> kinds, std::vector<std::string> classes) {
		Selection selection;
		selection.kinds = std::move(kinds);
		selection.classes = std::move(classes);
		return Analysed({&boot}, selection).lists_it();
	};
	EXPECT_TRUE(lists({FindingKind::LockOrderCycle}, {}));
	EXPECT_TRUE(lists({FindingKind::LongHold, FindingKind::LockOrderCycle}, {}));
	EXPECT_FALSE(lists({FindingKind::LongHold}, {}));
	EXPECT_TRUE(lists({}, {"a_*"}));
	EXPECT_TRUE(lists({}, {"x", "b_lock"}));
	EXPECT_FALSE(lists({}, {"a"}));
	EXPECT_FALSE(lists({FindingKind::LongHold}, {"a_*"}));
}

TEST(Selection, SinceARunAndNew)
{
	const Boot both = Boot().ab().ba(), none, one = Boot().ab();
	auto lists = [&](const std::vector<const Boot *> &boots, std::uint32_t since, bool fresh) {
		Selection selection;
		selection.since = since;
		selection.only_new = fresh;
		return Analysed(boots, selection).lists_it();
	};
	EXPECT_TRUE(lists({&both, &none}, 0, false));
	EXPECT_FALSE(lists({&both, &none}, 1, false)) << "nothing of it was seen again";
	EXPECT_TRUE(lists({&both, &one}, 1, false)) << "one side was";
	EXPECT_FALSE(lists({&both, &one}, 1, true)) << "it is not new";
	EXPECT_TRUE(lists({&none, &both, &none}, 1, true));
	EXPECT_FALSE(lists({&none, &both, &none}, 2, true));
	Selection fresh;
	fresh.only_new = true;
	EXPECT_TRUE(Analysed({&both}, fresh).lists_it()) << "of a single run all is new";
	EXPECT_FALSE(Analysed({&both, &both}, fresh).lists_it());
}

TEST(Selection, WhatIsLeftOutIsCounted)
{
	const Boot boot = Boot().ab().ba();
	const Analysed x({&boot}, of_modules({"no-such"}));
	const std::string text = text_report(x.model, x.analysis, {}, {200, false});
	EXPECT_NE(
		text.find("Only --module no-such: 1 other finding left out (1 error, 0 warnings, 0 "
			  "notes); nothing recorded matches --module no-such\n"),
		std::string::npos)
		<< text;
	const auto json = nlohmann::json::parse(json_report(x.model, x.analysis, {}));
	EXPECT_EQ(json["left_out"]["selection"], 1);
	EXPECT_EQ(json["selection"]["module"], nlohmann::json::array({"no-such"}));
	EXPECT_EQ(json["selection"]["unmatched"].size(), 1u);
	EXPECT_TRUE(json["findings"].empty());
	const Tally counts = tally(x.analysis, {});
	EXPECT_EQ(counts.listed, 0u);
	EXPECT_EQ(counts.all_not_selected(), 1u);

	const Analysed all({&boot}, of_modules({"vmlinux"}));
	const std::string none_out = text_report(all.model, all.analysis, {}, {200, false});
	EXPECT_NE(none_out.find("Only --module vmlinux: no other finding left out\n"),
		  std::string::npos)
		<< none_out;
}

/* Findings of one cause are one entry, but not when the cause is left out. */
TEST(Selection, WhatACauseStoodForIsListedWithoutIt)
{
	Boot boot;
	const auto c = boot.log.add_class("c_lock");
	boot.order(boot.a, boot.b, 1, "rare").order(boot.b, boot.a, 2);
	boot.order(boot.b, c, 3).order(c, boot.a, 4);
	Analysed x({&boot});
	const auto with_cause = [&]() -> const Finding * {
		for (const auto &finding : x.analysis.findings)
			if (!finding.cause.empty())
				return &finding;
		return nullptr;
	};
	ASSERT_TRUE(with_cause());
	const auto entries = [&] {
		const std::string text = text_report(x.model, x.analysis, {}, {200, false});
		return std::pair(text.find("1. lock order: ") != std::string::npos,
				 text.find(" more through ") != std::string::npos);
	};
	EXPECT_EQ(entries(), std::pair(true, true));
	Selection selection;
	selection.classes = {"c_lock"};
	apply_selection(x.model, x.analysis, selection);
	EXPECT_EQ(entries(), std::pair(true, false));
	EXPECT_FALSE(with_cause()->left_out);
}

TEST(Selection, NewOnesAreMarked)
{
	const Boot one = Boot().ab(), two = Boot().ba();
	const Analysed x({&one, &two});
	const std::string text = text_report(x.model, x.analysis, {}, {200, false});
	EXPECT_NE(text.find("New in run 2 of 2: 1 finding (0 errors, 1 warning, 0 notes)\n"),
		  std::string::npos)
		<< text;
	EXPECT_NE(text.find(", id " + x.only().id + ", new in run 2\n"), std::string::npos) << text;
	const auto json = nlohmann::json::parse(json_report(x.model, x.analysis, {}));
	EXPECT_EQ(json["new_since"], 1);
	EXPECT_EQ(json["findings"][0]["new"], true);
	EXPECT_EQ(json["findings"][0]["first_run"], 1);
	const Analysed again({&two, &one, &two});
	EXPECT_NE(text_report(again.model, again.analysis, {}, {200, false})
			  .find("New in run 3 of 3: none of these\n"),
		  std::string::npos);
}

TEST(Selection, RunsByNumberLastAndDay)
{
	Model model;
	model.runs.resize(3);
	model.runs[0].started = 1790000000; /* 2026-09-21 */
	model.runs[1].started = 1790200000; /* 2026-09-23 */
	model.runs[2].started = 1790100000; /* 2026-09-22 */
	auto run = [&](const std::string &text) {
		const auto found = parse_run(model, text);
		EXPECT_TRUE(found.ok()) << text;
		return found ? *found : 99u;
	};
	EXPECT_EQ(run("1"), 0u);
	EXPECT_EQ(run("3"), 2u);
	EXPECT_EQ(run("last"), 1u);
	EXPECT_EQ(run("2026-09-22"), 2u);
	EXPECT_EQ(run("2026-09-23"), 1u);
	EXPECT_EQ(run("2020-01-01"), 0u);
	for (const char *text : {"0", "4", "-1", "1x", "", "first", "2026-13-01", "2030-01-01",
				 "99999999999999999999"}) {
		const auto found = parse_run(model, text);
		ASSERT_FALSE(found.ok()) << text;
		EXPECT_EQ(found.error().exit, Exit::Usage);
		EXPECT_FALSE(found.error().hint.empty());
	}
}

namespace {

/* The ids of one cycle of @locks on 20 boots: classes are numbered differently, and the cycle
 * begins elsewhere. */
std::set<std::string> ids_of(const std::vector<std::pair<std::string, ls_kind>> &locks)
{
	std::set<std::string> ids;
	const std::size_t n = locks.size();
	for (std::size_t boot = 0; boot < 20; boot++) {
		LogBuilder log(3000 + boot);
		for (std::size_t i = 0; i < boot % 7; i++)
			log.add_class("other_" + std::to_string(i));
		std::vector<std::uint32_t> cls(n);
		for (std::size_t i = 0; i < n; i++) {
			const auto &[name, kind] = locks[(i + boot) % n];
			cls[(i + boot) % n] = log.add_class(name, kind);
		}
		for (std::size_t i = 0; i < n; i++) {
			const auto at = boot % 2 ? (boot + i) % n : (boot + n - i) % n;
			log.acquire({.pid = static_cast<std::uint32_t>(at), .stack = {"f"}},
				    {{.cls = cls[at]}}, {.cls = cls[(at + 1) % n]});
		}
		ids.insert(only_finding(model_of(log)).id);
	}
	return ids;
}

} // namespace

/* Rotations, the other order of discovery, other boots: one fault, one id. */
TEST(Identity, OneFaultHasOneId)
{
	const auto three =
		ids_of({{"b", LS_KIND_SPINLOCK}, {"a", LS_KIND_SPINLOCK}, {"c", LS_KIND_SPINLOCK}});
	EXPECT_EQ(three.size(), 1u);
	const auto other_way =
		ids_of({{"b", LS_KIND_SPINLOCK}, {"c", LS_KIND_SPINLOCK}, {"a", LS_KIND_SPINLOCK}});
	EXPECT_EQ(other_way.size(), 1u);
	EXPECT_NE(three, other_way) << "the cycle the other way round is another fault";
	/* Names alone do not say where it begins. */
	EXPECT_EQ(ids_of({{"same", LS_KIND_SPINLOCK}, {"same", LS_KIND_RWLOCK}}).size(), 1u);
}
