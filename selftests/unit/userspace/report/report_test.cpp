// SPDX-License-Identifier: GPL-2.0
// Reports, text against golden files. UPDATE_GOLDEN=1 in the environment rewrites them.
#include "report/logs.h"
#include "support.h"

#include "model/annotations.h"
#include "report/report.h"
#include "report/text_parts.h"

#include <nlohmann/json.hpp>

#include <cstdlib>

using namespace lockscope;
using namespace lockscope::test;

namespace {

void expect_golden(const std::string &name, const std::string &text)
{
	const std::string path = std::string(GOLDEN_DIR) + "/" + name;
	if (std::getenv("UPDATE_GOLDEN"))
		spill(path, text);
	EXPECT_EQ(slurp(path), text) << "UPDATE_GOLDEN=1 accepts the change";
}

struct Report {
	Model model = model_of(small_log());
	Analysis analysis = analyse(model);
};

} // namespace

TEST(TextReport, Golden)
{
	Report r;
	expect_golden("report.txt", text_report(r.model, r.analysis, {}, {80, false}));
}

TEST(TextReport, ListsALockThatIsHeldManyTimesOnce)
{
	using Words = std::vector<std::string>;
	EXPECT_EQ(neighbours_once({}), Words{});
	EXPECT_EQ(neighbours_once({"a", "a", "b", "a"}), (Words{"a (2 times)", "b", "a"}));
}

/* The package is named for stock kernels whose own code has no line at all. */
TEST(TextReport, NamesThePackageThatHasTheLines)
{
	Report r;
	const auto names_it = [&] {
		return text_report(r.model, r.analysis, {}, {200, false})
			       .find("Source lines: none of kernel 6.1.0-56-amd64; lockscope symbols "
				     "fetch STORE adds them, from linux-image-6.1.0-56-amd64-dbg") !=
		       std::string::npos;
	};
	r.model.runs[0].build_id = "ab12";
	for (auto &code : r.model.code)
		code.build_id = code.function.empty() ? "" : "ab12";
	EXPECT_FALSE(names_it()) << "no distribution's";
	r.model.runs[0].release = "6.1.0-56-amd64";
	EXPECT_TRUE(names_it());
	r.model.code.back().lines = {{"f", "a.c", 1, false}};
	EXPECT_FALSE(names_it()) << "some lines are there";
	r.model.code.back().lines.clear();
	r.analysis.findings.clear();
	EXPECT_FALSE(names_it()) << "there is no finding";
}

TEST(TextReport, GoldenWithHiddenOnes)
{
	Report r;
	ReportOptions all;
	all.all = true;
	expect_golden("report-all.txt", text_report(r.model, r.analysis, all, {120, false}));
}

TEST(TextReport, GoldenOfOneFinding)
{
	Report r;
	expect_golden("show.txt", text_finding(r.model, r.analysis.findings.at(0), {80, false}));
}

TEST(TextReport, GoldenOfInterruptsAndFaults)
{
	const Model model = model_of(other_kinds());
	const Analysis analysis = analyse(model);
	expect_golden("other-kinds.txt", text_report(model, analysis, {}, {80, false}));
	std::string shown;
	for (const auto &finding : analysis.findings)
		shown += text_finding(model, finding, {80, false}) + "\n";
	expect_golden("other-kinds-show.txt", shown);
}

TEST(TextReport, FollowsTheWidth)
{
	Report r;
	for (std::size_t width : {60u, 80u, 132u}) {
		const std::string text = text_report(r.model, r.analysis, {}, {width, false});
		std::size_t at = 0, longest = 0;
		while (at < text.size()) {
			const auto end = text.find('\n', at);
			longest = std::max(longest, end - at);
			at = end + 1;
		}
		EXPECT_LE(longest, width);
		EXPECT_GT(longest, width - 12);
	}
}

TEST(TextReport, ColourOnlyWhereWanted)
{
	Report r;
	EXPECT_EQ(text_report(r.model, r.analysis, {}, {80, false}).find('\033'),
		  std::string::npos);
	EXPECT_NE(text_report(r.model, r.analysis, {}, {80, true}).find('\033'), std::string::npos);
}

