// SPDX-License-Identifier: GPL-2.0
// Verdicts of lockscope confirm in reports.
#include "support.h"

#include "report/ci.h"
#include "report/listing.h"
#include "report/report.h"

#include <nlohmann/json.hpp>

#include <sstream>

using namespace lockscope;
using namespace lockscope::test;

namespace {

class VerdictReportTest : public testing::Test {
protected:
	VerdictReportTest()
	{
		LogBuilder log;
		const auto a = log.add_class("a_lock"), b = log.add_class("b_lock");
		log.acquire({.pid = 1, .stack = {"f", "__x64_sys_read"}}, {{.cls = a}}, {.cls = b});
		log.acquire({.pid = 2, .stack = {"g", "__x64_sys_write"}}, {{.cls = b}},
			    {.cls = a});
		model = model_of(log);
		verdict.finding = only_finding(model).id;
		verdict.result = VerdictResult::Confirmed;
		verdict.why = "both sides met with the same two locks, in both directions";
		verdict.tries = 12;
		verdict.time = 1700000000;
		verdict.evidence = R"({"directions":2,"of":2,"seconds":0.5,"sides":[)"
				   R"({"task":"dd-7","cpu":0,"context":"task","holds":"a_lock",)"
				   R"("acquires":"b_lock","waited":true,)"
				   R"("held":["a_lock at f+0x1f"],"stack":["f+0x3f/mod","main"]},)"
				   R"({"task":"cat-8","cpu":1,"holds":"b_lock",)"
				   R"("acquires":"a_lock","waited":false,"held":[],"stack":[]}]})";
	}

	std::string report()
	{
		model.verdicts[verdict.finding] = verdict;
		return text_report(model, analyse(model), {}, {200, false});
	}
	std::string show(unsigned width = 80)
	{
		model.verdicts[verdict.finding] = verdict;
		return text_finding(model, only_finding(model), {width, false});
	}
	nlohmann::json json()
	{
		model.verdicts[verdict.finding] = verdict;
		return nlohmann::json::parse(json_report(model, analyse(model), {}))["findings"][0];
	}
	static bool has(const std::string &text, const std::string &words)
	{
		return text.find(words) != std::string::npos;
	}

	Model model;
	Verdict verdict;
};

} // namespace

TEST_F(VerdictReportTest, OneLineInTheList)
{
	const std::string text = report();
	EXPECT_TRUE(has(text, "    Verdict: confirmed: both sides met with the same two locks, in "
			      "both directions (12 tries)\n"))
		<< text;
	EXPECT_TRUE(has(text, "error, confirmed, id ")) << text;
	EXPECT_FALSE(has(text, "dd-7")) << text;
}

TEST_F(VerdictReportTest, RefutedSaysWhyOnce)
{
	verdict.result = VerdictResult::Refuted;
	verdict.reason = "gate";
	verdict.why = "the side waits for c_lock, which the other holds";
	verdict.tries = 1;
	const std::string text = report();
	EXPECT_TRUE(has(text, "    Verdict: refuted (gate): the side waits for c_lock, which the "
			      "other holds (1 try)\n"))
		<< text;
	EXPECT_FALSE(has(text, "doubt:")) << text;
	EXPECT_TRUE(has(text, "note, observed (exit status: error), id ")) << text;
}

TEST_F(VerdictReportTest, ARefutedErrorStillFails)
{
	verdict.result = VerdictResult::Refuted;
	verdict.reason = "gate";
	model.verdicts[verdict.finding] = verdict;
	const Analysis analysis = analyse(model);
	ASSERT_EQ(analysis.findings.at(0).severity, Severity::Note);
	std::size_t failed = 0;
	for (const auto &one : ci_cases(model, analysis, {.fail_on = Severity::Error}))
		failed += one.outcome == CiCase::Outcome::Failed &&
			  one.name.find(verdict.finding) != one.name.npos;
	EXPECT_EQ(failed, 1u);
	/* As a report, and as a baseline. */
	std::istringstream written(json_report(model, analysis, {}));
	const auto listing = read_listing(written, "report");
	ASSERT_TRUE(listing.ok()) << listing.error().what;
	EXPECT_TRUE(compare({}, *listing).any(Severity::Error));
	std::istringstream baseline(baseline_of(*listing));
	const auto known = read_listing(baseline, "baseline");
	ASSERT_TRUE(known.ok()) << known.error().what;
	EXPECT_EQ(known->entries().at(0).unrefuted, Severity::Error);
}

