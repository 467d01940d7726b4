// SPDX-License-Identifier: GPL-2.0
#include "analysis/findings.h"

#include "analysis/annotated.h"
#include "analysis/causes.h"
#include "analysis/deadlocks.h"
#include "analysis/evidence.h"
#include "analysis/faults.h"
#include "analysis/filters.h"
#include "analysis/instances.h"
#include "analysis/interrupts.h"
#include "analysis/lockgraph.h"
#include "analysis/races.h"
#include "analysis/rank.h"
#include "analysis/sections.h"
#include "analysis/selfcheck.h"
#include "analysis/violations.h"
#include "util/text.h"

#include <algorithm>
#include <map>
#include <set>
#include <unordered_map>

namespace lockscope {

namespace {

/* Titles name at most this many functions. */
constexpr std::size_t kTitleFunctions = 3;

std::string functions_of(const Model &model, const std::vector<const FindingEdge *> &edges)
{
	std::vector<std::string> functions;
	for (const auto *edge : edges)
		if (auto function = function_of(model, *edge);
		    std::find(functions.begin(), functions.end(), function) == functions.end())
			functions.push_back(function);
	if (functions.size() > kTitleFunctions) {
		functions.resize(kTitleFunctions);
		functions.push_back("...");
	}
	return " (" + join(functions, " vs ") + ")";
}

std::string functions_of(const Model &model, const Finding &finding)
{
	std::vector<const FindingEdge *> edges;
	for (const auto &edge : finding.edges)
		edges.push_back(&edge);
	return functions_of(model, edges);
}

std::string cycle_title(const Model &model, const Finding &finding)
{
	std::vector<std::string> names;
	for (ClassId cls : finding.classes)
		names.push_back(short_name(model[cls]));
	names.push_back(names.front());
	const auto about = [&](ls_kind kind) {
		return std::any_of(finding.classes.begin(), finding.classes.end(),
				   [&](ClassId cls) { return model[cls].kind == kind; });
	};
	return (about(LS_KIND_WAITQUEUE)    ? "lock order with a wait queue: "
		: about(LS_KIND_COMPLETION) ? "lock order with a completion: "
					    : "lock order: ") +
	       join(names, " -> ") + functions_of(model, finding);
}

/* The interrupt is the last class, the edges of it the last two. */
std::string interrupt_title(const Model &model, const Finding &finding)
{
	const std::string irq = interrupt_name(finding.classes.back());
	const auto &held = finding.edges[finding.edges.size() - 2], &taken = finding.edges.back();
	const std::string functions = functions_of(model, {&taken, &held});
	std::vector<std::string> names;
	for (ClassId cls : finding.locks())
		names.push_back(short_name(model[cls]));
	if (finding.kind == FindingKind::InconsistentIrqState)
		return "irq safety: " + names.front() + " taken in " + irq + " and with " + irq +
		       "s on" + functions;
	names.front() += " (" + irq + ")";
	names.back() += " (" + irq + "s on)";
	return "irq inversion: " + join(names, " -> ") + functions;
}

class Analyser {
public:
	Analyser(const Model &model, const RaceWeights &weights)
		: model_(model), weights_(weights), graph_(model), by_place_(sights_by_place(model))
	{
	}

	Analysis run(const AnalysisOptions &options)
	{
		Analysis out;
		out.edges = graph_.size();
		const auto cycles = graph_.cycles();
		const auto interrupted = interrupt_cycles(graph_);
		std::set<std::uint32_t> edges;
		for (const auto &cycle : cycles)
			edges.insert(cycle.begin(), cycle.end());
		for (const auto &cycle : interrupted)
			edges.insert(cycle.edges.begin(), cycle.edges.end());
		facts_ = chain_facts(model_, graph_, edges);
		for (const auto &cycle : cycles)
			out.findings.push_back(cycle_finding(cycle));
		for (const auto &cycle : interrupted)
			out.findings.push_back(interrupt_finding(cycle));
		add_inversions(out.findings);
		for (auto &deadlock : deadlocks(model_, by_place_))
			out.findings.push_back(std::move(deadlock));
		for (auto &fault : faults(model_, by_place_))
			out.findings.push_back(std::move(fault));
		for (auto &race : data_races(model_, weights_))
			out.findings.push_back(std::move(race));
		add_violations(out.findings);
		for (auto &section : empty_sections(model_))
			out.findings.push_back(std::move(section));
		sort_findings(out.findings);
		find_causes(model_, out.findings);
		out.self_check = self_check(model_, graph_, cycles.size(), out.findings);
		/* The module does not know of these. */
		if (options.raw_nesting) {
			out.raw = raw_nesting_coverage(model_);
			for (auto &finding : raw_nesting(model_, by_place_))
				out.findings.push_back(std::move(finding));
			sort_findings(out.findings);
		}
		return out;
	}

private:
	Finding cycle_finding(Cycle cycle) const
	{
		Finding finding;
		finding.kind = FindingKind::LockOrderCycle;
		std::vector<ClassId> classes;
		for (auto edge : cycle)
			classes.push_back(graph_.dependency(edge).from);
		const auto start = static_cast<std::ptrdiff_t>(canonical_start(model_, classes));
		std::rotate(cycle.begin(), cycle.begin() + start, cycle.end());
		fill_cycle(finding, cycle);
		finding.title = cycle_title(model_, finding);
		return finding;
	}

