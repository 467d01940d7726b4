// SPDX-License-Identifier: GPL-2.0
/*
 * The order in which findings deserve a maintainer's time. Criteria are hierarchical [RacerX
 * 4.2]: the smallest step of each is worth more than all following ones together.
 */
#include "analysis/rank.h"

#include "analysis/evidence.h"
#include "analysis/verdicts.h"
#include "util/text.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

namespace lockscope {

namespace {

constexpr double kVerdict = 1300;    ///< confirmed by a verdict, not by observations alone
constexpr double kConfidence = 1300; ///< per level: possible 0, observed 1, confirmed 2
constexpr double kContexts = 160;    ///< per context fewer than kMostContexts
constexpr std::size_t kMostContexts = 8;
constexpr double kInstances = 80; ///< every lock proven to be the same on both edges
constexpr double kLocality = 40;  ///< every lock global
constexpr double kDepth = 20;	  ///< both acquires in one function
constexpr double kDepthPerCall = 2;
constexpr double kFrequency = 10; ///< a million times or more, on the rarest edge
constexpr double kNovelty = 5;	  ///< completed by the latest run

/* Is the lock that edge @in acquired the one that edge @out held? */
bool same_lock(const Model &model, const FindingEdge &in, const FindingEdge &out)
{
	return model[out.from].global() || common_instance(model, in, out).has_value();
}

/* An interrupt needs no second context, nor does a fault that was observed. */
Feature contexts(const Model &model, const Finding &finding)
{
	std::size_t n = std::max<std::size_t>(finding.edges.size(), 2);
	std::string why = counted(n, "context") + " have to meet";
	if (finding.single()) {
		n = 1;
		why = "one context alone did it";
	} else if (waits_for_itself(model, finding)) {
		n = 1;
		why = "one context alone waits for itself";
	} else if (finding.kind == FindingKind::InconsistentIrqState) {
		why = "one context and an interrupt have to meet";
	} else if (finding.kind == FindingKind::IrqInversion) {
		n = std::max<std::size_t>(finding.edges.size() - 1, 2);
		why = counted(n, "context") + " and an interrupt have to meet";
	}
	return {"contexts",
		kContexts * static_cast<double>(kMostContexts - std::min(n, kMostContexts)), why};
}

Feature instances(const Model &model, const Finding &finding)
{
	if (finding.meeting) {
		const auto &meeting = *finding.meeting;
		return {"instances", meeting.whole ? kInstances : 0,
			std::to_string(meeting.proven) + " of " + std::to_string(meeting.locks) +
				(meeting.whole ? " locks proven to be one instance"
					       : " locks seen as one instance on both sides")};
	}
	std::size_t proven = 0, locks = 0;
	const std::size_t n = finding.edges.size();
	for (std::size_t i = 0; i < n; i++) {
		if (from_interrupt(finding.edges[i]))
			continue;
		locks++;
		proven += same_lock(model, finding.edges[(i + n - 1) % n], finding.edges[i]);
	}
	/* All or nothing: a cycle needs all locks to match. */
	return {"instances", proven == locks ? kInstances : 0,
		std::to_string(proven) + " of " + std::to_string(locks) +
			" locks proven to be one instance"};
}

Feature locality(const Model &model, const Finding &finding)
{
	const auto locks = finding.locks();
	if (locks.empty())
		return {"locality", 0, "about no lock"};
	const auto global = static_cast<double>(std::count_if(
		locks.begin(), locks.end(), [&](ClassId cls) { return model[cls].global(); }));
	return {"locality", std::round(kLocality * global / static_cast<double>(locks.size())),
		std::to_string(static_cast<int>(global)) + " of " + std::to_string(locks.size()) +
			" locks are global"};
}

Feature depth(const Finding &finding)
{
	if (finding.kind == FindingKind::InconsistentIrqState)
		return {"depth", 0, "one lock alone"};
	std::uint32_t deepest = 0;
	for (const auto &edge : finding.edges) {
		if (to_interrupt(edge) || from_interrupt(edge))
			continue;
		if (!edge.depth)
			return {"depth", 0, "call depth between the acquires not known"};
		deepest = std::max(deepest, *edge.depth);
	}
	return {"depth", std::max(0.0, kDepth - kDepthPerCall * deepest),
		deepest ? "at most " + counted(deepest, "call") + " between the two acquires"
			: "both acquires in one function"};
}

Feature frequency(const Finding &finding)
{
	std::uint64_t least = ~std::uint64_t{0};
	for (const auto &edge : finding.edges)
		least = std::min(least, edge.count);
	if (least < kMeasurable)
		return {"frequency", 0, "rarest side seen a few times"};
	const double magnitude = std::log10(static_cast<double>(least));
	return {"frequency", std::round(std::min(1.0, magnitude / 6) * kFrequency),
		"rarest side seen about " + with_commas(least) + " times"};
}

Feature novelty(const Model &model, const Finding &finding)
{
	std::uint32_t latest = 0;
	for (std::uint32_t run = 1; run < model.runs.size(); run++)
		if (model.runs[run].started >= model.runs[latest].started)
			latest = run;
	const bool fresh =
		std::any_of(finding.edges.begin(), finding.edges.end(), [&](const auto &edge) {
			return std::all_of(edge.witnesses.begin(), edge.witnesses.end(),
					   [&](const Witness &w) {
						   return model.observations[w.observation].run ==
							  latest;
					   });
		});
	return {"novelty", fresh ? kNovelty : 0,
		fresh ? "not complete before the latest run" : "known from earlier runs"};
}

} // namespace

void limit_severity(Finding &finding)
{
	for (const auto &filter : finding.filters)
		finding.severity = std::min(finding.severity, most_with(filter));
}

void rank_finding(const Model &model, Finding &finding)
{
	if (finding.about_memory()) {
		limit_severity(finding);
		return;
	}
	finding.severity = usual_severity(finding.kind);
	heed_verdict(finding);
	limit_severity(finding);

	finding.features.clear();
	if (confirmed(finding))
		finding.features.push_back({"verdict", kVerdict, "its sides were made to meet"});
	finding.features.insert(finding.features.end(),
				{{"confidence", kConfidence * static_cast<int>(finding.confidence),
				  name(finding.confidence)},
				 contexts(model, finding)});
	if (finding.single())
		finding.features.push_back(locality(model, finding));
	else
		finding.features.insert(finding.features.end(),
					{instances(model, finding), locality(model, finding),
					 depth(finding), frequency(finding)});
	finding.features.push_back(novelty(model, finding));
	finding.score = 0;
	for (const auto &feature : finding.features)
		finding.score += feature.points;
}

void sort_findings(std::vector<Finding> &findings)
{
	/* Findings are large: each is moved once. */
	std::vector<std::size_t> order(findings.size());
	std::iota(order.begin(), order.end(), std::size_t{0});
	std::stable_sort(order.begin(), order.end(), [&](std::size_t i, std::size_t j) {
		const Finding &a = findings[i], &b = findings[j];
		if (a.severity != b.severity)
			return a.severity > b.severity;
		/* The points of data races are on another scale. */
		if (confirmed(a) != confirmed(b))
			return confirmed(a);
		if (a.score != b.score)
			return a.score > b.score;
		return a.title < b.title;
	});
	/* In place, one cycle of the permutation after the other. */
	for (std::size_t start = 0; start < order.size(); start++) {
		if (order[start] == start)
			continue;
		Finding first = std::move(findings[start]);
		std::size_t at = start;
		while (order[at] != start) {
			findings[at] = std::move(findings[order[at]]);
			at = std::exchange(order[at], at);
		}
		findings[at] = std::move(first);
		order[at] = at;
	}
}

} // namespace lockscope
