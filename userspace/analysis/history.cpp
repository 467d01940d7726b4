// SPDX-License-Identifier: GPL-2.0
#include "analysis/history.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <set>
#include <unordered_map>

namespace lockscope {

namespace {

/// Runs of one finding, by place in time.
using Places = std::set<std::uint32_t>;

class History {
public:
	History(const Model &model, const LockGraph &graph)
		: model_(model), graph_(graph), place_(places_in_time(model)),
		  run_(model.runs.size())
	{
		for (std::uint32_t run = 0; run < place_.size(); run++)
			run_[place_[run]] = run;
		for (const auto &inversion : model.inversions)
			inversions_[inversion.cls].insert(place_[inversion.run]);
	}

	void fill(Finding &finding)
	{
		if (shown(finding.kind) == LS_BY_CYCLE && cycle(finding))
			return;
		if (finding.kind == FindingKind::RecursiveLock && finding.classes.size() == 1)
			if (auto at = inversions_.find(finding.classes[0]); at != inversions_.end())
				return set(finding, *at->second.begin(), *at->second.rbegin());
		if (const Places seen = observed(finding); !seen.empty())
			set(finding, *seen.begin(), *seen.rbegin());
	}

private:
	/// LS_DEP_* mask by place in time.
	using Kinds = std::map<std::uint32_t, std::uint32_t>;

	void set(Finding &finding, std::uint32_t first, std::uint32_t last) const
	{
		finding.first_run = run_[first];
		finding.last_run = run_[last];
	}

	const Kinds &kinds_of(std::uint32_t edge)
	{
		auto [at, added] = edges_.try_emplace(edge);
		if (added)
			for (const auto &evidence : graph_.dependency(edge).evidence)
				at->second[place_[model_.observations[evidence.observation].run]] |=
					evidence.kind;
		return at->second;
	}

	/*
	 * The finding's own witnesses are those of the build that shows it best; the graph has
	 * those of all. Complete with the first run by which all edges are there and strong.
	 */
	bool cycle(Finding &finding)
	{
		std::vector<const Kinds *> edges;
		Places places;
		for (const auto &edge : finding.edges) {
			const auto number = graph_.find(edge.from, edge.to);
			if (!number)
				return false;
			edges.push_back(&kinds_of(number));
			for (const auto &[place, kinds] : *edges.back())
				places.insert(place);
		}
		std::vector<std::uint32_t> masks(edges.size());
		for (const auto place : places) {
			for (std::size_t i = 0; i < edges.size(); i++)
				if (auto at = edges[i]->find(place); at != edges[i]->end())
					masks[i] |= at->second;
			if (std::find(masks.begin(), masks.end(), 0u) != masks.end() ||
			    !strong_kinds(masks))
				continue;
			set(finding, place, *places.rbegin());
			return true;
		}
		return false;
	}

	Places observed(const Finding &finding) const
	{
		Places out;
		for (const auto &edge : finding.edges)
			for (const auto &witness : edge.witnesses)
				out.insert(place_[model_.observations[witness.observation].run]);
		if (finding.race)
			for (const auto race : finding.race->races)
				out.insert(place_[model_.races[race].run]);
		if (finding.violation)
			for (const auto &side : finding.violation->sides)
				out.insert(place_[model_.accesses[side.access].run]);
		return out;
	}

	const Model &model_;
	const LockGraph &graph_;
	std::vector<std::uint32_t> place_, run_; ///< of a run; at a place
	std::unordered_map<std::uint32_t, Kinds> edges_;
	std::map<ClassId, Places> inversions_;
};

} // namespace

std::vector<std::uint32_t> places_in_time(const Model &model)
{
	std::vector<std::uint32_t> order(model.runs.size()), places(model.runs.size());
	std::iota(order.begin(), order.end(), 0);
	std::stable_sort(order.begin(), order.end(), [&](std::uint32_t a, std::uint32_t b) {
		return model.runs[a].started < model.runs[b].started;
	});
	for (std::uint32_t place = 0; place < order.size(); place++)
		places[order[place]] = place;
	return places;
}

std::uint32_t latest_run(const Model &model)
{
	const auto places = places_in_time(model);
	return static_cast<std::uint32_t>(std::max_element(places.begin(), places.end()) -
					  places.begin());
}

void find_history(const Model &model, const LockGraph &graph, std::vector<Finding> &findings)
{
	if (model.runs.size() < 2)
		return;
	History history(model, graph);
	for (auto &finding : findings)
		history.fill(finding);
}

} // namespace lockscope
