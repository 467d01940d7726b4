// SPDX-License-Identifier: GPL-2.0
#include "analysis/faults/rawnesting.h"

#include "analysis/rank.h"
#include "util/text.h"

#include <algorithm>
#include <map>
#include <utility>

namespace lockscope {

namespace {

constexpr const char *kRaw = "raw_spinlock_t", *kSpin = "spinlock_t";

bool is_raw(const Model &model, ClassId cls)
{
	return cls != kNoClass && model[cls].kind == LS_KIND_SPINLOCK && model[cls].type == kRaw;
}

/* Does it sleep on PREEMPT_RT, as far as known? */
bool may_sleep(const Model &model, ClassId cls)
{
	return cls != kNoClass &&
	       (model[cls].kind == LS_KIND_RWLOCK ||
		(model[cls].kind == LS_KIND_SPINLOCK && model[cls].type == kSpin));
}

std::string function_of_observation(const Model &model, const Observation &observation)
{
	const auto &code = model[observation.stack.empty() ? observation.acquired.at
							   : observation.stack.front()];
	return code.function.empty() ? "?" : plain_function(code.function);
}

} // namespace

RawNesting raw_nesting_coverage(const Model &model)
{
	RawNesting out;
	for (const auto &cls : model.classes) {
		out.spinlocks += cls.kind == LS_KIND_SPINLOCK;
		out.known += cls.kind == LS_KIND_SPINLOCK && !cls.type.empty();
	}
	return out;
}

std::vector<Finding> raw_nesting(const Model &model, const ObservationsByPlace &by_place)
{
	std::map<std::pair<ClassId, ClassId>, Finding> found;
	for (std::size_t i = 0; i < model.observations.size(); i++) {
		const Observation &observation = model.observations[i];
		const ClassId taken = observation.acquired.cls;
		/* A trylock does not sleep, as in lockdep. */
		if (!observation.acquisition() || (observation.acquired.val & LS_VAL_TRY) ||
		    !may_sleep(model, taken))
			continue;
		/* The innermost raw one: outer ones are the same fault. */
		auto raw = std::find_if(observation.held.rbegin(), observation.held.rend(),
					[&](const Held &held) { return is_raw(model, held.cls); });
		if (raw == observation.held.rend())
			continue;
		Finding &finding = found[{raw->cls, taken}];
		if (finding.edges.empty()) {
			const std::string function = function_of_observation(model, observation);
			finding.kind = FindingKind::InvalidWaitContext;
			finding.id = fault_id(model, finding.kind, taken,
					      "raw " + model[raw->cls].stable);
			finding.classes = {taken};
			finding.edges.push_back({});
			finding.edges.front().from = finding.edges.front().to = taken;
			finding.edges.front().kind = LS_DEP_EN;
			finding.title = std::string("invalid wait context on PREEMPT_RT: ") +
					(model[taken].kind == LS_KIND_RWLOCK ? "rwlock_t" : kSpin) +
					" " + short_name(model[taken]) + " taken under " + kRaw +
					" " + short_name(model[raw->cls]) + " (" + function + ")";
		}
		finding.edges.front().witnesses.push_back(make_witness(model, i, kOwnLock));
	}

	std::vector<Finding> out;
	for (auto &[key, finding] : found) {
		auto &edge = finding.edges.front();
		edge.count = edge.witnesses.size();
		fill_stacks(model, edge, by_place);
		finding.stacks.push_back({"where", edge.shown().observation, edge.to_stack});
		/* Observed, but no fault on the kernel where it was observed. */
		finding.confidence = Confidence::Possible;
		finding.filters.push_back(
			{"preempt-rt-only", false, "matters on PREEMPT_RT kernels only"});
		rank_finding(model, finding);
		out.push_back(std::move(finding));
	}
	return out;
}

} // namespace lockscope
