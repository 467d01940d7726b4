// SPDX-License-Identifier: GPL-2.0
#include "analysis/findings.h"

#include "analysis/filters.h"
#include "analysis/lockgraph.h"
#include "analysis/rank.h"
#include "util/text.h"

#include <algorithm>
#include <set>
#include <unordered_map>

namespace lockscope {

namespace {

/* Titles name at most this many functions. */
constexpr std::size_t kTitleFunctions = 3;

using SightsByPlace = std::unordered_map<std::uint32_t, std::vector<std::size_t>>;

/// Index of the smallest rotation of @classes by stable name.
std::size_t canonical_start(const Model &model, const std::vector<ClassId> &classes)
{
	auto names_from = [&](std::size_t start) {
		std::vector<std::string> names;
		for (std::size_t i = 0; i < classes.size(); i++)
			names.push_back(model[classes[(start + i) % classes.size()]].stable);
		return names;
	};
	std::size_t best = 0;
	for (std::size_t start = 1; start < classes.size(); start++)
		if (names_from(start) < names_from(best))
			best = start;
	return best;
}

/// Keys of the contexts that show @edge within @run.
std::set<std::string> contexts_in(const Model &model, const FindingEdge &edge, std::uint32_t run)
{
	std::set<std::string> keys;
	for (const auto &witness : edge.witnesses)
		if (model.sights[witness.sight].run == run)
			keys.insert(witness.context.key());
	return keys;
}

/// `observed`: one run saw every edge, in at least two contexts.
Confidence confidence_of(const Model &model, const Finding &finding)
{
	for (std::uint32_t run = 0; run < model.runs.size(); run++) {
		std::set<std::string> all;
		bool complete = true;
		for (const auto &edge : finding.edges) {
			auto keys = contexts_in(model, edge, run);
			complete = complete && !keys.empty();
			all.merge(keys);
		}
		if (complete && all.size() > 1)
			return Confidence::Observed;
	}
	return Confidence::Possible;
}

/// Bring witnesses to the front so that every side shows another context, in
/// as few runs as can be.
void choose_witnesses(const Model &model, Finding &finding)
{
	std::map<std::uint32_t, std::size_t> edges_seen;
	for (std::uint32_t run = 0; run < model.runs.size(); run++)
		for (const auto &edge : finding.edges)
			edges_seen[run] += !contexts_in(model, edge, run).empty();
	std::set<std::string> shown;
	for (auto &edge : finding.edges) {
		auto value = [&](const Witness &witness) {
			const Sight &sight = model.sights[witness.sight];
			const bool wanted_kind = dependency_kind(sight.held[witness.position].val,
								 sight.acquired.val) == edge.kind;
			return std::tuple(wanted_kind, edges_seen[sight.run],
					  !shown.count(witness.context.key()),
					  !witness.context.init(), !sight.stack.empty());
		};
		auto best = std::max_element(
			edge.witnesses.begin(), edge.witnesses.end(),
			[&](const auto &a, const auto &b) { return value(a) < value(b); });
		std::rotate(edge.witnesses.begin(), best, best + 1);
		shown.insert(edge.shown().context.key());
	}
}

bool same_function(const Code &a, const Code &b)
{
	return !a.function.empty() && a.function == b.function && a.module == b.module;
}

/*
 * The stack of an edge is that of its second acquire. The first one's is that
 * same stack from the function on that took the first lock, if that function
 * has not returned yet; else another sight may have been taken at that place.
 */
void fill_stacks(const Model &model, FindingEdge &edge, const SightsByPlace &by_place)
{
	const Sight &sight = model.sights[edge.shown().sight];
	const Held &held = sight.held[edge.shown().position];
	edge.to_stack = sight.stack;
	if (edge.to_stack.empty() || edge.to_stack.front() != sight.acquired.at)
		edge.to_stack.insert(edge.to_stack.begin(), sight.acquired.at);
	edge.from_stack = {held.at};

	for (std::size_t i = 0; i < edge.to_stack.size(); i++) {
		if (!same_function(model[edge.to_stack[i]], model[held.at]))
			continue;
		edge.from_stack.insert(edge.from_stack.end(),
				       edge.to_stack.begin() + static_cast<std::ptrdiff_t>(i) + 1,
				       edge.to_stack.end());
		edge.depth = static_cast<std::uint32_t>(i);
		return;
	}
	auto others = by_place.find(index(held.at));
	if (index(held.at) == 0 || others == by_place.end())
		return;
	const Sight *best = nullptr;
	for (auto number : others->second) {
		const Sight &other = model.sights[number];
		if (other.stack.empty() || other.acquired.cls != held.cls)
			continue;
		if (!best ||
		    (best->pid != sight.pid && other.pid == sight.pid && other.run == sight.run))
			best = &other;
	}
	if (!best)
		return;
	edge.from_stack = best->stack;
	/* Calls up to the innermost function that both stacks pass. */
	for (std::size_t i = 0; i < edge.from_stack.size(); i++)
		for (std::size_t j = 0; j < edge.to_stack.size(); j++)
			if (same_function(model[edge.from_stack[i]], model[edge.to_stack[j]])) {
				edge.depth = static_cast<std::uint32_t>(i + j);
				return;
			}
}

/// "f", or what is known instead.
std::string function_of(const Model &model, const FindingEdge &edge)
{
	const auto &code = model[edge.to_stack.front()];
	return code.function.empty() ? edge.shown().context.describe()
				     : plain_function(code.function);
}

std::string functions_of(const Model &model, const Finding &finding)
{
	std::vector<std::string> functions;
	for (const auto &edge : finding.edges)
		if (auto function = function_of(model, edge);
		    std::find(functions.begin(), functions.end(), function) == functions.end())
			functions.push_back(function);
	if (functions.size() > kTitleFunctions) {
		functions.resize(kTitleFunctions);
		functions.push_back("...");
	}
	return " (" + join(functions, " vs ") + ")";
}

std::string cycle_title(const Model &model, const Finding &finding)
{
	std::vector<std::string> names;
	for (ClassId cls : finding.classes)
		names.push_back(short_name(model[cls]));
	names.push_back(names.front());
	return "lock order: " + join(names, " -> ") + functions_of(model, finding);
}

class Analyser {
public:
	explicit Analyser(const Model &model) : model_(model), graph_(model)
	{
		for (std::size_t i = 0; i < model.sights.size(); i++)
			by_place_[index(model.sights[i].acquired.at)].push_back(i);
	}

