// SPDX-License-Identifier: GPL-2.0
// The file of suppressions: what it says, what is refused, what it hides.
#include "support.h"

#include "analysis/suppression_file.h"
#include "report/report.h"
#include "util/date.h"
#include "util/text.h"

#include <nlohmann/json.hpp>

#include <sys/stat.h>

#include <filesystem>

using namespace lockscope;
using namespace lockscope::test;

namespace {

constexpr const char *kId = "0123456789abcdef";

Suppression parsed(const std::string &line)
{
	auto entries = parse_suppressions(line, "file");
	EXPECT_TRUE(entries.ok()) << (entries ? "" : entries.error().what);
	if (!entries || entries->size() != 1)
		return {};
	return entries->front();
}

void expect_refused(const std::string &text, const std::string &words)
{
	SCOPED_TRACE(text);
	auto entries = parse_suppressions(text, "etc/file");
	ASSERT_FALSE(entries.ok());
	EXPECT_EQ(entries.error().what.rfind("etc/file:", 0), 0u) << entries.error().what;
	EXPECT_NE(entries.error().what.find(words), std::string::npos) << entries.error().what;
	EXPECT_FALSE(entries.error().hint.empty());
	EXPECT_EQ(entries.error().exit, Exit::Environment);
}

class SuppressionTest : public testing::Test {
protected:
	SuppressionTest()
	{
		LogBuilder log;
		const auto a = log.add_class("ext4:a_lock"), b = log.add_class("b_lock");
		const auto m = log.add_class("m", LS_KIND_MUTEX);
		log.acquire({.pid = 1, .stack = {"f"}, .irq_off = true}, {{.cls = a}}, {.cls = b});
		log.acquire({.pid = 2, .stack = {"g"}, .irq_off = true}, {{.cls = b}}, {.cls = a});
		log.fault(LS_FINDING_DOUBLE_UNLOCK, {}, {}, {.cls = m});
		model = model_of(log);
		analysis = analyse(model);
	}

	/* How many findings stay visible. */
	std::size_t visible(const std::string &text, const std::string &day = "2026-06-01")
	{
		analysis = analyse(model);
		auto entries = parse_suppressions(text, "file");
		EXPECT_TRUE(entries.ok()) << (entries ? "" : entries.error().what);
		if (entries)
			apply_suppressions(model, analysis, *entries, day);
		return select_findings(analysis, {}).size();
	}

	Model model;
	Analysis analysis;
};

} // namespace

TEST(SuppressionFile, EntriesCommentsAndBlankLines)
{
	auto entries = parse_suppressions("# head\n\n  \t\nid=0123456789abcdef reason=\"a b\"\r\n"
					  "\tkind=irq-inversion class=\"ext4:*\" reason=no-blank "
					  "until=2027-01-31 # why\n",
					  "file");
	ASSERT_TRUE(entries.ok()) << entries.error().what;
	ASSERT_EQ(entries->size(), 2u);
	EXPECT_EQ((*entries)[0].id, kId);
	EXPECT_EQ((*entries)[0].reason, "a b");
	EXPECT_EQ((*entries)[0].line, 4u);
	EXPECT_EQ((*entries)[1].kind, FindingKind::IrqInversion);
	EXPECT_EQ((*entries)[1].cls, "ext4:*");
	EXPECT_EQ((*entries)[1].reason, "no-blank");
	EXPECT_EQ((*entries)[1].until, "2027-01-31");
}

