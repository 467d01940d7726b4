// SPDX-License-Identifier: GPL-2.0
#include "analysis/history.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <set>
#include <span>
#include <vector>

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
	void set(Finding &finding, std::uint32_t first, std::uint32_t last) const
	{
		finding.first_run = run_[first];
		finding.last_run = run_[last];
	}

	/*
	 * The finding's own witnesses are those of the build that shows it best; the graph has
	 * those of all. Complete with the first run by which all edges are there and strong.
	 */
	bool cycle(Finding &finding)
	{
		/* LS_DEP_* masks by place in time, of each edge in turn. */
		const std::size_t n = finding.edges.size();
		kinds_.assign(n * run_.size(), 0);
		for (std::size_t i = 0; i < n; i++) {
			const auto &edge = finding.edges[i];
			const auto number = graph_.find(edge.from, edge.to);
			if (!number)
				return false;
			for (const auto &evidence : graph_.dependency(number).evidence)
				kinds_[place_of(evidence) * n + i] |= evidence.kind;
		}
		const auto of_place = [&](std::uint32_t place) {
			return std::span(kinds_).subspan(place * n, n);
		};
		const auto any = [](std::uint32_t mask) { return mask != 0; };
		std::vector<std::uint32_t> masks(n);
		for (std::uint32_t place = 0; place < run_.size(); place++) {
			const auto here = of_place(place);
			if (std::none_of(here.begin(), here.end(), any))
				continue;
			for (std::size_t i = 0; i < n; i++)
				masks[i] |= here[i];
			if (!std::all_of(masks.begin(), masks.end(), any) || !strong_kinds(masks))
				continue;
			auto last = static_cast<std::uint32_t>(run_.size() - 1);
			while (std::none_of(of_place(last).begin(), of_place(last).end(), any))
				last--;
			set(finding, place, last);
			return true;
		}
		return false;
	}

	std::uint32_t place_of(const Evidence &evidence) const
	{
		return place_[model_.observations[evidence.observation].run];
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
	std::vector<std::uint32_t> kinds_;	 ///< of the finding at hand
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
