// SPDX-License-Identifier: GPL-2.0
#include "analysis/filters/instances.h"

#include "analysis/evidence.h"
#include "analysis/filters/annotated.h"
#include "analysis/filters/beliefs.h"
#include "model/counters.h"
#include "util/text.h"

extern "C" {
#include "lockclass/passed.h"
}

#include <algorithm>
#include <map>
#include <optional>
#include <set>

namespace lockscope {

namespace {

/// An unknown instance; the single instance of a global lock.
constexpr std::uint64_t kUnknown = 0, kTheOne = ~std::uint64_t{0};
/// Observations of one pair of instances that are compared in search of the best ones.
constexpr std::size_t kTried = 8;
/// Limit of combinations of those.
constexpr std::size_t kCombinations = 64;
/// Limit of sets of instances that match.
constexpr std::size_t kPaths = 256;
/// Limit of combinations of all matching observations, where each of them has to be tested.
constexpr std::size_t kAllCombinations = 65536;
/// Matching sets of instances, each with a gate, from which all are assumed to have one.
constexpr std::size_t kProvingMatches = 2;

std::uint64_t instance_of(const Model &model, const Held &held)
{
	return held.cls != kNoClass && model[held.cls].global() ? kTheOne : held.instance;
}

/// The instances at both ends of @edge in @witness. An interrupt counts as one.
std::pair<std::uint64_t, std::uint64_t> ends_of(const Model &model, const FindingEdge &edge,
						const Witness &witness)
{
	const Observation &observation = model.observations[witness.observation];
	if (to_interrupt(edge))
		return {instance_of(model, observation.at(witness.position)), kTheOne};
	if (from_interrupt(edge))
		return {kTheOne, instance_of(model, observation.at(witness.position))};
	return {instance_of(model, observation.from(witness.position)),
		instance_of(model, observation.to(witness.position))};
}

/// A lock that excludes edges @a and @b of a finding.
struct Gate {
	ClassId cls;
	std::size_t a, b;
	bool passed = false; ///< not held on both: one side passed it before
};

bool holds_class(const Model &model, const FindingEdge &edge, const Witness &witness, ClassId cls)
{
	const auto held = holds(model, edge, witness);
	return std::any_of(held.begin(), held.end(),
			   [&](const Held &one) { return one.cls == cls; });
}

/// Does a chain have one of the edges without the gate? Chains do not cover the edge's own
/// classes. With @proven, only chains count whose instances are known, because the locks are
/// global, and which no observation shows: observations are tested one by one.
bool done_without(const Model &model, const Finding &finding, const Gate &gate,
		  const std::vector<ChainFacts::Kind> &facts, bool proven)
{
	/* Chains say nothing of what was passed, and each observation was tested. */
	if (gate.passed)
		return false;
	for (std::size_t e : {gate.a, gate.b}) {
		const auto &edge = finding.edges[e];
		if (e >= facts.size() || !facts[e].any || facts[e].held.contains(gate.cls) ||
		    gate.cls == edge.from || gate.cls == edge.to)
			continue;
		if (!proven || (model[edge.from].global() && model[edge.to].global() &&
				std::all_of(edge.witnesses.begin(), edge.witnesses.end(),
					    [&](const Witness &witness) {
						    return holds_class(model, edge, witness,
								       gate.cls);
					    })))
			return true;
	}
	return false;
}

bool held_the_same(const std::vector<Held> &a, const std::vector<Held> &b)
{
	return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](const Held &x, const Held &y) {
		return x.cls == y.cls && x.val == y.val && x.instance == y.instance;
	});
}

/// Observations of one run, for each edge by the instances at its ends.
class Meetings {
public:
	using Ends = std::pair<std::uint64_t, std::uint64_t>;

