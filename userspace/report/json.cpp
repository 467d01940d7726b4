// SPDX-License-Identifier: GPL-2.0
// The report as JSON: "lockscope-report/1".
#include "report/completeness.h"
#include "report/death.h"
#include "report/json_parts.h"
#include "report/json_text.h"
#include "report/modules.h"
#include "report/report.h"

#include "analysis/evidence.h"
#include "analysis/faults/faults.h"
#include "analysis/filters/beliefs.h"
#include "analysis/orders/builds.h"
#include "analysis/verdicts.h"
#include "model/counters.h"
#include "util/text.h"

#include <algorithm>
#include <cmath>

namespace lockscope {

namespace {

Json held_json(const Model &model, const Observation &observation)
{
	Json held = Json::array();
	for (const auto &entry : own_locks(observation))
		held.push_back(held_name(model, entry));
	return held;
}

Json self_check_json(const SelfCheck &check)
{
	Json out = check.missing;
	for (const auto &what : check.only_here)
		out.push_back("the module itself has no finding about " + what);
	return out;
}

std::string task_name(const Observation &observation)
{
	return observation.comm + "-" + std::to_string(observation.pid);
}

Json fault_stack_json(const Model &model, const ShownStack &shown)
{
	const Observation &observation = model.observations[shown.observation];
	return {{"role", shown.role},
		{"context", level_name(observation.acquired.val)},
		{"entry", context_of(model, observation).describe()},
		{"task", task_name(observation)},
		{"run", observation.run},
		{"stack", stack_json(shown.stack)},
		{"held", held_json(model, observation)}};
}

Json edge_json(const Model &model, const Finding &finding, std::size_t i, Instances &instances)
{
	const auto &edge = finding.edges[i];
	const Observation &observation = model.observations[edge.shown().observation];
	auto number = [&](ClassId cls) {
		return std::find(finding.classes.begin(), finding.classes.end(), cls) -
		       finding.classes.begin();
	};
	const auto ends = shown_instances(model, edge);
	/* Numbered in this order. */
	Json from = instances.number(ends.first), to = instances.number(ends.second);
	return object("from", number(edge.from), "to", number(edge.to), "mode",
		      dependency_name(edge.kind), "context", level_name(observation.acquired.val),
		      "entry", edge.shown().context.describe(), "count", edge.count, "task",
		      task_name(observation), "run", observation.run, "from_instance",
		      std::move(from), "to_instance", std::move(to), "from_stack",
		      stack_json(edge.from_stack), "from_stack_of",
		      edge.borrowed ? "another-acquisition" : "acquisition", "to_stack",
		      stack_json(edge.to_stack), "held", held_json(model, observation));
}

Json semaphore_json(const ClassCounts &counts)
{
	return {{"acquires", counts.acquires},
		{"releases", counts.releases},
		{"unmatched", counts.unmatched_releases},
		{"unmatched_acquires", counts.unmatched_acquires},
		{"instances", counts.instances},
		{"handed_over", counts.handed},
		{"z", std::round(semaphore_z(counts) * 100) / 100},
		{"verdict", semaphore_verdict(counts)}};
}

Json semaphores_json(const Model &model)
{
	Json out = Json::array();
	for (const auto &[cls, counts] : model.counts)
		if (semaphore_counts(model, cls)) {
			out.push_back({{"class", model[cls].name}});
			out.back().update(semaphore_json(counts));
		}
	return out;
}

Json rules_json(const Model &model)
{
	Json out = Json::array();
	for (const auto &rule : lock_rules(model))
		out.push_back({{"class", model[rule.cls].name},
			       {"rule", rule.rule},
			       {"support", rule.support},
			       {"against", rule.against}});
	return out;
}

Json finding_json(const Model &model, const Finding &finding, std::size_t rank)
{
	Json out = object("id", finding.id, "rank", rank, "kind", name(finding.kind), "severity",
			  name(finding.severity), "confidence", name(finding.confidence), "score",
			  finding.score, "title", finding.title, "classes", Json::array(), "edges",
			  Json::array(), "accesses", Json::array(), "features", Json::array(),
			  "filters", Json::array());
	for (ClassId cls : finding.classes) {
		const auto &c = model[cls];
		out["classes"].push_back(object("name", c.name, "kind", kind_name(c.kind), "origin",
						origin_name(c.origin), "module",
						c.module.empty() ? "vmlinux" : c.module));
		if (const auto *counts = semaphore_counts(model, cls))
			out["classes"].back()["semaphore"] = semaphore_json(*counts);
	}
	Instances instances;
	/* Without a class there are no ends of edges. */
	for (std::size_t i = 0; i < finding.edges.size() && !finding.classes.empty(); i++)
		out["edges"].push_back(edge_json(model, finding, i, instances));
	if (finding.single()) {
		out["stacks"] = Json::array();
		for (const auto &stack : finding.stacks)
			out["stacks"].push_back(fault_stack_json(model, stack));
		out["count"] = finding.edges.front().count;
		if (const auto places = sleepers(model, finding); !places.empty())
			out["sleepers"] = places;
		if (finding.consequences)
			out["consequences"] = finding.consequences;
	}
	if (finding.race) {
		for (const auto &side : finding.race->sides)
			out["accesses"].push_back(access_json(model, side, instances));
		out["variable"] = {{"name", finding.race->variable.name},
				   {"type", finding.race->variable.type},
				   {"candidates", finding.race->candidates}};
		out["count"] = finding.race->races.size();
	}
	if (finding.violation) {
		const auto &violation = *finding.violation;
		for (const auto &side : violation.sides)
			out["accesses"].push_back(access_json(model, side, instances));
		out["variable"] = {{"name", violation.variable.name},
				   {"type", violation.variable.type},
				   {"candidates", {violation.guard}}};
		out["rule"] = {
			{"guard", violation.guard},
			{"mode", violation.exclusive ? "w" : "r"},
			{"holds", violation.holds},
			{"of", violation.of},
			{"example", violation.example
					    ? access_json(model, *violation.example, instances)
					    : Json(nullptr)}};
		out["count"] = violation.sides.size();
	}
	if (finding.verdict)
		out["verdict"] = verdict_json(*finding.verdict);
	if (refuted(finding))
		out["unrefuted"] = name(unrefuted(finding));
	if (!finding.cause.empty())
		out["cause"] = finding.cause;
	if (finding.fresh) {
		out["new"] = *finding.fresh;
		out["first_run"] = *finding.first_run;
		out["last_run"] = *finding.last_run;
	}
	for (const auto &feature : finding.features)
		out["features"].push_back(
			object("name", feature.name, "points", feature.points, "why", feature.why));
	for (const auto &filter : finding.filters)
		out["filters"].push_back(
			object("name", filter.name, "hidden", filter.hidden, "why", filter.why));
	return out;
}

Json suppressions_json(const SuppressionReport &report)
{
	auto list = [](const std::vector<Suppression> &entries) {
		Json out = Json::array();
		for (const auto &entry : entries) {
			Json item = {{"line", entry.line}};
			if (!entry.id.empty())
				item["id"] = entry.id;
			if (entry.kind)
				item["kind"] = name(*entry.kind);
			if (!entry.cls.empty())
				item["class"] = entry.cls;
			item["reason"] = entry.reason;
			if (!entry.until.empty())
				item["until"] = entry.until;
			out.push_back(std::move(item));
		}
		return out;
	};
	return {{"used", report.used},
		{"unused", list(report.unused)},
		{"expired", list(report.expired)}};
}

Json coverage_json(const Model &model, const Analysis &analysis)
{
	std::size_t chains = 0;
	Json contexts = Json::array(), primitives = Json::array();
	for (const auto &run : model.runs)
		chains += run.chains.empty() ? 0 : run.chains.size() - 1;
	for (const char *level : {LS_LEVEL_NAMES})
		if (model.counter(level))
			contexts.push_back(level);
	static constexpr const char *states[LS_NR_PRIM_STATES] = {LS_PRIM_STATE_NAMES};
	if (!model.runs.empty())
		for (const auto &primitive : model.runs.back().primitives)
			primitives.push_back({{"function", primitive.function},
					      {"kind", kind_name(primitive.kind)},
					      {"state", states[primitive.state]}});
	std::vector<std::string> not_seen = blind_spots(model);
	if (has_bpf_run(model))
		not_seen.insert(not_seen.end(), bpf_blind_spots().begin(), bpf_blind_spots().end());
	return {{"classes", model.classes.size()},
		{"edges", analysis.edges},
		{"chains", chains},
		{"acquisitions", model.counter("acquisitions")},
		{"accesses", model.counter(kAccessesCounter)},
		{"contexts", std::move(contexts)},
		{"primitives", std::move(primitives)},
		{"kept_apart", kept_apart(model)},
		{"not_seen", std::move(not_seen)}};
}

Json losses_json(const Model &model)
{
	/* Edges and what follows recursion came to the format after accesses: they stay behind. */
	const auto later = [](const Loss &loss) {
		return loss.loss == LS_LOSS_EDGES || loss.loss > LS_LOSS_RECURSION;
	};
	Json out;
	for (const auto &loss : kLosses)
		if (!later(loss))
			out[loss.name] =
				model.counter(loss.stored) +
				(loss.loss == LS_LOSS_RECORDS ? model.counter(kMalformedCounter)
							      : 0);
	out["accesses"] = access_losses(model);
	for (const auto &loss : kLosses)
		if (later(loss))
			out[loss.name] = model.counter(loss.stored);
	out["trace"] = trace_losses(model);
	return out;
}

Json incomplete_json(const Model &model)
{
	Json out = Json::array();
	for (const auto &why : incompleteness(model))
		out.push_back({{"reason", why.reason}, {"text", why.text}});
	return out;
}

} // namespace

/* With what it leaves out a report is no list of all findings, see lockscope diff. */
static Json left_out_json(const Tally &counts)
{
	return {{"hidden", counts.hidden},
		{"suppressed", counts.suppressed},
		{"selection", counts.all_not_selected()},
		{"confidence", counts.uncertain},
		{"limit", counts.beyond_limit}};
}

static Json selection_json(const Model &model, const Selection &selection)
{
	Json kinds = Json::array();
	for (const auto kind : selection.kinds)
		kinds.push_back(name(kind));
	return {{"module", selection.modules},
		{"kind", std::move(kinds)},
		{"class", selection.classes},
		{"since", selection.since ? Json(*selection.since) : Json(nullptr)},
		{"new", selection.only_new},
		{"unmatched", unmatched(model, selection)}};
}

static Json annotations_json(const Model &model)
{
	Json out = Json::object();
	for (const auto &[release, table] : model.annotations)
		out[release] = table != nullptr;
	return out;
}

void json_report(const Model &model, const Analysis &analysis, const ReportOptions &options,
		 const Sink &sink)
{
	const Run latest = model.runs.empty() ? Run{} : model.runs.back();
	JsonText out(model, sink);
	out.members({{"schema", "lockscope-report/1"},
		     {"incomplete", incomplete_json(model)},
		     {"kernel", {{"release", latest.release}, {"build_id", latest.build_id}}},
		     {"backend", latest.backend},
		     {"runs", model.runs.size()},
		     {"losses", losses_json(model)},
		     {"coverage", coverage_json(model, analysis)},
		     {"self_check", self_check_json(analysis.self_check)},
		     {"suppressions", suppressions_json(analysis.suppressions)},
		     {"semaphores", semaphores_json(model)},
		     {"lock_rules", rules_json(model)},
		     {"left_out", left_out_json(tally(analysis, options))}});
	const auto shown = select_findings(analysis, options);
	if (const auto deaths = deaths_json(model, shown); !deaths.empty())
		out.member("deaths", deaths);
	out.list("findings", shown.size(),
		 [&](std::size_t i) { return finding_json(model, *shown[i], i + 1); });
	if (const auto modules = module_reports(model, analysis.selection); !modules.empty())
		out.member("modules", modules_json(model, modules));
	if (!model.annotations.empty())
		out.member("annotations", annotations_json(model));
	if (analysis.selection.any())
		out.member("selection", selection_json(model, analysis.selection));
	if (analysis.new_since)
		out.member("new_since", *analysis.new_since);
	if (analysis.raw)
		out.member("raw_nesting", {{"known", analysis.raw->known},
					   {"spinlock_classes", analysis.raw->spinlocks}});
	out.end();
}

std::string json_report(const Model &model, const Analysis &analysis, const ReportOptions &options)
{
	std::string out;
	json_report(model, analysis, options, [&](std::string_view part) { out += part; });
	return out;
}

std::string json_finding(const Model &model, const Finding &finding, std::size_t rank)
{
	std::string out;
	JsonText text(model, [&](std::string_view part) { out += part; });
	text.members(finding_json(model, finding, rank));
	text.end();
	return out;
}

} // namespace lockscope
