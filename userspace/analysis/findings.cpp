// SPDX-License-Identifier: GPL-2.0
#include "analysis/findings.h"

#include "analysis/causes.h"
#include "analysis/evidence.h"
#include "analysis/faults/deadlocks.h"
#include "analysis/faults/faults.h"
#include "analysis/faults/sections.h"
#include "analysis/filters/annotated.h"
#include "analysis/filters/filters.h"
#include "analysis/filters/instances.h"
#include "analysis/filters/nested.h"
#include "analysis/filters/readers.h"
#include "analysis/history.h"
#include "analysis/orders/builds.h"
#include "analysis/orders/interrupts.h"
#include "analysis/orders/lockgraph.h"
#include "analysis/orders/nestings.h"
#include "analysis/owner.h"
#include "analysis/races/races.h"
#include "analysis/rank.h"
#include "analysis/rules/violations.h"
#include "analysis/selfcheck.h"
#include "analysis/verdicts.h"
#include "util/text.h"

#include <algorithm>
#include <future>
#include <map>
#include <optional>
#include <set>
#include <tuple>
#include <unordered_map>

namespace lockscope {

namespace {

/* Maximum number of functions in a title. */
constexpr std::size_t kTitleFunctions = 3;

std::string functions_of(const Model &model, const Finding &finding,
			 const std::vector<const FindingEdge *> &edges)
{
	std::vector<std::string> functions;
	for (const auto *edge : edges)
		if (auto function = function_of(model, finding, *edge);
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
	return functions_of(model, finding, edges);
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
	return std::string(title_words(finding.kind)) +
	       (about(LS_KIND_WAITQUEUE)    ? " with a wait queue: "
		: about(LS_KIND_COMPLETION) ? " with a completion: "
					    : ": ") +
	       join(names, " -> ") + functions_of(model, finding);
}

/* The interrupt is the last class, its edges are the last two. */
std::string interrupt_title(const Model &model, const Finding &finding)
{
	const std::string irq = interrupt_name(finding.classes.back());
	const std::string begin = std::string(title_words(finding.kind)) + ": ";
	const auto &held = finding.edges[finding.edges.size() - 2], &taken = finding.edges.back();
	const std::string functions = functions_of(model, finding, {&taken, &held});
	std::vector<std::string> names;
	for (ClassId cls : finding.locks())
		names.push_back(short_name(model[cls]));
	if (finding.kind == FindingKind::InconsistentIrqState)
		return begin + names.front() + " taken in " + irq + " and with " + irq + "s on" +
		       functions;
	names.front() += " (" + irq + ")";
	names.back() += " (" + irq + "s on)";
	return begin + join(names, " -> ") + functions;
}

bool is_visible_error(const Finding &finding)
{
	return !finding.hidden() && finding.severity == Severity::Error;
}

/* Does it make up for longer cycles through its dependencies? */
bool stands(const Finding &finding)
{
	return !finding.hidden() && !refuted(finding);
}

/* Worth a place beside shorter cycles? What was refuted had one before. */
bool is_kept(const Finding &finding)
{
	return refuted(finding) || is_visible_error(finding);
}

/// A cycle of classes, independent of the graph: edge i leads from class i to class i + 1, the
/// last to the first. An interrupt comes last.
struct Shape {
	FindingKind kind;
	std::vector<ClassId> classes;

	auto operator<=>(const Shape &) const = default; // NOLINT(modernize-use-nullptr)
};

/// The dependencies of cycles that stand.
class Standing {
public:
	void add(const Finding &finding)
	{
		if (finding.edges.empty() || !stands(finding))
			return;
		std::set<Ends> edges;
		for (const auto &edge : finding.edges)
			edges.insert({edge.from, edge.to});
		all_.insert(edges.begin(), edges.end());
		by_least_[*edges.begin()].push_back(std::move(edges));
	}

	/// How many dependencies of @shape do they have?
	std::size_t shown(const Shape &shape) const
	{
		const auto edges = edges_of(shape);
		return static_cast<std::size_t>(
			std::count_if(edges.begin(), edges.end(),
				      [&](const Ends &edge) { return all_.contains(edge); }));
	}

	/// Does one of them have dependencies of @shape only?
	bool shortens(const Shape &shape) const
	{
		const auto list = edges_of(shape);
		const std::set<Ends> edges(list.begin(), list.end());
		for (const auto &edge : edges) {
			const auto at = by_least_.find(edge);
			if (at != by_least_.end() &&
			    std::any_of(at->second.begin(), at->second.end(),
					[&](const std::set<Ends> &other) {
						return std::includes(edges.begin(), edges.end(),
								     other.begin(), other.end());
					}))
				return true;
		}
		return false;
	}

private:
	using Ends = std::pair<ClassId, ClassId>;

	static std::vector<Ends> edges_of(const Shape &shape)
	{
		const std::size_t n = shape.classes.size();
		std::vector<Ends> out;
		for (std::size_t i = 0; i < n; i++)
			out.emplace_back(shape.classes[i], shape.classes[(i + 1) % n]);
		return out;
	}

	std::set<Ends> all_;
	std::map<Ends, std::vector<std::set<Ends>>> by_least_; ///< by the smallest of each
};

/// The lock-order graph of some of the runs.
struct Orders {
	Orders(const Model &model, Runs which) : runs(std::move(which)), graph(model, runs) {}

	/// The edges of @shape, if all of them exist and close a strong cycle.
	std::optional<Cycle> find(const Shape &shape) const
	{
		const auto &classes = shape.classes;
		Cycle cycle;
		std::vector<std::uint32_t> masks;
		for (std::size_t i = 0; i < classes.size(); i++) {
			const auto edge = graph.find(classes[i], classes[(i + 1) % classes.size()]);
			if (!edge)
				return std::nullopt;
			cycle.push_back(edge);
			masks.push_back(graph.dependency(edge).kinds);
		}
		return strong_kinds(masks) ? std::optional(cycle) : std::nullopt;
	}

	Runs runs;
	LockGraph graph;
	std::unordered_map<std::uint32_t, ChainFacts> facts; ///< about the edges of all cycles
};

/* Is @a more worth a look? */
bool better(const Finding &a, const Finding &b)
{
	return std::tuple(a.severity, !a.hidden(), a.score) >
	       std::tuple(b.severity, !b.hidden(), b.score);
}

class Analyser {
public:
	Analyser(const Model &model, const RaceWeights &weights)
		: model_(model), weights_(weights), builds_(builds_of(model)),
		  all_(model, Runs(model.runs.size(), true)), by_place_(model), by_class_(model)
	{
	}

	Analysis run(const AnalysisOptions &options)
	{
		Analysis out;
		out.edges = all_.graph.size();
		/* What accesses show needs nothing of the orders of locks. */
		auto accesses = std::async(model_.accesses.empty()
						   ? std::launch::deferred
						   : std::launch::async | std::launch::deferred,
					   [&] {
						   return OfAccesses{data_races(model_, weights_),
								     infer_rules(model_)};
					   });
		add_cycles(out.findings);
		const auto cycles = std::count_if(
			out.findings.begin(), out.findings.end(), [](const Finding &finding) {
				return finding.kind == FindingKind::LockOrderCycle;
			});
		add_inversions(out.findings);
		for (auto &deadlock : deadlocks(model_, by_place_))
			out.findings.push_back(std::move(deadlock));
		for (auto &fault : faults(model_, by_place_, by_class_))
			out.findings.push_back(std::move(fault));
		auto [races, rules] = accesses.get();
		for (auto &race : races)
			out.findings.push_back(std::move(race));
		add_violations(rules, out.findings);
		for (auto &section : empty_sections(model_))
			out.findings.push_back(std::move(section));
		sort_findings(out.findings);
		find_causes(model_, out.findings);
		out.self_check = self_check(model_, all_.graph, static_cast<std::size_t>(cycles),
					    out.findings);
		/* The module has no such findings. */
		if (options.raw_nesting) {
			out.raw = raw_nesting_coverage(model_);
			for (auto &finding : raw_nesting(model_, by_place_))
				out.findings.push_back(std::move(finding));
			sort_findings(out.findings);
		}
		find_history(model_, all_.graph, out.findings);
		return out;
	}

private:
	struct OfAccesses {
		std::vector<Finding> races;
		std::vector<Rule> rules;
	};

	Shape shape_of(const LockGraph &graph, FindingKind kind, const Cycle &cycle) const
	{
		Shape shape{kind, {}};
		for (auto edge : cycle)
			shape.classes.push_back(graph.dependency(edge).from);
		if (kind == FindingKind::LockOrderCycle)
			std::rotate(shape.classes.begin(),
				    shape.classes.begin() +
					    static_cast<std::ptrdiff_t>(
						    canonical_start(model_, shape.classes)),
				    shape.classes.end());
		return shape;
	}

	/* The cycles of a graph that are not in @known yet. */
	void add_shapes(const LockGraph &graph, std::vector<Shape> &shapes,
			std::set<Shape> &known) const
	{
		auto add = [&](FindingKind kind, const Cycle &cycle) {
			Shape shape = shape_of(graph, kind, cycle);
			if (known.insert(shape).second)
				shapes.push_back(std::move(shape));
		};
		for (const auto &cycle : graph.cycles())
			add(FindingKind::LockOrderCycle, cycle);
		for (const auto &cycle : interrupt_cycles(graph))
			add(cycle.edges.size() == 2 ? FindingKind::InconsistentIrqState
						    : FindingKind::IrqInversion,
			    cycle.edges);
	}

	/// Findings beside cycles, about: there may be many of each.
	std::size_t others() const
	{
		return model_.races.size() + model_.inversions.size() +
		       static_cast<std::size_t>(
			       std::count_if(model_.observations.begin(), model_.observations.end(),
					     [](const Observation &seen) { return seen.fault(); }));
	}

	/*
	 * Every build is analysed by its own runs: another build neither completes a cycle nor
	 * provides gates for it. Cycles that only all of them together show come last.
	 */
	void add_cycles(std::vector<Finding> &out)
	{
		std::vector<Orders> own;
		if (builds_.size() > 1)
			for (const auto &build : builds_)
				own.emplace_back(model_, build.runs);
		std::vector<Orders *> each;
		for (auto &orders : own)
			each.push_back(&orders);
		each.push_back(&all_);

		std::vector<Shape> shapes;
		std::set<Shape> known;
		for (const Orders *orders : each)
			add_shapes(orders->graph, shapes, known);
		std::vector<Shape> reported;
		for (const auto &finding : model_.kernel_findings)
			if (auto shape = shape_of(finding); shape && known.insert(*shape).second)
				reported.push_back(std::move(*shape));
		for (Orders *orders : each) {
			std::set<std::uint32_t> edges;
			for (const auto *some : {&shapes, &reported})
				for (const auto &shape : *some)
					if (auto cycle = orders->find(shape))
						edges.insert(cycle->begin(), cycle->end());
			orders->facts = chain_facts(model_, orders->runs, orders->graph, edges);
		}
		out.reserve(shapes.size() + others());
		for (const auto &shape : shapes)
			if (auto finding = finding_of(own, shape))
				out.push_back(std::move(*finding));
		/* All of the shortest cycles may be hidden or refuted, while a longer one is not. */
		Standing standing;
		for (const auto &finding : out)
			standing.add(finding);
		for (const auto &shape : reported) {
			const auto nr = standing.shown(shape);
			/* With interrupts the shortest one is enough, see interrupts.h. */
			if (nr == shape.classes.size() ||
			    (nr && shape.kind != FindingKind::LockOrderCycle))
				continue;
			auto finding = finding_of(own, shape);
			if (!finding || (nr && !is_kept(*finding)))
				continue;
			finding->further = nr;
			standing.add(*finding);
			out.push_back(std::move(*finding));
		}
		for (Orders *orders : each)
			add_further(*orders, known, out);
		for (Orders *orders : each)
			add_further_interrupts(*orders, known, out);
		for (Orders *orders : each)
			add_nested(*orders, known, out);
	}

	/*
	 * The shortest cycle of a dependency may be hidden or refuted, and another one be a
	 * deadlock. Others are tried for dependencies that no cycle has which stands; only errors
	 * are of interest.
	 */
	void add_further(Orders &orders, std::set<Shape> &known, std::vector<Finding> &out) const
	{
		std::set<std::uint32_t> shown, edges;
		auto show = [&](const Finding &finding) {
			for (const auto &edge : finding.edges)
				shown.insert(orders.graph.find(edge.from, edge.to));
		};
		for (const auto &finding : out)
			if (stands(finding))
				show(finding);
		const auto further = orders.graph.further_cycles(shown);
		for (const auto &cycle : further)
			for (auto edge : cycle)
				if (!orders.facts.contains(edge))
					edges.insert(edge);
		orders.facts.merge(chain_facts(model_, orders.runs, orders.graph, edges));
		for (const auto &cycle : further) {
			Shape shape = shape_of(orders.graph, FindingKind::LockOrderCycle, cycle);
			/* Its edges in the order of the shape's classes. */
			const auto edges_of_shape = orders.find(shape);
			if (std::all_of(cycle.begin(), cycle.end(),
					[&](auto edge) { return shown.contains(edge); }) ||
			    !known.insert(shape).second || !edges_of_shape)
				continue;
			Finding finding = cycle_finding(orders, shape, *edges_of_shape);
			if (!is_kept(finding))
				continue;
			finding.further = true;
			if (is_visible_error(finding))
				show(finding);
			out.push_back(std::move(finding));
		}
	}

	/* The same where an interrupt acquires one lock and can come while another one is held. */
	void add_further_interrupts(Orders &orders, std::set<Shape> &known,
				    std::vector<Finding> &out) const
	{
		std::set<InterruptEnds> wanted;
		auto ends_of = [](const Finding &finding) {
			const auto &classes = finding.classes;
			return InterruptEnds{classes.back(), classes.front(),
					     classes[classes.size() - 2]};
		};
		for (bool error : {false, true})
			for (const auto &finding : out)
				if (finding.kind == FindingKind::IrqInversion &&
				    error == (is_visible_error(finding) && stands(finding))) {
					if (error)
						wanted.erase(ends_of(finding));
					else
						wanted.insert(ends_of(finding));
				}
		const auto further = further_interrupt_cycles(orders.graph, wanted);
		std::set<std::uint32_t> edges;
		for (const auto &cycle : further)
			for (auto edge : cycle.edges)
				if (!orders.facts.contains(edge))
					edges.insert(edge);
		orders.facts.merge(chain_facts(model_, orders.runs, orders.graph, edges));
		for (const auto &cycle : further) {
			Shape shape =
				shape_of(orders.graph, FindingKind::IrqInversion, cycle.edges);
			if (!known.insert(shape).second)
				continue;
			Finding finding = cycle_finding(orders, shape, cycle.edges);
			if (!is_kept(finding))
				continue;
			finding.further = true;
			out.push_back(std::move(finding));
		}
	}

	/*
	 * Cycles with two instances of a class, where no shorter one is shown as an error. Where a
	 * shorter one is a warning, only those that are errors.
	 */
	void add_nested(Orders &orders, std::set<Shape> &known, std::vector<Finding> &out) const
	{
		Standing standing, errors;
		for (const auto &finding : out) {
			standing.add(finding);
			if (is_visible_error(finding))
				errors.add(finding);
		}
		std::vector<std::pair<Shape, Cycle>> cycles;
		std::set<std::uint32_t> edges;
		for (auto &classes : nested_cycles(model_, orders.runs, orders.graph)) {
			std::rotate(classes.begin(),
				    classes.begin() + static_cast<std::ptrdiff_t>(
							      canonical_start(model_, classes)),
				    classes.end());
			Shape shape{FindingKind::LockOrderCycle, std::move(classes)};
			auto cycle = orders.find(shape);
			if (!cycle || errors.shortens(shape) || known.contains(shape))
				continue;
			for (auto edge : *cycle)
				if (!orders.facts.contains(edge))
					edges.insert(edge);
			cycles.emplace_back(std::move(shape), std::move(*cycle));
		}
		orders.facts.merge(chain_facts(model_, orders.runs, orders.graph, edges));
		for (const auto &[shape, cycle] : cycles) {
			if (errors.shortens(shape) || !known.insert(shape).second)
				continue;
			Finding finding = cycle_finding(orders, shape, cycle);
			const bool error = is_visible_error(finding);
			if (finding.hidden() || (!error && standing.shortens(shape)))
				continue;
			finding.further = true;
			standing.add(finding);
			if (error)
				errors.add(finding);
			out.push_back(std::move(finding));
		}
	}

	/// The finding of the build in which it ranks highest.
	std::optional<Finding> finding_of(const std::vector<Orders> &own, const Shape &shape) const
	{
		std::optional<Finding> best;
		for (const auto &orders : own)
			if (auto cycle = orders.find(shape))
				if (auto finding = cycle_finding(orders, shape, *cycle);
				    !best || better(finding, *best))
					best = std::move(finding);
		if (!best)
			if (auto cycle = all_.find(shape))
				best = cycle_finding(all_, shape, *cycle);
		return best;
	}

	/// A cycle that the module reported; nullopt in a damaged store.
	std::optional<Shape> shape_of(const KernelFinding &reported) const
	{
		Shape shape{static_cast<FindingKind>(reported.kind), reported.classes};
		auto &classes = shape.classes;
		const bool locks = shape.kind == FindingKind::LockOrderCycle;
		if ((!locks && shape.kind != FindingKind::IrqInversion &&
		     shape.kind != FindingKind::InconsistentIrqState) ||
		    classes.size() < 2 || std::count(classes.begin(), classes.end(), kNoClass) ||
		    std::count_if(classes.begin(), classes.end(), is_interrupt) != !locks ||
		    (!locks && !is_interrupt(classes.front())))
			return std::nullopt;
		const std::size_t start = locks ? canonical_start(model_, classes) : 1;
		std::rotate(classes.begin(), classes.begin() + static_cast<std::ptrdiff_t>(start),
			    classes.end());
		return shape;
	}

	Finding cycle_finding(const Orders &orders, const Shape &shape, const Cycle &cycle) const
	{
		Finding finding;
		finding.kind = shape.kind;
		finding.classes = shape.classes;
		finding.id = finding_id(model_, finding.kind, finding.classes);
		std::vector<std::uint32_t> masks;
		for (auto edge : cycle)
			masks.push_back(orders.graph.dependency(edge).kinds);
		const auto kinds = strong_kinds(masks);
		std::vector<ChainFacts::Kind> facts;
		for (std::size_t i = 0; i < cycle.size(); i++) {
			const auto &dependency = orders.graph.dependency(cycle[i]);
			const auto &fact = orders.facts.at(cycle[i]);
			/* A witness whose kind cannot be part of a strong cycle shows nothing. */
			std::uint32_t usable = 0;
			for (std::uint32_t kind = LS_DEP_ER; kind <= LS_DEP_SN; kind <<= 1) {
				auto with = masks;
				with[i] &= kind;
				if (with[i] && strong_kinds(with))
					usable |= kind;
			}
			facts.push_back(fact.of(usable));
			FindingEdge edge;
			edge.from = dependency.from;
			edge.to = dependency.to;
			edge.kind = kinds ? (*kinds)[i] : dependency.kinds;
			for (const auto &evidence : dependency.evidence) {
				if (evidence.kind & usable)
					edge.witnesses.push_back(make_witness(
						model_, evidence.observation, evidence.position));
			}
			edge.count = std::max<std::uint64_t>(fact.count, edge.witnesses.size());
			finding.edges.push_back(std::move(edge));
		}
		complete(finding, facts);
		doubt_nesting(finding);
		if (&orders == &all_ && builds_.size() > 1) {
			finding.confidence = Confidence::Possible;
			finding.filters.push_back(different_kernels(model_, builds_, finding));
			rank_finding(model_, finding);
		}
		finding.title = finding.about_interrupt() ? interrupt_title(model_, finding)
							  : cycle_title(model_, finding);
		return finding;
	}

	/* The two instances of a class in the cycle are what the authors have in mind. */
	void doubt_nesting(Finding &finding) const
	{
		bool nested = false;
		for (const auto &edge : finding.edges) {
			if (edge.from != edge.to)
				continue;
			nested = true;
			const auto &shown = edge.shown();
			if (!declares_nesting(model_, model_.observations[shown.observation],
					      shown.position))
				return;
		}
		if (!nested)
			return;
		finding.filters.push_back({"author-orders", false,
					   "the code says wherever a lock of it nests in one of "
					   "its class that it does so",
					   Severity::Note});
		rank_finding(model_, finding);
	}

	void complete(Finding &finding, const std::vector<ChainFacts::Kind> &facts) const
	{
		take_verdict(model_, finding);
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

	/// One side of an inversion: the observation of the class nested in itself.
	void add_side(Finding &finding, ClassId cls, const NestedPair &pair) const
	{
		const Observation &observation = model_.observations[pair.observation];
		FindingEdge edge;
		edge.from = edge.to = cls;
		edge.kind = dependency_kind(observation.held[pair.position].val,
					    observation.acquired.val);
		edge.witnesses.push_back(make_witness(model_, pair.observation, pair.position));
		edge.count = 1;
		finding.edges.push_back(std::move(edge));
	}

	/// The observations of an inversion, including one instance acquired twice.
	std::vector<NestedPair> sides(const Inversion &inversion) const
	{
		const auto &run = model_.runs[inversion.run];
		auto at = run.observations.find(inversion.second);
		if (inversion.cls == kNoClass || at == run.observations.end())
			return {};
		const Observation &observation = model_.observations[at->second];
		if (!observation.acquisition() || observation.acquired.cls != inversion.cls)
			return {};
		if (!inversion.same_instance)
			if (auto ring = ring_of(model_, inversion.cls, at->second, by_class_);
			    !ring.empty())
				return ring;
		for (auto i = static_cast<std::uint32_t>(observation.held.size()); i-- > 0;)
			if (observation.held[i].cls == inversion.cls)
				return {{at->second, i}};
		return {};
	}

	/* If the observation of one order is missing, it is one of those known for the class. */
	bool authors_order(ClassId cls, const std::vector<NestedPair> &ring) const
	{
		if (ring.size() > 1)
			return std::all_of(ring.begin(), ring.end(), [&](const NestedPair &pair) {
				return declares_nesting(model_,
							model_.observations[pair.observation],
							pair.position);
			});
		bool any = false;
		for (const auto number : by_class_.of(index(cls))) {
			const Observation &observation = model_.observations[number];
			for (std::uint32_t i = 0; i < observation.held.size(); i++) {
				if (observation.held[i].cls != cls)
					continue;
				if (!declares_nesting(model_, observation, i))
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
		if (auto passed = passed_in(model_, ring); passed != kNoClass)
			finding.filters.push_back(passed_filter(model_, passed));
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
		finding.title = std::string(title_words(finding.kind)) + ": " +
				(inversion.same_instance ? lock + " taken twice"
				 : ring.size() > 2 ? std::to_string(ring.size()) + " " + lock +
							     " taken in a ring"
						   : "two " + lock + " taken in both orders") +
				functions_of(model_, finding);
		/* A single task that acquires a lock it holds does hang. */
		if (inversion.same_instance) {
			finding.confidence = Confidence::Observed;
			finding.filters.clear();
			no_writer_waits(model_, finding);
			rank_finding(model_, finding);
		} else {
			doubt_inversion(finding, ring);
		}
		return finding;
	}

	/* One finding per class, of the best inversion: both sides known, and explained
	 * neither by a hierarchy nor by annotations. */
	void add_inversions(std::vector<Finding> &out) const
	{
		struct Best {
			int value = -1;
			Finding finding;
		};
		std::map<std::pair<ClassId, bool>, Best> by_class;
		for (const auto &inversion : model_.inversions) {
			const auto ring = sides(inversion);
			if (ring.empty())
				continue;
			auto &best = by_class[{inversion.cls, inversion.same_instance}];
			Finding finding = inversion_finding(inversion, ring);
			const int value = ring.size() == 1 ? 0
					  : finding.hidden()
						  ? 1
						  : 2 + static_cast<int>(finding.severity);
			if (value > best.value)
				best = {value, std::move(finding)};
		}
		for (auto &[key, best] : by_class) {
			/* One instance acquired twice is the stronger case of the two. */
			if (!key.second && by_class.count({key.first, true}))
				continue;
			out.push_back(std::move(best.finding));
		}
	}

	/* Only those of significant rules; `rules --check` has the others. */
	void add_violations(const std::vector<Rule> &rules, std::vector<Finding> &out) const
	{
		for (auto &violation : guard_violations(model_, rules))
			if (violation.severity > Severity::Note &&
			    !reported_as_race(model_, violation, out))
				out.push_back(std::move(violation));
	}

	const Model &model_;
	const RaceWeights &weights_;
	std::vector<Build> builds_;
	Orders all_;
	ObservationsByPlace by_place_;
	ObservationsByClass by_class_;
};

} // namespace

Analysis analyse(const Model &model, const AnalysisOptions &options)
{
	return Analyser(model, options.weights).run(options);
}

} // namespace lockscope
