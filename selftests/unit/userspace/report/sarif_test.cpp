// SPDX-License-Identifier: GPL-2.0
// What the SARIF report says; selftests/cli/sarif has it judged by a validator.
#include "report/logs.h"
#include "support.h"

#include "report/formats.h"
#include "report/sides.h"

#include <nlohmann/json.hpp>

#include <map>

using namespace lockscope;
using namespace lockscope::test;
using Json = nlohmann::json;

namespace {

Json sarif_of(const Model &model, bool all = false, std::size_t limit = 0)
{
	ReportOptions options;
	options.all = all;
	options.limit = limit;
	const auto json = Json::parse(sarif_report(model, analyse(model), options), nullptr, false);
	EXPECT_FALSE(json.is_discarded());
	return json.is_discarded() ? Json() : json["runs"][0];
}

Json sarif_of(const LogBuilder &log, bool all = false)
{
	return sarif_of(model_of(log), all);
}

std::map<std::string, Json> by_rule(const Json &run)
{
	std::map<std::string, Json> out;
	for (const auto &result : run["results"])
		out[result["ruleId"]] = result;
	return out;
}

/// Texts of the essential locations of a thread flow.
std::vector<std::string> events(const Json &flow)
{
	std::vector<std::string> out;
	for (const auto &at : flow["locations"])
		if (at["importance"] == "essential")
			out.push_back(at["location"]["message"]["text"]);
	return out;
}

/// The texts of all messages within @json.
void collect_messages(const Json &json, std::string &out)
{
	if (json.is_object() && json.contains("text"))
		out += json["text"].get<std::string>() + "\n";
	for (const auto &part : json)
		if (part.is_structured())
			collect_messages(part, out);
}

/// As if the functions of the kernel had lines, each in a file of its own.
Model with_lines(const LogBuilder &log, const std::string &folder)
{
	Model model = model_of(log);
	std::uint32_t line = 10;
	for (auto &code : model.code)
		if (!code.function.empty())
			code.lines = {
				{"spin_lock", "include/linux/spinlock.h", 7, true},
				{"helper", folder + "helper.h", ++line, true},
				{code.function, folder + code.function + ".c", ++line, false}};
	return model;
}

} // namespace

TEST(Sarif, RulesAreTheKindsOfTheTable)
{
	const auto run = sarif_of(small_log());
	const auto &rules = run["tool"]["driver"]["rules"];
	ASSERT_EQ(rules.size(), finding_kinds().size());
	for (std::size_t i = 0; i < rules.size(); i++) {
		EXPECT_EQ(rules[i]["id"], name(finding_kinds()[i]));
		EXPECT_EQ(rules[i]["defaultConfiguration"]["level"],
			  name(usual_severity(finding_kinds()[i])));
		EXPECT_GT(rules[i]["shortDescription"]["text"].get<std::string>().size(), 20u);
		EXPECT_LE(rules[i]["properties"]["tags"].size(), 10u);
	}
	EXPECT_EQ(rules[0]["name"], "LockOrderCycle");
	EXPECT_EQ(run["tool"]["driver"]["version"], "0.1.0");
	for (const auto &result : run["results"])
		EXPECT_EQ(rules[result["ruleIndex"].get<std::size_t>()]["id"], result["ruleId"]);
}

TEST(Sarif, EverySideIsAThreadFlowInTheOrderInWhichItRan)
{
	const Model model = model_of(small_log());
	const auto analysis = analyse(model);
	const auto run = sarif_of(model);
	const auto &result = run["results"][0];
	EXPECT_EQ(result["level"], "error");
	EXPECT_EQ(result["partialFingerprints"]["lockscopeId/v1"], analysis.findings[0].id);
	EXPECT_EQ(result["partialFingerprints"]["primaryLocationLineHash"],
		  analysis.findings[0].id);
	ASSERT_EQ(result["codeFlows"].size(), 1u);
	const auto &flows = result["codeFlows"][0]["threadFlows"];
	ASSERT_EQ(flows.size(), 2u);
	const auto &open = flows[1];
	EXPECT_EQ(open["message"]["text"],
		  "holds foo_lock, takes &dev->bar_mutex (system call openat, dmsetup-116)");
	EXPECT_EQ(events(open),
		  (std::vector<std::string>{"takes foo_lock at foo_open+0x10",
					    "takes &dev->bar_mutex at bar_lock_device+0x20"}));
	const auto &first = open["locations"][0]["location"];
	EXPECT_EQ(first["logicalLocations"][0]["name"], "entry_SYSCALL_64_after_hwframe");
	EXPECT_FALSE(first.contains("physicalLocation"));
	/* foo_open takes the lock, then calls on. */
	std::vector<std::string> functions;
	for (const auto &at : open["locations"])
		functions.push_back(at["location"]["logicalLocations"][0]["name"]);
	EXPECT_EQ(functions,
		  (std::vector<std::string>{"entry_SYSCALL_64_after_hwframe", "do_syscall_64",
					    "__x64_sys_openat", "do_dentry_open", "foo_open",
					    "foo_open", "bar_get", "bar_lock_device"}));
	EXPECT_EQ(open["locations"][4]["nestingLevel"], 4);
	EXPECT_EQ(open["locations"][7]["nestingLevel"], 6);
}

