// SPDX-License-Identifier: GPL-2.0
// Two lists of findings: what is new, worse, gone, better, unchanged.
#include "support.h"

#include "analysis/comparison.h"

using namespace lockscope;
using namespace lockscope::test;

namespace {

Entry entry(const std::string &id, Severity severity = Severity::Warning,
	    Confidence confidence = Confidence::Observed)
{
	Entry out;
	out.id = id;
	out.kind = "lock-order-cycle";
	out.title = "title of " + id;
	out.severity = severity;
	out.confidence = confidence;
	return out;
}

Listing listing(const std::vector<Entry> &entries)
{
	Listing out;
	for (const auto &each : entries)
		out.add(each);
	return out;
}

/* The change of one finding. */
Change change(const Entry &before, const Entry &now)
{
	const Comparison comparison = compare(listing({before}), listing({now}));
	EXPECT_EQ(comparison.changes.size(), 1u);
	return comparison.changes.empty() ? Change{} : comparison.changes.front();
}

ChangeState state(const Entry &before, const Entry &now)
{
	return change(before, now).state;
}

Entry hidden(Entry entry)
{
	entry.hidden = "gate-lock: always with g held";
	return entry;
}

Entry judged(Entry entry, VerdictResult result)
{
	entry.verdict = result;
	return entry;
}

Analysis analysed(const Model &model)
{
	Analysis analysis = analyse(model);
	apply_selection(model, analysis, {});
	return analysis;
}

} // namespace

TEST(Comparison, ByIdAlone)
{
	Entry moved = entry("b");
	moved.title = "the same, with other functions";
	const Comparison comparison =
		compare(listing({entry("a"), entry("b")}), listing({moved, entry("c")}));
	ASSERT_EQ(comparison.changes.size(), 3u);
	EXPECT_EQ(comparison.changes[0].state, ChangeState::New);
	EXPECT_EQ(comparison.changes[0].now.id, "c");
	EXPECT_EQ(comparison.changes[1].state, ChangeState::Gone);
	EXPECT_EQ(comparison.changes[1].now.id, "a");
	EXPECT_EQ(comparison.changes[2].state, ChangeState::Unchanged);
	EXPECT_EQ(comparison.changes[2].now.title, moved.title);
	EXPECT_EQ(comparison.count[static_cast<int>(ChangeState::New)], 1u);
	EXPECT_EQ(comparison.count[static_cast<int>(ChangeState::Worse)], 0u);
}

TEST(Comparison, WorseAndBetter)
{
	const Entry warning = entry("a"), error = entry("a", Severity::Error),
		    possible = entry("a", Severity::Warning, Confidence::Possible);
	EXPECT_EQ(state(warning, warning), ChangeState::Unchanged);
	EXPECT_EQ(state(warning, error), ChangeState::Worse);
	EXPECT_EQ(state(error, warning), ChangeState::Better);
	EXPECT_EQ(state(possible, warning), ChangeState::Worse);
	EXPECT_EQ(state(warning, possible), ChangeState::Better);
	/* One that rose is enough. */
	EXPECT_EQ(state(error, entry("a", Severity::Note, Confidence::Confirmed)),
		  ChangeState::Worse);
	const auto what = change(possible, error).what;
	ASSERT_EQ(what.size(), 2u);
	EXPECT_EQ(what[0], "severity warning, now error");
	EXPECT_EQ(what[1], "confidence possible, now observed");
}

TEST(Comparison, Verdicts)
{
	const Entry none = entry("a");
	EXPECT_EQ(state(none, judged(none, VerdictResult::Confirmed)), ChangeState::Worse);
	EXPECT_EQ(state(judged(none, VerdictResult::Refuted), none), ChangeState::Worse);
	EXPECT_EQ(state(none, judged(none, VerdictResult::Refuted)), ChangeState::Better);
	EXPECT_EQ(state(none, judged(none, VerdictResult::NotReached)), ChangeState::Unchanged);
	EXPECT_EQ(change(none, judged(none, VerdictResult::Confirmed)).what,
		  std::vector<std::string>{"verdict none, now confirmed"});
}

TEST(Comparison, HiddenOnesCountAsNotShown)
{
	const Entry shown = entry("a");
	EXPECT_EQ(state(hidden(shown), shown), ChangeState::Worse);
	EXPECT_EQ(state(shown, hidden(shown)), ChangeState::Better);
	EXPECT_TRUE(compare(listing({hidden(shown)}), listing({hidden(shown)})).changes.empty());
	EXPECT_TRUE(compare(listing({}), listing({hidden(shown)})).changes.empty());
	EXPECT_TRUE(compare(listing({hidden(shown)}), listing({})).changes.empty());
	/* A note that comes out of hiding is no error. */
	EXPECT_FALSE(compare(listing({hidden(shown)}), listing({shown})).any(Severity::Error));
	EXPECT_TRUE(compare(listing({hidden(shown)}), listing({shown})).any(Severity::Warning));
}

TEST(Comparison, OfTwoWithOneIdTheWorse)
{
	const Listing one = listing({entry("a", Severity::Note), entry("a", Severity::Error),
				     hidden(entry("a", Severity::Error))});
	ASSERT_EQ(one.entries().size(), 1u);
	EXPECT_EQ(one.entries()[0].severity, Severity::Error);
	EXPECT_EQ(one.shown(), 1u);
}

