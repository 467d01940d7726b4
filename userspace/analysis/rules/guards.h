// SPDX-License-Identifier: GPL-2.0
// Locking rules, inferred from the accesses of a model.
#pragma once

#include "analysis/rules/hypotheses.h"
#include "model/model.h"
#include "model/variable.h"

#include <cstddef>
#include <string>
#include <vector>

namespace lockscope {

/// A rule from here on is statistically significant: one in ten of a normal distribution. 14
/// of 15 reach it, 13 of 14 do not.
inline constexpr double kSureZ = 1.28;

enum class AccessKind { Read, Write, Any };
const char *name(AccessKind kind);

/// ByClass: always with some lock of one class held, but it is unknown whether it is the lock
/// of the right object. Weaker than Guarded: no access breaks it.
enum class RuleVerdict { Guarded, ByClass, NoLock, Unclear, TooFew };
inline constexpr std::size_t kVerdicts = 5;
const char *name(RuleVerdict verdict);

/// The result for one kind of access to one variable.
struct Rule {
	Variable variable;
	std::string type;   ///< "struct inode"; empty when it is not known
	std::string member; ///< path in the type; empty when there is none, or it is unknown
	std::uint32_t offset = 0;
	bool global = false; ///< one variable, not a member of many objects
	AccessKind kind = AccessKind::Read;
	RuleVerdict verdict = RuleVerdict::TooFew;
	std::string why;		    ///< as text, for all but Guarded
	Support support;		    ///< of the guard; else of holding no lock
	std::vector<Hypothesis> hypotheses; ///< of the guard first, then by score
	/// In Model::accesses: the first of each piece of evidence.
	std::vector<std::size_t> examples, counterexamples;
	std::size_t pairs = 0; ///< of a place in the code and the locks held there
	/// Access sites that are no evidence: marked or atomic; before the object is
	/// published, or when it is not reachable any more; blocks of members.
	std::size_t marked = 0, initial = 0, blocks = 0;

	const Hypothesis *guard() const
	{
		return verdict == RuleVerdict::Guarded ? &hypotheses.front() : nullptr;
	}
	/// guard(), or its class.
	const Hypothesis *believed() const
	{
		return verdict == RuleVerdict::ByClass ? &hypotheses.front() : guard();
	}
	/// A member of all objects of a type, whose type is known.
	bool of_type() const { return !global && !type.empty(); }
	/// That type, or the variable's name.
	std::string owner() const;
};

/// By type and offset, reads before writes. If reads and writes together have enough evidence
/// for one guard, and not each alone, there is one rule of kind Any instead.
std::vector<Rule> infer_rules(const Model &model);

/// Is the access assumed to initialise or tear down an unpublished object? It holds no lock of
/// the object, and it is under a module's init function, or its function has such a name, or
/// one that drops a reference, perhaps the last one. False negatives: accesses too early or
/// too late in such functions.
bool initialises(const Model &model, const MemoryAccess &access);

} // namespace lockscope
