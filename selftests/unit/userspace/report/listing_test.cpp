// SPDX-License-Identifier: GPL-2.0
// Reports and baselines as input of lockscope diff, also hostile ones, and its formats.
#include "support.h"

#include "report/diff.h"
#include "report/listing.h"

#include <nlohmann/json.hpp>

#include <sstream>

using namespace lockscope;
using namespace lockscope::test;

namespace {

Result<Listing> read(const std::string &text)
{
	std::istringstream in(text);
	return read_listing(in, "the file");
}

void expect_refused(const std::string &text, const std::string &words)
{
	SCOPED_TRACE(text.substr(0, 200));
	const auto listing = read(text);
	ASSERT_FALSE(listing.ok());
	const auto &what = listing.error().what;
	EXPECT_EQ(what.rfind("the file ", 0), 0u) << what;
	EXPECT_NE(what.find(words), std::string::npos) << what;
	EXPECT_EQ(what.find('\n'), std::string::npos) << what;
	EXPECT_FALSE(listing.error().hint.empty());
	EXPECT_EQ(listing.error().exit, Exit::Environment);
}

/* A report with one finding, and members of it replaced or added. */
std::string report(const nlohmann::json &members = {}, const std::string &schema = "report/1")
{
	nlohmann::json finding = {{"id", "0123456789abcdef"},
				  {"kind", "lock-order-cycle"},
				  {"severity", "error"},
				  {"confidence", "observed"},
				  {"title", "a title"}};
	if (members.is_object())
		finding.update(members);
	const nlohmann::json out = {{"schema", "lockscope-" + schema}, {"findings", {finding}}};
	return out.dump();
}

struct Recorded {
	Recorded()
	{
		LogBuilder log;
		const auto a = log.add_class("a_lock"), b = log.add_class("b_lock");
		const auto gate = log.add_class("gate"), x = log.add_class("x_lock");
		log.acquire({.pid = 1, .stack = {"f"}}, {{.cls = a}}, {.cls = b});
		log.acquire({.pid = 2, .stack = {"g"}}, {{.cls = b}}, {.cls = a});
		log.acquire({.pid = 1, .stack = {"f"}}, {{.cls = gate}, {.cls = a}}, {.cls = x});
		log.acquire({.pid = 2, .stack = {"g"}}, {{.cls = gate}, {.cls = x}}, {.cls = a});
		log.acquire({.level = LS_HARDIRQ, .stack = {"handler"}}, {}, {.cls = b});
		log.fault(LS_FINDING_DOUBLE_UNLOCK, {}, {}, {.cls = x});
		model = model_of(log);
		analysis = analyse(model);
		apply_selection(model, analysis, {});
		listing = listing_of(model, analysis);
		listing.file = "new.db";
	}

	Model model;
	Analysis analysis;
	Listing listing;
};

/* Everything that is compared. */
void expect_same(const Listing &a, const Listing &b)
{
	const Comparison there = compare(a, b), back = compare(b, a);
	for (const auto *comparison : {&there, &back})
		for (const auto &change : comparison->changes)
			EXPECT_EQ(change.state, ChangeState::Unchanged) << change.now.id;
	EXPECT_EQ(there.changes.size(), a.shown());
	for (const auto &entry : a.entries()) {
		const Entry *other = b.find(entry.id);
		if (!entry.hidden.empty())
			continue;
		ASSERT_TRUE(other) << entry.title;
		EXPECT_EQ(other->locks, entry.locks);
		EXPECT_EQ(other->title, entry.title);
		EXPECT_EQ(other->kind, entry.kind);
	}
}

std::string text_of(const Listing &old, const Listing &now, bool all = false)
{
	return text_diff(old, now, compare(old, now), all, {200, false});
}

} // namespace

TEST(Listing, AReportHasWhatItsStoreHas)
{
	const Recorded x;
	ASSERT_GE(x.listing.shown(), 3u);
	ASSERT_LT(x.listing.shown(), x.listing.entries().size()) << "one is hidden";
	for (bool all : {false, true}) {
		ReportOptions options;
		options.all = all;
		const auto listing = read(json_report(x.model, x.analysis, options));
		ASSERT_TRUE(listing.ok()) << listing.error().what;
		EXPECT_STREQ(listing->form, "report");
		EXPECT_EQ(listing->acquisitions, x.listing.acquisitions);
		EXPECT_EQ(listing->runs, 1u);
		EXPECT_EQ(listing->release, "6.1.0-test-amd64");
		EXPECT_EQ(listing->left_out, 0u);
		EXPECT_EQ(listing->shown(), x.listing.shown());
		EXPECT_EQ(listing->entries().size() > listing->shown(), all);
		expect_same(x.listing, *listing);
	}
}

