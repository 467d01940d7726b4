// SPDX-License-Identifier: GPL-2.0
// The report as I/O data of KCIDB, version 5: each finding is an issue, each run a test of the
// kernel that it ran on, and that a run shows a finding is an incident.
#include "report/formats.h"

#include "report/completeness.h"
#include "report/json_parts.h"

#include "analysis/verdicts.h"
#include "util/text.h"
#include "util/utf8.h"

#include <algorithm>
#include <ctime>
#include <iterator>
#include <map>
#include <set>

namespace lockscope {

namespace kcidb {

namespace {

/// Most characters of log_excerpt; bytes here, which are no fewer.
constexpr std::size_t kMostExcerpt = 16384;

/// Only the highest version of an issue counts. What ours say of it does not change.
constexpr int kIssueVersion = 1;

/// "2026-11-27T07:09:09+00:00"; empty for times that RFC 3339 has no words for.
std::string timestamp(std::int64_t seconds)
{
	constexpr std::int64_t kYear10000 = 253402300800;
	char text[40] = "";
	std::tm parts{};
	const auto time = static_cast<std::time_t>(seconds);
	if (seconds > 0 && seconds < kYear10000 && ::gmtime_r(&time, &parts))
		std::strftime(text, sizeof(text), "%Y-%m-%dT%H:%M:%S+00:00", &parts);
	return text;
}

/// The runs that show all of @finding; if none does alone, the one that completed it.
std::set<std::uint32_t> runs_of(const Model &model, const Finding &finding)
{
	std::set<std::uint32_t> out;
	bool first = true;
	for (const auto &edge : finding.edges) {
		std::set<std::uint32_t> seen, both;
		for (const auto &witness : edge.witnesses)
			seen.insert(model.observations[witness.observation].run);
		std::set_intersection(out.begin(), out.end(), seen.begin(), seen.end(),
				      std::inserter(both, both.end()));
		out = first ? std::move(seen) : std::move(both);
		first = false;
	}
	if (finding.race)
		for (const auto race : finding.race->races)
			out.insert(model.races[race].run);
	if (finding.violation)
		for (const auto &side : finding.violation->sides)
			out.insert(model.accesses[side.access].run);
	if (out.empty())
		out.insert(finding.first_run.value_or(0));
	return out;
}

class Writer {
public:
	Writer(const Model &model, const Analysis &analysis, const KcidbOptions &options)
		: model_(model), options_(options),
		  listed_(select_findings(analysis, options.ci.report))
	{
		ReportOptions all = options.ci.report;
		all.limit = 0;
		/* Findings beyond the limit fail a test as well. */
		for (const auto *finding : select_findings(analysis, all))
			if (options.ci.fail_on && unrefuted(*finding) >= *options.ci.fail_on &&
			    !finding->hidden())
				for (const auto run : runs_of(model, *finding))
					failed_.insert(run);
	}

	std::string write()
	{
		/* Nothing here needs more than the first minor version. */
		Json out = {{"version", {{"major", 5}, {"minor", 0}}}};
		if (options_.build.empty())
			add_kernels(out);
		for (const auto *finding : listed_)
			add_issue(*finding);
		Json tests = Json::array();
		for (std::uint32_t run = 0; run < model_.runs.size(); run++)
			tests.push_back(test(run));
		out["tests"] = std::move(tests);
		out["issues"] = std::move(issues_);
		out["incidents"] = std::move(incidents_);
		return dump(out);
	}

private:
	/// What every object has.
	Json object(const std::string &id) const
	{
		return {{"id", own(id)}, {"origin", options_.origin}};
	}
	std::string own(const std::string &id) const
	{
		return options_.origin + ":" + plain_line(id);
	}

	/// A kernel by its build id, as two of one release may differ.
	static std::string kernel_of(const Run &run)
	{
		return run.build_id.empty() ? run.release : run.release + ":" + run.build_id;
	}
	std::string test_id(std::uint32_t run) const
	{
		return model_.runs[run].instance + ":" + model_.runs[run].boot;
	}

