// SPDX-License-Identifier: GPL-2.0
// Which data race comes first.
#include "race_test.h"

#include "analysis/races/weights.h"

using namespace lockscope;
using namespace lockscope::test;

TEST_F(RaceTest, RanksByWeightsThatAUserCanChange)
{
	log.race(side(1, "a", LS_ACC_WRITE), side(2, "b", LS_ACC_WRITE), LS_RACE_CAUGHT);
	log.race(side(3, "c", LS_ACC_WRITE), side(4, "d", LS_ACC_READ));
	model = model_of(log);
	auto findings = analyse(model).findings;
	ASSERT_EQ(findings.size(), 2u);
	EXPECT_EQ(findings[0].confidence, Confidence::Confirmed);
	EXPECT_GT(findings[0].score, findings[1].score);
	double sum = 0;
	for (const auto &each : findings[0].features)
		sum += each.points;
	EXPECT_EQ(sum, findings[0].score);

	auto weights = RaceWeights::parse("# turned around\nconfidence = -1300\n", "w");
	ASSERT_TRUE(weights.ok());
	findings = analyse(model, {.raw_nesting = false, .weights = *weights}).findings;
	EXPECT_EQ(findings[1].confidence, Confidence::Confirmed);
}

TEST_F(RaceTest, VariablesTakeTurns)
{
	/* Three sure races on one variable, one of less weight on another. */
	const auto writer = side(1, "a", LS_ACC_WRITE);
	for (const char *reader : {"b", "c", "d"})
		log.race(writer, side(2, reader, LS_ACC_WRITE), LS_RACE_CAUGHT);
	const auto other = log.add_data("other");
	auto at = [&](std::uint32_t pid, const char *function, std::uint16_t op) {
		return log.access({.pid = pid},
				  {.data = other, .size = 4, .op = op, .function = function});
	};
	log.race(at(3, "e", LS_ACC_WRITE), at(4, "f", LS_ACC_READ), LS_RACE_CAUGHT);
	model = model_of(log);
	const auto findings = analyse(model).findings;
	ASSERT_EQ(findings.size(), 4u);
	EXPECT_NE(findings[0].race->variable.stable, findings[1].race->variable.stable);
	EXPECT_FALSE(feature(findings[0], "same-variable"));
	EXPECT_FALSE(feature(findings[1], "same-variable"));
	for (std::size_t i = 2; i < 4; i++) {
		EXPECT_TRUE(feature(findings[i], "same-variable"));
		double sum = 0;
		for (const auto &each : findings[i].features)
			sum += each.points;
		EXPECT_EQ(sum, findings[i].score);
	}
	EXPECT_GT(findings[2].score, findings[3].score);
}

TEST(RaceWeights, MistakesAreToldWithFileAndLine)
{
	struct {
		const char *text, *words;
	} cases[] = {
		{"plain = 1\n\nnonsense = 1\n", "w.conf:3: unknown feature nonsense"},
		{"plain\n", "w.conf:1: no ="},
		{"plain = much\n", "w.conf:1: \"much\" is no number"},
		{"plain = 1e999\n", "w.conf:1:"},
		{"plain = nan\n", "w.conf:1:"},
		{"plain = 1 2\n", "w.conf:1:"},
		{"plain = 1\nplain = 2\n", "w.conf:2: plain is given twice"},
		{" = 2\n", "w.conf:1: unknown feature"},
	};
	for (const auto &each : cases) {
		auto parsed = RaceWeights::parse(each.text, "w.conf");
		ASSERT_FALSE(parsed.ok()) << each.text;
		EXPECT_EQ(parsed.error().what.rfind(each.words, 0), 0u) << parsed.error().what;
		EXPECT_EQ(parsed.error().exit, Exit::Usage);
		EXPECT_FALSE(parsed.error().hint.empty());
	}
	auto fine = RaceWeights::parse("\n  plain=2.5 # why\r\n", "w.conf");
	ASSERT_TRUE(fine.ok());
	EXPECT_EQ((*fine)["plain"], 2.5);
	EXPECT_EQ((*fine)["write"], RaceWeights()["write"]);
}
