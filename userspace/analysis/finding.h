// SPDX-License-Identifier: GPL-2.0
// A fault as it is reported.
#pragma once

#include "analysis/context.h"
#include "model/model.h"
#include "model/variable.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace lockscope {

enum class Severity { Note, Warning, Error };
enum class Confidence { Possible, Observed, Confirmed };
/// lockclass/finding_kinds.h has the table; the numbers are those of the module.
enum class FindingKind : std::uint32_t {
#define LS_ROW(symbol, value, enumerator, ...) enumerator = value,
	LS_FINDINGS(LS_ROW)
#undef LS_ROW
};

const char *name(Severity severity);
const char *name(Confidence confidence);
const char *name(FindingKind kind);
/// What shows a finding of that kind.
inline ls_shown shown(FindingKind kind)
{
	return ls_finding_shown(static_cast<std::uint32_t>(kind));
}
/// How bad one is before filters; of what accesses show, at the most.
Severity usual_severity(FindingKind kind);
/// How its title begins; of a fault that one sight shows, all but the end, see faults.cpp.
const char *title_words(FindingKind kind);
/// The kind of that name, see docs/findings.md.
std::optional<FindingKind> parse_kind(const std::string &text);
std::optional<Severity> parse_severity(const std::string &text);
std::optional<Confidence> parse_confidence(const std::string &text);

/// One part of the rank; see rank.cpp.
struct Feature {
	std::string name;
	double points = 0;
	std::string why;
};

/// One reason to doubt a finding; see filters.cpp. It demotes the finding, to @most
/// at the most, or hides it when the reason is a proof.
struct Filter {
	std::string name;
	bool hidden = false;
	std::string why;
	Severity most = Severity::Warning;
};

/// Name of the filter that a suppression becomes.
inline constexpr const char *kSuppressed = "suppressed";

/// One sight that shows an edge: held[position] held while acquiring. With an
/// interrupt at one end, and for a fault, the edge is about that one lock.
struct Witness {
	std::size_t sight;	///< in Model::sights
	std::uint32_t position; ///< in Sight::held, or kOwnLock
	Context context;
};

/// A dependency of a finding with the sight chosen to show it.
///
/// From a lock to an interrupt: to_stack is where the lock was held while the
/// interrupt could come, from_stack where it had been taken. From an interrupt to
/// a lock: to_stack is the acquire, from_stack begins where the interrupt did.
/// Out of a completion: to_stack is where it was completed, from_stack where the
/// lock had been taken that was held there.
/// For a fault shown by one sight, both ends are its lock or no class at all;
/// to_stack is where it happened, from_stack where the lock had been taken, empty
/// when that is not known.
struct FindingEdge {
	ClassId from = kNoClass, to = kNoClass;
	std::uint32_t kind = 0;			  ///< one LS_DEP_* bit
	std::uint64_t count = 0;		  ///< acquisitions of `to` under `from`, 0 unknown
	std::vector<Witness> witnesses;		  ///< all sights; the chosen one first
	std::vector<CodeId> from_stack, to_stack; ///< innermost first; [0] is the acquire
	std::optional<std::uint32_t> depth;	  ///< calls between the two acquires
	/// The sight that from_stack is of, where it is another than the one shown: what took the
	/// lock there had returned. The place of the acquire is the same.
	std::optional<std::size_t> borrowed;

	const Witness &shown() const { return witnesses.front(); }
};

/// A stack of a fault, and the sight whose context and held locks go with it.
struct ShownStack {
	std::string role;  ///< "where"; "taken": the lock that is held, there; "taken-before"
	std::size_t sight; ///< in Model::sights
	std::vector<CodeId> stack; ///< innermost first
};

/// One side of a data race, or an access that breaks a rule.
struct AccessSide {
	std::size_t access = 0; ///< in Model::accesses; the way of the one shown
	Context context;	///< of the access that is shown
	std::uint64_t count = 0; ///< accesses seen at that place to the variable
	/// Of the access that is shown; where that is not known, as it is not of the earlier side of
	/// a race, of the first one on its way: then own_stack is false.
	std::vector<CodeId> stack = {};
	bool own_stack = true;
	std::optional<std::uint32_t> cpu = {};	 ///< nothing: not known
	std::vector<std::uint64_t> locks = {}; ///< Guard::instance of each guard, 0 not known
};