	Meetings(const Model &model, const Finding &finding, std::uint32_t run)
		: model_(model), finding_(finding), edges_(finding.edges.size()),
		  held_(finding.edges.size())
	{
		for (std::size_t e = 0; e < edges_.size(); e++) {
			const auto &edge = finding.edges[e];
			held_[e].resize(edge.witnesses.size());
			for (std::size_t w = 0; w < edge.witnesses.size(); w++) {
				const auto &witness = edge.witnesses[w];
				if (model.observations[witness.observation].run != run)
					continue;
				const auto ends = ends_of(model, edge, witness);
				if (ends.first == kUnknown || ends.second == kUnknown)
					continue;
				edges_[e][ends.first][ends.second].push_back(w);
				held_[e][w] = holds(model, edge, witness);
			}
			for (auto &[from, by_to] : edges_[e])
				for (auto &[to, kept] : by_to)
					drop_unknown(e, kept);
		}
	}

	/// A witness of each edge such that all instances match, preferring those without a
	/// gate and in several contexts; empty: there are none.
	std::vector<std::size_t> find(std::optional<Gate> &gate) const
	{
		Choice best;
		if (edges_.empty())
			return {};
		std::size_t left = kPaths;
		for (const auto &[from, by_to] : edges_[0])
			for (const auto &[to, kept] : by_to) {
				std::vector<Ends> path{{from, to}};
				std::set<std::pair<std::size_t, std::uint64_t>> dead;
				/* Each has its turn, also where one has many paths. */
				left = std::max(left, std::size_t{1});
				if (best.value < kBest)
					extend(path, dead, left, best);
			}
		gate = best.gate;
		return best.chosen;
	}

	/// Number of matching sets of instances, if every combination of their observations
	/// has a gate; 0: one has none, or there are too many. All gates are added to @gates.
	std::size_t gated_matches(std::vector<Gate> &gates) const
	{
		std::size_t left = kAllCombinations, matches = 0;
		std::vector<Ends> path;
		if (edges_.empty() || !gated_from(path, left, matches, gates))
			return 0;
		return matches;
	}

private:
	/// Of those that held the same, an observation that does not know what was passed says
	/// less than one that does.
	void drop_unknown(std::size_t e, std::vector<std::size_t> &kept) const
	{
		auto unknown = [&](std::size_t w) {
			const auto &witness = finding_.edges[e].witnesses[w];
			return (model_.observations[witness.observation].extra & LS_PAST_UNKNOWN) !=
			       0;
		};
		auto known_of = [&](std::size_t w) {
			return std::any_of(kept.begin(), kept.end(), [&](std::size_t other) {
				return !unknown(other) &&
				       held_the_same(held_[e][w], held_[e][other]);
			});
		};
		std::vector<std::size_t> left;
		for (const auto w : kept)
			if (!unknown(w) || !known_of(w))
				left.push_back(w);
		kept = std::move(left);
	}

	/// Recursion over all paths that begin with @path; false once a combination has no
	/// gate.
	bool gated_from(std::vector<Ends> &path, std::size_t &left, std::size_t &matches,
			std::vector<Gate> &gates) const
	{
		const std::size_t e = path.size();
		if (e == edges_.size()) {
			if (path.back().second != path.front().first)
				return left-- > 0;
			matches++;
			return all_gated(path, left, gates);
		}
		bool ends = e > 0;
		for (const auto &[from, by_to] : edges_[e]) {
			if (e > 0 && from != path.back().second)
				continue;
			ends = false;
			for (const auto &[to, kept] : by_to) {
				path.push_back({from, to});
				const bool gated = gated_from(path, left, matches, gates);
				path.pop_back();
				if (!gated)
					return false;
			}
		}
		return !ends || left-- > 0;
	}

	bool all_gated(const std::vector<Ends> &path, std::size_t &left,
		       std::vector<Gate> &gates) const
	{
		std::vector<std::size_t> at(path.size());
		for (;;) {
			std::vector<std::size_t> chosen;
			for (std::size_t e = 0; e < path.size(); e++)
				chosen.push_back(kept(path, e)[at[e]]);
			const bool matters = strong(chosen);
			const auto gate = gate_of(chosen);
			if ((matters && !gate) || left-- == 0)
				return false;
			if (matters &&
			    std::none_of(gates.begin(), gates.end(), [&](const Gate &known) {
				    return known.cls == gate->cls && known.a == gate->a &&
					   known.b == gate->b;
			    }))
				gates.push_back(*gate);
			std::size_t e = 0;
			while (e < at.size() && ++at[e] == kept(path, e).size())
				at[e++] = 0;
			if (e == at.size())
				return true;
		}
	}

