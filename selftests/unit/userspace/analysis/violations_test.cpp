// SPDX-License-Identifier: GPL-2.0
// Accesses that break a rule, as findings.
#include "foo_model.h"
#include "support.h"

#include "analysis/findings.h"
#include "analysis/rules/violations.h"
#include "report/report.h"

#include <nlohmann/json.hpp>

using namespace lockscope;
using namespace lockscope::test;

namespace {

std::vector<Finding> violations_of(const Model &model)
{
	return guard_violations(model, infer_rules(model));
}

} // namespace

TEST(Violations, AWriterWithoutTheLock)
{
	Foo foo;
	foo.touch_in(14, "writer", {.held = {"self.lock"}});
	foo.touch("sloppy", {});
	const auto found = violations_of(foo.model);
	ASSERT_EQ(found.size(), 1u);
	const Finding &finding = found[0];
	EXPECT_EQ(finding.title,
		  "guard violation: struct foo.count written without self.lock (sloppy)");
	EXPECT_EQ(finding.kind, FindingKind::GuardViolation);
	EXPECT_EQ(finding.severity, Severity::Warning);
	EXPECT_EQ(finding.confidence, Confidence::Possible);
	ASSERT_EQ(finding.violation->sides.size(), 1u);
	EXPECT_EQ(finding.violation->guard, "self.lock");
	ASSERT_TRUE(finding.violation->example.has_value());
	EXPECT_EQ(analyse(foo.model).findings.size(), 1u);
	/* The twin holds it. */
	Foo twin;
	twin.touch_in(14, "writer", {.held = {"self.lock"}});
	twin.touch("sloppy", {.held = {"self.lock"}});
	EXPECT_TRUE(violations_of(twin.model).empty());
}

TEST(Violations, ALockOfAnotherObjectIsNotTheLock)
{
	Foo foo;
	foo.touch_in(14, "writer", {.held = {"self.lock"}});
	foo.touch("mixed_up", {.held = {"other"}});
	const auto found = violations_of(foo.model);
	ASSERT_EQ(found.size(), 1u);
	EXPECT_NE(found[0].title.find("mixed_up"), std::string::npos);
}

TEST(Violations, LittleEvidenceMakesANoteForCheckAlone)
{
	Foo foo;
	foo.touch_in(13, "writer", {.held = {"self.lock"}});
	foo.touch("sloppy", {});
	const auto found = violations_of(foo.model);
	ASSERT_EQ(found.size(), 1u);
	EXPECT_EQ(found[0].severity, Severity::Note);
	EXPECT_TRUE(analyse(foo.model).findings.empty());
}

TEST(Violations, OneForEachFunctionWithTheSameIdInAnyRun)
{
	auto scene = [](std::size_t sloppy) {
		Foo foo;
		foo.touch_in(40, "writer", {.held = {"self.lock"}});
		for (std::uint32_t at = 0; at < sloppy; at++)
			foo.touch("sloppy", {.at = 40 + 8 * at});
		foo.touch("careless", {.held = {"list_lock"}});
		return violations_of(foo.model);
	};
	const auto one = scene(1), more = scene(3);
	ASSERT_EQ(one.size(), 2u);
	ASSERT_EQ(more.size(), 2u);
	EXPECT_EQ(one[1].id, more[1].id);
	EXPECT_NE(one[0].id, one[1].id);
	EXPECT_EQ(more[1].violation->sides.size(), 3u);
	/* No lock at all is clearer than the wrong one [RacerX 8.5]. */
	EXPECT_GT(one[1].score, one[0].score);
}

TEST(Violations, ADataRaceThereSaysMore)
{
	Foo foo;
	foo.touch_in(14, "writer", {.held = {"self.lock"}});
	Race race;
	race.first = 0;
	race.second = foo.touch("sloppy", {.pid = 99});
	foo.model.races.push_back(race);
	auto findings = analyse(foo.model).findings;
	ASSERT_EQ(findings.size(), 1u);
	EXPECT_EQ(findings[0].kind, FindingKind::DataRace);
	/* Of another function it does not. */
	foo.model.races[0].second = 1;
	findings = analyse(foo.model).findings;
	ASSERT_EQ(findings.size(), 2u);
	EXPECT_EQ(findings[0].kind, FindingKind::DataRace);
	EXPECT_EQ(findings[1].kind, FindingKind::GuardViolation);
	EXPECT_LT(findings[1].score, findings[0].score);
}

TEST(Violations, InReports)
{
	Foo foo;
	foo.touch_in(14, "writer", {.held = {"self.lock"}});
	foo.touch("sloppy", {.held = {"-self.lock"}});
	const Analysis analysis = analyse(foo.model);
	const auto json = nlohmann::json::parse(json_report(foo.model, analysis, {}));
	ASSERT_EQ(json["findings"].size(), 1u);
	const auto &finding = json["findings"][0];
	EXPECT_EQ(finding["kind"], "guard-violation");
	EXPECT_EQ(finding["variable"]["type"], "struct foo.count");
	EXPECT_EQ(finding["variable"]["candidates"][0], "self.lock");
	ASSERT_EQ(finding["accesses"].size(), 1u);
	EXPECT_EQ(finding["accesses"][0]["lockset"][0], "self.lock (shared)");
	EXPECT_EQ(finding["rule"]["holds"], 14);
	EXPECT_EQ(finding["rule"]["example"]["lockset"][0], "self.lock");
	const std::string text = text_report(foo.model, analysis, {}, {});
	EXPECT_NE(text.find("rule: 14 of 15 hold self.lock, exclusively to write"), text.npos)
		<< text;
	EXPECT_NE(text.find("breaks it: write of 4 bytes"), text.npos) << text;
	EXPECT_NE(text.find("keeps it: write of 4 bytes"), text.npos) << text;
}

TEST(Violations, AreSuppressedByTheNameOfTheVariable)
{
	Foo foo;
	foo.touch_in(14, "writer", {.held = {"self.lock"}});
	foo.touch("sloppy", {});
	Analysis analysis = analyse(foo.model);
	Suppression entry;
	entry.kind = FindingKind::GuardViolation;
	entry.cls = "*struct foo.count";
	entry.reason = "known";
	apply_suppressions(foo.model, analysis, {entry}, "2026-01-01");
	EXPECT_TRUE(analysis.findings[0].suppressed());
	EXPECT_EQ(parse_kind("guard-violation"), FindingKind::GuardViolation);
}
