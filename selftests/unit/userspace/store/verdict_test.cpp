// SPDX-License-Identifier: GPL-2.0
// Verdicts in stores: kept, merged, refused when they make no sense.
#include "support.h"

#include "store/load_verdicts.h"
#include "store/merge.h"
#include "store/schema.h"
#include "store/writer.h"

#include <filesystem>

using namespace lockscope;
using namespace lockscope::test;

namespace {

constexpr const char *kJudged = "0123456789abcdef";

class VerdictStoreTest : public testing::Test {
protected:
	static Verdict verdict(VerdictResult result, std::int64_t time = 1000)
	{
		Verdict out;
		out.finding = kJudged;
		out.result = result;
		out.reason = result == VerdictResult::Refuted ? "gate" : "";
		out.why = std::string("it is ") + name(result);
		out.tries = 12;
		out.time = time;
		out.evidence = R"({"directions":1,"of":2,"sides":[{"task":"dd-7","cpu":0}]})";
		return out;
	}

	static LogBuilder abba(std::uint64_t instance = 1, bool longer = false)
	{
		LogBuilder log(instance);
		const auto a = log.add_class("a"), b = log.add_class("b");
		log.acquire({.pid = 1}, {{.cls = a}}, {.cls = b});
		if (longer)
			log.acquire({.pid = 2}, {{.cls = b}}, {.cls = a});
		return log;
	}

	/* As a recorder of @log that confirms. */
	void record(const std::string &file, const std::vector<Verdict> &verdicts,
		    const LogBuilder &log = abba(), const std::string &boot = "boot-1")
	{
		auto source = image_source(log.image());
		auto writer = StoreWriter::open(dir / file);
		ASSERT_TRUE(writer.ok()) << writer.error().what;
		NoSymbols symbols;
		Recorder recorder(*source, *writer, symbols, {});
		ASSERT_TRUE(recorder.attach("kmod", boot, "0123456789abcdef").ok());
		ASSERT_TRUE(recorder.drain().ok());
		for (const auto &each : verdicts)
			ASSERT_TRUE(recorder.put_verdict(each).ok());
	}

	Model load(const std::vector<std::string> &files)
	{
		std::vector<std::string> paths;
		for (const auto &file : files)
			paths.push_back(dir / file);
		auto model = load_stores(paths);
		EXPECT_TRUE(model.ok()) << (model ? "" : model.error().what);
		return model ? std::move(*model) : Model{};
	}

	/* "confirmed 1000", or nothing. */
	std::string held(const std::vector<std::string> &files)
	{
		const Model model = load(files);
		const auto at = model.verdicts.find(kJudged);
		return at == model.verdicts.end() ? ""
						  : std::string(name(at->second.result)) + " " +
							    std::to_string(at->second.time);
	}

	std::int64_t rows(const std::string &file)
	{
		auto db = Database::open(dir / file, Access::Read);
		EXPECT_TRUE(db.ok());
		return *db->query_integer("SELECT count(*) FROM verdict");
	}

	TempDir dir;
	const Verdict met = verdict(VerdictResult::Confirmed),
		      gated = verdict(VerdictResult::Refuted),
		      missed = verdict(VerdictResult::NotReached);
};

} // namespace

TEST_F(VerdictStoreTest, ComesBackAsItWas)
{
	record("1.db", {gated});
	const Model model = load({"1.db"});
	ASSERT_EQ(model.verdicts.size(), 1u);
	const Verdict &back = model.verdicts.at(kJudged);
	EXPECT_EQ(back.finding, gated.finding);
	EXPECT_EQ(back.result, gated.result);
	EXPECT_EQ(back.reason, gated.reason);
	EXPECT_EQ(back.why, gated.why);
	EXPECT_EQ(back.tries, gated.tries);
	EXPECT_EQ(back.time, gated.time);
	EXPECT_EQ(back.evidence, gated.evidence);
}

TEST_F(VerdictStoreTest, ALaterOneOfTheRunReplacesIt)
{
	record("1.db", {met, verdict(VerdictResult::NotReached, 2000)});
	EXPECT_EQ(held({"1.db"}), "not-reached 2000");
	EXPECT_EQ(rows("1.db"), 1);
}

