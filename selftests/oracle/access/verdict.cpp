// SPDX-License-Identifier: GPL-2.0
#include "verdict.h"

#include <algorithm>
#include <map>
#include <tuple>

namespace lockscope::access_oracle {

namespace {

std::string text(const Pair &pair)
{
	return "f" + std::to_string(pair.first) + " and f" + std::to_string(pair.second) +
	       " on word " + std::to_string(pair.word);
}

std::string text(int first, int second)
{
	return "steps " + std::to_string(first) + " and " + std::to_string(second);
}

/// A marked side says that its author knows of others: a note, unless a value can tear.
bool serious(const Program &program, const Racing &race)
{
	const Place &a = program.place(program.steps[static_cast<std::size_t>(race.first)]),
		    &b = program.place(program.steps[static_cast<std::size_t>(race.second)]);
	return (!a.marked() && !b.marked()) || a.size != b.size || a.offset != b.offset;
}

/// Had the granule no entry of the first one any more?
bool forgotten(const Racing &race, const std::vector<Judged> &judged)
{
	return std::none_of(judged.begin(), judged.end(), [&](const Judged &t) {
		return t.step == race.second && t.granule == race.granule &&
		       t.remembered.contains(race.first);
	});
}

} // namespace

std::vector<Disagreement> compare(const Program &program, const Races &races, const Outcome &outcome)
{
	std::vector<Disagreement> out;
	std::map<Pair, bool> reported; ///< by the module: is one serious?
	auto judge_false = [&](const std::string &rule, const std::string &what, auto &&is_it) {
		if (std::none_of(races.real.begin(), races.real.end(), is_it))
			out.push_back({rule, what,
				       std::any_of(races.may.begin(), races.may.end(), is_it)
					       ? "transitive"
					       : ""});
	};
	for (const Judged &t : outcome.judged)
		for (const auto &others : t.others) {
			auto is_it = [&](const Racing &race) {
				return race.second == t.step && race.granule == t.granule &&
				       others.contains(race.first);
			};
			judge_false("false-race", text(*others.begin(), t.step), is_it);
			for (int other : others)
				reported.try_emplace(pair_of(program, t.step, other), false);
			for (const Racing &race : races.may)
				if (is_it(race))
					reported[pair_of(program, race.first, race.second)] |=
						serious(program, race);
		}

	std::map<Pair, const Said *> shown;
	for (const Said &said : outcome.report) {
		/* Of several, on other members of the word, the one that says most. */
		auto worth = [](const Said &one) {
			return std::tuple(!one.hidden, one.severity, one.doubted);
		};
		if (auto &best = shown[said.pair]; !best || worth(*best) < worth(said))
			best = &said;
		if (said.severity == Severity::Error && !said.hidden)
			judge_false("false-error", said.text, [&](const Racing &race) {
				return pair_of(program, race.first, race.second) == said.pair;
			});
	}
	for (const auto &[pair, is_serious] : reported) {
		const auto found = shown.find(pair);
		if (found == shown.end())
			out.push_back({"report-misses", text(pair)});
		else if (found->second->hidden)
			out.push_back({"report-hides", text(pair)});
		else if (is_serious && found->second->severity == Severity::Note &&
			 !found->second->doubted)
			out.push_back({"report-demotes", text(pair) + ": " + found->second->text});
	}

	/* A pair of functions that is never reported, for any of its races. */
	std::map<Pair, std::vector<const Racing *>> counting;
	for (const Racing &race : races.must)
		if (race.counts)
			counting[pair_of(program, race.first, race.second)].push_back(&race);
	for (const auto &[pair, all] : counting) {
		if (reported.contains(pair))
			continue;
		const auto known = std::find_if(all.begin(), all.end(), [&](const Racing *race) {
			return !forgotten(*race, outcome.judged);
		});
		const Racing &race = known == all.end() ? *all.front() : **known;
		out.push_back({"module-misses", text(race.first, race.second) + ", " + text(pair),
			       known == all.end() ? "forgotten" : ""});
	}
	return out;
}

} // namespace lockscope::access_oracle