TEST(Listing, ABaselineIsRepeatableAndOneFindingALine)
{
	Recorded x;
	x.listing.incomplete = {"10 of 11 records lost"};
	const std::string text = baseline_of(x.listing);
	const auto listing = read(text);
	ASSERT_TRUE(listing.ok()) << listing.error().what;
	EXPECT_STREQ(listing->form, "baseline");
	EXPECT_EQ(listing->incomplete, x.listing.incomplete);
	expect_same(x.listing, *listing);
	EXPECT_EQ(baseline_of(*listing), text);
	std::istringstream lines(text);
	std::size_t found = 0;
	std::string last;
	for (std::string line; std::getline(lines, line);)
		if (const auto at = line.find("{\"id\":\""); at == 0) {
			found++;
			EXPECT_LT(last, line) << "sorted by id";
			last = line;
		}
	EXPECT_EQ(found, x.listing.shown());
	EXPECT_TRUE(read(baseline_of(Listing())).ok()) << "an empty one is one";
}

TEST(Listing, WhatAReportLeftOutIsKnown)
{
	const Recorded x;
	ReportOptions limited;
	limited.limit = 1;
	const auto listing = read(json_report(x.model, x.analysis, limited));
	ASSERT_TRUE(listing.ok());
	EXPECT_EQ(listing->left_out, x.listing.shown() - 1);
	EXPECT_NE(text_of(*listing, x.listing).find("Old was written without "), std::string::npos);
	EXPECT_NE(text_of(x.listing, *listing).find("New was written without "), std::string::npos);
}