TEST_F(VerdictStoreTest, OfSeveralRunsTheBetterOneHolds)
{
	record("met.db", {met}, abba(1), "boot-1");
	record("gated.db", {gated}, abba(2), "boot-2");
	record("missed.db", {verdict(VerdictResult::NotReached, 9000)}, abba(3), "boot-3");
	record("later.db", {verdict(VerdictResult::Refuted, 5000)}, abba(4), "boot-4");
	EXPECT_EQ(held({"missed.db", "gated.db"}), "refuted 1000");
	EXPECT_EQ(held({"later.db", "gated.db"}), "refuted 5000");
	EXPECT_EQ(held({"gated.db", "later.db"}), "refuted 5000");
	EXPECT_EQ(held({"met.db", "later.db", "missed.db"}), "confirmed 1000");
	ASSERT_TRUE(
		merge_stores({dir / "missed.db", dir / "gated.db", dir / "met.db"}, dir / "all.db")
			.ok());
	EXPECT_EQ(held({"all.db"}), "confirmed 1000");
	EXPECT_EQ(rows("all.db"), 3);
}

/* Confirm may have written to one of two copies of a store. */
TEST_F(VerdictStoreTest, OfTwoCopiesOfARunNoneIsLost)
{
	record("plain.db", {});
	record("met.db", {met});
	record("longer.db", {verdict(VerdictResult::Refuted, 3000)}, abba(1, true));
	EXPECT_EQ(held({"plain.db", "met.db"}), "confirmed 1000");
	EXPECT_EQ(held({"met.db", "plain.db"}), "confirmed 1000");
	for (const auto &[from, to] : {std::pair("met.db", "plain.db"), {"plain.db", "met.db"}}) {
		const std::string out = std::string("both-") + from;
		ASSERT_TRUE(merge_stores({dir / from, dir / to}, dir / out).ok());
		EXPECT_EQ(held({out}), "confirmed 1000") << out;
		EXPECT_EQ(rows(out), 1);
	}
	/* The run is that of the longer recording, the verdict the better one. */
	for (const auto &[from, to] : {std::pair("met.db", "longer.db"), {"longer.db", "met.db"}}) {
		const std::string out = std::string("longer-") + from;
		ASSERT_TRUE(merge_stores({dir / from, dir / to}, dir / out).ok());
		EXPECT_EQ(held({out}), "confirmed 1000") << out;
		EXPECT_EQ(load({out}).observations.size(), 2u) << out;
		EXPECT_EQ(rows(out), 1);
	}
}

TEST_F(VerdictStoreTest, OlderStoresHaveNoneAndGetTheTable)
{
	for (int version = kOldestSchema; version < kVerdictSchema; version++) {
		std::filesystem::remove(dir / "old.db");
		record("old.db", {met});
		age_store(dir / "old.db", version);
		EXPECT_EQ(held({"old.db"}), "") << version;
		/* As an input of a merge, and as its output. */
		std::filesystem::remove(dir / "all.db");
		ASSERT_TRUE(merge_stores({dir / "old.db"}, dir / "all.db").ok()) << version;
		EXPECT_EQ(held({"all.db"}), "");
		record("old.db", {gated});
		EXPECT_EQ(held({"old.db"}), "refuted 1000") << version;
		ASSERT_TRUE(merge_stores({dir / "old.db"}, dir / "all.db").ok());
		EXPECT_EQ(held({"all.db"}), "refuted 1000") << version;
	}
}

TEST_F(VerdictStoreTest, AResetOfTheModuleKeepsIt)
{
	record("1.db", {met});
	auto writer = StoreWriter::open(dir / "1.db");
	ASSERT_TRUE(writer.ok());
	RunState run;
	run.id = 1;
	ASSERT_TRUE(writer->forget(run).ok());
	EXPECT_EQ(held({"1.db"}), "confirmed 1000");
	ASSERT_TRUE(writer->remove_run(run).ok());
	EXPECT_EQ(rows("1.db"), 0);
}

