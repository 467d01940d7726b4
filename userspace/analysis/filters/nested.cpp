// SPDX-License-Identifier: GPL-2.0
#include "analysis/filters/nested.h"

#include "analysis/filters/instances.h"

#include <algorithm>
#include <map>

namespace lockscope {

namespace {

/// Sides of a ring at most, and steps of the search for one.
constexpr std::size_t kLongestRing = 16, kRingSteps = 65536;

/// The search for rings with one observation of a class that nests in itself.
class Rings {
public:
	Rings(const Model &model, ClassId cls, std::size_t last,
	      const ObservationsByClass &by_class)
		: model_(model), own_(model[cls].global() ? cls : kNoClass), last_(last)
	{
		const Observation &closing = model.observations[last];
		for (const auto s : by_class.of(index(cls))) {
			const Observation &observation = model.observations[s];
			if (observation.run != closing.run || s == last)
				continue;
			for (std::uint32_t i = 0; i < observation.held.size(); i++)
				if (nests(observation, i))
					by_outer_[observation.held[i].instance].push_back({s, i});
		}
	}

	/// The shortest ring with entry @position of the closing observation, which comes last;
	/// empty: there is none, or the search was too long. @passing: with passed_in(), too.
	std::vector<NestedPair> find(std::uint32_t position, bool passing)
	{
		steps_ = kRingSteps;
		passing_ = passing;
		goal_ = observation({last_, position}).held[position].instance;
		cut_ = true;
		for (std::size_t longest = 2; longest <= kLongestRing && cut_ && steps_;
		     longest++) {
			cut_ = false;
			ring_ = {{last_, position}};
			instances_ = {observation(ring_[0]).acquired.instance};
			if (!extend(longest))
				continue;
			std::rotate(ring_.begin(), ring_.begin() + 1, ring_.end());
			return ring_;
		}
		return {};
	}

private:
	const Observation &observation(const NestedPair &pair) const
	{
		return model_.observations[pair.observation];
	}

	std::uint32_t kind_of(const NestedPair &pair) const
	{
		return dependency_kind(observation(pair).held[pair.position].val,
				       observation(pair).acquired.val);
	}

	/* A recursive reader does not wait for a reader. */
	bool follows(const NestedPair &a, const NestedPair &b) const
	{
		return !(kind_of(a) & (LS_DEP_ER | LS_DEP_SR)) ||
		       (kind_of(b) & (LS_DEP_EN | LS_DEP_ER));
	}

	/* Does a lock held there exclude a side of the ring so far? */
	bool apart(const NestedPair &pair) const
	{
		return std::any_of(ring_.begin(), ring_.end(), [&](const NestedPair &side) {
			const auto &a = observation(side).held, &b = observation(pair).held;
			return shared_gate(model_, a, b, own_) != kNoClass ||
			       (!passing_ && passed_before(a, b) != kNoClass);
		});
	}

	/* Depth first, to @longest sides. Any of the observations of a pair may be the one without
	 * a gate, and any ring may be the one. */
	bool extend(std::size_t longest)
	{
		if (ring_.size() == longest) {
			cut_ = true;
			return false;
		}
		const auto from = by_outer_.find(instances_.back());
		if (from == by_outer_.end())
			return false;
		for (const auto &pair : from->second) {
			if (!steps_)
				return false;
			steps_--;
			const std::uint64_t inner = observation(pair).acquired.instance;
			if (std::find(instances_.begin(), instances_.end(), inner) !=
				    instances_.end() ||
			    !follows(ring_.back(), pair) ||
			    (inner == goal_ && !follows(pair, ring_.front())) || apart(pair))
				continue;
			ring_.push_back(pair);
			instances_.push_back(inner);
			if (inner == goal_ || extend(longest))
				return true;
			ring_.pop_back();
			instances_.pop_back();
		}
		return false;
	}

	const Model &model_;
	const ClassId own_;
	const std::size_t last_;
	std::map<std::uint64_t, std::vector<NestedPair>> by_outer_;
	std::uint64_t goal_ = 0; ///< instance that the closing side holds
	std::vector<NestedPair> ring_;
	std::vector<std::uint64_t> instances_; ///< that each side acquires
	std::size_t steps_ = kRingSteps;
	bool cut_ = false; ///< longer ones were not tried
	bool passing_ = false;
};

} // namespace

std::vector<NestedPair> ring_of(const Model &model, ClassId cls, std::size_t last,
				const ObservationsByClass &by_class)
{
	const Observation &closing = model.observations[last];
	Rings rings(model, cls, last, by_class);
	NestedPair alone{last, kOwnLock};
	for (bool passing : {false, true})
		for (auto position = static_cast<std::uint32_t>(closing.held.size());
		     position-- > 0;) {
			if (closing.acquired.cls != cls || !nests(closing, position))
				continue;
			if (alone.position == kOwnLock)
				alone.position = position;
			if (auto ring = rings.find(position, passing); !ring.empty())
				return ring;
		}
	if (alone.position == kOwnLock)
		return {};
	return {alone};
}

ClassId passed_in(const Model &model, const std::vector<NestedPair> &ring)
{
	for (const auto &a : ring)
		for (const auto &b : ring)
			if (auto cls = passed_before(model.observations[a.observation].held,
						     model.observations[b.observation].held);
			    cls != kNoClass && a.observation != b.observation)
				return cls;
	return kNoClass;
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
