// SPDX-License-Identifier: GPL-2.0
/*
 * Filters: reasons to doubt a finding, and faults that each may hide.
 *
 *   filter                  hides when                            false negatives
 *   gate-lock               a lock is held at both of two edges,  paths without it that never
 *                           exclusively at one, in all paths      ran, sets of instances that
 *                           observed; or each matching set of     were not observed
 *                           instances, two at least, has a gate
 *                           of its own. Demotes where an
 *                           interrupt acquires it before
 *   passed-before           never, but demotes: one side passed   a way in which it did not,
 *                           a lock that another one holds,        while fast paths were taken
 *                           under a gate that this one had then
 *   one-context-only        one kernel thread did all of it       a second thread that runs
 *                                                                 the same code
 *   initialisation-only     an edge is only in the init code of   init code that publishes the
 *                           the module that owns its lock         lock before it has finished
 *   same-instance-excluded  observed instances cannot close the   objects with other relations
 *                           cycle                                 than those observed
 *   cannot-run-in-parallel  one timer, tasklet or handler did     two timers with one function
 *                           all of it, along one call path
 *   vouched-for             a lock is exempt from validation      faults in its locking
 *                           (lockclass/exempt.h)
 *   counts-events           a lock is a semaphore that is         a lock that is always handed
 *                           released by other contexts than       over to the context that
 *                           acquired it (lockclass/belief.h)      releases it
 *   handed-over             never; more than one release in       a lock that was handed over
 *                           fifty of a semaphore comes from       a few times by mistake
 *                           another context, or one instance
 *                           in fifty was handed over
 *                           (lockclass/belief.h);
 *                           a note if more than a fifth were (at
 *                           1 %), or if each instance was handed
 *                           over once and there are too few
 *                           releases for a belief, or no set of
 *                           instances was observed on all sides
 *   other-completer         a waiter for a completion holds a     objects that change roles
 *                           lock of another object than its
 *                           completer, according to the module
 *   instances-not-proven    never; no set of instances was        -
 *                           observed on all sides
 *   instances-never-matched never, but is a note: one side had    instances that rarely change
 *                           few instances, the other side none    sides: see docs/severity.md
 *                           of them
 *   other-work-item         never, but is a note: an item of a    an item that does the same,
 *                           function of the kernel's is waited    which was not observed
 *                           for, another one was seen to do it
 *   one-structure           never, but is a note: one member of   objects of two uses that are
 *                           a structure, in objects with several  locked in both orders, never
 *                           uses; like nesting in a class, it     the same two
 *                           needs its instances
 *   first-order-not-kept    never; two instances of a class were  -
 *                           acquired in both orders, the observation
 *                           of the first order is missing
 *   follows-hierarchy       never, but is a note: in both orders  two tasks that disagree
 *                           the inner object pointed to the       about the tree
 *                           outer one at the time
 *   author-orders           never, but is a note: the lock is     a wrong annotation
 *                           annotated to nest on all sides, or
 *                           wherever it does in a cycle of
 *                           several classes
 *   computed-subclass       never, but is a note: see             one object in both roles,
 *                           docs/annotations.md                   not observed
 *   no-writer-waits         never, but is a note: a lock is held  a waiting writer that was
 *                           and acquired by readers, and all      not observed
 *                           observed writers are trylocks
 *   different-kernels       never, but is a note: no build of     a kernel with all of what
 *                           the kernel shows all of it            several others showed
 *   mixed-class             never, but is a note: a class made    a fault in a lock older than
 *                           of an acquire site, instances not     the module, not observed on
 *                           proven                                all sides
 *   different-instances     never; no instance of the lock was    -
 *                           observed both in the interrupt and
 *                           held while it could come
 *   device-inactive         never, but is a note: an interrupt    an interrupt that takes it
 *                           takes it to transmit, and it is held  for another purpose, with
 *                           while it can come only where its net  a lock of a queue held
 *                           device does not transmit (states.cpp)
 *
 * An interrupt can come in any context, so for a deadlock with one only the other sides are
 * tested; a fault that one observation shows did happen, whatever the doubts.
 *
 * Where the reason is only likely the filter demotes: severity warning instead
 * of error. Nothing is deleted; --all shows hidden findings. [DLOS D2; RELAY 4.3]
 */
#include "analysis/filters/filters.h"

#include "analysis/evidence.h"
#include "analysis/filters/annotated.h"
#include "analysis/filters/beliefs.h"
#include "analysis/filters/gate_lock.h"
#include "analysis/filters/instances.h"
#include "analysis/filters/readers.h"
#include "analysis/filters/states.h"
#include "analysis/orders/cycles.h"

extern "C" {
#include "lockclass/exempt.h"
}

#include <algorithm>
#include <cctype>
#include <functional>
#include <map>