	Finding interrupt_finding(const InterruptCycle &cycle) const
	{
		Finding finding;
		finding.kind = cycle.safe == cycle.unsafe ? FindingKind::InconsistentIrqState
							  : FindingKind::IrqInversion;
		fill_cycle(finding, cycle.edges);
		finding.title = interrupt_title(model_, finding);
		return finding;
	}

	/// Everything about a cycle but its kind and title.
	void fill_cycle(Finding &finding, const Cycle &cycle) const
	{
		std::vector<std::uint32_t> masks;
		for (auto edge : cycle) {
			finding.classes.push_back(graph_.dependency(edge).from);
			masks.push_back(graph_.dependency(edge).kinds);
		}
		finding.id = finding_id(model_, finding.kind, finding.classes);
		const auto kinds = strong_kinds(masks);
		std::vector<const ChainFacts *> facts;
		for (std::size_t i = 0; i < cycle.size(); i++) {
			const auto &dependency = graph_.dependency(cycle[i]);
			const auto &fact = facts_.at(cycle[i]);
			facts.push_back(&fact);
			FindingEdge edge;
			edge.from = dependency.from;
			edge.to = dependency.to;
			edge.kind = kinds ? (*kinds)[i] : dependency.kinds;
			for (const auto &evidence : dependency.evidence) {
				/* A sight whose kind cannot be part of a strong
				 * cycle shows nothing about this one. */
				auto with = masks;
				with[i] = evidence.kind;
				if (strong_kinds(with))
					edge.witnesses.push_back(make_witness(
						model_, evidence.sight, evidence.position));
			}
			edge.count = std::max<std::uint64_t>(fact.count, edge.witnesses.size());
			finding.edges.push_back(std::move(edge));
		}
		complete(finding, facts);
	}

	void complete(Finding &finding, const std::vector<const ChainFacts *> &facts) const
	{
		choose_witnesses(model_, finding);
		if (finding.kind == FindingKind::LockOrderCycle ||
		    finding.kind == FindingKind::IrqInversion)
			choose_meeting(model_, finding, facts);
		for (auto &edge : finding.edges)
			fill_stacks(model_, edge, by_place_);
		finding.confidence = confidence_of(model_, finding);
		apply_filters(model_, finding, facts);
		rank_finding(model_, finding);
	}

	/// One side of an inversion: the sight in which the class nests in itself.
	void add_side(Finding &finding, ClassId cls, const NestedPair &pair) const
	{
		const Sight &sight = model_.sights[pair.sight];
		FindingEdge edge;
		edge.from = edge.to = cls;
		edge.kind = dependency_kind(sight.held[pair.position].val, sight.acquired.val);
		edge.witnesses.push_back(make_witness(model_, pair.sight, pair.position));
		edge.count = 1;
		finding.edges.push_back(std::move(edge));
	}

	/// The observations of an inversion, those of one instance taken twice included.
	std::vector<NestedPair> sides(const Inversion &inversion) const
	{
		const auto &run = model_.runs[inversion.run];
		auto at = run.sights.find(inversion.second);
		if (inversion.cls == kNoClass || at == run.sights.end())
			return {};
		const Sight &sight = model_.sights[at->second];
		if (!sight.acquisition() || sight.acquired.cls != inversion.cls)
			return {};
		if (!inversion.same_instance)
			if (auto ring = ring_of(model_, inversion.cls, at->second); !ring.empty())
				return ring;
		for (auto i = static_cast<std::uint32_t>(sight.held.size()); i-- > 0;)
			if (sight.held[i].cls == inversion.cls)
				return {{at->second, i}};
		return {};
	}

	/* Where one order is not kept, it is one of those that are known of the class. */
	bool authors_order(ClassId cls, const std::vector<NestedPair> &ring) const
	{
		if (ring.size() > 1)
			return std::all_of(ring.begin(), ring.end(), [&](const NestedPair &pair) {
				return declares_nesting(model_, model_.sights[pair.sight],
							pair.position);
			});
		bool any = false;
		for (const auto &sight : model_.sights) {
			if (!sight.acquisition() || sight.acquired.cls != cls)
				continue;
			for (std::uint32_t i = 0; i < sight.held.size(); i++) {
				if (sight.held[i].cls != cls)
					continue;
				if (!declares_nesting(model_, sight, i))
					return false;
				any = true;
			}
		}
		return any;
	}

