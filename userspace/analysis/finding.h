// SPDX-License-Identifier: GPL-2.0
// A finding, as it is reported.
#pragma once

#include "analysis/context.h"
#include "model/model.h"
#include "model/variable.h"
#include "model/verdict.h"

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
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
/// What is wrong, without a full stop.
const char *about(FindingKind kind);
/// All of them, in the order of their numbers.
std::span<const FindingKind> finding_kinds();
/// How its title begins; of a fault that one observation shows, all but the end, see faults.cpp.
const char *title_words(FindingKind kind);
/// The kind with that name, see docs/findings.md.
std::optional<FindingKind> parse_kind(const std::string &text);
/// The names of all kinds.
std::vector<std::string> kind_names();
std::optional<Severity> parse_severity(const std::string &text);
std::optional<Confidence> parse_confidence(const std::string &text);

/// One part of the rank; see rank.cpp.
struct Feature {
	std::string name;
	double points = 0;
	std::string why;
};

/// One reason to doubt a finding; see filters.cpp. It demotes the finding, to at most @most,
/// or hides it when the reason is a proof.
struct Filter {
	std::string name;
	bool hidden = false;
	std::string why;
	Severity most = Severity::Warning;
};

/// The highest severity of a finding with @filter.
inline Severity most_with(const Filter &filter)
{
	return filter.hidden ? Severity::Note : filter.most;
}

/// Name of the filter for suppressions.
inline constexpr const char *kSuppressed = "suppressed";
/// Name of the filter for refuted findings.
inline constexpr const char *kRefuted = "refuted";

/// Name of the filter for what follows from another finding.
inline constexpr const char *kConsequence = "consequence";

/// One observation that shows an edge: held[position] held while acquiring. With an
/// interrupt at one end, and for a fault, the edge is about that one lock.
struct Witness {
	std::size_t observation; ///< in Model::observations
	std::uint32_t position;	 ///< in Observation::held, or kOwnLock
	Context context;
};

/// A dependency of a finding with the observation chosen to show it.
///
/// From a lock to an interrupt: to_stack is where the lock was held while the interrupt could
/// come, from_stack its acquire. From an interrupt to a lock: to_stack is the acquire,
/// from_stack begins at the interrupt. Out of a completion: to_stack is where it was
/// completed, from_stack the acquire of the lock that was held there. For a fault shown by one
/// observation, both ends are its lock or no class at all; to_stack is where it happened,
/// from_stack the acquire of the lock, empty when that is not known.
struct FindingEdge {
	ClassId from = kNoClass, to = kNoClass;
	std::uint32_t kind = 0;			  ///< one LS_DEP_* bit
	std::uint64_t count = 0;		  ///< acquisitions of `to` under `from`, 0 unknown
	std::vector<Witness> witnesses;		  ///< all observations; the chosen one first
	std::vector<CodeId> from_stack, to_stack; ///< innermost first; [0] is the acquire
	std::optional<std::uint32_t> depth;	  ///< calls between the two acquires
	/// The observation that from_stack comes from, if it is not the one shown: the function
	/// that acquired the lock had returned there. The acquire site is the same.
	std::optional<std::size_t> borrowed;

	const Witness &shown() const { return witnesses.front(); }
};

/// A stack of a fault, and the observation whose context and held locks go with it.
struct ShownStack {
	std::string
		role; ///< "where"; "taken": the lock that is held, there; "taken-before"; "freed"
	std::size_t observation;   ///< in Model::observations
	std::vector<CodeId> stack; ///< innermost first
};

/// One side of a data race, or an access that breaks a rule.
struct AccessSide {
	std::size_t access = 0;	 ///< in Model::accesses; the access site shown
	Context context;	 ///< of the access shown
	std::uint64_t count = 0; ///< accesses at that place to the variable
	/// Stack of the access shown; if it is not known, as for the earlier side of a race,
	/// that of the first access at its site: then own_stack is false.
	std::vector<CodeId> stack = {};
	bool own_stack = true;
	std::optional<std::uint32_t> cpu = {}; ///< nullopt: not known
	std::vector<std::uint64_t> locks = {}; ///< Guard::instance of each guard, 0 not known
};

/// The first access at site @access, whose stack and locks are recorded.
AccessSide first_access(const Model &model, std::size_t access);