/// The first access on way @access, whose stack and locks the way has.
AccessSide first_access(const Model &model, std::size_t access);

/// The frames of the side's stack that are known to be its own.
std::vector<CodeId> known_part(const AccessSide &side);

/// What a data race is about, over all that was seen of it.
struct RaceEvidence {
	Variable variable;
	/// Locks that some accesses to the variable hold and others do not, by
	/// Guard::name, best first.
	std::vector<std::string> candidates;
	std::vector<std::size_t> races; ///< in Model::races; the one shown first
	AccessSide sides[2];		///< a writer first
	bool statistics = false;	///< see statistics_counter()
};

/// What a locking rule says, and who breaks it.
struct ViolationEvidence {
	Variable variable;
	std::string guard;	///< see Hypothesis::guard()
	bool exclusive = false; ///< to write, holding it as a reader is not enough
	std::size_t holds = 0, of = 0;
	std::vector<AccessSide> sides;	   ///< accesses without it
	std::optional<AccessSide> example; ///< one with it
};

/// Are the locks of a deadlock one instance on all sides? See instances.h.
struct Meeting {
	std::size_t locks = 0, proven = 0; ///< proven: each by itself, or global
	bool whole = false; ///< all of them at once, in the observations that are shown
	bool gated = false; ///< but never without a lock that keeps two sides apart
	/// Sets of instances that match, each looked at in all of its observations and each
	/// gated; 0 where one is not, or where there are too many to look at.
	std::size_t all_gated = 0;
	ClassId gate = kNoClass; ///< of all of them
};

struct Finding {
	std::string id; ///< 16 hex digits
	FindingKind kind = FindingKind::LockOrderCycle;
	Severity severity = Severity::Error;
	Confidence confidence = Confidence::Possible;
	double score = 0;
	std::string title;
	std::vector<ClassId> classes; ///< edge i leads from class i to class i + 1 (the last to 0);
				      ///< an interrupt comes last
	std::vector<FindingEdge> edges;
	std::vector<ShownStack> stacks; ///< of a fault that one sight shows
	std::optional<RaceEvidence> race; ///< of a data race
	std::optional<ViolationEvidence> violation; ///< of a broken rule
	std::vector<Feature> features;
	std::vector<Filter> filters;
	std::optional<Meeting> meeting;
	std::string cause; ///< id of the finding whose cause it shares
	std::vector<ClassId> through; ///< a lock, or a dependency, that both have

	bool hidden() const;
	bool suppressed() const;
	/// The classes that are locks: no interrupt.
	std::vector<ClassId> locks() const;
	bool about_interrupt() const
	{
		return kind == FindingKind::IrqInversion ||
		       kind == FindingKind::InconsistentIrqState;
	}
	/// One sight alone shows it: a fault that happened. It has one edge.
	bool single() const { return shown(kind) == LS_BY_SIGHT; }
	/// What was accessed shows it, not the order of locks.
	bool about_memory() const { return shown(kind) == LS_BY_ACCESSES; }
};

/// Does the edge lead to an interrupt, or out of one?
inline bool to_interrupt(const FindingEdge &edge)
{
	return is_interrupt(edge.to);
}
inline bool from_interrupt(const FindingEdge &edge)
{
	return is_interrupt(edge.from);
}
/// "hardirq", "softirq"
const char *interrupt_name(ClassId cls);

/// Identifier of a cycle: a hash over kind and class names, the same whatever
/// class the cycle is begun with.
std::string finding_id(const Model &model, FindingKind kind, const std::vector<ClassId> &classes);
/// The same for a fault: over kind, lock and function.
std::string fault_id(const Model &model, FindingKind kind, ClassId cls,
		     const std::string &function);

/// Class name as short as a title needs it: without the initialiser's
/// function, the cache or the enclosing struct.
std::string short_name(const LockClass &cls);
/// The class's name as it would be if its objects were not told apart by their use.
std::string name_without_role(const LockClass &cls);

/// Index of the smallest rotation of @classes by stable name.
std::size_t canonical_start(const Model &model, const std::vector<ClassId> &classes);

} // namespace lockscope
