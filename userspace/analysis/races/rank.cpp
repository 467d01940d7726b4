// SPDX-License-Identifier: GPL-2.0
/*
 * The score of a data race: RacerX's heuristics [8, Table 4] as far as a recording
 * can tell them, and some that it does not have. What each is worth stands in
 * weights.cpp alone.
 */
#include "analysis/races/rank.h"

#include "analysis/races/readers.h"
#include "analysis/rank.h"
#include "util/text.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

namespace lockscope {

namespace {

/* RacerX's probability that an access which needs a lock has one [8.4]. */
constexpr double kExpected = 0.8;

class RaceRank {
public:
	RaceRank(const Model &model, const AccessIndex &index, const RaceWeights &weights,
		 Finding &finding)
		: model_(model), index_(index), weights_(weights), finding_(finding),
		  race_(*finding.race), a_(model.accesses[race_.sides[0].access]),
		  b_(model.accesses[race_.sides[1].access]), named_(a_.size <= b_.size ? a_ : b_),
		  all_(index.overlapping(named_))
	{
	}

	void rank()
	{
		add("confidence", name(finding_.confidence), static_cast<int>(finding_.confidence));
		add("contexts", "2 contexts have to meet");
		kinds_of_access();
		locks();
		threads();
		sections();
		careless();
		frequency();
		novelty();
		if (race_.statistics)
			add("statistics-counter", "only ever counted up or down");
		const auto doubts = std::count_if(finding_.filters.begin(), finding_.filters.end(),
						  [](const Filter &f) { return !about_harm(f); });
		if (doubts)
			add("doubt",
			    counted(static_cast<std::uint64_t>(doubts), "filter") + " applies",
			    static_cast<double>(doubts));
		for (const auto &feature : finding_.features)
			finding_.score += feature.points;
	}

private:
	void add(const char *feature, std::string why, double times = 1)
	{
		const double points = weights_[feature] * times;
		finding_.features.push_back({feature, points == 0 ? 0 : points, std::move(why)});
	}

	std::string function(const MemoryAccess &access) const
	{
		const auto &code = model_[access.at];
		return code.function.empty() ? "a side" : plain_function(code.function);
	}

	void kinds_of_access()
	{
		const bool plain = !a_.marked() && !b_.marked();
		if (plain && a_.writes() && b_.writes())
			add("plain-writes", "both sides are plain writes");
		else if (plain)
			add("plain", "neither side is marked");
		if (b_.writes())
			add("write", function(b_) + " writes as well");
		if (a_.size != b_.size || a_.offset != b_.offset)
			add("torn", "the sides touch " + counted(a_.size, "byte") + " and " +
					    counted(b_.size, "byte"));
		else if (a_.size > kWordBytes)
			add("torn", counted(a_.size, "byte") + " are no single access");
	}

	/* [RacerX 8.2 and 8.4: how often is a lock held here?] */
	void locks()
	{
		for (const auto *side : {&a_, &b_}) {
			std::size_t with = 0, without = 0;
			for (auto number : all_)
				if (model_.accesses[number].at == side->at)
					(model_.accesses[number].guards.empty() ? without : with)++;
			if (!with && without) {
				add("never-locked", function(*side) + " never holds a lock here");
				break;
			}
			if (without > with) {
				add("mostly-unlocked",
				    function(*side) + " mostly holds no lock here");
				break;
			}
		}
		std::set<CodeId> places, locked;
		for (auto number : all_) {
			const auto &access = model_.accesses[number];
			places.insert(access.at);
			if (!access.guards.empty())
				locked.insert(access.at);
		}
		const auto n = static_cast<double>(places.size()),
			   s = static_cast<double>(locked.size());
		const double z =
			n > 0 ? (s / n - kExpected) / std::sqrt(kExpected * (1 - kExpected) / n)
			      : 0;
		const std::string counts = std::to_string(locked.size()) + " of " +
					   counted(places.size(), "place") + " with a lock held";
		const bool global = named_.data != kNoData && model_[named_.data].global();
		if (z > 2)
			add("usually-locked", counts);
		else if (z < -2 && !global)
			add("rarely-locked", counts);
		if (!race_.candidates.empty())
			add("candidate-lock", "elsewhere " + race_.candidates.front() + " is held");
	}

