// SPDX-License-Identifier: GPL-2.0
#include "analysis/filters/states.h"

#include "analysis/evidence.h"
#include "analysis/filters/annotated.h"
#include "analysis/filters/instances.h"
#include "analysis/filters/readers.h"
#include "analysis/orders/cycles.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>

namespace lockscope {

namespace {

/*
 * Limit of compared observations of one lock in two states: with more of them the finding is
 * kept.
 */
constexpr std::size_t kStatePairs = 65536;

const Observation &observed_by(const Model &model, const Witness &witness)
{
	return model.observations[witness.observation];
}

/* Does the core call a driver's ndo_start_xmit() in @observation? */
bool transmits(const Model &model, const Observation &observation)
{
	return std::any_of(observation.stack.begin(), observation.stack.end(), [&](CodeId at) {
		const auto &name = model[at].function;
		return name == "dev_hard_start_xmit" || name == "__dev_direct_xmit";
	});
}

/* Is gate @cls not held by @held, but as good as held as its net device does not transmit? */
bool is_quiet(const std::vector<Held> &held, ClassId cls)
{
	return std::any_of(held.begin(), held.end(), [&](const Held &one) {
		return one.cls == cls && one.val & LS_VAL_QUIET;
	});
}

} // namespace

/* One lock in both states has to be one instance, except for a reader that the interrupt does
 * not wait for. The interrupt may have to acquire another lock first, which is held then as
 * well. */
void different_instances(const Model &model, Finding &finding)
{
	const auto &held = finding.edges[0], &taken = finding.edges[1];
	const ClassId cls = held.from;
	/* Per run and instance: a global lock is the same in all runs. */
	using One = std::pair<std::uint32_t, std::uint64_t>;
	const bool global = model[cls].global();
	auto one = [&](const Witness &witness) {
		const Observation &observation = observed_by(model, witness);
		return global ? One{}
			      : One{observation.run, observation.at(witness.position).instance};
	};
	std::map<One, std::vector<const Witness *>> outside;
	std::set<std::uint64_t> instances[2];
	std::set<std::uint32_t> runs[2];
	for (std::size_t side = 0; side < 2; side++)
		for (const auto &witness : finding.edges[side].witnesses) {
			const Observation &observation = observed_by(model, witness);
			instances[side].insert(observation.at(witness.position).instance);
			runs[side].insert(observation.run);
			if (side == 0)
				outside[one(witness)].push_back(&witness);
		}
	std::size_t left = kStatePairs;
	ClassId gate = kNoClass;
	bool quiet = true;
	for (const auto &inside : taken.witnesses)
		for (const Witness *other : outside[one(inside)]) {
			const std::vector<std::uint32_t> kinds{kind_of(model, held, *other),
							       kind_of(model, taken, inside)};
			if (!strong_kinds(kinds))
				continue;
			gate = shared_gate(model, observed_by(model, inside).held,
					   holds(model, held, *other));
			if (gate == kNoClass || left-- == 0)
				return;
			quiet = quiet && is_quiet(observed_by(model, *other).held, gate) &&
				transmits(model, observed_by(model, inside));
		}
	const std::string irq = interrupt_name(held.to);
	/* Not hidden: longer cycles with the interrupt were skipped because of this one. */
	if (gate != kNoClass && quiet)
		finding.filters.push_back(
			{"device-inactive", false,
			 "the " + irq + " takes it to transmit, and it was held with " + irq +
				 "s on only where its net device does not transmit: while it is "
				 "opened or closed",
			 Severity::Note});
	else if (gate != kNoClass)
		finding.filters.push_back({"gate-lock", false,
					   model[gate].name + " is held as well, and the " + irq +
						   " takes it before"});
	/* Unknown instances, or those of different boots, cannot be compared. */
	if (gate != kNoClass || global || instances[0].contains(0) || instances[1].contains(0) ||
	    std::none_of(runs[0].begin(), runs[0].end(),
			 [&](std::uint32_t run) { return runs[1].contains(run); }))
		return;
	if (model[cls].origin == LS_ORIGIN_SITE)
		finding.filters.push_back(
			{"mixed-class", false, mixed_class(model[cls]), Severity::Note});
	finding.filters.push_back({"different-instances", false,
				   "no one " + model[cls].name + " was seen in both states: " +
					   std::to_string(instances[1].size()) + " taken in " +
					   irq + ", " + std::to_string(instances[0].size()) +
					   " held with " + irq + "s on"});
	finding.confidence = Confidence::Possible;
}

} // namespace lockscope
