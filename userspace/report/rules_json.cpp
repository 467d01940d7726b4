// SPDX-License-Identifier: GPL-2.0
// Inferred rules as JSON: "lockscope-rules/1".
#include "report/rules.h"

#include "model/counters.h"
#include "report/json_parts.h"
#include "report/json_text.h"

#include <cmath>

namespace lockscope {

namespace {

/// Two digits are enough.
double rounded(double value)
{
	return std::round(value * 100) / 100;
}

Json hypothesis_json(const Hypothesis &h)
{
	return {{"guard", h.guard()},
		{"terms", h.terms},
		{"mode", h.exclusive ? "w" : "r"},
		{"checked", h.checked},
		{"holds", h.support.holds},
		{"of", h.support.of},
		{"z", rounded(h.support.z())},
		{"only", h.standing.only},
		{"first", h.standing.first},
		{"last", h.standing.last},
		{"score", rounded(h.score())}};
}

Json accesses_json(const Model &model, const std::vector<std::size_t> &accesses)
{
	Json out = Json::array();
	Instances instances;
	for (std::size_t i : accesses)
		out.push_back(access_json(model, first_access(model, i), instances));
	return out;
}

Json rule_json(const Model &model, const Rule &rule)
{
	const Hypothesis *guard = rule.believed();
	Json out = {{"variable", rule.variable.name},
		    {"type", rule.type},
		    {"member", rule.member},
		    {"global", rule.global},
		    {"access", name(rule.kind)},
		    {"verdict", name(rule.verdict)},
		    {"guard", guard ? Json(guard->guard()) : Json(nullptr)},
		    {"mode", guard ? Json(guard->exclusive ? "w" : "r") : Json(nullptr)},
		    {"why", rule.why},
		    {"holds", rule.support.holds},
		    {"of", rule.support.of},
		    {"z", rounded(rule.support.z())},
		    {"pairs", rule.pairs},
		    {"apart",
		     {{"marked", rule.marked}, {"initial", rule.initial}, {"blocks", rule.blocks}}},
		    {"hypotheses", Json::array()}};
	for (const auto &h : rule.hypotheses)
		out["hypotheses"].push_back(hypothesis_json(h));
	out["examples"] = accesses_json(model, rule.examples);
	out["counterexamples"] = accesses_json(model, rule.counterexamples);
	return out;
}

} // namespace

std::string json_rules(const Model &model, const std::vector<Rule> &rules)
{
	const Run latest = model.runs.empty() ? Run{} : model.runs.back();
	std::string out;
	JsonText text(model, [&](std::string_view part) { out += part; });
	text.members({{"schema", "lockscope-rules/1"},
		      {"kernel", {{"release", latest.release}, {"build_id", latest.build_id}}},
		      {"runs", model.runs.size()},
		      {"accesses", model.counter(kAccessesCounter)},
		      {"least_evidence", kLeastEvidence},
		      {"least_share", kLeastShare},
		      {"sure_z", kSureZ}});
	text.list("rules", rules.size(), [&](std::size_t i) { return rule_json(model, rules[i]); });
	text.end();
	return out;
}

} // namespace lockscope
