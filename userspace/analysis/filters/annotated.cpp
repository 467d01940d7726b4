// SPDX-License-Identifier: GPL-2.0
/*
 * In a kernel with lockdep, a lock acquired with subclass n is of another class than the same
 * lock acquired with subclass 0. An order of subclasses is declared by the author of the code:
 * objects may change places in a hierarchy, as directories do, and still never be locked in
 * the wrong order. docs/annotations.md has what this can hide.
 */
#include "analysis/filters/annotated.h"

#include "analysis/evidence.h"
#include "analysis/filters/annotations.h"

#include <algorithm>
#include <cctype>
#include <iterator>
#include <set>

namespace lockscope {

namespace {

using annotations::Acquire;
using annotations::Says;

/* Both ends of an edge. For the held lock only the acquire site is known, unless the observation
 * shows its acquire. */
struct Ends {
	Acquire held, taken;
};

Acquire taken_at(const Model &model, const Observation &observation)
{
	return annotations::acquire(model, model.runs[observation.run].release,
				    observation.stack.empty()
					    ? std::vector<CodeId>{observation.acquired.at}
					    : observation.stack);
}

Ends annotated_ends(const Model &model, const FindingEdge &edge, const Witness &witness)
{
	const Observation &observation = model.observations[witness.observation];
	const std::string &release = model.runs[observation.run].release;
	std::vector<CodeId> held{observation.at(witness.position).at};
	if (&witness == &edge.shown() && !edge.from_stack.empty() &&
	    edge.from_stack.front() == held.front())
		held = edge.from_stack;
	return {annotations::acquire(model, release, held), taken_at(model, observation)};
}

bool constant(const Acquire &acquire)
{
	return acquire.known && (!acquire.note || acquire.note->says == Says::Subclass) &&
	       acquire.subclass >= 0;
}

std::string place_of(const annotations::Note &note)
{
	return note.file + ':' + std::to_string(note.line);
}

/// "I_MUTEX_PARENT (1)", "2"
std::string subclass_name(const Acquire &acquire)
{
	std::string value = std::to_string(acquire.subclass);
	if (!acquire.note || acquire.note->text == value)
		return value;
	return acquire.note->text + " (" + value + ")";
}

/// The last component of "&mm->mmap_lock".
std::string member_of(const std::string &lock)
{
	auto end = lock.size();
	const auto in_name = [&](std::size_t i) {
		return std::isalnum(static_cast<unsigned char>(lock[i])) || lock[i] == '_';
	};
	while (end > 0 && !in_name(end - 1))
		end--;
	auto begin = end;
	while (begin > 0 && in_name(begin - 1))
		begin--;
	return lock.substr(begin, end - begin);
}

/// Is a lock of that name held?
bool holds(const Model &model, const Observation &observation, const std::string &lock)
{
	const std::string member = member_of(lock);
	return !member.empty() &&
	       std::any_of(observation.held.begin(), observation.held.end(), [&](const Held &held) {
		       return held.cls != kNoClass && held.cls != observation.acquired.cls &&
			      member_of(model[held.cls].name) == member;
	       });
}

/*
 * The numbers of inodes' subclasses are not their order, which is parent, child, normal,
 * xattr, second non-directory (enum inode_i_mutex_lock_class, include/linux/fs.h). A second
 * parent is locked after the first one, and before the inodes in either.
 */
long inode_order(long subclass)
{
	constexpr long parent = 1, parent2 = 5, child = 2, normal = 0, xattr = 3, nondir2 = 4;
	constexpr long order[] = {parent, parent2, child, normal, xattr, nondir2};
	return std::find(std::begin(order), std::end(order), subclass) - std::begin(order);
}

/* Is the inner one declared to come after the outer one? */
bool in_order(const Ends &ends)
{
	if (!constant(ends.taken) || !constant(ends.held))
		return false;
	const auto inode = [](const Acquire &acquire) {
		return acquire.note && acquire.note->text.rfind("I_MUTEX_", 0) == 0;
	};
	if (inode(ends.taken) || inode(ends.held))
		return inode_order(ends.taken.subclass) > inode_order(ends.held.subclass);
	return ends.taken.note && ends.taken.subclass > ends.held.subclass;
}

/* Two of one class: in each observation the inner one has to be declared to come later. */
void nesting(const Model &model, Finding &finding)
{
	std::set<std::string> said;
	bool by_lock = false;
	for (const auto &edge : finding.edges)
		for (const auto &witness : edge.witnesses) {
			const Ends ends = annotated_ends(model, edge, witness);
			const auto *note = ends.taken.note ? ends.taken.note : ends.held.note;
			if (note && note->says == Says::NestLock && note == ends.taken.note) {
				if (!holds(model, model.observations[witness.observation],
					   note->text))
					return;
				by_lock = true;
				said.insert(note->text + " at " + place_of(*note));
				continue;
			}
			if (!in_order(ends))
				return;
			said.insert("subclass " + subclass_name(ends.taken) + " under " +
				    subclass_name(ends.held) + " at " + place_of(*note));
		}
	if (said.empty())
		return;
	std::string why = by_lock ? "its authors keep the order by a lock held: "
				  : "its authors declare the nesting: ";
	for (const auto &one : said)
		why += (one == *said.begin() ? "" : "; ") + one;
	finding.filters.push_back({by_lock ? "nest-lock" : "annotated-nesting", true, why});
}

/* The subclasses with which a lock is acquired at one end of the edge. */
bool subclasses(const Model &model, const FindingEdge &edge, bool taken, std::set<long> &out,
		const annotations::Note *&note)
{
	for (const auto &witness : edge.witnesses) {
		const Ends ends = annotated_ends(model, edge, witness);
		const Acquire &acquire = taken ? ends.taken : ends.held;
		if (!constant(acquire))
			return false;
		out.insert(acquire.subclass);
		if (acquire.note)
			note = acquire.note;
	}
	return !out.empty();
}

/* The annotation by which a lock's subclass at one end depends on the object, if there is one. */
const annotations::Note *computed(const Model &model, const FindingEdge &edge, bool taken)
{
	for (const auto &witness : edge.witnesses) {
		const Ends ends = annotated_ends(model, edge, witness);
		const Acquire &acquire = taken ? ends.taken : ends.held;
		if (acquire.known && acquire.note && acquire.note->says == Says::Subclass &&
		    acquire.subclass < 0)
			return acquire.note;
	}
	return nullptr;
}

/* A lock of a cycle that has one lockdep class where it is acquired, and another where it is
 * held. */
void another_class(const Model &model, Finding &finding)
{
	const std::size_t n = finding.edges.size();
	for (std::size_t i = 0; i < n; i++) {
		const FindingEdge &in = finding.edges[i], &out = finding.edges[(i + 1) % n];
		if (in.to == kNoClass || is_interrupt(in.to) || is_interrupt(in.from) ||
		    is_interrupt(out.to))
			continue;
		const Observation &observation = model.observations[in.shown().observation];
		if (!observation.acquisition() ||
		    !model.observations[out.shown().observation].acquisition())
			continue;
		std::set<long> taken, held;
		const annotations::Note *note = nullptr;
		if (!subclasses(model, in, true, taken, note) ||
		    !subclasses(model, out, false, held, note) || !note)
			continue;
		if (std::any_of(taken.begin(), taken.end(),
				[&](long one) { return held.count(one) != 0; }))
			continue;
		if (model[in.to].global() || common_instance(model, in, out))
			continue;
		finding.filters.push_back({"annotated-subclass", true,
					   "to its authors " + short_name(model[in.to]) +
						   " is another lock on each side: subclass " +
						   std::to_string(*taken.begin()) +
						   " where it is taken, " +
						   std::to_string(*held.begin()) +
						   " where it is held (" + place_of(*note) + ")"});
		return;
	}
}

/*
 * A lock that a handler acquires, acquired elsewhere with interrupts enabled, but with that
 * one interrupt line disabled. Each observation needs an annotation for it.
 */
void masked_line(const Model &model, Finding &finding)
{
	const annotations::Note *note = nullptr;
	for (const auto &edge : finding.edges) {
		if (!to_interrupt(edge))
			continue;
		if (edge.to != kHardirqClass)
			return;
		for (const auto &witness : edge.witnesses) {
			const Observation &observation = model.observations[witness.observation];
			note = annotations::masked_line(model, model.runs[observation.run].release,
							observation.stack);
			if (!note)
				return;
		}
	}
	if (note)
		finding.filters.push_back(
			{"annotated-irq-line", true,
			 "its authors keep the interrupt away by its line: " + note->callee + "(" +
				 note->text + ") in " + note->function + "(), " + place_of(*note)});
}

} // namespace

void apply_annotations(const Model &model, Finding &finding)
{
	if (model.annotations.empty())
		return;
	if (finding.kind == FindingKind::RecursiveLock)
		nesting(model, finding);
	else if (finding.kind == FindingKind::LockOrderCycle)
		another_class(model, finding);
	else if (finding.kind == FindingKind::InconsistentIrqState ||
		 finding.kind == FindingKind::IrqInversion)
		masked_line(model, finding);
}

std::string computed_subclass(const Model &model, const Finding &finding)
{
	if (model.annotations.empty() || finding.kind != FindingKind::LockOrderCycle)
		return "";
	const std::size_t n = finding.edges.size();
	for (std::size_t i = 0; i < n; i++) {
		const FindingEdge &in = finding.edges[i], &out = finding.edges[(i + 1) % n];
		if (in.to == kNoClass || is_interrupt(in.to) || is_interrupt(in.from) ||
		    is_interrupt(out.to) || model[in.to].global())
			continue;
		const auto *note = computed(model, in, true);
		if (!note)
			note = computed(model, out, false);
		if (note)
			return "its authors tell objects of " + short_name(model[in.to]) +
			       " apart by a subclass that is known at run time only (" +
			       note->text + ", " + place_of(*note) + ')';
	}
	return "";
}

bool declares_nesting(const Model &model, const Observation &observation, std::uint32_t held)
{
	const Ends ends{annotations::acquire(model, model.runs[observation.run].release,
					     {observation.held[held].at}),
			taken_at(model, observation)};
	if (constant(ends.held))
		return in_order(ends);
	return ends.taken.note && constant(ends.taken) && ends.taken.subclass != 0;
}

} // namespace lockscope
