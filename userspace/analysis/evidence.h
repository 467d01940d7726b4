// SPDX-License-Identifier: GPL-2.0
// Selection of the observations that a finding shows.
#pragma once

#include "analysis/finding.h"
#include "model/model.h"

#include <span>
#include <string>
#include <utility>
#include <vector>

namespace lockscope {

/// Acquisitions by a number that each has, as indices of Model::observations.
class ObservationIndex {
public:
	/// @number_of: below @numbers, or it is left out.
	template <typename Number>
	ObservationIndex(const Model &model, std::size_t numbers, Number number_of)
		: first_(numbers + 1)
	{
		std::vector<std::pair<std::size_t, std::size_t>> all;
		for (std::size_t i = 0; i < model.observations.size(); i++)
			if (const std::size_t number = number_of(model.observations[i]);
			    model.observations[i].acquisition() && number < numbers)
				all.emplace_back(number, i);
		fill(all);
	}

	std::span<const std::size_t> of(std::size_t number) const
	{
		if (number + 1 >= first_.size())
			return {};
		return {all_.data() + first_[number], first_[number + 1] - first_[number]};
	}

private:
	void fill(const std::vector<std::pair<std::size_t, std::size_t>> &all);

	std::vector<std::size_t> first_, all_;
};

/// By the place (CodeId) of the acquire.
struct ObservationsByPlace : ObservationIndex {
	explicit ObservationsByPlace(const Model &model);
};
/// By the class that is acquired.
struct ObservationsByClass : ObservationIndex {
	explicit ObservationsByClass(const Model &model);
};

Witness make_witness(const Model &model, std::size_t observation, std::uint32_t position);

/// `observed`: one run saw every edge, in at least two contexts. For an irq inversion the
/// contexts that hold a lock of it count: the interrupt may come in any of them.
Confidence confidence_of(const Model &model, const Finding &finding);

/// Choose witnesses such that every side is in another context, from as few runs as possible;
/// one lock in two states is shown as one instance if possible.
void choose_witnesses(const Model &model, Finding &finding);

/// The instances of both locks of @edge in the observation shown, 0: not known. An interrupt
/// has none.
std::pair<std::uint64_t, std::uint64_t> shown_instances(const Model &model,
							const FindingEdge &edge);

/// Does one context alone wait for itself, in the observation shown: does it acquire the instance
/// that it holds? Not as two readers: those wait for a writer in between, which is another context.
bool waits_for_itself(const Model &model, const Finding &finding);

/// Stacks of the chosen witness, see FindingEdge.
void fill_stacks(const Model &model, FindingEdge &edge, const ObservationsByPlace &by_place);

/// Callers of the acquire site of @edge, where fill_stacks() found none: those of a stack from
/// while the lock was held, with the function that acquired it on it.
void borrow_callers(const Model &model, FindingEdge &edge);

/// The latest acquisition of @lock before @observation in the same run, of the same instance if
/// possible, else of its class; nullptr when there is none.
const Observation *taken_before(const Model &model, const Observation &observation,
				const Held &lock, const ObservationsByClass &by_class);

/// The dependency kind (one LS_DEP_* bit) that @witness shows of @edge.
std::uint32_t kind_of(const Model &model, const FindingEdge &edge, const Witness &witness);

/// Locks held in @witness of @edge. The lock held when an interrupt may come can be the one
/// just acquired.
std::vector<Held> holds(const Model &model, const FindingEdge &edge, const Witness &witness);

/// The locks that the task of @observation holds, oldest first: without the entry that a long wait
/// has of the lock that is waited for, which is its owner's.
std::vector<Held> own_locks(const Observation &observation);

/// The name of the class of an entry of Observation::held, and what it is if no lock is held.
std::string held_name(const Model &model, const Held &held);

/// From a completion to a lock that its completers need?
bool completes(const Model &model, const FindingEdge &edge);

/// A witness of each edge with the same instance of the lock that @in leads to and @out comes
/// from; nullopt when there is no common instance.
std::optional<std::pair<std::size_t, std::size_t>>
common_instance(const Model &model, const FindingEdge &in, const FindingEdge &out);

} // namespace lockscope