	/* The sources of the kernels are not known: a checkout of its own for each. */
	void add_kernels(Json &out) const
	{
		std::map<std::string, const Run *> kernels;
		for (const auto &run : model_.runs)
			kernels.try_emplace(kernel_of(run), &run);
		out["checkouts"] = out["builds"] = Json::array();
		for (const auto &[kernel, run] : kernels) {
			Json checkout = object(kernel), build = object(kernel);
			checkout["comment"] = "sources of kernel " + plain_line(run->release);
			checkout["valid"] = true;
			build["checkout_id"] = own(kernel);
			build["comment"] = "kernel " + plain_line(run->release) + ", as installed";
			build["architecture"] = "x86_64";
			build["status"] = "PASS";
			build["misc"] = {{"build_id", plain_line(run->build_id)}};
			out["checkouts"].push_back(std::move(checkout));
			out["builds"].push_back(std::move(build));
		}
	}

	Json test(std::uint32_t number) const
	{
		const Run &run = model_.runs[number];
		Json out = object(test_id(number));
		out["build_id"] = options_.build.empty() ? own(kernel_of(run)) : options_.build;
		out["path"] = "lockscope";
		out["comment"] = "locks of kernel " + plain_line(run.release) + ", by LockScope " +
				 LOCKSCOPE_VERSION;
		const auto incomplete = incompleteness(model_, number);
		out["status"] = failed_.contains(number)			     ? "FAIL"
				: incomplete.empty() || options_.ci.allow_incomplete ? "PASS"
										     : "ERROR";
		const std::string start = timestamp(run.started);
		if (!start.empty()) {
			out["start_time"] = start;
			if (!timestamp(run.updated).empty() && run.updated >= run.started)
				out["duration"] = run.updated - run.started;
		}
		if (const std::string log = excerpt(number); !log.empty())
			out["log_excerpt"] = log;
		Json reasons = Json::array();
		for (const auto &why : incomplete)
			reasons.push_back(plain_line(why.text));
		const auto acquisitions = run.counters.find("acquisitions");
		out["misc"] = {{"backend", plain_line(run.backend)},
			       {"acquisitions",
				acquisitions == run.counters.end() ? 0 : acquisitions->second},
			       {"incomplete", std::move(reasons)}};
		return out;
	}

	/// What the kernel would have said, in whole lines.
	std::string excerpt(std::uint32_t run) const
	{
		std::string out;
		const auto at = reports_.find(run);
		if (at == reports_.end())
			return out;
		for (const auto *finding : at->second) {
			out += dmesg_finding(model_, *finding, true);
			if (out.size() > kMostExcerpt) {
				out.resize(out.rfind('\n', kMostExcerpt - 1) + 1);
				break;
			}
		}
		return out;
	}

	void add_issue(const Finding &finding)
	{
		Json issue = object(finding.id), locks = Json::array();
		issue["version"] = kIssueVersion;
		issue["report_subject"] = plain_line(finding.title);
		/* No culprit at all makes an issue invalid. */
		issue["culprit"] = {
			{"code", !finding.hidden()}, {"tool", false}, {"harness", false}};
		issue["comment"] = std::string("[LockScope] ") + name(finding.kind) + ": " +
				   plain_line(finding.title);
		for (ClassId cls : finding.locks())
			locks.push_back(plain_line(model_[cls].name));
		issue["misc"] = {{"kind", name(finding.kind)},
				 {"locks", std::move(locks)},
				 {"report", dmesg_finding(model_, finding, false)}};
		issues_.push_back(std::move(issue));
		for (const auto run : runs_of(model_, finding)) {
			reports_[run].push_back(&finding);
			Json incident = object(finding.id + ":" + test_id(run));
			incident["issue_id"] = own(finding.id);
			incident["issue_version"] = kIssueVersion;
			incident["test_id"] = own(test_id(run));
			incident["present"] = true;
			incident["comment"] = std::string(name(finding.severity)) + ", " +
					      name(finding.confidence);
			incidents_.push_back(std::move(incident));
		}
	}

	const Model &model_;
	const KcidbOptions &options_;
	const std::vector<const Finding *> listed_;
	std::set<std::uint32_t> failed_;
	std::map<std::uint32_t, std::vector<const Finding *>> reports_; ///< by run
	Json issues_ = Json::array(), incidents_ = Json::array();
};

} // namespace

} // namespace kcidb

bool is_kcidb_origin(std::string_view text)
{
	return !text.empty() &&
	       text.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789_") == text.npos;
}

bool is_kcidb_id(std::string_view text)
{
	const auto colon = text.find(':');
	return colon != text.npos && is_kcidb_origin(text.substr(0, colon)) &&
	       plain_line(std::string(text)) == text;
}

std::string kcidb_report(const Model &model, const Analysis &analysis, const KcidbOptions &options)
{
	return kcidb::Writer(model, analysis, options).write();
}

} // namespace lockscope