	static constexpr int kBest = 4;
	struct Choice {
		int value = 0;
		std::vector<std::size_t> chosen;
		std::optional<Gate> gate;
	};

	/// The best of the first combinations of witnesses for @path.
	Choice choose(const std::vector<Ends> &path) const
	{
		Choice best;
		std::vector<std::size_t> at(path.size());
		for (std::size_t tried = 0; tried < kCombinations && best.value < kBest; tried++) {
			Choice here;
			for (std::size_t e = 0; e < path.size(); e++)
				here.chosen.push_back(kept(path, e)[at[e]]);
			here.gate = gate_of(here.chosen);
			here.value = !strong(here.chosen)
					     ? 0
					     : 1 + 2 * !here.gate + (contexts(here.chosen) > 1);
			if (here.value > best.value)
				best = std::move(here);
			std::size_t e = 0;
			while (e < at.size() && ++at[e] == std::min(kept(path, e).size(), kTried))
				at[e++] = 0;
			if (e == at.size())
				break;
		}
		return best;
	}

	/// Depth first over all paths that begin with @path and match, until one is as good as can
	/// be, or @left have been tried: another path may do without a gate. False when none
	/// matches; @dead: start instances of an edge of which none does.
	bool extend(std::vector<Ends> &path, std::set<std::pair<std::size_t, std::uint64_t>> &dead,
		    std::size_t &left, Choice &best) const
	{
		const std::size_t e = path.size();
		if (e == edges_.size()) {
			if (path.back().second != path.front().first)
				return false;
			left--;
			if (auto choice = choose(path); choice.value > best.value)
				best = std::move(choice);
			return true;
		}
		const std::uint64_t at = path.back().second;
		if (dead.contains({e, at}))
			return false;
		bool matches = false;
		if (auto next = edges_[e].find(at); next != edges_[e].end())
			for (const auto &[to, kept] : next->second) {
				if (!left || best.value == kBest)
					return true;
				path.push_back({at, to});
				if (extend(path, dead, left, best))
					matches = true;
				path.pop_back();
			}
		if (!matches)
			dead.insert({e, at});
		return matches;
	}

	const std::vector<std::size_t> &kept(const std::vector<Ends> &path, std::size_t e) const
	{
		return edges_[e].at(path[e].first).at(path[e].second);
	}

	/// Does no side recursively read a lock that the next one reads?
	bool strong(const std::vector<std::size_t> &chosen) const
	{
		std::vector<std::uint32_t> kinds;
		for (std::size_t e = 0; e < chosen.size(); e++)
			kinds.push_back(kind_of(model_, finding_.edges[e],
						finding_.edges[e].witnesses[chosen[e]]));
		return strong_kinds(kinds).has_value();
	}

	std::size_t contexts(const std::vector<std::size_t> &chosen) const
	{
		std::set<std::string> keys;
		for (std::size_t e = 0; e < chosen.size(); e++)
			keys.insert(finding_.edges[e].witnesses[chosen[e]].context.key());
		return keys.size();
	}

	std::optional<Gate> gate_of(const std::vector<std::size_t> &chosen) const
	{
		std::optional<Gate> passed;
		for (std::size_t i = 0; i < chosen.size(); i++)
			for (std::size_t k = i + 1; k < chosen.size(); k++) {
				const auto &a = finding_.edges[i], &b = finding_.edges[k];
				const Witness &x = a.witnesses[chosen[i]],
					      &y = b.witnesses[chosen[k]];
				/* A completer's locks exclude nothing. */
				if (model_.observations[x.observation].completion() ||
				    model_.observations[y.observation].completion())
					continue;
				if (auto cls = shared_gate(model_, held_[i][chosen[i]],
							   held_[k][chosen[k]]);
				    cls != kNoClass)
					return Gate{cls, i, k};
				/* An interrupt that acquires it before waits for it there. */
				if (auto cls =
					    passed_before(held_[i][chosen[i]], held_[k][chosen[k]]);
				    cls != kNoClass && !from_interrupt(a) && !from_interrupt(b))
					passed = Gate{cls, i, k, true};
			}
		return passed;
	}