TEST(Sarif, LinesAreRelativeToTheSourceTree)
{
	const auto run = sarif_of(with_lines(small_log(), "drivers/a b%/"));
	const auto &place = run["results"][0]["locations"][0];
	EXPECT_EQ(place["physicalLocation"]["artifactLocation"]["uri"],
		  "drivers/a%20b%25/helper.h");
	EXPECT_EQ(place["physicalLocation"]["artifactLocation"]["uriBaseId"], "SRCROOT");
	EXPECT_GE(place["physicalLocation"]["region"]["startLine"], 11);
	EXPECT_EQ(place["logicalLocations"][0]["name"], "helper");
	EXPECT_TRUE(run["originalUriBaseIds"].contains("SRCROOT"));
	EXPECT_EQ(run.dump().find("spinlock.h"), std::string::npos);
	EXPECT_EQ(run.dump().find("no-lines\"},"), std::string::npos);
	const auto outside = sarif_of(with_lines(small_log(), "/usr/src/"));
	EXPECT_EQ(outside["results"][0]["locations"][0]["physicalLocation"]["artifactLocation"],
		  Json({{"uri", "file:///usr/src/helper.h"}}));
}

/* A driver with lines in a kernel without: code scanning shows nothing but a line. */
TEST(Sarif, TheLocationHasALineWhereAnyFrameHas)
{
	Model model = with_lines(small_log(), "driver/");
	for (auto &code : model.code)
		if (code.function != "foo_open")
			code.lines.clear();
	const auto run = sarif_of(model);
	EXPECT_EQ(run["results"][0]["locations"][0]["physicalLocation"]["artifactLocation"]["uri"],
		  "driver/helper.h");
}

TEST(Sarif, HiddenFindingsAreSuppressedOnes)
{
	const auto shown_alone = sarif_of(small_log()), all = sarif_of(small_log(), true);
	for (const auto &result : shown_alone["results"])
		EXPECT_FALSE(result.contains("suppressions"));
	std::size_t hidden = 0, shown = 0;
	for (const auto &result : all["results"]) {
		const auto &list = result["suppressions"];
		(list.empty() ? shown : hidden)++;
		for (const auto &suppression : list) {
			EXPECT_EQ(suppression["kind"], "external");
			EXPECT_NE(suppression["justification"].get<std::string>().find("gate"),
				  std::string::npos);
		}
	}
	EXPECT_EQ(hidden, 1u);
	EXPECT_GE(shown, 2u);
}

TEST(Sarif, LossesAreNotifications)
{
	LogBuilder log = small_log();
	log.info().losses[LS_LOSS_RECORDS] = 5000;
	const auto invocation = sarif_of(log)["invocations"][0];
	EXPECT_EQ(invocation["executionSuccessful"], false);
	std::map<std::string, std::string> texts, levels;
	for (const auto &notice : invocation["toolExecutionNotifications"]) {
		texts[notice["descriptor"]["id"]] += notice["message"]["text"].get<std::string>();
		levels[notice["descriptor"]["id"]] = notice["level"];
	}
	EXPECT_NE(texts["lost"].find("Lost_stacks 12"), std::string::npos) << texts["lost"];
	EXPECT_EQ(levels["lost"], "warning");
	EXPECT_NE(texts["incomplete"].find("5,000 of"), std::string::npos);
	EXPECT_EQ(levels["incomplete"], "error");
	EXPECT_NE(texts["not-seen"].find("percpu-rwsem"), std::string::npos);
	EXPECT_NE(texts["no-lines"].find("without a source line"), std::string::npos);
	EXPECT_EQ(sarif_of(small_log())["invocations"][0]["executionSuccessful"], true);
}