	/* [RacerX 8.3] */
	void threads()
	{
		for (const auto *side : {&a_, &b_}) {
			const bool takes = std::any_of(
				side->stack.begin(), side->stack.end(),
				[&](CodeId frame) { return index_.takes_locks(model_[frame]); });
			if (!takes)
				continue;
			add("multithreaded",
			    function(*side) +
				    ", or who calls it, takes locks: others are expected");
			break;
		}
		std::set<std::string> writers;
		const MemoryAccess *writes = nullptr, *reads = nullptr;
		for (auto number : all_) {
			const auto &access = model_.accesses[number];
			if (level_of(access.where) != LS_TASK)
				(access.writes() ? writes : reads) = &access;
			if (!access.writes())
				continue;
			const Context context = context_of(model_, access);
			writers.insert(context.entry.empty() ? function(access)
							     : context.describe());
		}
		if (writes)
			add("interrupt-writes", std::string("written in ") +
							level_name(writes->where) + " by " +
							function(*writes));
		else if (reads)
			add("interrupt-reads", std::string("read in ") + level_name(reads->where) +
						       " by " + function(*reads));
		if (writers.size() > 1)
			add(writers.size() > 2 ? "many-writers" : "two-writers",
			    counted(writers.size(), "entry point") + " write it");
	}

	/* [RacerX 8.4: first, last or only object of a critical section] */
	void sections()
	{
		if (named_.data == kNoData)
			return;
		const auto [only, first, last] = index_.roles_of({named_.data, named_.offset});
		if (only)
			add(only > 1 ? "only-in-sections" : "only-in-a-section",
			    counted(only, "critical section") + " touch nothing else");
		if (first)
			add("first-in-section", "first in " + counted(first, "critical section"));
		if (last)
			add("last-in-section", "last in " + counted(last, "critical section"));
	}

	void careless()
	{
		std::size_t most = 0;
		std::string where;
		for (const auto *side : {&a_, &b_}) {
			const std::string key = function_key(model_[side->at]);
			const std::size_t n = key.empty() ? 0 : index_.unlocked_in(key);
			if (n > most) {
				most = n;
				where = function(*side);
			}
		}
		if (most > 1)
			add(most > 4 ? "careless-function" : "relaxed-function",
			    where + " touches " + counted(most, "variable") + " without a lock");
	}

	void frequency()
	{
		const auto least = std::min(race_.sides[0].count, race_.sides[1].count);
		if (least < kMeasurable)
			return;
		add("frequency", "rarer side seen " + with_commas(least) + " times",
		    std::min(1.0, std::log10(static_cast<double>(least)) / 6));
	}

	void novelty()
	{
		std::uint32_t latest = 0;
		for (std::uint32_t run = 1; run < model_.runs.size(); run++)
			if (model_.runs[run].started >= model_.runs[latest].started)
				latest = run;
		if (std::all_of(race_.races.begin(), race_.races.end(), [&](std::size_t number) {
			    return model_.races[number].run == latest;
		    }))
			add("novelty", "not seen before the latest run");
	}

	const Model &model_;
	const AccessIndex &index_;
	const RaceWeights &weights_;
	Finding &finding_;
	const RaceEvidence &race_;
	const MemoryAccess &a_, &b_, &named_;
	const std::vector<std::size_t> all_;
};

} // namespace

void rank_race(const Model &model, const AccessIndex &index, const RaceWeights &weights,
	       Finding &finding)
{
	if (finding.race->statistics)
		finding.severity = Severity::Note;
	limit_severity(finding);
	finding.features.clear();
	finding.score = 0;
	RaceRank(model, index, weights, finding).rank();
}

void rank_variables(const RaceWeights &weights, std::vector<Finding> &races)
{
	constexpr std::size_t kMost = 8;
	std::map<std::string_view, std::size_t> better;
	sort_findings(races);
	for (auto &finding : races) {
		if (finding.hidden())
			continue;
		const std::size_t n = better[finding.race->variable.stable]++;
		if (!n)
			continue;
		const double points =
			weights["same-variable"] * static_cast<double>(std::min(n, kMost));
		finding.features.push_back({"same-variable", points,
					    counted(n, "race") + " on " +
						    finding.race->variable.brief +
						    " before this one"});
		finding.score += points;
	}
}

} // namespace lockscope