TEST(TextReport, SaysWhatIsMissing)
{
	Report r;
	const std::string text = text_report(r.model, r.analysis, {}, {80, false});
	EXPECT_NE(text.find("lost_stacks 12"), std::string::npos);
	EXPECT_NE(text.find("Not seen: 6 things on any kernel, 1 function that this kernel lacks; "
			    "--all lists\n  them\n"),
		  std::string::npos)
		<< text;
	EXPECT_EQ(text.find("ww_mutex_lock"), std::string::npos);
	ReportOptions full;
	full.all = true;
	const std::string all = text_report(r.model, r.analysis, full, {80, false});
	EXPECT_NE(all.find("lacks: ww_mutex_lock\n"), std::string::npos);
	EXPECT_NE(all.find("percpu-rwsem"), std::string::npos);
}

TEST(TextReport, ShowExplainsItsWordsAndCountsRepeats)
{
	LogBuilder log;
	const auto a = log.add_class("a"), b = log.add_class("b", LS_KIND_RWLOCK),
		   n = log.add_class("nested"), m = log.add_class("m", LS_KIND_MUTEX);
	std::vector<Lock> held;
	for (std::uint64_t i = 0; i < 40; i++)
		held.push_back({.cls = n, .address = 0x1000 + i * 8});
	const std::vector<Lock> forty = held;
	held.push_back({.cls = a});
	log.acquire({.pid = 1, .stack = {"f"}}, held, {.cls = b});
	log.acquire({.pid = 2, .stack = {"g"}}, {{.cls = b, .read = LS_SHARED}}, {.cls = a});
	log.fault(LS_FINDING_DOUBLE_UNLOCK, {.pid = 3}, forty, {.cls = m});
	const Model model = model_of(log);
	std::string text;
	for (const auto &finding : analyse(model).findings)
		text += text_finding(model, finding, {200, false});
	EXPECT_NE(text.find("held, oldest first: nested (40 times); a\n"), std::string::npos)
		<< text;
	EXPECT_NE(text.find("\n    EN: held Exclusively, "), std::string::npos) << text;
	EXPECT_NE(text.find("\n    SN: held Shared, "), std::string::npos) << text;
	EXPECT_EQ(text.find("\n    ER: "), std::string::npos) << "no dependency is one";
	const auto once = text.find("holds spinlock nested, taken at lock_it+0x10 (40 times)\n");
	EXPECT_NE(once, std::string::npos) << text;
	EXPECT_EQ(text.find("holds spinlock nested", once + 1), std::string::npos);
}

TEST(Selection, LimitConfidenceAndHidden)
{
	Report r;
	ReportOptions options;
	const auto visible = select_findings(r.analysis, options).size();
	options.all = true;
	const auto all = select_findings(r.analysis, options).size();
	EXPECT_GT(all, visible);
	options.limit = 1;
	EXPECT_EQ(select_findings(r.analysis, options).size(), 1u);
	options.limit = 0;
	options.min_confidence = Confidence::Observed;
	EXPECT_LT(select_findings(r.analysis, options).size(), all);
	options.min_confidence = Confidence::Confirmed;
	EXPECT_TRUE(select_findings(r.analysis, options).empty());
}

TEST(JsonReport, HasWhatTheContractNames)
{
	Report r;
	ReportOptions all;
	all.all = true;
	const auto json = nlohmann::json::parse(json_report(r.model, r.analysis, all));
	EXPECT_EQ(json["schema"], "lockscope-report/1");
	EXPECT_EQ(json["kernel"]["release"], "6.1.0-test-amd64");
	EXPECT_EQ(json["backend"], "kmod");
	EXPECT_EQ(json["runs"], 1);
	EXPECT_EQ(json["losses"]["stacks"], 12);
	for (const char *loss :
	     {"records", "stacks", "chains", "classes", "held_overflow", "recursion", "accesses"})
		EXPECT_TRUE(json["losses"].contains(loss)) << loss;
	for (const char *figure :
	     {"classes", "edges", "chains", "acquisitions", "accesses", "contexts"})
		EXPECT_TRUE(json["coverage"].contains(figure)) << figure;
	ASSERT_FALSE(json["findings"].empty());
	std::size_t rank = 0;
	for (const auto &finding : json["findings"]) {
		EXPECT_EQ(finding["rank"], ++rank);
		EXPECT_EQ(finding["id"].get<std::string>().size(), 16u);
		EXPECT_EQ(finding["kind"], "lock-order-cycle");
		EXPECT_FALSE(finding["features"].empty());
		ASSERT_EQ(finding["edges"].size(), finding["classes"].size());
		for (const auto &edge : finding["edges"]) {
			EXPECT_LT(edge["from"].get<std::size_t>(), finding["classes"].size());
			EXPECT_LT(edge["to"].get<std::size_t>(), finding["classes"].size());
			for (const char *stack : {"from_stack", "to_stack"}) {
				ASSERT_FALSE(edge[stack].empty());
				for (const char *key :
				     {"function", "offset", "module", "file", "line", "inlined"})
					EXPECT_TRUE(edge[stack][0].contains(key)) << key;
			}
			EXPECT_FALSE(edge["held"].empty());
			EXPECT_EQ(edge["context"], "task");
		}
		EXPECT_EQ(finding["severity"] == "note",
			  std::any_of(finding["filters"].begin(), finding["filters"].end(),
				      [](const auto &f) { return f["hidden"] == true; }));
	}
	EXPECT_EQ(json["findings"][0]["classes"][0]["origin"], "init");
	EXPECT_EQ(json["findings"][0]["edges"][1]["task"], "dmsetup-116");
}

