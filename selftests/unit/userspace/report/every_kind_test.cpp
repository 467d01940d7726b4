// SPDX-License-Identifier: GPL-2.0
// One store with every kind of finding, with all that a record may have and with none of it,
// through each format and each plan: no finding may be the one that a program dies of. A new kind
// fails here until bare_kinds() has it.
#include "report/logs.h"
#include "support.h"

#include "analysis/comparison.h"
#include "analysis/suppressions.h"
#include "confirm/plan.h"
#include "report/ci.h"
#include "report/crash.h"
#include "report/diff.h"
#include "report/formats.h"
#include "report/graph.h"
#include "report/html/html.h"
#include "report/listing.h"
#include "report/report.h"
#include "report/sides.h"

#include <algorithm>
#include <set>
#include <sstream>

using namespace lockscope;
using namespace lockscope::test;

namespace {

class EveryKind : public testing::Test {
protected:
	void SetUp() override
	{
		/* The images have no names for the code of chains, which empty sections need. */
		const auto idle = model.intern(Code{"drv_idle", 16, "drv", "", {}});
		for (auto &chain : model.runs.front().chains)
			if (chain.count == 1000)
				chain.at = idle;
		analysis = analyse(model);
	}

	Model model = model_of(bare_kinds());
	Analysis analysis;
	ReportOptions all{.all = true, .rules = true};
	CiOptions ci{.report = all, .fail_on = Severity::Note};
};

} // namespace

TEST_F(EveryKind, IsThereWithAClassAndWithout)
{
	std::set<FindingKind> whole, bare;
	for (const auto &finding : analysis.findings)
		(finding.classes.empty() && !finding.about_memory() ? bare : whole)
			.insert(finding.kind);
	for (const auto kind : finding_kinds()) {
		EXPECT_TRUE(whole.count(kind)) << name(kind) << ": not in every_kind()";
		if (shown(kind) == LS_BY_SIGHT)
			EXPECT_TRUE(bare.count(kind)) << name(kind) << ": not in bare_kinds()";
	}
}

TEST_F(EveryKind, HasAPlanOrAReasonForNone)
{
	for (const auto &finding : analysis.findings) {
		auto plan = plan_for(model, finding);
		EXPECT_FALSE(plan.ok() && finding.single()) << finding.title;
		if (!plan) {
			EXPECT_FALSE(plan.error().what.empty()) << finding.title;
			continue;
		}
		EXPECT_FALSE(plan->sides.empty()) << finding.title;
		for (const auto &side : plan->sides)
			EXPECT_FALSE(side.first.empty()) << finding.title;
		(void)make_deadly(model, finding, *plan).ok();
	}
}

TEST_F(EveryKind, IsShownAlone)
{
	for (const auto &finding : analysis.findings) {
		EXPECT_NE(text_finding(model, finding, {}).find(finding.id), std::string::npos);
		EXPECT_NE(json_finding(model, finding, 1).find(finding.id), std::string::npos);
		EXPECT_NE(dmesg_finding(model, finding, true).find(finding.id), std::string::npos);
		EXPECT_FALSE(crash_of(model, finding).title.empty()) << finding.title;
		EXPECT_NE(dot_text(picture_of(model, finding)).find("digraph"), std::string::npos);
		EXPECT_FALSE(sides_of(model, finding).empty() &&
			     finding.kind != FindingKind::EmptyCriticalSection)
			<< finding.title;
	}
}

TEST_F(EveryKind, IsInEachFormat)
{
	const std::string formats[] = {text_report(model, analysis, all, {}),
				       json_report(model, analysis, all),
				       sarif_report(model, analysis, all),
				       dmesg_report(model, analysis, all),
				       junit_report(model, analysis, ci),
				       ktap_report(model, analysis, ci),
				       kcidb_report(model, analysis, {.ci = ci}),
				       html_report(model, analysis, all, StatReport{})};
	for (const auto &text : formats)
		for (const auto &finding : analysis.findings)
			EXPECT_NE(text.find(finding.id), std::string::npos)
				<< finding.title << ": not in format " << &text - formats;
	EXPECT_NE(dot_text(picture_of(model, analysis, {})).find("digraph"), std::string::npos);
}

TEST_F(EveryKind, IsComparedAndSuppressed)
{
	const Listing now = listing_of(model, analysis);
	std::istringstream baseline(baseline_of(now));
	const auto old = read_listing(baseline, "baseline");
	ASSERT_TRUE(old.ok()) << old.error().what;
	const Comparison comparison = compare(*old, now);
	EXPECT_FALSE(text_diff(*old, now, comparison, true, {}).empty());
	EXPECT_FALSE(json_diff(*old, now, comparison).empty());

	std::vector<Suppression> entries;
	for (const auto &finding : analysis.findings)
		entries.push_back({.id = finding.id, .reason = "known"});
	for (const auto kind : finding_kinds())
		entries.push_back({.kind = kind, .cls = "*", .reason = "known"});
	apply_suppressions(model, analysis, entries, "2026-01-01");
	EXPECT_TRUE(std::all_of(analysis.findings.begin(), analysis.findings.end(),
				[](const Finding &f) { return f.suppressed(); }));
}