	const Model &model_;
	const Finding &finding_;
	std::vector<std::map<std::uint64_t, std::map<std::uint64_t, std::vector<std::size_t>>>>
		edges_;
	std::vector<std::vector<std::vector<Held>>> held_; ///< per edge and witness
};

/// The lock that edge @i starts from, and its instances on both sides in one run.
struct LockSides {
	ClassId cls = kNoClass;
	std::set<std::uint64_t> in, out;
	bool known = true;
};

LockSides sides_of(const Model &model, const Finding &finding, std::size_t i, std::uint32_t run)
{
	const std::size_t n = finding.edges.size();
	LockSides sides;
	sides.cls = finding.edges[i].from;
	auto add = [&](const FindingEdge &edge, bool end, std::set<std::uint64_t> &to) {
		for (const auto &witness : edge.witnesses) {
			if (model.observations[witness.observation].run != run)
				continue;
			const auto ends = ends_of(model, edge, witness);
			const auto instance = end ? ends.second : ends.first;
			if (instance == kUnknown)
				sides.known = false;
			else
				to.insert(instance);
		}
	};
	add(finding.edges[(i + n - 1) % n], true, sides.in);
	add(finding.edges[i], false, sides.out);
	return sides;
}

bool have_common(const LockSides &sides)
{
	return std::any_of(sides.in.begin(), sides.in.end(),
			   [&](auto instance) { return sides.out.contains(instance); });
}

/// Did the module record further instances in this run, besides those of new dependencies?
bool looked_at(const Run &run)
{
	auto minor = run.counters.find(kMinorCounter);
	return run.backend != "bpf" && minor != run.counters.end() && minor->second >= 6;
}

std::string seen_as(const LockSides &sides)
{
	return std::to_string(sides.in.size()) + " taken on one side, " +
	       std::to_string(sides.out.size()) + " held on the other";
}

void show(Finding &finding, const std::vector<std::size_t> &chosen)
{
	for (std::size_t e = 0; e < chosen.size(); e++) {
		auto &witnesses = finding.edges[e].witnesses;
		const auto at = witnesses.begin() + static_cast<std::ptrdiff_t>(chosen[e]);
		std::rotate(witnesses.begin(), at, at + 1);
	}
}

/// Not all locks match: show the longest sequence of edges whose instances do.
void show_most(const Model &model, Finding &finding)
{
	using Chosen = std::pair<std::size_t, std::size_t>; /* an edge, its witness */
	const std::size_t n = finding.edges.size();
	std::vector<Chosen> best;
	for (std::size_t i = 0; i < n; i++) {
		const std::size_t before = (i + n - 1) % n;
		const auto both = common_instance(model, finding.edges[before], finding.edges[i]);
		if (from_interrupt(finding.edges[i]) || !both)
			continue;
		std::vector<Chosen> run{{before, both->first}, {i, both->second}};
		for (std::size_t e = (i + 1) % n; e != before; e = (e + 1) % n) {
			const auto &last = finding.edges[run.back().first];
			const Witness &from = last.witnesses[run.back().second];
			const auto &next = finding.edges[e].witnesses;
			const auto instance = ends_of(model, last, from).second;
			const auto at =
				std::find_if(next.begin(), next.end(), [&](const Witness &to) {
					return model.observations[to.observation].run ==
						       model.observations[from.observation].run &&
					       ends_of(model, finding.edges[e], to).first ==
						       instance;
				});
			if (instance == kUnknown || at == next.end())
				break;
			run.push_back({e, static_cast<std::size_t>(at - next.begin())});
		}
		if (run.size() > best.size())
			best = std::move(run);
	}
	for (const auto &[e, w] : best) {
		auto &witnesses = finding.edges[e].witnesses;
		const auto at = witnesses.begin() + static_cast<std::ptrdiff_t>(w);
		std::rotate(witnesses.begin(), at, at + 1);
	}
}

} // namespace