	Analysis run()
	{
		Analysis out;
		out.edges = graph_.size();
		auto cycles = graph_.cycles();
		std::set<std::uint32_t> edges;
		for (const auto &cycle : cycles)
			edges.insert(cycle.begin(), cycle.end());
		facts_ = chain_facts(model_, graph_, edges);
		for (const auto &cycle : cycles)
			out.findings.push_back(cycle_finding(cycle));
		add_inversions(out.findings);
		sort_findings(out.findings);
		self_check(cycles.size(), out);
		return out;
	}

private:
	Witness witness(std::size_t sight, std::uint32_t position) const
	{
		return {sight, position, context_of(model_, model_.sights[sight])};
	}

	Finding cycle_finding(Cycle cycle) const
	{
		Finding finding;
		finding.kind = FindingKind::LockOrderCycle;
		std::vector<ClassId> classes;
		for (auto edge : cycle)
			classes.push_back(graph_.dependency(edge).from);
		const auto start = static_cast<std::ptrdiff_t>(canonical_start(model_, classes));
		std::rotate(classes.begin(), classes.begin() + start, classes.end());
		std::rotate(cycle.begin(), cycle.begin() + start, cycle.end());
		finding.classes = classes;
		finding.id = finding_id(model_, finding.kind, classes);

		std::vector<std::uint32_t> masks;
		for (auto edge : cycle)
			masks.push_back(graph_.dependency(edge).kinds);
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
					edge.witnesses.push_back(
						witness(evidence.sight, evidence.position));
			}
			edge.count = std::max<std::uint64_t>(fact.count, edge.witnesses.size());
			finding.edges.push_back(std::move(edge));
		}
		complete(finding, facts);
		finding.title = cycle_title(model_, finding);
		return finding;
	}

	void complete(Finding &finding, const std::vector<const ChainFacts *> &facts) const
	{
		choose_witnesses(model_, finding);
		for (auto &edge : finding.edges)
			fill_stacks(model_, edge, by_place_);
		finding.confidence = confidence_of(model_, finding);
		apply_filters(model_, finding, facts);
		rank_finding(model_, finding);
	}

	/// One side of an inversion: the sight in which the class nests in itself.
	bool add_side(Finding &finding, ClassId cls, std::uint32_t run, std::uint32_t ordinal) const
	{
		auto at = model_.runs[run].sights.find(ordinal);
		if (at == model_.runs[run].sights.end())
			return false;
		const Sight &sight = model_.sights[at->second];
		if (sight.acquired.cls != cls)
			return false;
		for (auto i = static_cast<std::uint32_t>(sight.held.size()); i-- > 0;) {
			if (sight.held[i].cls != cls)
				continue;
			FindingEdge edge;
			edge.from = edge.to = cls;
			edge.kind = dependency_kind(sight.held[i].val, sight.acquired.val);
			edge.witnesses.push_back(witness(at->second, i));
			edge.count = 1;
			finding.edges.push_back(std::move(edge));
			return true;
		}
		return false;
	}