TEST(Sarif, FaultsInterruptsAndRaces)
{
	const auto kinds = by_rule(sarif_of(other_kinds()));
	const auto flows = [&](const char *kind) {
		return kinds.at(kind)["codeFlows"][0]["threadFlows"];
	};
	EXPECT_EQ(events(flows("sleep-in-atomic")[0]).size(), 1u);
	EXPECT_EQ(flows("held-lock-freed").size(), 2u);
	EXPECT_EQ(kinds.at("long-hold")["level"], "warning");
	EXPECT_NE(flows("irq-inversion")[0]["message"]["text"].get<std::string>().find(
			  "takes foo_lock in hardirq"),
		  std::string::npos);
	const auto race = sarif_of(race_log())["results"][0];
	const auto &sides = race["codeFlows"][0]["threadFlows"];
	ASSERT_EQ(sides.size(), 2u);
	EXPECT_EQ(events(sides[0]), std::vector<std::string>{"write of 4 bytes at foo_add+0x30"});
	EXPECT_EQ(events(sides[1]), std::vector<std::string>{"read of 4 bytes at foo_show+0x30"});
	EXPECT_EQ(race["locations"][0]["logicalLocations"][0]["name"], "foo_add");
}

TEST(Sarif, NamesMakeNoLinksAndBreakNothing)
{
	const auto run = sarif_of(hostile_log());
	ASSERT_GE(run["results"].size(), 2u);
	std::string messages;
	collect_messages(run, messages);
	EXPECT_EQ(messages.find("]("), std::string::npos);
	EXPECT_NE(messages.find("[link] (javascript"), std::string::npos);
	EXPECT_EQ(run.dump().find('\033'), std::string::npos);
	EXPECT_NE(run.dump().find("onclick"), std::string::npos);
}

namespace {

/// A cycle of @n locks, with stacks of @depth frames.
Model long_cycle(std::uint32_t n, std::size_t depth)
{
	LogBuilder log;
	std::vector<std::uint32_t> locks;
	std::vector<std::string> stack;
	for (std::size_t i = 0; i < depth; i++)
		stack.push_back("f" + std::to_string(i));
	for (std::uint32_t i = 0; i < n; i++)
		locks.push_back(log.add_class("lock" + std::to_string(i), LS_KIND_MUTEX));
	for (std::uint32_t i = 0; i < n; i++)
		log.acquire({.pid = i + 1, .stack = stack},
			    {{.cls = locks[i], .function = "first"}}, {.cls = locks[(i + 1) % n]});
	return model_of(log);
}

} // namespace

TEST(Sarif, FlowsKeepTheLimitsOfCodeScanning)
{
	const auto run = sarif_of(long_cycle(60, 40));
	ASSERT_EQ(run["results"].size(), 1u);
	std::size_t locations = 0;
	for (const auto &flow : run["results"][0]["codeFlows"][0]["threadFlows"]) {
		locations += flow["locations"].size();
		EXPECT_EQ(events(flow).size(), 2u);
		/* Those nearest to the acquire stay. */
		const auto &list = flow["locations"];
		EXPECT_EQ(list[list.size() - 2]["location"]["logicalLocations"][0]["name"], "f0");
	}
	EXPECT_LE(locations, 1000u);
	EXPECT_GT(locations, 900u);
}

TEST(Sarif, ResultsBeyondTheLimitAreCounted)
{
	EXPECT_EQ(kMostSarifResults, 25000u);
	const Model model = model_of(small_log());
	const auto analysis = analyse(model);
	const auto all = select_findings(analysis, {}).size();
	ASSERT_GE(all, 3u);
	const auto json = Json::parse(sarif_report(model, analysis, {}, 1));
	EXPECT_EQ(json["runs"][0]["results"].size(), 1u);
	EXPECT_NE(json["runs"][0]["invocations"].dump().find(std::to_string(all - 1) +
							     " findings beyond the limit"),
		  std::string::npos);
}

TEST(Sarif, NothingFoundIsAnEmptyList)
{
	LogBuilder log;
	log.acquire({.pid = 1}, {}, {.cls = log.add_class("a")});
	const auto run = sarif_of(log);
	EXPECT_TRUE(run["results"].is_array());
	EXPECT_TRUE(run["results"].empty());
}
