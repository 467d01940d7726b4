// SPDX-License-Identifier: GPL-2.0
#include "analysis/filters/readers.h"

#include <algorithm>

namespace lockscope {

namespace {

/* Were writers of this class observed, and all of them trylocks? */
bool writers_only_try(const Model &model, ClassId cls)
{
	bool tried = false;
	for (const auto &run : model.runs)
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

/* Is the lock that @in acquires and @out holds shared on both sides, in all observations? */
bool readers_meet(const Model &model, const FindingEdge &in, const FindingEdge &out)
{
	const auto acquired_shared = [&](const Witness &witness) {
		const Observation &observation = model.observations[witness.observation];
		return observation.acquisition() && observation.acquired.cls == in.to &&
		       read_of(observation.acquired.val) != LS_EXCLUSIVE;
	};
	const auto held_shared = [&](const Witness &witness) {
		const Held &held = model.observations[witness.observation].at(witness.position);
		return held.cls == in.to && read_of(held.val) != LS_EXCLUSIVE;
	};
	return std::all_of(in.witnesses.begin(), in.witnesses.end(), acquired_shared) &&
	       std::all_of(out.witnesses.begin(), out.witnesses.end(), held_shared);
}

} // namespace

void no_writer_waits(const Model &model, Finding &finding)
{
	if (finding.kind != FindingKind::LockOrderCycle &&
	    finding.kind != FindingKind::RecursiveLock)
		return;
	const std::size_t n = finding.edges.size();
	for (std::size_t i = 0; i < n; i++) {
		const FindingEdge &in = finding.edges[i], &out = finding.edges[(i + 1) % n];
		if (in.to == kNoClass || is_interrupt(in.to) || !readers_meet(model, in, out) ||
		    !writers_only_try(model, in.to))
			continue;
		finding.filters.push_back(
			{"no-writer-waits", false,
			 model[in.to].name + " is held and acquired by readers only, and each "
					     "writer seen tries and does not wait",
			 Severity::Note});
		return;
	}
}

} // namespace lockscope