	/* One finding a class: further inversions only add to its evidence. */
	void add_inversions(std::vector<Finding> &out) const
	{
		std::map<std::pair<ClassId, bool>, Finding> by_class;
		for (const auto &inversion : model_.inversions) {
			if (inversion.cls == kNoClass ||
			    by_class.count({inversion.cls, inversion.same_instance}))
				continue;
			Finding finding;
			finding.kind = FindingKind::RecursiveLock;
			finding.classes = {inversion.cls};
			add_side(finding, inversion.cls, inversion.run, inversion.first);
			if (inversion.second != inversion.first)
				add_side(finding, inversion.cls, inversion.run, inversion.second);
			if (finding.edges.empty())
				continue;
			finding.id = finding_id(model_, finding.kind, finding.classes);
			complete(finding, {});
			const std::string lock = short_name(model_[inversion.cls]);
			finding.title = (inversion.same_instance
						 ? "recursive lock: " + lock + " taken twice"
						 : "recursive lock: two " + lock +
							   " taken in both orders") +
					functions_of(model_, finding);
			/* One task alone that takes a lock it holds does hang. */
			if (inversion.same_instance) {
				finding.confidence = Confidence::Observed;
				finding.filters.clear();
				rank_finding(model_, finding);
			}
			by_class.emplace(std::pair{inversion.cls, inversion.same_instance},
					 std::move(finding));
		}
		for (auto &[key, finding] : by_class) {
			/* Taking one instance twice is the stronger case of the two. */
			if (!key.second && by_class.count({key.first, true}))
				continue;
			out.push_back(finding);
		}
	}

	void self_check(std::size_t graph_cycles, Analysis &out) const
	{
		std::set<std::pair<ClassId, ClassId>> known;
		for (const auto &dependency : graph_.dependencies())
			known.insert({dependency.from, dependency.to});
		std::size_t kernel_cycles = 0, unknown = 0;
		for (const auto &finding : model_.kernel_findings) {
			if (finding.kind != LS_FINDING_ORDER_CYCLE)
				continue;
			kernel_cycles++;
			const std::size_t n = finding.classes.size();
			for (std::size_t i = 0; i < n; i++)
				if (!known.count(
					    {finding.classes[i], finding.classes[(i + 1) % n]})) {
					unknown++;
					break;
				}
		}
		if (unknown)
			out.self_check.push_back(
				counted(unknown, "cycle") +
				" that the module found cannot be rebuilt from the store");
		/* The module keeps cycles under a gate lock back. */
		const auto cycles =
			std::count_if(out.findings.begin(), out.findings.end(), [](const auto &f) {
				return f.kind == FindingKind::LockOrderCycle && !f.hidden();
			});
		if (kernel_cycles && !graph_cycles && !unknown)
			out.self_check.push_back("the module found " +
						 counted(kernel_cycles, "cycle") +
						 ", the search over its log none");
		if (cycles && !kernel_cycles && model_.runs.size() == 1 &&
		    model_.runs[0].backend == "kmod")
			out.self_check.push_back(
				"the module itself found none of the cycles below");
	}

	const Model &model_;
	LockGraph graph_;
	SightsByPlace by_place_;
	std::unordered_map<std::uint32_t, ChainFacts> facts_;
};

} // namespace

const char *name(Severity severity)
{
	return severity == Severity::Error     ? "error"
	       : severity == Severity::Warning ? "warning"
					       : "note";
}

const char *name(Confidence confidence)
{
	return confidence == Confidence::Confirmed  ? "confirmed"
	       : confidence == Confidence::Observed ? "observed"
						    : "possible";
}

const char *name(FindingKind kind)
{
	return kind == FindingKind::LockOrderCycle ? "lock-order-cycle" : "recursive-lock";
}

std::optional<Severity> parse_severity(const std::string &text)
{
	for (auto severity : {Severity::Note, Severity::Warning, Severity::Error})
		if (text == name(severity))
			return severity;
	return std::nullopt;
}

std::optional<Confidence> parse_confidence(const std::string &text)
{
	for (auto confidence : {Confidence::Possible, Confidence::Observed, Confidence::Confirmed})
		if (text == name(confidence))
			return confidence;
	return std::nullopt;
}

bool Finding::hidden() const
{
	return std::any_of(filters.begin(), filters.end(),
			   [](const Filter &f) { return f.hidden; });
}

std::string finding_id(const Model &model, FindingKind kind, const std::vector<ClassId> &classes)
{
	std::string text = name(kind);
	const std::size_t start = classes.empty() ? 0 : canonical_start(model, classes);
	for (std::size_t i = 0; i < classes.size(); i++) {
		const auto &cls = model[classes[(start + i) % classes.size()]];
		text += '\n' + cls.stable + '\t' + kind_name(cls.kind);
	}
	return hex64(stable_hash(text));
}

std::string short_name(const LockClass &cls)
{
	std::string out = cls.name;
	if (auto at = out.find(" struct "); at != out.npos)
		return out.substr(at + 8);
	if (auto at = out.find(" @ "); at != out.npos && cls.origin == LS_ORIGIN_INIT)
		out.resize(at);
	if (cls.origin == LS_ORIGIN_STATIC || cls.origin == LS_ORIGIN_PERCPU)
		if (auto colon = out.find(':'); colon != out.npos && colon + 1 < out.size())
			out = out.substr(colon + 1);
	return out;
}

Analysis analyse(const Model &model)
{
	return Analyser(model).run();
}

} // namespace lockscope
