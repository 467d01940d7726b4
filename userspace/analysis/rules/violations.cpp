// SPDX-License-Identifier: GPL-2.0
#include "analysis/rules/violations.h"

#include "analysis/rules/variable_ids.h"
#include "util/text.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <map>
#include <set>

namespace lockscope {

namespace {

/* All of it together is less than one step of any other finding's confidence. */
constexpr double kPerZ = 20;	    ///< for each standard deviation
constexpr double kPerStanding = 10; ///< for each of RacerX's points for beliefs
constexpr double kWrite = 10;
constexpr double kOutright = 10; ///< no lock held at all: a wrong one is less clear [8.5]

std::string function_of(const Model &model, std::size_t access)
{
	const auto &code = model[model.accesses[access].at];
	return code.function.empty() ? "?" : plain_function(code.function);
}

/* A rule is about a member, which may have several places: the first one names it. */
std::string variable_id(const Model &model, const VariableIds &variables,
			const std::vector<std::size_t> &accesses)
{
	std::set<std::pair<std::uint32_t, std::string>> places;
	for (std::size_t i : accesses)
		places.insert({model.accesses[i].offset, variables.of(model.accesses[i])});
	return places.begin()->second;
}

void rank(const Model &model, const Rule &rule, Finding &finding)
{
	const auto &access = model.accesses[finding.violation->sides.front().access];
	char z[32];
	std::snprintf(z, sizeof(z), "%.2f", rule.support.z());
	const auto &standing = rule.guard()->standing;
	finding.features = {
		{"support", std::round(kPerZ * std::max(0.0, rule.support.z())),
		 std::to_string(rule.support.holds) + " of " + std::to_string(rule.support.of) +
			 " hold it, z " + z},
		{"critical-sections", kPerStanding * standing.points(),
		 "only member in " + std::to_string(standing.only) +
			 " critical sections, first in " + std::to_string(standing.first) +
			 ", last in " + std::to_string(standing.last)},
		{"write", access.writes() ? kWrite : 0, access.writes() ? "it writes" : "it reads"},
		{"no-lock", access.guards.empty() ? kOutright : 0,
		 access.guards.empty() ? "no lock is held" : "another lock is held"}};
	for (const auto &feature : finding.features)
		finding.score += feature.points;
}

} // namespace

std::vector<Finding> guard_violations(const Model &model, const std::vector<Rule> &rules)
{
	std::vector<Finding> out;
	const VariableIds variables(model);
	for (const auto &rule : rules) {
		const Hypothesis *guard = rule.guard();
		if (!guard)
			continue;
		/* For rules of kind Any, reads and writes are separate. */
		std::map<std::pair<std::string, bool>, std::vector<std::size_t>> found;
		for (std::size_t i : rule.counterexamples)
			found[{function_of(model, i), model.accesses[i].writes()}].push_back(i);
		for (const auto &[key, accesses] : found) {
			const auto &[function, writes] = key;
			Finding finding;
			finding.kind = FindingKind::GuardViolation;
			finding.confidence = Confidence::Possible;
			finding.severity =
				rule.support.z() >= kSureZ ? Severity::Warning : Severity::Note;
			finding.id =
				hex64(stable_hash(std::string(name(finding.kind)) + "\n" +
						  variable_id(model, variables, accesses) + "\n" +
						  (writes ? "write" : "read") + "\n@" + function));
			finding.title = std::string(title_words(finding.kind)) + ": " +
					rule.variable.brief + (writes ? " written" : " read") +
					" without " + guard->guard() + " (" + function + ")";
			ViolationEvidence evidence;
			evidence.variable = rule.variable;
			evidence.guard = guard->guard();
			evidence.exclusive = guard->exclusive;
			evidence.holds = rule.support.holds;
			evidence.of = rule.support.of;
			for (std::size_t i : accesses)
				evidence.sides.push_back(first_access(model, i));
			if (!rule.examples.empty())
				evidence.example = first_access(model, rule.examples.front());
			finding.violation = std::move(evidence);
			rank(model, rule, finding);
			out.push_back(std::move(finding));
		}
	}
	return out;
}

bool reported_as_race(const Model &model, const Finding &violation,
		      const std::vector<Finding> &findings)
{
	const auto &evidence = *violation.violation;
	const std::string function = function_of(model, evidence.sides.front().access);
	return std::any_of(findings.begin(), findings.end(), [&](const Finding &finding) {
		if (!finding.race)
			return false;
		const auto &race = *finding.race;
		/* One type may be allocated from several caches. */
		if (race.variable.stable != evidence.variable.stable &&
		    (race.variable.type != evidence.variable.type || race.variable.type.empty()))
			return false;
		return std::any_of(std::begin(race.sides), std::end(race.sides),
				   [&](const AccessSide &side) {
					   return function_of(model, side.access) == function;
				   });
	});
}

} // namespace lockscope