ClassId shared_gate(const Model &model, const std::vector<Held> &a, const std::vector<Held> &b,
		    ClassId but)
{
	for (const Held &x : a)
		for (const Held &y : b) {
			const auto instance = instance_of(model, x);
			if (x.cls != y.cls || x.cls == kNoClass || x.cls == but ||
			    instance == kUnknown || instance != instance_of(model, y) ||
			    counts_events(model, x.cls))
				continue;
			if (read_of(x.val) == LS_EXCLUSIVE || read_of(y.val) == LS_EXCLUSIVE)
				return x.cls;
		}
	return kNoClass;
}

ClassId passed_before(const std::vector<Held> &a, const std::vector<Held> &b)
{
	for (const auto *side : {&a, &b})
		for (const Held &lock : *side)
			for (const Held &gate : side == &a ? b : a) {
				auto apart = [&](std::uint16_t under) {
					return ls_passed_apart(under, gate.passed);
				};
				if (apart(lock.under) || std::ranges::any_of(lock.more, apart))
					return lock.cls;
			}
	return kNoClass;
}

Filter passed_filter(const Model &model, ClassId cls)
{
	return {"passed-before", false,
		"wherever the instances match, one side has passed " + short_name(model[cls]) +
			", which another one holds, under a lock that it still holds, and under "
			"which the other one acquired it"};
}

void choose_meeting(const Model &model, Finding &finding,
		    const std::vector<ChainFacts::Kind> &facts)
{
	Meeting meeting;
	const std::size_t n = finding.edges.size();
	for (std::size_t i = 0; i < n; i++)
		meeting.locks += !from_interrupt(finding.edges[i]);
	bool each_gated = true;
	std::vector<Gate> gates;
	/* One run without a gate is enough. */
	for (std::uint32_t run = 0; run < model.runs.size() && (!meeting.whole || meeting.gated);
	     run++) {
		std::optional<Gate> gate;
		const Meetings meetings(model, finding, run);
		const auto chosen = meetings.find(gate);
		if (chosen.empty())
			continue;
		const bool gated = gate && !done_without(model, finding, *gate, facts, true);
		const std::size_t matches = gated ? meetings.gated_matches(gates) : 0;
		if (!meeting.whole || !gated)
			show(finding, chosen);
		meeting.whole = true;
		meeting.gated = gated;
		meeting.passed = gated && gate->passed ? gate->cls : kNoClass;
		meeting.proven = meeting.locks;
		meeting.all_gated += matches;
		each_gated = each_gated && matches;
	}
	if (!each_gated || std::any_of(gates.begin(), gates.end(), [&](const Gate &gate) {
		    return gate.passed || done_without(model, finding, gate, facts, false);
	    }))
		meeting.all_gated = 0;
	else if (!gates.empty())
		meeting.gate = gates.front().cls;
	for (std::size_t i = 0; i < n && !meeting.whole; i++) {
		if (from_interrupt(finding.edges[i]))
			continue;
		const bool global = model[finding.edges[i].from].global();
		meeting.proven += global || common_instance(model, finding.edges[(i + n - 1) % n],
							    finding.edges[i]);
	}
	if (!meeting.whole)
		show_most(model, finding);
	finding.meeting = meeting;
}

/* Are all of its locks the same member of one structure, in objects with several uses? */
static bool one_structure(const Model &model, const Finding &finding)
{
	const ClassId first = finding.edges[0].from;
	const std::string name = name_without_role(model[first]);
	return std::any_of(finding.edges.begin(), finding.edges.end(),
			   [&](const FindingEdge &edge) { return edge.from != first; }) &&
	       std::all_of(finding.edges.begin(), finding.edges.end(),
			   [&](const FindingEdge &edge) {
				   return !to_interrupt(edge) && !from_interrupt(edge) &&
					  name_without_role(model[edge.from]) == name;
			   });
}

std::string mixed_class(const LockClass &cls)
{
	return cls.name + " is all that was first acquired there and has no other name: perhaps "
			  "several locks, and no one instance was seen on both sides";
}

/* A function of the kernel's own for items of many owners, such as wb_workfn(). */
bool serves_many(const LockClass &cls)
{
	return cls.kind == LS_KIND_WORK && cls.origin == LS_ORIGIN_FUNCTION &&
	       cls.module == "vmlinux";
}

