// SPDX-License-Identifier: GPL-2.0
#include "analysis/filters/nested.h"

#include "analysis/filters/instances.h"

extern "C" {
#include "lockclass/edges.h"
}

#include <algorithm>
#include <map>
#include <optional>
#include <utility>

namespace lockscope {

namespace {

/// Are entry @i of @observation's held locks and the acquired lock an ordered pair of instances?
bool nests(const Observation &observation, std::uint32_t i, ClassId cls)
{
	const Held &held = observation.held[i];
	return held.cls == cls && held.instance != 0 && observation.acquired.instance != 0 &&
	       held.instance != observation.acquired.instance &&
	       ls_orders(held.val, observation.acquired.val);
}

} // namespace

std::vector<NestedPair> ring_of(const Model &model, ClassId cls, std::size_t last)
{
	const Observation &closing = model.observations[last];
	std::map<std::uint64_t, std::vector<NestedPair>> by_outer;
	for (std::size_t s = 0; s < model.observations.size(); s++) {
		const Observation &observation = model.observations[s];
		if (observation.run != closing.run || !observation.acquisition() ||
		    observation.acquired.cls != cls || s == last)
			continue;
		for (std::uint32_t i = 0; i < observation.held.size(); i++)
			if (nests(observation, i, cls))
				by_outer[observation.held[i].instance].push_back({s, i});
	}
	NestedPair alone{last, kOwnLock};
	for (auto position = static_cast<std::uint32_t>(closing.held.size()); position-- > 0;) {
		if (closing.acquired.cls != cls || !nests(closing, position, cls))
			continue;
		if (alone.position == kOwnLock)
			alone.position = position;
		/* Breadth first, from the acquired lock back to the held one. A recursive
		 * reader does not wait for a reader. */
		using At = std::pair<std::uint64_t, bool>; /* an instance, acquired recursively */
		const std::uint64_t goal = closing.held[position].instance;
		const auto kind_of = [&](const NestedPair &pair) {
			const Observation &observation = model.observations[pair.observation];
			return dependency_kind(observation.held[pair.position].val,
					       observation.acquired.val);
		};
		const auto recursive = [](std::uint32_t kind) {
			return (kind & (LS_DEP_ER | LS_DEP_SR)) != 0;
		};
		const auto shared = [](std::uint32_t kind) {
			return (kind & (LS_DEP_SR | LS_DEP_SN)) != 0;
		};
		const std::uint32_t last_kind = kind_of({last, position});
		const At start{closing.acquired.instance, recursive(last_kind)};
		std::map<At, std::pair<NestedPair, At>> reached;
		std::vector<At> queue{start};
		std::optional<At> end;
		/* Does a lock held on some side from @at back to the closing one exclude @next? */
		const ClassId own = model[cls].global() ? cls : kNoClass;
		const auto apart = [&](const Observation &next, At at) {
			bool any = shared_gate(model, next.held, closing.held, own) != kNoClass;
			for (; !any && at != start; at = reached.at(at).second)
				any = shared_gate(
					      model, next.held,
					      model.observations[reached.at(at).first.observation]
						      .held,
					      own) != kNoClass;
			return any;
		};
		for (std::size_t next = 0; next < queue.size() && !end; next++) {
			const At at = queue[next];
			for (const auto &pair : by_outer[at.first]) {
				const Observation &observation =
					model.observations[pair.observation];
				const At inner{observation.acquired.instance,
					       recursive(kind_of(pair))};
				if (inner.first == start.first || reached.contains(inner) ||
				    (at.second && shared(kind_of(pair))) ||
				    (inner.first == goal && inner.second && shared(last_kind)) ||
				    apart(observation, at))
					continue;
				reached.emplace(inner, std::pair{pair, at});
				queue.push_back(inner);
				if (inner.first == goal) {
					end = inner;
					break;
				}
			}
		}
		if (!end)
			continue;
		std::vector<NestedPair> ring{{last, position}};
		for (At at = *end; at != start; at = reached.at(at).second)
			ring.push_back(reached.at(at).first);
		std::reverse(ring.begin(), ring.end());
		return ring;
	}
	if (alone.position == kOwnLock)
		return {};
	return {alone};
}

bool follows_hierarchy(const Model &model, const std::vector<NestedPair> &ring)
{
	return ring.size() > 1 &&
	       std::all_of(ring.begin(), ring.end(), [&](const NestedPair &pair) {
		       const Observation &observation = model.observations[pair.observation];
		       /* That is about the last entry of the class that the observation marks. */
		       for (auto i = static_cast<std::uint32_t>(observation.held.size()); i-- > 0;)
			       if (observation.new_mask >> i & 1 &&
				   observation.held[i].cls == observation.acquired.cls)
				       return i == pair.position &&
					      (observation.extra & LS_RELATED_BACK) &&
					      !(observation.extra & LS_RELATED_FORTH);
		       return false;
	       });
}

} // namespace lockscope
