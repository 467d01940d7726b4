// SPDX-License-Identifier: GPL-2.0
#include "analysis/evidence.h"

#include "analysis/orders/lockgraph.h"

extern "C" {
#include "lockclass/edges.h"
}

#include <algorithm>
#include <map>
#include <numeric>
#include <set>
#include <tuple>

namespace lockscope {

namespace {

/// Keys of the contexts that show @edge within @run. What one process does counts as that of two.
std::set<std::string> contexts_in(const Model &model, const FindingEdge &edge, std::uint32_t run)
{
	std::set<std::string> keys;
	for (const auto &witness : edge.witnesses) {
		if (model.observations[witness.observation].run != run)
			continue;
		keys.insert(witness.context.key());
		if (witness.context.user_task())
			keys.insert("another " + witness.context.key());
	}
	return keys;
}

/// The part of @stack inside the entry point of its context.
std::vector<CodeId> entry_part(const Model &model, const std::vector<CodeId> &stack,
			       const Context &context)
{
	auto at = std::find_if(stack.begin(), stack.end(), [&](CodeId frame) {
		return !context.entry.empty() &&
		       plain_function(model[frame].function) == context.entry;
	});
	return at == stack.end() ? stack : std::vector<CodeId>(at, stack.end());
}

/// Move witness number @chosen to the front.
void show(FindingEdge &edge, std::size_t chosen)
{
	const auto at = edge.witnesses.begin() + static_cast<std::ptrdiff_t>(chosen);
	std::rotate(edge.witnesses.begin(), at, at + 1);
}

} // namespace

/* A counting sort: their order is kept. */
void ObservationIndex::fill(const std::vector<std::pair<std::size_t, std::size_t>> &all)
{
	for (const auto &[number, observation] : all)
		first_[number + 1]++;
	std::partial_sum(first_.begin(), first_.end(), first_.begin());
	auto at = first_;
	all_.resize(all.size());
	for (const auto &[number, observation] : all)
		all_[at[number]++] = observation;
}

ObservationsByPlace::ObservationsByPlace(const Model &model)
	: ObservationIndex(model, model.code.size(), [](const Observation &observation) {
		  return index(observation.acquired.at);
	  })
{
}

ObservationsByClass::ObservationsByClass(const Model &model)
	: ObservationIndex(model, model.classes.size(), [](const Observation &observation) {
		  return index(observation.acquired.cls);
	  })
{
}

Witness make_witness(const Model &model, std::size_t observation, std::uint32_t position)
{
	return {observation, position, context_of(model, model.observations[observation])};
}

Confidence confidence_of(const Model &model, const Finding &finding)
{
	for (std::uint32_t run = 0; run < model.runs.size(); run++) {
		std::set<std::string> all;
		bool complete = true;
		for (const auto &edge : finding.edges) {
			auto keys = contexts_in(model, edge, run);
			complete = complete && !keys.empty();
			if (finding.kind != FindingKind::IrqInversion || !from_interrupt(edge))
				all.merge(keys);
		}
		if (complete && all.size() > 1)
			return Confidence::Observed;
	}
	return Confidence::Possible;
}

void choose_witnesses(const Model &model, Finding &finding)
{
	std::map<std::uint32_t, std::size_t> edges_seen;
	for (std::uint32_t run = 0; run < model.runs.size(); run++)
		for (const auto &edge : finding.edges)
			edges_seen[run] += !contexts_in(model, edge, run).empty();
	std::set<std::string> shown;
	for (auto &edge : finding.edges) {
		auto value = [&](const Witness &witness) {
			const Observation &observation = model.observations[witness.observation];
			/* An acquire is better evidence than a lock held later. */
			const bool acquires =
				(observation.acquisition() || observation.completion()) &&
				(witness.position == kOwnLock || !to_interrupt(edge));
			return std::tuple(
				kind_of(model, edge, witness) == edge.kind,
				edges_seen[observation.run], !shown.count(witness.context.key()),
				!witness.context.init(), !observation.stack.empty(), acquires);
		};
		auto best = std::max_element(
			edge.witnesses.begin(), edge.witnesses.end(),
			[&](const auto &a, const auto &b) { return value(a) < value(b); });
		show(edge, static_cast<std::size_t>(best - edge.witnesses.begin()));
		shown.insert(edge.shown().context.key());
	}
	if (finding.kind != FindingKind::InconsistentIrqState || finding.edges.size() != 2)
		return;
	auto &held = finding.edges[0], &taken = finding.edges[1];
	if (auto both = common_instance(model, taken, held)) {
		show(taken, both->first);
		show(held, both->second);
	}
}

std::uint32_t kind_of(const Model &model, const FindingEdge &edge, const Witness &witness)
{
	const Observation &observation = model.observations[witness.observation];
	const std::uint32_t val = observation.at(witness.position).val;
	if (to_interrupt(edge))
		return read_of(val) == LS_EXCLUSIVE ? LS_DEP_EN : LS_DEP_SN;
	if (from_interrupt(edge))
		return read_of(val) == LS_RECURSIVE ? LS_DEP_ER : LS_DEP_EN;
	return observation.completion() ? ls_need_kind(val)
					: dependency_kind(val, observation.acquired.val);
}

std::vector<Held> holds(const Model &model, const FindingEdge &edge, const Witness &witness)
{
	const Observation &observation = model.observations[witness.observation];
	std::vector<Held> held = observation.held;
	if (to_interrupt(edge) && witness.position == kOwnLock)
		held.push_back(observation.acquired);
	return held;
}

std::string held_name(const Model &model, const Held &held)
{
	if (held.cls == kNoClass)
		return "?";
	return model[held.cls].name +
	       (held.val & LS_VAL_QUIET ? " (not held: its device does not transmit)" : "");
}

bool completes(const Model &model, const FindingEdge &edge)
{
	return !edge.witnesses.empty() && model.observations[edge.shown().observation].completion();
}

std::optional<std::pair<std::size_t, std::size_t>>
common_instance(const Model &model, const FindingEdge &in, const FindingEdge &out)
{
	/* Among those shown first, better ones come first. */
	std::map<std::pair<std::uint32_t, std::uint64_t>, std::size_t> held;
	for (std::size_t i = 0; i < out.witnesses.size(); i++) {
		const Observation &observation = model.observations[out.witnesses[i].observation];
		const auto position = out.witnesses[i].position;
		held.try_emplace({observation.run, position == kOwnLock
							   ? observation.acquired.instance
							   : observation.from(position).instance},
				 i);
	}
	for (std::size_t i = 0; i < in.witnesses.size(); i++) {
		const Observation &observation = model.observations[in.witnesses[i].observation];
		const auto position = in.witnesses[i].position;
		const std::uint64_t instance = position == kOwnLock
						       ? observation.acquired.instance
						       : observation.to(position).instance;
		auto at = held.find({observation.run, instance});
		if (instance != 0 && at != held.end())
			return std::pair{i, at->second};
	}
	return std::nullopt;
}

std::pair<std::uint64_t, std::uint64_t> shown_instances(const Model &model, const FindingEdge &edge)
{
	const Witness &witness = edge.shown();
	const Observation &observation = model.observations[witness.observation];
	if (to_interrupt(edge))
		return {observation.at(witness.position).instance, 0};
	if (from_interrupt(edge))
		return {0, observation.at(witness.position).instance};
	if (witness.position == kOwnLock)
		return {observation.acquired.instance, observation.acquired.instance};
	return {observation.from(witness.position).instance,
		observation.to(witness.position).instance};
}

std::vector<Held> own_locks(const Observation &observation)
{
	std::vector<Held> out;
	const bool waits = observation.what == LS_FINDING_LONG_HOLD;
	for (std::size_t i = 0; i < observation.held.size(); i++)
		if (!waits || i >= 64 || !(observation.new_mask >> i & 1))
			out.push_back(observation.held[i]);
	return out;
}

bool waits_for_itself(const Model &model, const Finding &finding)
{
	if (finding.kind != FindingKind::RecursiveLock || finding.edges.size() != 1)
		return false;
	const FindingEdge &edge = finding.edges.front();
	const Witness &witness = edge.shown();
	const Observation &observation = model.observations[witness.observation];
	const auto [held, acquired] = shown_instances(model, edge);
	const bool same = held && acquired ? held == acquired : model[edge.from].global();
	return same && (read_of(observation.at(witness.position).val) == LS_EXCLUSIVE ||
			read_of(observation.acquired.val) == LS_EXCLUSIVE);
}

/*
 * The stack of an edge is that of its second acquire. The first acquire shares the part
 * outside of the function that acquired the first lock, if that function has not returned yet;
 * otherwise the stack of another observation at that acquire site is used, preferably of the same
 * instance by the same task shortly before.
 */
void fill_stacks(const Model &model, FindingEdge &edge, const ObservationsByPlace &by_place)
{
	const Witness &witness = edge.shown();
	const Observation &observation = model.observations[witness.observation];
	const Held &held = observation.at(witness.position);
	edge.to_stack = observation.stack;
	/* A fault may have no place besides its stack. */
	if (edge.to_stack.empty() ||
	    (!observation.fault() && edge.to_stack.front() != observation.acquired.at))
		edge.to_stack.insert(edge.to_stack.begin(), observation.acquired.at);
	if (witness.position == kOwnLock) {
		if (from_interrupt(edge))
			edge.from_stack = entry_part(model, edge.to_stack, witness.context);
		else if (!observation.fault())
			edge.from_stack = edge.to_stack;
		return;
	}
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
	if (index(held.at) == 0)
		return;
	const auto value = [&](std::size_t number) {
		const Observation &other = model.observations[number];
		const bool here = other.run == observation.run;
		return std::tuple(here, here && other.pid == observation.pid,
				  here && held.instance && other.acquired.instance == held.instance,
				  here && other.ordinal < observation.ordinal ? other.ordinal + 1
									      : 0);
	};
	for (auto number : by_place.of(index(held.at))) {
		const Observation &other = model.observations[number];
		if (!other.stack.empty() && other.acquired.cls == held.cls &&
		    (!edge.borrowed || value(*edge.borrowed) < value(number)))
			edge.borrowed = number;
	}
	if (!edge.borrowed)
		return;
	edge.from_stack = model.observations[*edge.borrowed].stack;
	/* Calls down from the innermost function that both stacks have in common. */
	for (std::size_t i = 0; i < edge.from_stack.size(); i++)
		for (std::size_t j = 0; j < edge.to_stack.size(); j++)
			if (same_function(model[edge.from_stack[i]], model[edge.to_stack[j]])) {
				edge.depth = static_cast<std::uint32_t>(i + j);
				return;
			}
}

void borrow_callers(const Model &model, FindingEdge &edge)
{
	const Witness &witness = edge.shown();
	const Observation &observation = model.observations[witness.observation];
	const Held &lock = observation.at(witness.position);
	if (edge.from_stack.size() != 1 || index(lock.at) == 0)
		return;
	std::tuple<bool, bool, std::uint32_t> best;
	for (std::size_t n = 0; n < model.observations.size(); n++) {
		const Observation &other = model.observations[n];
		if (other.run != observation.run || &other == &observation)
			continue;
		const auto held =
			std::find_if(other.held.begin(), other.held.end(), [&](const Held &h) {
				return h.cls == lock.cls && h.at == lock.at;
			});
		const auto frame =
			std::find_if(other.stack.begin(), other.stack.end(), [&](CodeId f) {
				return same_function(model[f], model[lock.at]);
			});
		if (held == other.held.end() || frame == other.stack.end() ||
		    frame + 1 == other.stack.end())
			continue;
		const std::tuple value(other.pid == observation.pid,
				       lock.instance && held->instance == lock.instance,
				       other.ordinal + 1);
		if (value <= best)
			continue;
		best = value;
		edge.borrowed = n;
		edge.from_stack.resize(1);
		edge.from_stack.insert(edge.from_stack.end(), frame + 1, other.stack.end());
	}
}

const Observation *taken_before(const Model &model, const Observation &observation,
				const Held &lock, const ObservationsByClass &by_class)
{
	const Observation *best = nullptr;
	auto value = [&](const Observation &other) {
		const bool same = lock.instance != 0 && other.acquired.instance == lock.instance;
		return std::tuple(same, other.ordinal);
	};
	for (const auto number : by_class.of(index(lock.cls)))
		if (const Observation &other = model.observations[number];
		    other.run == observation.run && other.ordinal < observation.ordinal &&
		    (!best || value(*best) < value(other)))
			best = &other;
	return best;
}

} // namespace lockscope
