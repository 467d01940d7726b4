// SPDX-License-Identifier: GPL-2.0
#include "analysis/faults/deadlocks.h"

#include "analysis/owner.h"
#include "analysis/rank.h"
#include "util/text.h"

#include <algorithm>
#include <map>

namespace lockscope {

namespace {

/// The held lock that the previous task waits for; nullopt in a damaged store.
std::optional<std::uint32_t> wanted(const Observation &observation)
{
	for (std::uint32_t i = 0; i < observation.held.size() && i < 64; i++)
		if (observation.new_mask >> i & 1 && observation.held[i].cls != kNoClass)
			return i;
	return std::nullopt;
}

/// The edges that the observations of one deadlock show, none if they form no ring.
std::vector<FindingEdge> ring(const Model &model, const std::vector<std::size_t> &observations)
{
	std::vector<FindingEdge> edges;
	for (auto i : observations) {
		const Observation &observation = model.observations[i];
		const auto position = wanted(observation);
		if (!position || observation.acquired.cls == kNoClass)
			return {};
		FindingEdge edge;
		edge.from = observation.held[*position].cls;
		edge.to = observation.acquired.cls;
		edge.kind = LS_DEP_EN;
		edge.witnesses.push_back(make_witness(model, i, *position));
		edge.count = 1;
		edges.push_back(std::move(edge));
	}
	for (std::size_t i = 0; i < edges.size(); i++)
		if (edges[i].to != edges[(i + 1) % edges.size()].from)
			return {};
	return edges;
}

} // namespace

std::vector<Finding> deadlocks(const Model &model, const ObservationsByPlace &by_place)
{
	/* Grouped by the module's number. */
	std::map<std::pair<std::uint32_t, std::uint64_t>, std::vector<std::size_t>> groups;
	for (std::size_t i = 0; i < model.observations.size(); i++)
		if (model.observations[i].deadlock())
			groups[{model.observations[i].run, model.observations[i].extra}].push_back(
				i);

	std::map<std::string, Finding> found;
	for (auto &[key, observations] : groups) {
		std::sort(observations.begin(), observations.end(),
			  [&](std::size_t a, std::size_t b) {
				  return model.observations[a].ordinal <
					 model.observations[b].ordinal;
			  });
		auto edges = ring(model, observations);
		if (edges.empty())
			continue;
		std::vector<ClassId> classes;
		for (const auto &edge : edges)
			classes.push_back(edge.from);
		const auto start = static_cast<std::ptrdiff_t>(canonical_start(model, classes));
		std::rotate(edges.begin(), edges.begin() + start, edges.end());
		std::rotate(classes.begin(), classes.begin() + start, classes.end());
		const std::string id = finding_id(model, FindingKind::Deadlock, classes);
		auto [at, added] = found.try_emplace(id);
		Finding &finding = at->second;
		if (!added) {
			for (std::size_t i = 0; i < edges.size(); i++) {
				finding.edges[i].count++;
				finding.edges[i].witnesses.push_back(edges[i].shown());
			}
			continue;
		}
		finding.kind = FindingKind::Deadlock;
		finding.id = id;
		finding.classes = std::move(classes);
		finding.edges = std::move(edges);
	}

	std::vector<Finding> out;
	for (auto &[id, finding] : found) {
		std::vector<std::string> names, functions;
		for (auto &edge : finding.edges) {
			fill_stacks(model, edge, by_place);
			names.push_back(short_name(model[edge.from]));
			functions.push_back(function_of(model, finding, edge));
		}
		names.push_back(names.front());
		finding.title = std::string(title_words(finding.kind)) + ": " +
				join(names, " -> ") + " (" + join(functions, " vs ") + ")";
		finding.confidence = Confidence::Confirmed;
		rank_finding(model, finding);
		out.push_back(std::move(finding));
	}
	return out;
}

} // namespace lockscope