TEST(JsonReport, InterruptsAreClassesAndEdges)
{
	const Model model = model_of(other_kinds());
	const auto json = nlohmann::json::parse(json_report(model, analyse(model), {}));
	std::size_t seen = 0;
	for (const auto &finding : json["findings"]) {
		if (finding["kind"] != "irq-inversion" &&
		    finding["kind"] != "inconsistent-irq-state")
			continue;
		seen++;
		EXPECT_FALSE(finding.contains("stacks"));
		const auto &irq = finding["classes"].back();
		EXPECT_EQ(irq["kind"], "irq");
		EXPECT_EQ(irq["origin"], "static");
		EXPECT_EQ(irq["module"], "vmlinux");
		const bool hard = finding["kind"] == "irq-inversion";
		EXPECT_EQ(irq["name"], hard ? "<hardirq>" : "<softirq>");
		ASSERT_EQ(finding["edges"].size(), finding["classes"].size());
		for (const auto &edge : finding["edges"]) {
			EXPECT_FALSE(edge["from_stack"].empty());
			EXPECT_FALSE(edge["to_stack"].empty());
		}
		EXPECT_EQ(finding["edges"].back()["from"], finding["classes"].size() - 1);
		EXPECT_EQ(finding["edges"].back()["context"], hard ? "hardirq" : "softirq");
	}
	EXPECT_EQ(seen, 2u);
	EXPECT_EQ(json["coverage"]["classes"], 4);
}

TEST(JsonReport, FaultsHaveTheirStacks)
{
	const Model model = model_of(other_kinds());
	const auto json = nlohmann::json::parse(json_report(model, analyse(model), {}));
	std::map<std::string, nlohmann::json> by_kind;
	for (const auto &finding : json["findings"])
		by_kind[finding["kind"]] = finding;
	const auto &wait = by_kind.at("invalid-wait-context");
	EXPECT_EQ(wait["classes"].size(), 1u);
	ASSERT_EQ(wait["edges"].size(), 1u);
	EXPECT_EQ(wait["edges"][0]["from"], 0);
	EXPECT_EQ(wait["edges"][0]["to"], 0);
	EXPECT_TRUE(wait["accesses"].empty());
	EXPECT_EQ(wait["stacks"][0]["role"], "where");
	EXPECT_EQ(wait["stacks"][0]["task"], "reader-8");
	EXPECT_EQ(wait["stacks"][0]["context"], "task");
	EXPECT_EQ(wait["stacks"][0]["stack"][0]["function"], "foo_wait");
	EXPECT_EQ(wait["stacks"][0]["held"][0], "bar_lock");
	EXPECT_EQ(wait["stacks"][1]["role"], "taken-before");
	const auto &sleep = by_kind.at("sleep-in-atomic");
	EXPECT_TRUE(sleep["classes"].empty());
	EXPECT_TRUE(sleep["edges"].empty());
	EXPECT_EQ(sleep["stacks"][0]["context"], "hardirq");
	EXPECT_EQ(by_kind.at("held-lock-freed")["stacks"][1]["role"], "taken");
	EXPECT_EQ(by_kind.at("long-hold")["severity"], "warning");
	EXPECT_EQ(by_kind.at("long-hold")["count"], 1);
}