	void doubt_inversion(Finding &finding, const std::vector<NestedPair> &ring) const
	{
		if (ring.size() == 1)
			finding.filters.push_back({"first-order-not-kept", false,
						   "when the two were taken in the other order is "
						   "not known any more"});
		if (follows_hierarchy(model_, ring))
			finding.filters.push_back(
				{"follows-hierarchy", false,
				 "each time the inner object pointed to the outer one: both orders "
				 "follow the hierarchy of their time",
				 Severity::Note});
		if (authors_order(finding.classes[0], ring))
			finding.filters.push_back({"author-orders", false,
						   "the code says at every one of these places "
						   "that the lock nests in "
						   "one of its class",
						   Severity::Note});
		rank_finding(model_, finding);
	}

	/* A reader that reads again waits only for a writer that waits. Writers of this class
	 * were seen, but each of them tries and goes away. */
	bool no_writer_waits(const Finding &finding) const
	{
		const Witness &shown = finding.edges[0].shown();
		const Sight &sight = model_.sights[shown.sight];
		const ClassId cls = finding.classes[0];
		if (read_of(sight.at(shown.position).val) == LS_EXCLUSIVE ||
		    read_of(sight.acquired.val) == LS_EXCLUSIVE)
			return false;
		bool tried = false;
		for (const auto &run : model_.runs)
			for (const auto &chain : run.chains) {
				if (chain.cls != cls || chain.count == 0 ||
				    read_of(chain.val) != LS_EXCLUSIVE)
					continue;
				if (!(chain.val & LS_VAL_TRY))
					return false;
				tried = true;
			}
		return tried;
	}

	Finding inversion_finding(const Inversion &inversion,
				  const std::vector<NestedPair> &ring) const
	{
		Finding finding;
		finding.kind = FindingKind::RecursiveLock;
		finding.classes = {inversion.cls};
		for (const auto &pair : ring)
			add_side(finding, inversion.cls, pair);
		finding.id = finding_id(model_, finding.kind, finding.classes);
		if (!inversion.same_instance) {
			finding.meeting = Meeting{1, ring.size() > 1 ? std::size_t{1} : 0,
						  ring.size() > 1, false};
		}
		complete(finding, {});
		const std::string lock = short_name(model_[inversion.cls]);
		finding.title =
			(inversion.same_instance ? "recursive lock: " + lock + " taken twice"
			 : ring.size() > 2
				 ? "recursive lock: " + std::to_string(ring.size()) + " " + lock +
					   " taken in a ring"
				 : "recursive lock: two " + lock + " taken in both orders") +
			functions_of(model_, finding);
		/* One task alone that takes a lock it holds does hang. */
		if (inversion.same_instance) {
			finding.confidence = Confidence::Observed;
			finding.filters.clear();
			if (no_writer_waits(finding))
				finding.filters.push_back(
					{"no-writer-waits", false,
					 "readers only, and each writer seen tries and does not wait",
					 Severity::Note});
			rank_finding(model_, finding);
		} else {
			doubt_inversion(finding, ring);
		}
		return finding;
	}

	/* One finding a class, of the inversion that proves most: one whose sides are both
	 * known, and that no hierarchy explains. */
	void add_inversions(std::vector<Finding> &out) const
	{
		struct Best {
			int value = -1;
			const Inversion *inversion = nullptr;
			std::vector<NestedPair> ring;
		};
		std::map<std::pair<ClassId, bool>, Best> by_class;
		for (const auto &inversion : model_.inversions) {
			auto ring = sides(inversion);
			if (ring.empty())
				continue;
			const int value = (ring.size() > 1) +
					  (ring.size() > 1 && !follows_hierarchy(model_, ring));
			auto &best = by_class[{inversion.cls, inversion.same_instance}];
			if (value > best.value)
				best = {value, &inversion, std::move(ring)};
		}
		for (const auto &[key, best] : by_class) {
			/* Taking one instance twice is the stronger case of the two. */
			if (!key.second && by_class.count({key.first, true}))
				continue;
			out.push_back(inversion_finding(*best.inversion, best.ring));
		}
	}

	/* Those of rules that are none by chance; `rules --check` has the others. */
	void add_violations(std::vector<Finding> &out) const
	{
		for (auto &violation : guard_violations(model_, infer_rules(model_)))
			if (violation.severity > Severity::Note &&
			    !told_as_race(model_, violation, out))
				out.push_back(std::move(violation));
	}

	const Model &model_;
	const RaceWeights &weights_;
	LockGraph graph_;
	SightsByPlace by_place_;
	std::unordered_map<std::uint32_t, ChainFacts> facts_;
};

} // namespace

Analysis analyse(const Model &model, const AnalysisOptions &options)
{
	return Analyser(model, options.weights).run(options);
}

} // namespace lockscope