void judge_meeting(const Model &model, Finding &finding)
{
	if (!finding.meeting)
		return;
	const auto &meeting = *finding.meeting;
	if (meeting.whole && meeting.passed != kNoClass) {
		finding.filters.push_back(passed_filter(model, meeting.passed));
		return;
	}
	if (meeting.whole && meeting.gated) {
		if (std::any_of(finding.filters.begin(), finding.filters.end(),
				[](const Filter &filter) { return filter.name == "gate-lock"; }))
			return;
		if (meeting.all_gated >= kProvingMatches && !finding.about_interrupt()) {
			finding.filters.push_back({"gate-lock", true,
						   "in all " + std::to_string(meeting.all_gated) +
							   " sets of instances that match " +
							   short_name(model[meeting.gate]) +
							   ", one and the same on both, keeps two "
							   "of the sides apart"});
			return;
		}
		finding.filters.push_back(
			{"gate-lock", false,
			 "wherever the instances match, one lock is held on two of "
			 "the sides and keeps them apart"});
		return;
	}
	if (meeting.whole)
		return;
	for (std::uint32_t run = 0; run < model.runs.size(); run++)
		for (std::size_t i = 0; i < finding.edges.size(); i++) {
			const std::size_t before =
				(i + finding.edges.size() - 1) % finding.edges.size();
			if (from_interrupt(finding.edges[i]))
				continue;
			const auto sides = sides_of(model, finding, i, run);
			if (!sides.known || sides.in.empty() || sides.out.empty() ||
			    have_common(sides))
				continue;
			const std::uint64_t least =
				std::min(finding.edges[before].count, finding.edges[i].count);
			const bool often =
				looked_at(model.runs[run]) && least >= kOften &&
				std::min(sides.in.size(), sides.out.size()) <= kFewInstances;
			if (!often)
				continue;
			finding.filters.push_back({"instances-never-matched", false,
						   "no " + short_name(model[sides.cls]) +
							   " was ever on both sides: " +
							   seen_as(sides) + ", either side about " +
							   with_commas(least) + " times or more",
						   Severity::Note});
			return;
		}
	if (one_structure(model, finding)) {
		finding.filters.push_back(
			{"one-structure", false,
			 "objects of one structure nest in each other, told apart by their use "
			 "alone, and no two were seen both ways round",
			 Severity::Note});
		return;
	}
	const std::string computed = computed_subclass(model, finding);
	if (!computed.empty()) {
		finding.filters.push_back(
			{"computed-subclass", false,
			 computed + ", and no one set of instances was seen on all sides",
			 Severity::Note});
		return;
	}
	std::vector<std::string> apart;
	for (std::size_t i = 0; i < finding.edges.size(); i++) {
		const std::size_t before = (i + finding.edges.size() - 1) % finding.edges.size();
		if (from_interrupt(finding.edges[i]) || model[finding.edges[i].from].global() ||
		    common_instance(model, finding.edges[before], finding.edges[i]))
			continue;
		if (model[finding.edges[i].from].origin == LS_ORIGIN_SITE) {
			finding.filters.push_back({"mixed-class", false,
						   mixed_class(model[finding.edges[i].from]),
						   Severity::Note});
			return;
		}
		if (serves_many(model[finding.edges[i].from])) {
			finding.filters.push_back(
				{"other-work-item", false,
				 "the item of " + model[finding.edges[i].from].name +
					 " that is waited for was not seen to do this: its "
					 "function runs for others, too",
				 Severity::Note});
			return;
		}
		const auto &shown = finding.edges[i].shown();
		apart.push_back(short_name(model[finding.edges[i].from]) + " (" +
				seen_as(sides_of(model, finding, i,
						 model.observations[shown.observation].run)) +
				")");
	}
	finding.filters.push_back(
		{"instances-not-proven", false,
		 apart.empty() ? "each lock was one instance on both sides, but not all of them "
				 "at the same time"
			       : "not seen as one instance on both sides: " + join(apart, ", ")});
}

} // namespace lockscope
