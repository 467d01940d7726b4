// SPDX-License-Identifier: GPL-2.0
#include "analysis/races/races.h"

#include "analysis/races/filters.h"
#include "analysis/races/rank.h"
#include "analysis/races/readers.h"
#include "analysis/races/words.h"
#include "analysis/rules/access_index.h"
#include "analysis/rules/variable_ids.h"
#include "analysis/verdicts.h"
#include "util/text.h"

#include <algorithm>
#include <map>
#include <set>
#include <tuple>

namespace lockscope {

namespace {

std::string function_of(const Model &model, const MemoryAccess &access)
{
	const auto &code = model[access.at];
	return code.function.empty() ? "?" : plain_function(code.function);
}

/// Which of two accesses names the variable: the one with more information.
const MemoryAccess &naming(const Model &model, const MemoryAccess &a, const MemoryAccess &b)
{
	auto value = [&](const MemoryAccess &access) {
		const bool known =
			access.data != kNoData && model[access.data].kind != LS_DATA_OTHER;
		return std::tuple(!known, (access.op & LS_ACC_RANGE) != 0, access.size,
				  known ? std::string() : function_of(model, access),
				  access.offset);
	};
	return value(a) < value(b) ? a : b;
}

/// Is one of them a write, and one of them plain?
bool is_race(const MemoryAccess &a, const MemoryAccess &b, std::uint32_t flags)
{
	return (a.writes() || b.writes()) &&
	       (!(a.marked() && b.marked()) || (flags & LS_RACE_CHANGED));
}

/// The races between two functions over one variable.
class Pair {
public:
	/// @variable: as an identifier has it.
	Pair(const Model &model, const AccessIndex &index, const RaceWeights &weights,
	     const std::string &variable, std::vector<std::size_t> races)
		: model_(model), index_(index), weights_(weights), id_(variable)
	{
		evidence_.races = std::move(races);
	}

	Finding finding()
	{
		Finding out;
		out.kind = FindingKind::DataRace;
		const auto &race = choose();
		const auto &a = model_.accesses[race.first], &b = model_.accesses[race.second];
		const auto &named = naming(model_, a, b);
		evidence_.variable = variable_of(model_, named);
		const auto all = index_.overlapping(named);
		evidence_.candidates = candidates(all);
		evidence_.statistics = statistics_counter(model_, index_, race, all);
		fill_sides(race, all);
		out.id = id();
		out.title = title();
		out.confidence = Confidence::Possible;
		out.severity = Severity::Note;
		for (auto number : evidence_.races) {
			out.confidence = std::max(out.confidence, confidence(model_.races[number]));
			out.severity = std::max(out.severity, severity(model_.races[number]));
		}
		out.race = std::move(evidence_);
		apply_race_filters(model_, index_, out);
		apply_word_filters(model_, index_, out);
		apply_reader_filters(model_, index_, out);
		take_verdict(model_, out);
		heed_verdict(out);
		rank_race(model_, index_, weights_, out);
		return out;
	}

private:
	/* The race to show: the worst, the most certain, the most informative one. */
	const Race &choose()
	{
		auto value = [&](std::size_t number) {
			const Race &race = model_.races[number];
			const auto &a = model_.accesses[race.first],
				   &b = model_.accesses[race.second];
			return std::tuple(severity(race), confidence(race),
					  a.stack.size() + b.stack.size());
		};
		auto best = std::max_element(
			evidence_.races.begin(), evidence_.races.end(),
			[&](std::size_t a, std::size_t b) { return value(a) < value(b); });
		std::rotate(evidence_.races.begin(), best, best + 1);
		return model_.races[evidence_.races.front()];
	}

	/*
	 * Does the function of @access write back the value that it reads? An atomic operation
	 * reads the memory itself.
	 */
	bool writes_back(const MemoryAccess &access) const
	{
		const std::string function = function_key(model_[access.at]);
		if (!access.reads() || function.empty())
			return false;
		const auto all = index_.overlapping(access);
		return std::any_of(all.begin(), all.end(), [&](std::size_t number) {
			const auto &other = model_.accesses[number];
			return other.writes() && !(other.op & LS_ACC_ATOMIC) &&
			       other.offset == access.offset &&
			       function_key(model_[other.at]) == function;
		});
	}

	/*
	 * A marked side shows that concurrent accesses are expected, so that the plain one is
	 * worth a note; unless the two differ in size, when a value can tear, or the value was
	 * seen to change, or the reader writes it back.
	 */
	Severity severity(const Race &race) const
	{
		const auto &a = model_.accesses[race.first], &b = model_.accesses[race.second];
		if (a.marked() != b.marked() && !(race.flags & LS_RACE_CHANGED) &&
		    a.size == b.size && a.offset == b.offset && !writes_back(a.marked() ? b : a))
			return Severity::Note;
		return Severity::Error;
	}