TEST_F(VerdictReportTest, NotReached)
{
	verdict.result = VerdictResult::NotReached;
	verdict.why = "";
	verdict.tries = 0;
	EXPECT_TRUE(has(report(), "    Verdict: not-reached\n"));
}

TEST_F(VerdictReportTest, ShowPrintsTheEvidence)
{
	const std::string text = show();
	const std::string head = "    side 1 as it met: holds a_lock, acquires b_lock, waited for "
				 "the other side:\n      task, dd-7, CPU 0\n";
	for (const std::string &line :
	     {head,
	      std::string("    evidence of the verdict: met in 2 of 2 directions, within 0.5 s\n"),
	      std::string("           => f+0x3f/mod\n              main\n"),
	      std::string("      held, oldest first: a_lock at f+0x1f\n"),
	      std::string("    side 2 as it met: "),
	      std::string("cat-8, CPU 1\n      held, oldest first: nothing\n")})
		EXPECT_TRUE(has(text, line)) << line << "in\n" << text;
	/* In front of the rank, which names the verdict. */
	EXPECT_LT(text.find("side 2 as it met"), text.find("    score "));
	EXPECT_TRUE(has(text, "verdict     its sides were made to meet")) << text;
}

TEST_F(VerdictReportTest, EvidenceOfAnotherShapeIsLeftOut)
{
	for (const char *evidence : {"{}", R"({"sides":7})", R"({"sides":[1,"x",null]})",
				     R"({"directions":-1,"of":"x","seconds":"y"})"}) {
		verdict.evidence = evidence;
		EXPECT_FALSE(has(show(), "as it met")) << evidence;
		EXPECT_FALSE(has(show(), "evidence of the verdict")) << evidence;
		EXPECT_EQ(json()["verdict"]["evidence"], nlohmann::json::parse(evidence));
	}
	verdict.evidence = R"({"sides":[{"task":1,"cpu":-1,"holds":[],"waited":1,"held":{},)"
			   R"("stack":[1,"f"]}]})";
	EXPECT_TRUE(has(show(), "    side 1 as it met\n           => f\n")) << show();
}

TEST_F(VerdictReportTest, Json)
{
	const auto finding = json();
	const auto &out = finding["verdict"];
	EXPECT_EQ(out["result"], "confirmed");
	EXPECT_EQ(out["why"], verdict.why);
	EXPECT_EQ(out["tries"], 12);
	EXPECT_EQ(out["time"], 1700000000);
	EXPECT_FALSE(out.contains("reason"));
	EXPECT_FALSE(finding.contains("unrefuted"));
	EXPECT_EQ(out["evidence"], nlohmann::json::parse(verdict.evidence));
	EXPECT_EQ(finding["confidence"], "confirmed");
	EXPECT_EQ(finding["features"][0]["name"], "verdict");

	verdict.result = VerdictResult::Refuted;
	verdict.reason = "gate";
	const auto refuted = json();
	EXPECT_EQ(refuted["verdict"]["result"], "refuted");
	EXPECT_EQ(refuted["verdict"]["reason"], "gate");
	EXPECT_EQ(refuted["severity"], "note");
	EXPECT_EQ(refuted["unrefuted"], "error");
	EXPECT_EQ(refuted["filters"][0]["name"], "refuted");
	EXPECT_FALSE(refuted["filters"][0]["hidden"]);

	verdict.result = VerdictResult::NotReached;
	EXPECT_EQ(json()["verdict"]["result"], "not-reached");
	model.verdicts.clear();
	EXPECT_FALSE(nlohmann::json::parse(json_report(model, analyse(model), {}))["findings"][0]
			     .contains("verdict"));
}