TEST(JsonReport, NamesThatAreNotUtf8DoNotBreakIt)
{
	LogBuilder log;
	const auto a = log.add_class("bad\xff\xfename"), b = log.add_class("b");
	log.acquire({.pid = 1}, {{.cls = a}}, {.cls = b});
	log.acquire({.pid = 2}, {{.cls = b}}, {.cls = a});
	const Model model = model_of(log);
	EXPECT_FALSE(nlohmann::json::parse(json_report(model, analyse(model), {}), nullptr, false)
			     .is_discarded());
}

TEST(RaceReport, JsonHasBothSidesAndTheVariable)
{
	const Model model = model_of(race_log());
	const auto json = nlohmann::json::parse(json_report(model, analyse(model), {}));
	EXPECT_EQ(json["coverage"]["accesses"], 5000);
	EXPECT_EQ(json["losses"]["accesses"], 5);
	ASSERT_EQ(json["findings"].size(), 1u);
	const auto &finding = json["findings"][0];
	EXPECT_EQ(finding["kind"], "data-race");
	EXPECT_EQ(finding["confidence"], "confirmed");
	EXPECT_EQ(finding["variable"]["name"], "foo_cache+0x8");
	EXPECT_EQ(finding["variable"]["candidates"], nlohmann::json::array({"self.lock"}));
	EXPECT_TRUE(finding["edges"].empty());
	ASSERT_EQ(finding["accesses"].size(), 2u);
	const auto &write = finding["accesses"][0], &read = finding["accesses"][1];
	EXPECT_EQ(write["op"], "write");
	EXPECT_EQ(write["size"], 4);
	EXPECT_EQ(write["context"], "task");
	EXPECT_EQ(write["task"], "writer-7");
	EXPECT_EQ(write["lockset"], nlohmann::json::array({"self.lock"}));
	EXPECT_EQ(write["stack"][0]["function"], "foo_add");
	EXPECT_EQ(write["count"], 2000);
	EXPECT_EQ(read["op"], "read");
	EXPECT_EQ(read["context"], "softirq");
	EXPECT_EQ(read["entry"], "timer foo_timer");
	EXPECT_EQ(read["lockset"], nlohmann::json::array({"bh"}));
	EXPECT_EQ(read["marked"], false);
}

TEST(RaceReport, WhatTheCodeAssertsStandsBesideItsAccess)
{
	Model model = model_of(race_log());
	auto table = std::make_shared<annotations::Table>();
	table->notes.push_back({annotations::Says::Held, "lockdep_assert_held", "&foo->lock",
				"foo_add", "fs/foo.c", 7});
	table->modules["vmlinux"].build_id = "0123456789ab";
	table->modules["vmlinux"].in_function["foo_add"] = {0};
	for (auto &code : model.code)
		code.build_id = "0123456789abcdef";
	for (const auto &run : model.runs)
		model.annotations[run.release] = table;
	const Analysis analysis = analyse(model);
	const std::string words = "the code asserts &foo->lock in foo_add(), fs/foo.c:7";
	const std::string list = text_report(model, analysis, {}, {200, false});
	EXPECT_NE(list.find(words), std::string::npos) << list;
	EXPECT_EQ(list.find(words), list.rfind(words)) << "the other side does not";
	const auto json = nlohmann::json::parse(json_report(model, analysis, {}));
	const auto &accesses = json["findings"][0]["accesses"];
	EXPECT_EQ(accesses[0]["asserted"].size(), 1u);
	EXPECT_TRUE(accesses[1]["asserted"].empty());
}

namespace {

/* Both sides hold a lock of one class, and both were first seen in another task, holding the
 * first lock of it. */
LogBuilder pair_log(bool told)
{
	LogBuilder log;
	const auto lock = log.add_class("foo_alloc+0x0", LS_KIND_SPINLOCK, LS_ORIGIN_ALLOC, 0, 64);
	const auto data = log.add_data("count");
	const auto way = [&](const char *function) {
		return log.access(
			{.pid = 3, .comm = "setup", .stack = {"foo_init", "__x64_sys_write"}},
			{.data = data,
			 .function = function,
			 .guards = {{.lock = {.cls = lock,
					      .address = 0xffff888000000100u,
					      .function = "foo_lock"},
				     .relation = LS_REL_OTHER}}});
	};
	const auto a = way("foo_a"), b = way("foo_b");
	log.race(a, b, 0, {}, 0xffff888000001000u, 7, 8);
	if (!told)
		return log;
	log.side(a, {.pid = 7, .comm = "first", .cpu = LS_CPU_UNKNOWN}, LS_SIDE_TASK,
		 {0xffff888000000200u});
	log.side(b, {.pid = 8, .comm = "second", .cpu = 1, .stack = {"bar", "__x64_sys_read"}},
		 LS_SIDE_SECOND | LS_SIDE_TASK, {0xffff888000000300u}, true);
	return log;
}

} // namespace