	Confidence confidence(const Race &race) const
	{
		if (race.flags & (LS_RACE_CAUGHT | LS_RACE_CHANGED))
			return Confidence::Confirmed;
		const Context first = race_context(model_, index_, race, false),
			      second = race_context(model_, index_, race, true);
		return first.key() != second.key() ? Confidence::Observed : Confidence::Possible;
	}

	/* Locks held at some accesses and not at others, the most frequent first; each place
	 * in the code counts once [RacerX 8.5]. */
	std::vector<std::string> candidates(const std::vector<std::size_t> &all) const
	{
		std::set<CodeId> places;
		std::map<std::string, std::set<CodeId>> held;
		std::map<std::string, std::size_t> ways;
		for (auto number : all) {
			const auto &access = model_.accesses[number];
			places.insert(access.at);
			std::set<std::string> names;
			for (const auto &guard : access.guards)
				names.insert(guard.name);
			for (const auto &name : names) {
				held[name].insert(access.at);
				ways[name]++;
			}
		}
		std::vector<std::pair<std::size_t, std::string>> order;
		for (const auto &[name, at] : held)
			if (ways[name] < all.size())
				order.push_back({places.size() - at.size(), name});
		std::sort(order.begin(), order.end());
		std::vector<std::string> out;
		for (auto &[missing, name] : order)
			out.push_back(std::move(name));
		return out;
	}

	/// A writer first; of two writers the earlier one.
	void fill_sides(const Race &race, const std::vector<std::size_t> &all)
	{
		const bool swap = !model_.accesses[race.first].writes();
		for (int i = 0; i < 2; i++) {
			const bool second = (i == 1) != swap;
			auto &side = evidence_.sides[i];
			side.access = second ? race.second : race.first;
			side.context = race_context(model_, index_, race, second);
			const auto &shown = model_.accesses[side.access];
			const RaceSide &own = race.sides[second];
			side.count = shown.count;
			side.own_stack = !own.stack.empty();
			side.stack = side.own_stack ? own.stack : shown.stack;
			side.cpu = own.cpu;
			side.locks = own.locks;
			side.locks.resize(shown.guards.size());
			/* The same code with other locks or other callers. */
			for (auto number : all)
				if (number != side.access && model_.accesses[number].at == shown.at)
					side.count += model_.accesses[number].count;
		}
	}

	std::string id() const
	{
		std::string functions[2];
		for (int i = 0; i < 2; i++)
			functions[i] =
				function_of(model_, model_.accesses[evidence_.sides[i].access]);
		std::sort(functions, functions + 2);
		return hex64(stable_hash(std::string(name(FindingKind::DataRace)) + "\n" + id_ +
					 "\n@" + functions[0] + "\n@" + functions[1]));
	}

	std::string title() const
	{
		std::string sides[2];
		for (int i = 0; i < 2; i++) {
			const auto &access = model_.accesses[evidence_.sides[i].access];
			sides[i] = (access.op & LS_ACC_ATOMIC	? "atomic "
				    : access.op & LS_ACC_MARKED ? "marked "
								: "") +
				   std::string(op_name(access)) + " in " +
				   function_of(model_, access);
		}
		return std::string(title_words(FindingKind::DataRace)) + ": " +
		       evidence_.variable.brief + " (" + sides[0] + " vs " + sides[1] + ")";
	}

	const Model &model_;
	const AccessIndex &index_;
	const RaceWeights &weights_;
	const std::string &id_; ///< of the variable
	RaceEvidence evidence_;
};

} // namespace

const char *op_name(const MemoryAccess &access)
{
	return access.reads() ? access.writes() ? "read-write" : "read" : "write";
}

std::vector<Finding> data_races(const Model &model, const RaceWeights &weights)
{
	std::vector<Finding> out;
	if (model.races.empty())
		return out;
	const AccessIndex index(model);
	const VariableIds variables(model);
	std::map<std::tuple<std::string, std::string, std::string>, std::vector<std::size_t>> pairs;
	for (std::size_t i = 0; i < model.races.size(); i++) {
		const Race &race = model.races[i];
		const auto &a = model.accesses[race.first], &b = model.accesses[race.second];
		if (!is_race(a, b, race.flags))
			continue;
		std::string f = function_of(model, a), g = function_of(model, b);
		if (g < f)
			std::swap(f, g);
		pairs[{variables.of(naming(model, a, b)), f, g}].push_back(i);
	}
	for (auto &[key, races] : pairs)
		out.push_back(
			Pair(model, index, weights, std::get<0>(key), std::move(races)).finding());
	rank_variables(weights, out);
	return out;
}

} // namespace lockscope
