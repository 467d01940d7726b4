// SPDX-License-Identifier: GPL-2.0
// Test cases for CI: which there are, and both of their formats.
#include "report/logs.h"
#include "support.h"

#include "report/ci.h"
#include "util/text.h"
#include "util/utf8.h"

#include <pugixml.hpp>

#include <algorithm>

using namespace lockscope;
using namespace lockscope::test;

namespace {

using Outcome = CiCase::Outcome;

struct CiReport {
	explicit CiReport(const LogBuilder &log) : model(model_of(log)), analysis(analyse(model)) {}
	std::vector<CiCase> cases(const CiOptions &options = {}) const
	{
		return ci_cases(model, analysis, options);
	}
	std::size_t severe(Severity least) const
	{
		return static_cast<std::size_t>(std::count_if(
			analysis.findings.begin(), analysis.findings.end(),
			[&](const Finding &f) { return !f.hidden() && f.severity >= least; }));
	}

	Model model;
	Analysis analysis;
};

std::size_t count(const std::vector<CiCase> &cases, Outcome outcome)
{
	return static_cast<std::size_t>(
		std::count_if(cases.begin(), cases.end(),
			      [&](const CiCase &test) { return test.outcome == outcome; }));
}

LogBuilder lossy_log()
{
	LogBuilder log;
	log.acquire({.pid = 1}, {}, {.cls = log.add_class("a")});
	log.info().losses[LS_LOSS_RECORDS] = 50;
	return log;
}

} // namespace

TEST(CiCases, OneForTheRunAndOneForEachFindingThatFails)
{
	const CiReport report(small_log());
	const auto errors = report.cases();
	ASSERT_EQ(errors.size(), 1 + report.severe(Severity::Error));
	ASSERT_GT(errors.size(), 1u);
	EXPECT_EQ(errors[0].name, "the run is complete");
	EXPECT_EQ(errors[0].outcome, Outcome::Passed);
	EXPECT_NE(errors[0].details.find("lost_stacks 12"), std::string::npos);
	EXPECT_EQ(errors[1].outcome, Outcome::Failed);
	EXPECT_EQ(errors[1].group, "lock-order-cycle");
	EXPECT_EQ(errors[1].name,
		  report.analysis.findings[0].id + " " + report.analysis.findings[0].title);
	EXPECT_NE(errors[1].details.find("side 2 holds [B]"), std::string::npos);
	EXPECT_EQ(report.cases({.fail_on = Severity::Warning}).size(),
		  1 + report.severe(Severity::Warning));
	EXPECT_GT(report.severe(Severity::Warning), report.severe(Severity::Error));
	EXPECT_EQ(report.cases({.fail_on = std::nullopt}).size(), 1u);
}

TEST(CiCases, HiddenOnesAreSkippedWithTheReason)
{
	const CiReport report(small_log());
	EXPECT_EQ(count(report.cases(), Outcome::Skipped), 0u);
	CiOptions options;
	options.report.all = true;
	const auto cases = report.cases(options);
	ASSERT_EQ(count(cases, Outcome::Skipped), 1u);
	EXPECT_NE(cases.back().why.find("(gate-lock)"), std::string::npos) << cases.back().why;
}

TEST(CiCases, AnIncompleteRunFailsUnlessAllowed)
{
	const CiReport report(lossy_log());
	auto cases = report.cases();
	ASSERT_EQ(cases.size(), 1u);
	EXPECT_EQ(cases[0].outcome, Outcome::Failed);
	EXPECT_NE(cases[0].why.find("records lost"), std::string::npos);
	EXPECT_EQ(report.cases({.allow_incomplete = true})[0].outcome, Outcome::Skipped);
}

TEST(Junit, CountsAndCases)
{
	const CiReport report(small_log());
	CiOptions options{.fail_on = Severity::Warning};
	options.report.all = true;
	pugi::xml_document xml;
	ASSERT_TRUE(xml.load_string(junit_report(report.model, report.analysis, options).c_str()));
	const auto suite = xml.child("testsuites").child("testsuite");
	const auto failures = report.severe(Severity::Warning);
	EXPECT_EQ(suite.attribute("tests").as_uint(), failures + 2);
	EXPECT_EQ(suite.attribute("failures").as_uint(), failures);
	EXPECT_EQ(suite.attribute("skipped").as_int(), 1);
	const auto kernel = suite.child("properties").find_child_by_attribute("name", "kernel");
	EXPECT_EQ(std::string(kernel.attribute("value").value()), "6.1.0-test-amd64");
	std::vector<std::string> names;
	for (const auto test : suite.children("testcase"))
		names.push_back(test.attribute("classname").value());
	std::vector<std::string> wanted(failures + 2, "lockscope.lock-order-cycle");
	wanted[0] = "lockscope.run";
	EXPECT_EQ(names, wanted);
	const auto failure = suite.child("testcase").next_sibling("testcase").child("failure");
	EXPECT_EQ(std::string(failure.attribute("message").value()), "error, observed");
	EXPECT_NE(std::string(failure.text().get()).find("bar_lock_device"), std::string::npos);
}