TEST(RaceReport, ShowsThePairThatRacedAndSaysWhatIsOfTheFirstTime)
{
	const Model model = model_of(pair_log(true));
	const Analysis analysis = analyse(model);
	const auto json = nlohmann::json::parse(json_report(model, analysis, {}));
	const auto &first = json["findings"][0]["accesses"][0],
		   &second = json["findings"][0]["accesses"][1];
	EXPECT_EQ(first["task"], "first-7");
	EXPECT_EQ(first["entry"], "task");
	EXPECT_TRUE(first["cpu"].is_null());
	EXPECT_EQ(first["stack_of"], "first-seen");
	EXPECT_EQ(first["stack"][1]["function"], "foo_init");
	EXPECT_EQ(first["first_seen"]["task"], "setup-3");
	EXPECT_EQ(first["first_seen"]["entry"], "system call write");
	EXPECT_EQ(second["task"], "second-8");
	EXPECT_EQ(second["entry"], "system call read");
	EXPECT_EQ(second["cpu"], 1);
	EXPECT_EQ(second["stack_of"], "access");
	EXPECT_EQ(second["stack"][1]["function"], "bar");
	EXPECT_FALSE(second.contains("first_seen"));
	EXPECT_EQ(first["locks"][0]["name"], second["locks"][0]["name"]);
	EXPECT_EQ(first["locks"][0]["instance"], 1);
	EXPECT_EQ(second["locks"][0]["instance"], 2);

	const std::string text = text_report(model, analysis, {}, {200, false});
	for (const char *words :
	     {": task, first-7", ": system call read, second-8 on CPU 1",
	      "callers as first seen, system call write by setup-3; those of the access that raced "
	      "are not known:",
	      "taken at foo_lock+0x10, another instance than on the other side"})
		EXPECT_NE(text.find(words), std::string::npos) << words << "\n" << text;
	EXPECT_EQ(text.find("callers as first"), text.rfind("callers as first")) << text;
}

TEST(RaceReport, OfOlderModulesCallersAndInstancesAreNotThePairs)
{
	const Model model = model_of(pair_log(false));
	const Analysis analysis = analyse(model);
	const auto json = nlohmann::json::parse(json_report(model, analysis, {}));
	for (const auto &access : json["findings"][0]["accesses"]) {
		EXPECT_EQ(access["stack_of"], "first-seen");
		EXPECT_TRUE(access["locks"][0]["instance"].is_null());
		EXPECT_TRUE(access["cpu"].is_null());
	}
	const std::string text = text_report(model, analysis, {}, {200, false});
	EXPECT_EQ(text.find("another instance"), std::string::npos) << text;
	EXPECT_NE(text.find("task ...7"), std::string::npos) << text;
}

TEST(RaceReport, TextShowsBothSidesLossesAndHistory)
{
	const Model model = model_of(race_log());
	const Analysis analysis = analyse(model);
	const std::string list = text_report(model, analysis, {}, {100, false});
	for (const char *words :
	     {"5,000 accesses", "data race: foo_cache+0x8 (write in foo_add vs read in foo_show)",
	      "accesses 5 (inside the module itself, or in an NMI)", "elsewhere held: self.lock",
	      "write of 4 bytes, holding self.lock: system call ioctl, writer-7 on CPU 1, 2,000 times",
	      "read of 4 bytes, holding bh: timer foo_timer", "holds self.lock, taken at foo_lock"})
		EXPECT_NE(list.find(words), std::string::npos) << words << "\n" << list;
	EXPECT_EQ(list.find("virgin"), std::string::npos);

	const std::string full = text_finding(model, analysis.findings.front(), {200, false});
	for (const char *words :
	     {"virgin -> exclusive: write at foo_add+0x30", "exclusive -> shared: read at foo_show",
	      "candidates: self.lock", "shared -> shared-modified: write at foo_add",
	      "no lock is left that all held", "it was that one's alone then"})
		EXPECT_NE(full.find(words), std::string::npos) << words << "\n" << full;
}