TEST(SuppressionFile, QuotesAndBackslashes)
{
	EXPECT_EQ(parsed(R"(class="a # b" reason="say \"x\" \\ y")").reason, R"(say "x" \ y)");
	EXPECT_EQ(parsed(R"(class="a # b" reason=r)").cls, "a # b");
}

TEST(SuppressionFile, WhatIsWrittenIsRead)
{
	Suppression entry;
	entry.kind = FindingKind::LongHold;
	entry.cls = R"(we"ird\*)";
	entry.reason = R"(because "so" \)";
	entry.until = "2028-02-29";
	const Suppression back = parsed(format_suppression(entry));
	EXPECT_TRUE(back.same_target(entry));
	EXPECT_EQ(back.reason, entry.reason);
	EXPECT_EQ(back.until, entry.until);
}

TEST(SuppressionFile, MistakesNameFileAndLine)
{
	expect_refused("# ok\nidd=0123456789abcdef reason=x", "etc/file:2: unknown key idd");
	expect_refused("id=0123 reason=x", "16 hex digits");
	expect_refused("id=0123456789ABCDEF reason=x", "16 hex digits");
	expect_refused("id=0123456789abcdef", "no reason");
	expect_refused("id=0123456789abcdef reason=\"\"", "reason is empty");
	expect_refused("reason=x", "neither id nor kind nor class");
	expect_refused("kind=no-such reason=x", "unknown kind no-such");
	expect_refused("id=0123456789abcdef kind=long-hold reason=x", "no kind or class");
	expect_refused("id=0123456789abcdef reason=x reason=y", "given twice");
	expect_refused("id=0123456789abcdef reason=\"x", "does not end");
	expect_refused("id=0123456789abcdef reason=\"x\\", "does not end");
	expect_refused("id=0123456789abcdef reason=\"x\"y", "no blank");
	expect_refused("id=0123456789abcdef reason=x\"y\"", "quote inside");
	expect_refused("id=0123456789abcdef just words", "key=value");
	expect_refused("id=0123456789abcdef =x", "key=value");
	expect_refused("class=a reason=\"x\x01\"", "control character");
	for (const char *date : {"2027-02-29", "2027-13-01", "2027-00-01", "2027-1-1", "tomorrow",
				 "2027-01-32", "2027/01/01", "20x7-01-01"})
		expect_refused(std::string("id=0123456789abcdef reason=x until=") + date,
			       "not a date");
}

TEST(SuppressionFile, Globs)
{
	EXPECT_TRUE(glob_matches("ext4:*", "ext4:foo_lock"));
	EXPECT_TRUE(glob_matches("*", ""));
	EXPECT_TRUE(glob_matches("*_lock", "foo_lock"));
	EXPECT_TRUE(glob_matches("a*b*c", "a-b-b-c"));
	EXPECT_TRUE(glob_matches("fo?", "foo"));
	EXPECT_TRUE(glob_matches("[x]", "[x]"));
	EXPECT_FALSE(glob_matches("ext4", "ext4:foo"));
	EXPECT_FALSE(glob_matches("fo?", "fo"));
	EXPECT_FALSE(glob_matches("", "x"));
	EXPECT_FALSE(glob_matches("a*b", "a-b-c"));
	/* No exponential search. */
	EXPECT_FALSE(glob_matches("*a*a*a*a*a*a*a*a*a*a*b", std::string(2000, 'a')));
}

TEST(SuppressionFile, TodayIsADate)
{
	EXPECT_TRUE(check_suppression({.id = kId, .reason = "r", .until = today()}).ok());
}

TEST_F(SuppressionTest, HidesByIdWithTheReason)
{
	const std::string id = analysis.findings.at(0).id;
	EXPECT_EQ(visible("id=" + id + " reason=\"known to be fine\""), 1u);
	const auto &last = analysis.findings.back();
	EXPECT_EQ(last.id, id);
	EXPECT_TRUE(last.hidden());
	EXPECT_EQ(last.severity, Severity::Note);
	ASSERT_TRUE(filter(last, "suppressed"));
	EXPECT_EQ(filter(last, "suppressed")->why, "known to be fine");
	EXPECT_EQ(analysis.suppressions.used, 1u);
}

TEST_F(SuppressionTest, HidesByKindAndClass)
{
	EXPECT_EQ(visible("class=\"ext4:*\" reason=r"), 1u);
	EXPECT_EQ(visible("kind=lock-order-cycle class=\"b_*\" reason=r"), 1u);
	EXPECT_EQ(visible("kind=double-unlock reason=r"), 1u);
	EXPECT_EQ(visible("class=* reason=r"), 0u);
	EXPECT_EQ(visible("kind=double-unlock class=\"ext4:*\" reason=r"), 2u);
	EXPECT_EQ(visible("kind=bad-unlock class=m reason=r"), 2u);
	EXPECT_EQ(analysis.suppressions.unused.size(), 1u);
}

TEST_F(SuppressionTest, TheLastDayCounts)
{
	const std::string entry = "class=* reason=r until=2026-06-01";
	EXPECT_EQ(visible(entry, "2026-06-01"), 0u);
	EXPECT_EQ(visible(entry, "2026-06-02"), 2u);
	EXPECT_EQ(analysis.suppressions.expired.size(), 1u);
	EXPECT_EQ(analysis.suppressions.used, 0u);
	EXPECT_TRUE(analysis.suppressions.unused.empty());
}

TEST_F(SuppressionTest, ReportsSayWhatBecameOfTheEntries)
{
	EXPECT_EQ(visible("kind=double-unlock reason=r\nclass=none reason=n\n"
			  "id=0123456789abcdef reason=e until=2020-01-01\n"),
		  1u);
	const std::string text = text_report(model, analysis, {}, {200, false});
	EXPECT_NE(text.find("1 suppressed, --all shows them"), std::string::npos) << text;
	EXPECT_NE(text.find("Suppressions: 1 used; unused: anything of none, line 2; expired: id "
			    "0123456789abcdef, line 3"),
		  std::string::npos)
		<< text;
	ReportOptions all;
	all.all = true;
	EXPECT_NE(text_report(model, analysis, all, {200, false}).find("hidden: r (suppressed)"),
		  std::string::npos);
	const auto json = nlohmann::json::parse(json_report(model, analysis, all));
	EXPECT_EQ(json["suppressions"]["used"], 1);
	EXPECT_EQ(json["suppressions"]["unused"][0]["class"], "none");
	EXPECT_EQ(json["suppressions"]["expired"][0]["until"], "2020-01-01");
	EXPECT_EQ(json["findings"].back()["filters"].back()["name"], "suppressed");
}

TEST_F(SuppressionTest, WithoutAFileNothingIsSaid)
{
	EXPECT_EQ(text_report(model, analysis, {}, {80, false}).find("Suppressions"),
		  std::string::npos);
	const auto json = nlohmann::json::parse(json_report(model, analysis, {}));
	EXPECT_EQ(json["suppressions"]["used"], 0);
	EXPECT_TRUE(json["suppressions"]["unused"].empty());
}

TEST(AddSuppression, AppendsAndKeepsTheModeOfTheFile)
{
	TempDir dir;
	const std::string file = dir / "list";
	ASSERT_TRUE(add_suppression(file, {.id = kId, .reason = "one"}).ok());
	ASSERT_EQ(::chmod(file.c_str(), 0640), 0);
	spill(file, slurp(file) + "# mine, without a newline");
	ASSERT_TRUE(add_suppression(file, {.cls = "x*", .reason = "two words"}).ok());
	const std::string text = slurp(file);
	EXPECT_NE(text.find("# mine, without a newline\nclass=\"x*\" reason=\"two words\"\n"),
		  std::string::npos)
		<< text;
	struct stat status {};
	::stat(file.c_str(), &status);
	EXPECT_EQ(status.st_mode & 07777, 0640u);
	auto entries = load_suppressions(file);
	ASSERT_TRUE(entries.ok());
	EXPECT_EQ(entries->size(), 2u);
	EXPECT_FALSE(std::filesystem::exists(file + ".part"));
}

TEST(AddSuppression, RefusesDuplicatesAndFilesItCannotRead)
{
	TempDir dir;
	const std::string file = dir / "list";
	const Suppression entry{.id = kId, .reason = "one"};
	ASSERT_TRUE(add_suppression(file, entry).ok());
	auto again = add_suppression(file, {.id = kId, .reason = "another"});
	ASSERT_FALSE(again.ok());
	EXPECT_EQ(again.error().exit, Exit::Usage);
	EXPECT_NE(again.error().what.find("line 2"), std::string::npos) << again.error().what;
	spill(file, "nonsense\n");
	EXPECT_FALSE(add_suppression(file, entry).ok());
	EXPECT_EQ(slurp(file), "nonsense\n");
	EXPECT_FALSE(add_suppression(file, {.id = kId}).ok());
	EXPECT_FALSE(add_suppression(dir / "no/such/list", entry).ok());
}

TEST(AddSuppression, FollowsALink)
{
	TempDir dir;
	spill(dir / "real", "");
	std::filesystem::create_symlink(dir / "real", dir / "link");
	ASSERT_TRUE(add_suppression(dir / "link", {.id = kId, .reason = "one"}).ok());
	EXPECT_TRUE(std::filesystem::is_symlink(dir / "link"));
	EXPECT_NE(slurp(dir / "real").find(kId), std::string::npos);
}