TEST_F(VerdictStoreTest, RowsThatMakeNoSenseAreDamage)
{
	for (const char *set : {"finding = 'ABCDEF0123456789'",
				"finding = '0123'",
				"finding = 'zzzzzzzzzzzzzzzz'",
				"result = 0",
				"result = 4",
				"result = -1",
				"result = 4294967297",
				"result = 1, reason = 'gate'",
				"reason = 'two words'",
				"reason = replace(hex(zeroblob(20)), '0', 'a')",
				"why = hex(zeroblob(600))",
				"time = -1",
				"evidence = ''",
				"evidence = '[]'",
				"evidence = '{\"sides\":'",
				"evidence = '\"text\"'",
				"evidence = '{} {}'",
				"evidence = '{\"a\":\"' || hex(zeroblob(32768)) || '\"}'",
				"evidence = '{\"a\":[[[[[[[[[[]]]]]]]]]]}'",
				"evidence = CAST(x'7b2261223a22ff227d' AS TEXT)"}) {
		SCOPED_TRACE(set);
		std::filesystem::remove(dir / "1.db");
		record("1.db", {gated});
		{
			auto db = Database::open(dir / "1.db", Access::Write);
			ASSERT_TRUE(db.ok());
			ASSERT_TRUE(db->exec(std::string("UPDATE verdict SET ") + set).ok());
		}
		auto model = load_stores({dir / "1.db"});
		ASSERT_FALSE(model.ok());
		EXPECT_NE(model.error().what.find("makes no sense"), std::string::npos);
	}
}

TEST_F(VerdictStoreTest, WhatWouldBeRefusedIsNotWritten)
{
	Verdict wrong[5] = {met, met, met, met, met};
	wrong[0].finding = "0123";
	wrong[1].evidence = "";
	wrong[2].reason = "gate";
	wrong[3].why.assign(kLongestWhy + 1, 'x');
	wrong[4].evidence = "{\"a\":\"" + std::string(kMostEvidence, 'x') + "\"}";
	auto writer = StoreWriter::open(dir / "1.db");
	ASSERT_TRUE(writer.ok());
	auto run = writer->begin_run({}, "kmod", "boot-1", "");
	ASSERT_TRUE(run.ok());
	for (const auto &each : wrong)
		EXPECT_FALSE(writer->put_verdict(*run, each).ok());
	Verdict none = met;
	none.evidence = Verdict{}.evidence;
	none.tries = ~std::uint64_t{0};
	EXPECT_TRUE(writer->put_verdict(*run, none).ok());
	EXPECT_EQ(load({"1.db"}).verdicts.at(kJudged).tries, ~std::uint64_t{0});
}

/* The rest of a damaged store is read, and the report says what is missing. */
TEST_F(VerdictStoreTest, ASalvagedStoreNamesTheTable)
{
	record("1.db", {gated});
	{
		auto db = Database::open(dir / "1.db", Access::Write);
		ASSERT_TRUE(db.ok());
		ASSERT_TRUE(db->exec("UPDATE verdict SET result = 9;"
				     " INSERT INTO verdict VALUES(1, 'fedcba9876543210', 1, '',"
				     " 'met', 1, 1, '{}')")
				    .ok());
	}
	auto db = Database::open(dir / "1.db", Access::Salvage);
	ASSERT_TRUE(db.ok());
	Model model;
	EXPECT_TRUE(load_verdicts(*db, model, "1").ok());
	EXPECT_EQ(model.verdicts.size(), 1u);
	EXPECT_TRUE(model.verdicts.contains("fedcba9876543210"));
	EXPECT_EQ(db->take_unread(), std::vector<std::string>{"verdict"});
}

TEST_F(VerdictStoreTest, TextCannotSteerATerminal)
{
	Verdict steering = met;
	steering.why = "one\ntwo\x1b[2J";
	steering.evidence = R"({"na\u001bme":["\u001b[31m","a\nb","\u009b1m",{"x":"\u007f"}]})";
	record("1.db", {steering});
	const Verdict back = load({"1.db"}).verdicts.at(kJudged);
	EXPECT_EQ(back.why, "one?two?[2J");
	EXPECT_EQ(back.evidence, R"({"na?me":["?[31m","a?b","??1m",{"x":"?"}]})");
}