TEST(Comparison, OnlyNewAndWorseOnesFail)
{
	const Entry error = entry("a", Severity::Error), warning = entry("a");
	EXPECT_TRUE(compare(listing({}), listing({error})).any(Severity::Error));
	Entry refuted = judged(entry("a", Severity::Note), VerdictResult::Refuted);
	EXPECT_FALSE(compare(listing({}), listing({refuted})).any(Severity::Error));
	refuted.unrefuted = Severity::Error;
	EXPECT_TRUE(compare(listing({}), listing({refuted})).any(Severity::Error));
	EXPECT_FALSE(compare(listing({}), listing({warning})).any(Severity::Error));
	EXPECT_TRUE(compare(listing({warning}), listing({error})).any(Severity::Error));
	EXPECT_FALSE(compare(listing({error}), listing({error})).any(Severity::Note));
	EXPECT_FALSE(compare(listing({error}), listing({})).any(Severity::Note));
	EXPECT_FALSE(compare(listing({error}), listing({warning})).any(Severity::Note));
	/* Worse, but not bad enough. */
	const Entry possible = entry("a", Severity::Warning, Confidence::Possible);
	EXPECT_FALSE(compare(listing({possible}), listing({warning})).any(Severity::Error));
	EXPECT_TRUE(compare(listing({possible}), listing({warning})).any(Severity::Warning));
}

TEST(Comparison, NamesWithoutTheOffsetsOfOneBuild)
{
	EXPECT_EQ(comparable_name("ext4_inode_cache+0x1a8 struct ext4_inode_info.i_data_sem"),
		  "ext4_inode_cache struct ext4_inode_info.i_data_sem");
	EXPECT_EQ(comparable_name("dentry+0x60 (sysfs) struct dentry.d_lock"),
		  "dentry (sysfs) struct dentry.d_lock");
	EXPECT_EQ(comparable_name("kmalloc-192+0x20 @ foo_new"), "kmalloc-192+0x20 @ foo_new");
	EXPECT_EQ(comparable_name("foo_lock"), "foo_lock");
	EXPECT_EQ(comparable_name("+0x struct "), " struct ");
	EXPECT_EQ(comparable_name(""), "");
}

TEST(Comparison, WhatIsGoneSaysWhetherItsLocksWereUsed)
{
	LogBuilder fault(1), half(2), other(3);
	for (auto *log : {&fault, &half}) {
		const auto a = log->add_class("a_lock"), b = log->add_class("b_lock");
		if (log == &fault)
			log->acquire({.pid = 1, .stack = {"f"}}, {{.cls = a}}, {.cls = b});
		else
			log->acquire({.pid = 1, .stack = {"f"}}, {}, {.cls = b});
		if (log == &fault)
			log->acquire({.pid = 2, .stack = {"g"}}, {{.cls = b}}, {.cls = a});
	}
	const auto x = other.add_class("x_lock");
	other.acquire({.pid = 1, .stack = {"f"}}, {}, {.cls = x});
	const Model old_model = model_of(fault);
	const Listing old = listing_of(old_model, analysed(old_model));
	ASSERT_EQ(old.shown(), 1u);
	EXPECT_EQ(old.entries()[0].locks, (std::vector<std::string>{"a_lock", "b_lock"}));
	auto used = [&](const LogBuilder &log) {
		const Model model = model_of(log);
		const auto comparison = compare(old, listing_of(model, analysed(model)));
		EXPECT_EQ(comparison.changes.size(), 1u);
		EXPECT_EQ(comparison.changes.at(0).state, ChangeState::Gone);
		EXPECT_EQ(comparison.changes.at(0).names, 2u);
		return comparison.changes.at(0).used;
	};
	EXPECT_EQ(used(half), 1u);
	EXPECT_EQ(used(other), 0u);
	/* A report does not say what was used. */
	EXPECT_FALSE(compare(old, Listing()).changes.at(0).used);
}

TEST(Comparison, WhatIsGoneSaysWhetherItsVariableWasAccessed)
{
	auto log = [](std::uint64_t number, bool races) {
		LogBuilder out(number);
		const auto data = out.add_data("foo:count", LS_DATA_STATIC, 0, "foo");
		const auto write = out.access({.pid = 1, .stack = {"f"}}, {.data = data});
		const auto read = out.access({.pid = 2, .stack = {"g"}},
					     {.data = data, .op = LS_ACC_READ, .function = "r"});
		if (races)
			out.race(write, read, LS_RACE_CAUGHT, {{write, 1, 0xff, 1}});
		return out;
	};
	const Model before = model_of(log(1, true)), now = model_of(log(2, false));
	const auto comparison =
		compare(listing_of(before, analysed(before)), listing_of(now, analysed(now)));
	ASSERT_EQ(comparison.changes.size(), 1u);
	EXPECT_EQ(comparison.changes[0].now.variable, "foo:count");
	EXPECT_EQ(comparison.changes[0].names, 1u);
	EXPECT_EQ(comparison.changes[0].used, 1u);
}