TEST(Junit, NamesStayText)
{
	const CiReport report(hostile_log());
	const auto text = junit_report(report.model, report.analysis, {});
	EXPECT_EQ(text, valid_utf8(text));
	EXPECT_EQ(text.find("<b "), std::string::npos);
	EXPECT_EQ(text.find('\033'), std::string::npos);
	pugi::xml_document xml;
	ASSERT_TRUE(xml.load_string(text.c_str()));
	const auto suite = xml.child("testsuites").child("testsuite");
	EXPECT_EQ(static_cast<int>(std::distance(suite.children("testcase").begin(),
						 suite.children("testcase").end())),
		  suite.attribute("tests").as_int());
	EXPECT_NE(std::string(suite.last_child().child("failure").text().get())
			  .find("</script><b onclick"),
		  std::string::npos);
}

TEST(Ktap, PlanNumbersAndDirectives)
{
	const CiReport report(small_log());
	CiOptions options{.fail_on = Severity::Warning};
	options.report.all = true;
	std::vector<std::string> results;
	std::size_t other = 0;
	for (const auto &line : split(ktap_report(report.model, report.analysis, options), '\n')) {
		if (line.starts_with("ok ") || line.starts_with("not ok "))
			results.push_back(line);
		else if (!line.empty() && !line.starts_with("# "))
			other++;
	}
	const auto failures = report.severe(Severity::Warning);
	ASSERT_EQ(results.size(), failures + 2);
	EXPECT_EQ(other, 2u) << "the version and the plan";
	EXPECT_EQ(results[0], "ok 1 run: the run is complete");
	EXPECT_TRUE(results[1].starts_with(
		"not ok 2 lock-order-cycle: " + report.analysis.findings[0].id + " lock order: "))
		<< results[1];
	EXPECT_TRUE(results.back().starts_with("ok " + std::to_string(failures + 2) + " "));
	EXPECT_NE(results.back().find(" # SKIP "), std::string::npos);
	const auto text = ktap_report(report.model, report.analysis, options);
	EXPECT_TRUE(text.starts_with("KTAP version 1\n# kernel: 6.1.0-test-amd64\n"));
	EXPECT_NE(text.find("\n1.." + std::to_string(failures + 2) + "\n"), std::string::npos);
}

TEST(Ktap, NamesAreNoResultsAndNoDirectives)
{
	const CiReport report(hostile_log());
	std::size_t results = 0;
	for (const auto &line : split(ktap_report(report.model, report.analysis, {}), '\n')) {
		if (!line.starts_with("ok ") && !line.starts_with("not ok "))
			continue;
		results++;
		EXPECT_EQ(line.find('#'), std::string::npos) << line;
	}
	EXPECT_EQ(results, report.cases().size());
}

TEST(Utf8, ReplacesWhatIsNone)
{
	const std::string bad = "\xef\xbf\xbd";
	EXPECT_EQ(valid_utf8("a\xc3\xa4\xe2\x82\xac\xf0\x9f\x94\x92z"),
		  "a\xc3\xa4\xe2\x82\xac\xf0\x9f\x94\x92z");
	EXPECT_EQ(valid_utf8("\xff"), bad);
	EXPECT_EQ(valid_utf8("\xc0\x80"), bad + bad) << "overlong";
	EXPECT_EQ(valid_utf8("\xe0\x80\x80"), bad + bad + bad) << "overlong";
	EXPECT_EQ(valid_utf8("\xed\xa0\x80"), bad + bad + bad) << "surrogate";
	EXPECT_EQ(valid_utf8("\xef\xbf\xbf"), bad + bad + bad) << "no character";
	EXPECT_EQ(valid_utf8("\xf4\x90\x80\x80"), bad + bad + bad + bad) << "beyond";
	EXPECT_EQ(valid_utf8("a\xe2\x82"), "a" + bad + bad) << "cut off";
	EXPECT_EQ(plain_line("a\nb\033\xff"), "a?b?" + bad);
}