TEST(Listing, DamagedAndForeignFiles)
{
	expect_refused("", "neither a store nor a report");
	expect_refused("\n \t", "neither a store nor a report");
	expect_refused("[]", "neither a store nor a report");
	expect_refused("words", "neither a store nor a report");
	expect_refused("{}", "no report");
	expect_refused(R"({"findings":[]})", "no report");
	expect_refused(R"({"schema":"sarif"})", "format sarif");
	expect_refused(report({}, "report/2"), "format lockscope-report/2");
	expect_refused(R"({"schema":"a\nb\u001b[31m"})", "format a?b?[31m");
	expect_refused(R"({"schema":"lockscope-report/1"})", "no list of findings");
	expect_refused(R"({"schema":"lockscope-report/1","findings":{}})", "no list of findings");
	expect_refused(R"({"schema":"lockscope-report/1","findings":[)", "no JSON from byte");
	expect_refused(report() + "x", "no JSON from byte");
	expect_refused(R"({"schema":"lockscope-report/1","runs":1e999999,"findings":[]})",
		       "no JSON from byte");
	expect_refused(report({{"id", "0123"}}), "finding 1 has no id");
	expect_refused(report({{"id", "0123456789ABCDEF"}}), "finding 1 has no id");
	expect_refused(report({{"id", 7}}), "finding 1 has no id");
	expect_refused(report({{"severity", "fatal"}}), "finding 1 has no severity");
	expect_refused(report({{"confidence", nullptr}}), "finding 1 has no confidence");
	expect_refused(report({{"kind", "Kind\n"}}), "finding 1 has no kind");
	expect_refused(report({{"kind", std::string(1000, 'a')}}), "finding 1 has no kind");
	expect_refused(R"({"schema":"lockscope-report/1","findings":[{}]})", "finding 1 has no id");
	const std::string deep(100000, '[');
	expect_refused(R"({"schema":"lockscope-report/1","x":)" + deep, "nests more than 64 deep");
	expect_refused(R"({"schema":"lockscope-report/1","x":)" + std::string(200000, '{'),
		       "no JSON from byte");
}

TEST(Listing, OddButValid)
{
	/* A kind that only a newer version has, members of other types, text that controls a
	 * terminal. */
	const auto listing =
		read(report({{"kind", "new-kind"},
			     {"title", "a\x1b[2Jb\nc"},
			     {"classes", {{{"name", "x\ny"}, {"kind", "spinlock"}}, 7}},
			     {"variable", {1, 2}},
			     {"verdict", {{"result", "sure"}}},
			     {"filters", {{{"hidden", "yes"}}}}}));
	ASSERT_TRUE(listing.ok()) << listing.error().what;
	ASSERT_EQ(listing->entries().size(), 1u);
	const Entry &entry = listing->entries()[0];
	EXPECT_EQ(entry.title, "a?[2Jb?c");
	EXPECT_EQ(entry.locks, std::vector<std::string>{"x?y"});
	EXPECT_EQ(entry.verdict, std::nullopt);
	EXPECT_EQ(entry.hidden, "");
	EXPECT_EQ(listing->used.has_value(), false);
	/* Findings elsewhere are none. */
	const auto nested = read(R"({"x":{"findings":[{"id":"no"}]},"findings":[],)"
				 R"("schema":"lockscope-report/1"})");
	ASSERT_TRUE(nested.ok()) << nested.error().what;
	EXPECT_TRUE(nested->entries().empty());
	EXPECT_TRUE(read("  \n" + report()).ok());
}

/* Cut and changed at every byte: an error or a list, under sanitizers. */
TEST(Listing, AnyDamageIsAnErrorOrAList)
{
	const Recorded x;
	const std::string good = baseline_of(x.listing);
	for (std::size_t at = 0; at < good.size(); at++) {
		const auto cut = read(good.substr(0, at));
		EXPECT_FALSE(cut.ok() && at + 1 < good.size()) << at;
		for (char c : {'"', '{', ']', '\0', '\xff', '9'}) {
			std::string changed = good;
			changed[at] = c;
			const auto listing = read(changed);
			if (!listing)
				EXPECT_EQ(listing.error().what.find('\n'), std::string::npos);
		}
	}
}

TEST(DiffText, SaysWhatChanged)
{
	const Recorded x;
	Listing old = x.listing, empty;
	EXPECT_NE(text_of(old, x.listing).find("0 new, 0 worse, 0 gone, 0 better, "),
		  std::string::npos);
	EXPECT_EQ(text_of(old, x.listing).find("Unchanged:"), std::string::npos);
	EXPECT_NE(text_of(old, x.listing, true).find("Unchanged:"), std::string::npos);
	empty.file = "empty.json";
	empty.form = "baseline";
	const std::string text = text_of(empty, x.listing);
	EXPECT_NE(text.find("New:\n"), std::string::npos) << text;
	EXPECT_NE(text.find("old: baseline empty.json"), std::string::npos) << text;
	for (const auto &entry : x.listing.entries())
		EXPECT_EQ(text.find(entry.id) != std::string::npos, entry.hidden.empty());
}

TEST(DiffText, GoneIsNotFixed)
{
	const Recorded x;
	Listing now;
	now.form = "report";
	EXPECT_NE(text_of(x.listing, now).find("not listed\n"), std::string::npos);
	now.form = "store";
	now.used = Used{};
	EXPECT_NE(
		text_of(x.listing, now)
			.find("not seen; none of 2 lock classes used in the new runs, so its code did "
			      "not run\n"),
		std::string::npos)
		<< text_of(x.listing, now);
	now.used->locks = {"a_lock"};
	now.runs = 1;
	EXPECT_NE(
		text_of(x.listing, now).find("not seen; 1 of 2 lock classes used in the new run\n"),
		std::string::npos)
		<< text_of(x.listing, now);
	now.incomplete = {"the recorder was killed"};
	const std::string text = text_of(x.listing, now);
	EXPECT_NE(text.find("used in the new run, which saw less than all\n"), std::string::npos);
	EXPECT_EQ(
		text.rfind("New is incomplete, what is gone may be there: the recorder was killed",
			   0),
		0u)
		<< text;
	EXPECT_NE(text.find("New saw less: 0 acquisitions"), std::string::npos);
}

TEST(DiffJson, HasAllOfIt)
{
	const Recorded x;
	Listing now;
	now.used = Used{{"a_lock"}, {}};
	auto json = nlohmann::json::parse(json_diff(x.listing, now, compare(x.listing, now)));
	EXPECT_EQ(json["schema"], "lockscope-diff/1");
	EXPECT_EQ(json["counts"]["gone"], x.listing.shown());
	EXPECT_EQ(json["counts"]["new"], 0);
	EXPECT_EQ(json["old"]["file"], "new.db");
	bool seen = false;
	for (const auto &finding : json["findings"]) {
		EXPECT_EQ(finding["state"], "gone");
		EXPECT_TRUE(finding["new"].is_null());
		seen |= finding["seen"] == nlohmann::json{{"used", 1}, {"of", 2}};
	}
	EXPECT_TRUE(seen) << json.dump(1);
	json = nlohmann::json::parse(json_diff(now, x.listing, compare(now, x.listing)));
	EXPECT_EQ(json["findings"][0]["state"], "new");
	EXPECT_TRUE(json["findings"][0]["old"].is_null());
	EXPECT_EQ(json["findings"][0]["new"]["verdict"], nullptr);
}