/// The frames of the stack that certainly belong to the side.
std::vector<CodeId> known_part(const AccessSide &side);

/// The variable of a data race, with all observations of it.
struct RaceEvidence {
	Variable variable;
	/// Locks held at some accesses to the variable and not at others, by Guard::name, best
	/// first.
	std::vector<std::string> candidates;
	std::vector<std::size_t> races; ///< in Model::races; the one shown first
	AccessSide sides[2];		///< a writer first
	bool statistics = false;	///< see statistics_counter()
};

/// A locking rule, and the accesses that break it.
struct ViolationEvidence {
	Variable variable;
	std::string guard;	///< see Hypothesis::guard()
	bool exclusive = false; ///< to write, holding it as a reader is not enough
	std::size_t holds = 0, of = 0;
	std::vector<AccessSide> sides;	   ///< accesses without it
	std::optional<AccessSide> example; ///< one with it
};

/// Are the locks of a deadlock the same instances on all sides? See instances.h.
struct Meeting {
	std::size_t locks = 0, proven = 0; ///< proven: each separately, or global
	bool whole = false;		   ///< all of them at once, in the observations shown
	bool gated = false;		   ///< but always with a gate between two sides
	/// Number of matching sets of instances, each tested in all of its observations and
	/// each gated; 0 if one is not gated, or if there are too many.
	std::size_t all_gated = 0;
	ClassId gate = kNoClass; ///< of all of them
	/// Where it is gated: no lock is held on both sides, but one side passed a lock of the
	/// other one before; of that class.
	ClassId passed = kNoClass;
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
	std::vector<ShownStack> stacks;		    ///< of a fault that one observation shows
	std::optional<RaceEvidence> race;	    ///< of a data race
	std::optional<ViolationEvidence> violation; ///< of a broken rule
	std::vector<Feature> features;
	std::vector<Filter> filters;
	std::optional<Meeting> meeting;
	std::optional<Verdict> verdict; ///< of lockscope confirm, see verdicts.h
	std::string cause;		///< id of the finding that is its cause
	std::size_t consequences = 0; ///< observations of hidden findings of which it is the cause
	bool further = false; ///< a cycle that is not the shortest of any of its dependencies
	std::vector<ClassId> through; ///< what both share: a lock, a dependency; empty: a structure
	/// Numbers of the run that completed it and of the last one that showed a part of it;
	/// unset with a single run, see history.h.
	std::optional<std::uint32_t> first_run = {}, last_run = {};
	std::optional<bool> fresh = {}; ///< new against earlier runs, see apply_selection()
	bool left_out = false;		///< not selected, see apply_selection()

	bool hidden() const;
	bool suppressed() const;
	/// The classes that are locks, not interrupts.
	std::vector<ClassId> locks() const;
	bool about_interrupt() const
	{
		return kind == FindingKind::IrqInversion ||
		       kind == FindingKind::InconsistentIrqState;
	}
	/// A fault that one observation shows: it did happen. It has one edge.
	bool single() const { return shown(kind) == LS_BY_SIGHT; }
	/// Its sides have to meet: about the order of locks, and not observed as a deadlock.
	bool about_order() const { return shown(kind) == LS_BY_CYCLE || shown(kind) == LS_BY_PAIR; }
	/// It is about accesses, not the order of locks.
	bool about_memory() const { return shown(kind) == LS_BY_ACCESSES; }
};

/// Does the edge lead to an interrupt, or come from one?
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

/// Is @text 16 lower-case hex digits?
bool is_finding_id(std::string_view text);
/// Identifier of a cycle: a hash over kind and class names, independent of the first class.
std::string finding_id(const Model &model, FindingKind kind, const std::vector<ClassId> &classes);
/// The same for a fault: over kind, lock and function.
std::string fault_id(const Model &model, FindingKind kind, ClassId cls,
		     const std::string &function);

/// Short class name for titles: without the initialiser's function, the cache or the enclosing
/// struct.
std::string short_name(const LockClass &cls);
/// The class's name without the role of its objects.
std::string name_without_role(const LockClass &cls);

/// Index of the smallest rotation of @classes by stable name, and kind where names are equal.
std::size_t canonical_start(const Model &model, const std::vector<ClassId> &classes);

} // namespace lockscope
