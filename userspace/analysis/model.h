// SPDX-License-Identifier: GPL-2.0
// What was recorded, as the analyses see it: runs united, classes and code
// sites numbered over all of them, no addresses.
#pragma once

#include "lockclass/abi.h"

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <unordered_map>
#include <vector>

namespace lockscope {

/// Index into Model::classes; equal names and kinds are one class.
enum class ClassId : std::uint32_t {};
inline constexpr ClassId kNoClass{0xffffffffu};
/// Interrupts take part in the lock order as two classes of their own
/// [Eraser 3.4]; no run has them among its classes.
inline constexpr ClassId kHardirqClass{0xfffffffeu}, kSoftirqClass{0xfffffffdu};
inline bool is_interrupt(ClassId id)
{
	return id == kHardirqClass || id == kSoftirqClass;
}
inline std::uint32_t index(ClassId id)
{
	return static_cast<std::uint32_t>(id);
}

/// Index into Model::code; 0 is "unknown".
enum class CodeId : std::uint32_t {};
inline std::uint32_t index(CodeId id)
{
	return static_cast<std::uint32_t>(id);
}

/// Kind of the classes that stand for interrupts; no lock has it.
inline constexpr ls_kind kInterruptKind = LS_NR_KINDS;

struct LockClass {
	std::string name;   ///< stable name with the field, see docs
	std::string stable; ///< what identifiers are made of: name without build-dependent offset
	ls_kind kind = LS_KIND_NONE;
	ls_origin origin = LS_ORIGIN_NONE;
	std::uint32_t offset = 0, object_size = 0; ///< bytes
	std::string module;
	std::string type; ///< of a spinlock, "raw_spinlock_t" or "spinlock_t"; empty: unknown

	/// One lock for the whole system, not one in every object.
	bool global() const { return origin == LS_ORIGIN_STATIC; }
};

struct SourceLine {
	std::string function, file;
	std::uint32_t line = 0;
	bool inlined = false;

	bool operator==(const SourceLine &) const = default;
};

/// A place in code. function may be empty when it could not be resolved.
struct Code {
	std::string function;
	std::uint64_t offset = 0;
	std::string module, build_id;
	std::vector<SourceLine> lines; ///< innermost inlined function first
};

struct Held {
	ClassId cls = kNoClass;
	std::uint32_t val = 0;
	CodeId at{};
	std::uint64_t instance = 0; ///< keyed hash; comparable within a run, 0 unknown
	std::uint64_t object = 0;   ///< same for the object the lock lies in
};

/// Position in Sight::held that means Sight::acquired.
inline constexpr std::uint32_t kOwnLock = 0xffffffffu;

/// An acquisition that brought something new, a release or a completion that did,
/// or a fault (ls_rec_sight).
struct Sight {
	std::uint32_t run = 0, ordinal = 0;
	std::uint64_t time_ns = 0, new_mask = 0;
	Held acquired; ///< or given back, completed, or what a fault is about; may be no class then
	std::uint32_t what = LS_SIGHT_ACQUIRE; ///< LS_SIGHT_* or enum ls_finding_kind
	std::uint64_t extra = 0;	       ///< long hold: nanoseconds waited
	std::uint32_t chain = 0, pid = 0, tgid = 0, task_flags = 0, cpu = 0;
	std::string comm;
	std::vector<CodeId> stack; ///< innermost first, may be empty
	std::vector<Held> held;	   ///< oldest first

	bool acquisition() const { return what == LS_SIGHT_ACQUIRE; }
	bool completion() const { return what == LS_SIGHT_COMPLETE; }
	bool fault() const { return LS_SIGHT_IS_FAULT(what); }
	const Held &at(std::uint32_t position) const
	{
		return position == kOwnLock ? acquired : held[position];
	}
	/// Both ends of an order that held[position] is one of: who acquires waits
	/// with that, who completes something had to wait for it.
	const Held &from(std::uint32_t position) const
	{
		return completion() ? acquired : held[position];
	}
	const Held &to(std::uint32_t position) const
	{
		return completion() ? held[position] : acquired;
	}
};

struct Chain {
	std::uint32_t parent = 0; ///< 0 ends
	std::uint32_t val = 0;
	ClassId cls = kNoClass;
	CodeId at{};
	std::uint64_t count = 0; ///< acquisitions
};

struct KernelFinding {
	std::uint32_t run = 0, id = 0, kind = 0;
	std::vector<ClassId> classes;	   ///< from of every edge, in order
	std::vector<std::uint32_t> sights; ///< their ordinals
};

struct Inversion {
	std::uint32_t run = 0;
	ClassId cls = kNoClass;
	bool same_instance = false;
	std::uint32_t first = 0, second = 0; ///< sight ordinals of the run
};

/// What was counted of a class, over all runs; see struct ls_class_counts.
struct ClassCounts {
	std::uint64_t acquires = 0, releases = 0, unmatched_releases = 0, unmatched_acquires = 0;
	std::uint64_t nested[LS_NR_NESTINGS] = {};
};

struct Primitive {
	std::string function;
	ls_kind kind = LS_KIND_NONE;
	ls_prim_state state = LS_PRIM_ABSENT;
	int error = 0; ///< -errno
};

struct Run {
	std::string instance, boot, backend, release, build_id, file;
	std::int64_t started = 0, updated = 0;		       ///< seconds since 1970
	std::map<std::string, std::uint64_t> counters;	       ///< see store/rows.h
	std::vector<Chain> chains;			       ///< [0] unused
	std::unordered_map<std::uint32_t, std::size_t> sights; ///< ordinal -> Model::sights
	std::vector<Primitive> primitives;
};

/// What stands for an interrupt in a list of classes: "<hardirq>", "<softirq>".
const LockClass &interrupt_class(ClassId id);

struct Model {
	std::vector<Run> runs;
	std::vector<LockClass> classes;
	std::vector<Code> code{Code{}};
	std::vector<Sight> sights;
	std::vector<KernelFinding> kernel_findings;
	std::vector<Inversion> inversions;
	std::map<ClassId, ClassCounts> counts; ///< of classes of which anything was counted

	const LockClass &operator[](ClassId id) const
	{
		return is_interrupt(id) ? interrupt_class(id) : classes[index(id)];
	}
	const Code &operator[](CodeId id) const { return code[index(id)]; }

	/// The class of this name and kind, made if it is new.
	ClassId intern(LockClass cls);
	/// The place equal to @place in all but its lines, made if it is new.
	CodeId intern(Code place);
	std::uint64_t counter(const std::string &name) const; ///< summed over runs

private:
	std::unordered_map<std::string, ClassId> class_by_name_;
	std::unordered_map<std::string, CodeId> code_by_name_;
};

/// Words for people: "spinlock", "mutex"...; "static", "slab"...
const char *kind_name(ls_kind kind);
const char *origin_name(ls_origin origin);
const char *level_name(std::uint32_t val);
inline ls_read read_of(std::uint32_t val)
{
	return static_cast<ls_read>((val & LS_VAL_READ_MASK) >> LS_VAL_READ_SHIFT);
}
inline ls_level level_of(std::uint32_t val)
{
	return static_cast<ls_level>((val & LS_VAL_LEVEL_MASK) >> LS_VAL_LEVEL_SHIFT);
}

/// "name+0x1f/module"; "?" when unknown.
std::string place_name(const Code &code);

} // namespace lockscope