namespace lockscope {

namespace {

/* Number of disjoint pairs of objects that prove anything. */
constexpr std::size_t kProvingPairs = 2;

const Observation &observation_of(const Model &model, const Witness &witness)
{
	return model.observations[witness.observation];
}

bool every_witness(const Finding &finding, const std::function<bool(const Witness &)> &test)
{
	for (const auto &edge : finding.edges)
		if (!from_interrupt(edge) &&
		    !std::all_of(edge.witnesses.begin(), edge.witnesses.end(), test))
			return false;
	return true;
}

/* One context did all of it, in each run. */
bool one_context(const Finding &finding)
{
	std::map<std::uint32_t, std::set<std::string>> keys;
	std::set<std::string> names;
	for (const auto &edge : finding.edges)
		for (const auto &witness : edge.witnesses) {
			if (from_interrupt(edge))
				continue;
			keys[witness.context.run].insert(witness.context.key());
			names.insert(witness.context.name_in_any_run());
		}
	return names.size() == 1 && std::all_of(keys.begin(), keys.end(), [](const auto &run) {
		       return run.second.size() == 1;
	       });
}

/* "kswapd0", "ksoftirqd/1": one of several threads that run the same code. */
bool one_of_many(const std::string &comm)
{
	return comm.find('/') != comm.npos ||
	       (!comm.empty() && std::isdigit(static_cast<unsigned char>(comm.back())));
}

void one_context_only(Finding &finding)
{
	if (!one_context(finding))
		return;
	/* The edge out of an interrupt comes last. */
	const Context &context = finding.edges.front().shown().context;
	/* Work items are tested by their entry, see cannot_run_in_parallel(). */
	if (!context.kernel_thread() || context.level != LS_TASK)
		return;
	const bool others = one_of_many(context.comm);
	finding.filters.push_back({"one-context-only", !others,
				   "kernel thread " + task_name(context) + " did all of it" +
					   (others ? "; others run the same code" : "")});
}

void initialisation_only(const Model &model, Finding &finding)
{
	for (std::size_t i = 0; i < finding.edges.size(); i++) {
		const auto &edge = finding.edges[i];
		/* An interrupt does not run the code that it interrupts. */
		if (from_interrupt(edge) ||
		    !std::all_of(edge.witnesses.begin(), edge.witnesses.end(),
				 [](const Witness &w) { return w.context.init(); }))
			continue;
		/* A module's own lock is not reachable from outside before its init function
		 * publishes it. */
		bool owned = false;
		std::string owner;
		for (auto frame : observation_of(model, edge.shown()).stack)
			if (const auto &code = model[frame];
			    !code.module.empty() && code.module != "vmlinux" &&
			    (code.module == model[edge.from].module ||
			     code.module == model[edge.to].module)) {
				owned = true;
				owner = code.module;
			}
		const std::string sides =
			to_interrupt(edge) ? model[edge.from].name + " with " +
						     interrupt_name(edge.to) + "s on"
					   : model[edge.from].name + " -> " + model[edge.to].name;
		/* The driver's interrupt may already be active during probe. */
		if (owned && !to_interrupt(edge))
			finding.filters.push_back({"initialisation-only", true,
						   sides + " only in init code of " + owner +
							   ", which owns a lock of it"});
		else
			finding.filters.push_back(
				{"initialisation-only", false, sides + " only in init code"});
		return;
	}
}

/*
 * In a cycle over locks in one type of object, an edge within one object means the same object
 * at both of its ends. If all edges but one are like that, the last one would have to lead
 * back into the same object; if it always joins two different objects, the cycle cannot close.
 */
using ObjectPairs = std::set<std::pair<std::uint64_t, std::uint64_t>>;

/* Do @pairs contain a cycle of objects? */
bool go_round(ObjectPairs pairs)
{
	for (bool dropped = true; dropped;) {
		std::set<std::uint64_t> entered;
		for (const auto &[from, to] : pairs)
			entered.insert(to);
		dropped = std::erase_if(pairs, [&](const auto &pair) {
				  return !entered.contains(pair.first);
			  }) != 0;
	}
	return !pairs.empty();
}

/* One side acquires both locks of one object, the other always locks of two: such contexts
 * cannot close the cycle, unless the pairs of objects themselves form one. */
void same_instance_excluded(const Model &model, Finding &finding)
{
	std::size_t crossing = 0, crossing_pairs = 0;
	for (const auto &edge : finding.edges) {
		ObjectPairs pairs;
		bool all_same = true, all_differ = true;
		if (model[edge.from].object_size != model[edge.to].object_size)
			return;
		for (const auto &witness : edge.witnesses) {
			const Observation &observation = observation_of(model, witness);
			const std::uint64_t from = observation.from(witness.position).object;
			const std::uint64_t to = observation.to(witness.position).object;
			if (from == 0 || to == 0)
				return;
			(from == to ? all_differ : all_same) = false;
			pairs.insert({from, to});
		}
		if (all_same)
			continue;
		if (!all_differ || ++crossing > 1 || go_round(pairs))
			return;
		crossing_pairs = pairs.size();
	}
	if (crossing != 1)
		return;
	const bool proven = crossing_pairs >= kProvingPairs;
	finding.filters.push_back(
		{"same-instance-excluded", proven,
		 "one side takes both locks of one object, the other always of two (" +
			 std::to_string(crossing_pairs) + " seen)"});
}

void cannot_run_in_parallel(Finding &finding)
{
	const Context &first = finding.edges.front().shown().context;
	if (!first.serialised() || first.entry.empty())
		return;
	if (!every_witness(finding, [&](const Witness &w) {
		    return w.context.kind == first.kind && w.context.entry == first.entry;
	    }))
		return;
	/* Entries that only dispatch differ in what they call: a dispatcher serves many timers
	 * or work items. There are often many work items, for instance one per device. */
	const bool one_path = one_context(finding);
	if (!one_path && first.kind == EntryKind::Work)
		return;
	const bool proven = one_path && first.kind != EntryKind::Work;
	finding.filters.push_back({"cannot-run-in-parallel", proven,
				   "every side runs in " + first.describe() +
					   (proven ? ", which does not overlap itself"
						   : ", which may not overlap itself")});
}

/*
 * Between one lock and one completion the instances decide, and only the module knows the
 * distance between the two: it reports such a cycle when it can close. A cycle that no single
 * run showed was not tested by any module.
 */
void other_completer(const Model &model, Finding &finding)
{
	if (finding.edges.size() != 2 ||
	    std::none_of(finding.edges.begin(), finding.edges.end(),
			 [&](const FindingEdge &edge) { return completes(model, edge); }))
		return;
	std::set<std::uint32_t> runs[2];
	for (std::size_t side = 0; side < 2; side++)
		for (const auto &witness : finding.edges[side].witnesses)
			runs[side].insert(observation_of(model, witness).run);
	const auto judged = [&](std::uint32_t run) { return runs[1].count(run) != 0; };
	if (std::none_of(runs[0].begin(), runs[0].end(), judged))
		return;
	for (const auto &reported : model.kernel_findings)
		if (reported.kind == LS_FINDING_ORDER_CYCLE && reported.classes.size() == 2 &&
		    std::is_permutation(reported.classes.begin(), reported.classes.end(),
					finding.classes.begin(), finding.classes.end()))
			return;
	finding.filters.push_back(
		{"other-completer", true,
		 "who completes holds the lock of another object than who waits"});
}

/* lockdep_set_novalidate_class() in a kernel with lockdep. */
void vouched_for(const Model &model, Finding &finding)
{
	for (ClassId cls : finding.classes)
		if (ls_exempt(model[cls].name.c_str())) {
			finding.filters.push_back(
				{"vouched-for", true,
				 "its authors exempt " + model[cls].name +
					 " from validation: they keep its order"});
			return;
		}
}

/* Edges recorded before the semaphore's use was known do not count. */
void demote_counting(const Model &model, Finding &finding)
{
	for (ClassId cls : finding.classes) {
		if (handed_over(model, cls))
			finding.filters.push_back(
				{"handed-over", false,
				 model[cls].name +
					 " is at times released by another context "
					 "than the one that acquired it: " +
					 describe_semaphore(*semaphore_counts(model, cls)),
				 always_handed_over(model, cls) || often_handed_over(model, cls)
					 ? Severity::Note
					 : Severity::Warning});
		if (!counts_events(model, cls))
			continue;
		finding.filters.push_back(
			{"counts-events", true,
			 model[cls].name + " is " +
				 describe_semaphore(*semaphore_counts(model, cls))});
		finding.confidence = Confidence::Possible;
	}
}

/*
 * A semaphore that was perhaps handed over before the next lock was taken, in a cycle whose
 * instances were not seen to close it: neither was it held for sure, nor is it the one that matters.
 */
void demote_unproven_hand_over(Finding &finding)
{
	auto named = [&](const char *name) {
		return std::find_if(finding.filters.begin(), finding.filters.end(),
				    [&](const Filter &filter) { return filter.name == name; });
	};
	const auto handed = named("handed-over");
	if (handed != finding.filters.end() &&
	    named("instances-not-proven") != finding.filters.end())
		handed->most = Severity::Note;
}

} // namespace

void apply_filters(const Model &model, Finding &finding, const std::vector<ChainFacts::Kind> &facts)
{
	if (finding.edges.empty() || finding.single())
		return;
	vouched_for(model, finding);
	apply_annotations(model, finding);
	demote_counting(model, finding);
	if (finding.kind == FindingKind::InconsistentIrqState) {
		/* A single context is enough. */
		initialisation_only(model, finding);
		different_instances(model, finding);
		return;
	}
	gate_lock(model, finding, facts);
	judge_meeting(model, finding);
	demote_unproven_hand_over(finding);
	one_context_only(finding);
	initialisation_only(model, finding);
	if (finding.kind == FindingKind::LockOrderCycle) {
		same_instance_excluded(model, finding);
		other_completer(model, finding);
		no_writer_waits(model, finding);
	}
	cannot_run_in_parallel(finding);
}

} // namespace lockscope
