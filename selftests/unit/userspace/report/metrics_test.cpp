// SPDX-License-Identifier: GPL-2.0
// Metrics: the text format, what is left out, and that dashboards use names that exist.
#include "report/logs.h"
#include "support.h"

#include "lockscoped/counter.h"
#include "model/counters.h"
#include "report/metrics.h"
#include "report/report.h"

#include <algorithm>
#include <regex>

using namespace lockscope;
using namespace lockscope::test;

namespace {

/// Its sample lines, without comments.
std::vector<std::string> samples(const Metrics &metrics)
{
	std::vector<std::string> out;
	std::istringstream in(metrics_text(metrics));
	std::string line;
	while (std::getline(in, line))
		if (!line.starts_with('#'))
			out.push_back(line);
	return out;
}

bool has_sample(const Metrics &metrics, const std::string &line)
{
	const auto all = samples(metrics);
	return std::find(all.begin(), all.end(), line) != all.end();
}

bool has_metric(const Metrics &metrics, const std::string &name)
{
	const auto all = samples(metrics);
	return std::any_of(all.begin(), all.end(), [&](const std::string &line) {
		return line.starts_with(name + " ") || line.starts_with(name + "{");
	});
}

Metrics full()
{
	Metrics out;
	out.kernel = "6.1.0-1-amd64";
	out.backend = "kmod";
	for (const auto &counter : counter_names())
		out.counters[counter.name] = 5;
	for (const auto &counter : access_counter_names())
		out.counters[counter.name] = 6;
	for (const auto &loss : kLosses)
		out.counters[loss.stored] = 0;
	for (const auto &loss : kAccessLosses)
		out.counters[loss.name] = 0;
	out.counters[kMalformedCounter] = 1;
	out.counters["acquisitions"] = 18446744073709551615u;
	out.recording = true;
	out.runs = 2;
	out.records = 77;
	out.log_bytes = 1000;
	out.lag_bytes = 12;
	out.store_bytes = 4096;
	out.run_started = 1700000000;
	out.last_drain = 1700000100;
	out.findings = FindingCounts{
		{{Severity::Error, Confidence::Observed, FindingKind::LockOrderCycle, 3}},
		4,
		1,
		1700000050};
	return out;
}

TEST(Metrics, TextHasTheGrammar)
{
	/* [Prometheus, exposition formats, text format 0.0.4] */
	const std::regex help(R"(# HELP (lockscope_[a-z_]+) [^\n]+)"),
		type(R"(# TYPE (lockscope_[a-z_]+) (counter|gauge))"),
		sample(R"rx((lockscope_[a-z_]+)(\{[a-z_]+="([^"\\]|\\["\\n])*"(,[a-z_]+="([^"\\]|\\["\\n])*")*\})? -?[0-9]+)rx");
	const std::string text = metrics_text(full());
	ASSERT_TRUE(text.ends_with('\n'));
	std::istringstream in(text);
	std::string line, helped, typed, kind;
	std::set<std::string> families, seen;
	while (std::getline(in, line)) {
		std::smatch match;
		if (std::regex_match(line, match, help)) {
			helped = match[1];
			EXPECT_TRUE(families.insert(helped).second) << "twice: " << line;
		} else if (std::regex_match(line, match, type)) {
			typed = match[1];
			kind = match[2];
			EXPECT_EQ(typed, helped);
			EXPECT_EQ(typed.ends_with("_total"), kind == "counter") << line;
		} else {
			ASSERT_TRUE(std::regex_match(line, match, sample)) << line;
			EXPECT_EQ(match[1], typed);
			EXPECT_TRUE(seen.insert(line.substr(0, line.rfind(' '))).second) << line;
		}
	}
	const auto names = metric_names();
	EXPECT_EQ(families, std::set<std::string>(names.begin(), names.end()));
}

TEST(Metrics, ValuesAreThoseOfTheRun)
{
	const Metrics metrics = full();
	for (const char *line :
	     {"lockscope_acquisitions_total 18446744073709551615",
	      "lockscope_losses_total{kind=\"records\"} 0",
	      "lockscope_losses_total{kind=\"access_pages\"} 0",
	      "lockscope_losses_total{kind=\"malformed_records\"} 1",
	      "lockscope_events_total{kind=\"release\"} 5",
	      "lockscope_events_total{kind=\"access\"} 6",
	      "lockscope_findings{severity=\"error\",confidence=\"observed\",kind=\"lock-order-"
	      "cycle\"} 3",
	      "lockscope_findings_hidden{by=\"filter\"} 4",
	      "lockscope_findings_hidden{by=\"suppression\"} 1", "lockscope_recording 1",
	      "lockscope_lag_bytes 12", "lockscope_store_bytes 4096", "lockscope_records_total 77",
	      "lockscope_run_start_timestamp_seconds 1700000000",
	      "lockscope_last_drain_timestamp_seconds 1700000100",
	      "lockscope_run_info{kernel=\"6.1.0-1-amd64\",backend=\"kmod\"} 1",
	      "lockscope_table_limit{table=\"classes\"} 5"})
		EXPECT_TRUE(has_sample(metrics, line)) << line;
}

TEST(Metrics, WhatIsNotKnownIsLeftOut)
{
	const Metrics empty;
	EXPECT_TRUE(has_metric(empty, "lockscope_build_info"));
	EXPECT_EQ(samples(empty).size(), 1u) << metrics_text(empty);
	Metrics waiting;
	waiting.recording = false;
	EXPECT_TRUE(has_sample(waiting, "lockscope_recording 0"));
	EXPECT_FALSE(has_metric(waiting, "lockscope_acquisitions_total"));
}

TEST(Metrics, LabelsAreEscaped)
{
	Metrics metrics = full();
	metrics.kernel = "a\"} 1\nlockscope_evil 2 \\ \x1b[2J \xff";
	EXPECT_TRUE(has_sample(metrics, "lockscope_run_info{kernel=\"a\\\"} 1?lockscope_evil 2 "
					"\\\\ ?[2J \xef\xbf\xbd\",backend=\"kmod\"} 1"))
		<< metrics_text(metrics);
	EXPECT_FALSE(has_metric(metrics, "lockscope_evil"));
}

TEST(Metrics, CountWhatReportsList)
{
	const Model model = model_of(small_log());
	const Analysis analysis = analyse(model);
	const Metrics metrics = metrics_of(model, analysis, 1700000000);
	std::uint64_t n = 0;
	for (const auto &count : metrics.findings->counts)
		n += count.n;
	EXPECT_EQ(n, select_findings(analysis, {}).size());
	EXPECT_GT(n, 1u);
	EXPECT_EQ(metrics.findings->hidden, 1u);
	EXPECT_EQ(metrics.findings->when, 1700000000);
	EXPECT_EQ(metrics.counters, model.runs.back().counters);
	EXPECT_EQ(metrics.runs, 1u);
	EXPECT_TRUE(has_metric(metrics, "lockscope_losses_total"));
	EXPECT_FALSE(has_metric(metrics, "lockscope_lag_bytes"));
}

TEST(Metrics, RecorderAndStoreAgree)
{
	const TempDir dir;
	ASSERT_TRUE(record_image(small_log().image(), dir / "a.db"));
	const auto model = load_stores({dir / "a.db"});
	ASSERT_TRUE(model);
	for (const char *counter :
	     {"acquisitions", "classes", "edges", "lost_records", kMalformedCounter})
		EXPECT_TRUE(model->runs.front().counters.contains(counter)) << counter;
	EXPECT_GE(store_bytes(dir / "a.db"), 4096u);
	EXPECT_EQ(store_bytes(dir / "none.db"), 0u);
}

/* Rules and dashboard of monitoring/ name what the table has. */
TEST(Metrics, DashboardsUseNamesThatExist)
{
	const auto names = metric_names();
	for (const char *file : {"lockscope.rules.yml", "lockscope.dashboard.json"}) {
		const std::string text = slurp(std::string(MONITORING_DIR) + "/" + file);
		const std::regex word("lockscope_[a-z_]+");
		std::size_t n = 0;
		for (std::sregex_iterator at(text.begin(), text.end(), word), end; at != end;
		     ++at) {
			EXPECT_NE(std::find(names.begin(), names.end(), at->str()), names.end())
				<< file << ": " << at->str();
			n++;
		}
		EXPECT_GT(n, 4u) << file;
	}
}

TEST(FindingCounter, CountsSurviveThePipe)
{
	const FindingCounts counts = *full().findings;
	const auto back = decode_counts(encode_counts(counts));
	ASSERT_TRUE(back);
	ASSERT_EQ(back->counts.size(), 1u);
	EXPECT_EQ(back->counts[0].severity, Severity::Error);
	EXPECT_EQ(back->counts[0].confidence, Confidence::Observed);
	EXPECT_EQ(back->counts[0].kind, FindingKind::LockOrderCycle);
	EXPECT_EQ(back->counts[0].n, 3u);
	EXPECT_EQ(back->hidden, 4u);
	EXPECT_EQ(back->suppressed, 1u);
	EXPECT_EQ(back->when, 1700000050);
}

TEST(FindingCounter, HalfAnAnswerIsNone)
{
	const std::string text = encode_counts(*full().findings);
	for (std::size_t n = 0; n + 1 < text.size(); n++)
		EXPECT_FALSE(decode_counts(text.substr(0, n))) << n;
	for (const char *bad :
	     {"error observed nonsense 3\nend\n", "fatal observed lock-order-cycle 3\nend\n",
	      "hidden x\nend\n", "hidden -1\nend\n", "1\nend\n", "\nend\n"})
		EXPECT_FALSE(decode_counts(bad)) << bad;
}

} // namespace
