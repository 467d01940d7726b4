// SPDX-License-Identifier: GPL-2.0
// Recorded data for the analyses: runs merged, classes and code sites numbered over all of
// them, no addresses.
#pragma once

#include "lockclass/abi.h"
#include "model/name_index.h"
#include "model/stat.h"
#include "model/verdict.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <unordered_map>
#include <vector>

namespace lockscope {

namespace annotations {
struct Table;
}
struct LockTrace;

/// Index into Model::classes; equal names and kinds are one class.
enum class ClassId : std::uint32_t {};
inline constexpr ClassId kNoClass{0xffffffffu};
/// Interrupts are two further classes in the lock order [Eraser 3.4]; no run has them among
/// its classes.
inline constexpr ClassId kHardirqClass{0xfffffffeu}, kSoftirqClass{0xfffffffdu};
inline bool is_interrupt(ClassId id)
{
	return id == kHardirqClass || id == kSoftirqClass;
}
inline std::uint32_t index(ClassId id)
{
	return static_cast<std::uint32_t>(id);
}

inline ls_read read_of(std::uint32_t val)
{
	return static_cast<ls_read>((val & LS_VAL_READ_MASK) >> LS_VAL_READ_SHIFT);
}
inline ls_level level_of(std::uint32_t val)
{
	return static_cast<ls_level>((val & LS_VAL_LEVEL_MASK) >> LS_VAL_LEVEL_SHIFT);
}

/// Index into Model::code; 0 is "unknown".
enum class CodeId : std::uint32_t {};
inline std::uint32_t index(CodeId id)
{
	return static_cast<std::uint32_t>(id);
}

/// Kind of the interrupt classes; no lock has it.
inline constexpr ls_kind kInterruptKind = LS_NR_KINDS;

/// Waited for and completed, but never held.
inline constexpr bool awaited(ls_kind kind)
{
	return LS_AWAITED_KINDS >> kind & 1;
}

struct LockClass {
	std::string name;   ///< stable name with the field, see docs/findings.md
	std::string stable; ///< name without build-dependent offset, for identifiers
	ls_kind kind = LS_KIND_NONE;
	ls_origin origin = LS_ORIGIN_NONE;
	std::uint32_t offset = 0, object_size = 0; ///< bytes
	std::string module;
	std::string type; ///< "raw_spinlock_t" or "spinlock_t" for spinlocks; empty: unknown
	/// Build or run in which the name is valid, if it may be another lock elsewhere;
	/// empty: any.
	std::string within;

	/// One lock for the whole system, not one per object.
	bool global() const { return origin == LS_ORIGIN_STATIC; }
};

struct SourceLine {
	std::string function, file;
	std::uint32_t line = 0;
	bool inlined = false;

	bool operator==(const SourceLine &) const = default;
};

/// A place in the code. function may be empty if it could not be resolved.
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
	std::uint64_t object = 0;   ///< the same for the object around the lock
	/// Hashes of a gate and a lock, comparable within a run, 0 unknown: of a gate under
	/// which this lock was acquired and which was released since; of any gate that is held
	/// and a lock that was acquired and released within that hold.
	std::uint16_t under = 0, passed = 0;
	std::array<std::uint16_t, 3> more{}; ///< like under, of further gates
};

/// Position in Observation::held for Observation::acquired.
inline constexpr std::uint32_t kOwnLock = 0xffffffffu;

/// An acquisition with something new, such a release or completion, or a fault (ls_rec_sight).
struct Observation {
	std::uint32_t run = 0, ordinal = 0;
	std::uint64_t time_ns = 0, new_mask = 0;
	Held acquired; ///< or released, completed, or the lock of a fault; may be no class then
	std::uint32_t what = LS_SIGHT_ACQUIRE; ///< LS_SIGHT_* or enum ls_finding_kind
	std::uint64_t extra = 0;	       ///< see ls_rec_sight, LS_RELATED_*
	std::uint32_t chain = 0, pid = 0, tgid = 0, task_flags = 0, cpu = 0;
	std::string comm;
	std::vector<CodeId> stack; ///< innermost first, may be empty
	std::vector<Held> held;	   ///< oldest first
	/// LS_FINDING_IN_FREED: the code that freed the lock's memory.
	std::optional<CodeId> freed_at;

	bool acquisition() const { return what == LS_SIGHT_ACQUIRE; }
	bool completion() const { return what == LS_SIGHT_COMPLETE; }
	/// One of several tasks that wait for each other.
	bool deadlock() const { return what == LS_FINDING_DEADLOCK; }
	/// Shows a fault by itself.
	bool fault() const { return LS_SIGHT_IS_FAULT(what) && !deadlock(); }
	/// The lock of the observation itself for kOwnLock, and wherever no lock is held.
	const Held &at(std::uint32_t position) const
	{
		return position < held.size() ? held[position] : acquired;
	}
	/// Both ends of the dependency with held[position]: an acquirer waits with it held, a
	/// completer had to wait for it. Of kOwnLock both are the lock itself.
	const Held &from(std::uint32_t position) const
	{
		return completion() ? acquired : at(position);
	}
	const Held &to(std::uint32_t position) const
	{
		return completion() ? at(position) : acquired;
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
	std::vector<ClassId> classes;		 ///< from of every edge, in order
	std::vector<std::uint32_t> observations; ///< their ordinals
};

struct Inversion {
	std::uint32_t run = 0;
	ClassId cls = kNoClass;
	bool same_instance = false;
	std::uint32_t first = 0, second = 0; ///< observation ordinals of the run
};

/// Counts of a class, over all runs; see struct ls_class_counts.
struct ClassCounts {
	std::uint64_t acquires = 0, releases = 0, unmatched_releases = 0, unmatched_acquires = 0;
	std::uint64_t nested[LS_NR_NESTINGS] = {};
	/// Semaphore instances, once per life: released, and released by a context that had
	/// not acquired it.
	std::uint64_t instances = 0, handed = 0;
};

struct Primitive {
	std::string function;
	ls_kind kind = LS_KIND_NONE;
	ls_prim_state state = LS_PRIM_ABSENT;
	int error = 0; ///< -errno
};

/// Index into Model::data: a variable, or a type of object; equal kinds, names
/// and modules are one.
enum class DataId : std::uint32_t {};
inline constexpr DataId kNoData{0xffffffffu};
inline std::uint32_t index(DataId id)
{
	return static_cast<std::uint32_t>(id);
}

/// A variable or a type of object that was accessed (ls_rec_data).
struct Data {
	ls_data_kind kind = LS_DATA_NONE;
	std::string name; ///< "mod:symbol", slab cache, or function; see variable_of()
	std::string module;
	std::string type;	       ///< "struct foo", "int"; empty when it is not known
	std::uint32_t object_size = 0; ///< bytes, 0 when it is not known
	std::string within;	       ///< as in LockClass

	/// One for the whole system, not one per object.
	bool global() const { return kind == LS_DATA_STATIC; }
};

/// A lock held during an access, with its relation to the object accessed [LOCKSMITH:
/// existential correlation].
struct Guard {
	ClassId cls = kNoClass;
	std::uint32_t val = 0;	    ///< LS_VAL_*: shared or exclusive, see read_of()
	CodeId at{};		    ///< acquire site
	std::uint64_t instance = 0; ///< keyed hash; comparable within a run, 0 unknown
	ls_relation relation = LS_REL_OTHER;
	std::uint32_t via = 0, lock_offset = 0; ///< as in ls_guard_rec
	/// The lock relative to the object, the same for all objects of the type:
	/// "self.i_lock", "via i_sb .s_inode_list_lock", a static lock's name, or the class's
	/// name for a lock of another object.
	std::string name;
	/// Member name, for locks in objects of known type: "journal_s.j_list_lock".
	std::string place;

	bool exclusive() const { return read_of(val) == LS_EXCLUSIVE; }
};

/// An access site (ls_rec_access): code, data and the locks held, with its count. Two records
/// that only differ in the stack's outer frames are one site; the first one has stack, task
/// and time.
struct MemoryAccess {
	std::uint32_t run = 0, id = 0;	    ///< id is that of the run's LS_REC_ACCESS
	DataId data = kNoData;		    ///< kNoData: the module had no room for it
	std::uint32_t offset = 0, size = 0; ///< bytes, in the object or variable
	/// Innermost member at offset, "f_pos", "stats.rx", "slot[]"; empty when it is
	/// unknown, or the variable has no members.
	std::string member;
	std::uint32_t op = 0; ///< LS_ACC_*
	CodeId at{};
	std::uint64_t time_ns = 0, count = 0; ///< first observation; count, 0: not known
	std::uint32_t where = 0;	      ///< LS_WHERE_*, LS_VAL_LEVEL_MASK, _IRQ_OFF, _BH_OFF
	std::uint32_t pid = 0, tgid = 0, task_flags = 0, cpu = 0;
	std::string comm;
	std::vector<CodeId> stack; ///< innermost first, [0] == at
	std::vector<Guard> guards; ///< oldest first
	/// All of these accesses were exclusive: no other context had accessed the memory, or
	/// its accesses were ordered before [Eraser 2.2].
	bool alone = false;
	/// The value stored, if its code is one plain store of a constant.
	std::optional<std::uint64_t> constant;

	bool reads() const { return op & LS_ACC_READ; }
	bool writes() const { return op & LS_ACC_WRITE; }
	/// READ_ONCE() and the like, atomics: concurrent accesses are expected. One that only
	/// a watchpoint saw may be marked, and counts as such.
	bool marked() const { return op & (LS_ACC_MARKED | LS_ACC_ATOMIC | LS_ACC_TRAP); }
	bool overlaps(const MemoryAccess &other) const
	{
		return offset < std::uint64_t{other.offset} + other.size &&
		       other.offset < std::uint64_t{offset} + size;
	}
};

/// One access in the history of a granule of 8 bytes (ls_history_rec).
struct Remembered {
	std::size_t access;	   ///< in Model::accesses
	std::uint32_t context = 0; ///< below 0x8000: low bits of the pid; else an interrupt
	std::uint8_t bytes = 0;	   ///< bit i: byte i of the granule
	bool initial = false;	   ///< from the time when one context owned it
};

/// One side of a race (ls_rec_side). Code, data and the acquire sites of its locks are those
/// of its access site.
struct RaceSide {
	bool known = false; ///< recorded: not by older modules and stores
	bool task = false;  ///< the full pid, and tgid, task_flags, comm are known
	std::uint32_t pid = 0, tgid = 0, task_flags = 0; ///< pid without task: low bits, or 0
	std::optional<std::uint32_t> cpu;
	std::string comm;
	std::vector<CodeId> stack;	  ///< empty: only that of the site's first access
	std::vector<std::uint64_t> locks; ///< Guard::instance of each guard, 0 not known
};

/// Two accesses without synchronisation (ls_rec_race).
struct Race {
	std::uint32_t run = 0, id = 0, flags = 0;    ///< LS_RACE_*
	std::size_t first = 0, second = 0;	     ///< in Model::accesses, the earlier one first
	std::uint32_t first_pid = 0, second_pid = 0; ///< 0 for interrupts
	std::uint64_t granule = 0;		     ///< keyed hash; comparable within a run
	std::uint64_t time_ns = 0;
	std::vector<Remembered> history; ///< oldest first
	RaceSide sides[2];		 ///< of first and second
};

/// A state change of a followed granule (ls_rec_history) [Eraser 3.3].
struct StateChange {
	std::uint32_t run = 0;
	std::uint64_t granule = 0, time_ns = 0; ///< keyed hash, as in Race
	std::size_t access = 0;			///< in Model::accesses
	ls_shadow_state before = LS_VIRGIN, after = LS_VIRGIN;
	std::uint32_t context = 0, candidates = 0, pid = 0; ///< as in ls_rec_history
	std::vector<std::uint64_t> locks; ///< hashes of the candidates, see Guard::instance
};

/// A call of a lock primitive in the code of a module that a recording was about.
struct OwnSite {
	Code place; ///< of its return address
	std::string primitive;
	bool start = false;	     ///< in code that runs once, when the module is loaded
	std::optional<bool> reached; ///< nullopt: it was not watched, and nothing shows it
};

/// A module that a recording was about: "your module".
struct OwnModule {
	std::string name, build_id;
	bool decoded = false;	   ///< its file was found, and sites are all there are
	bool instrumented = false; ///< it calls out for its accesses to memory
	std::vector<OwnSite> sites;
};

/// End of a run's recording; run.finish in a store.
enum class RunEnd {
	Open = 0,	///< still running, or its recorder did not finish
	Finished = 1,	///< everything in the module was stored
	Failed = 2,	///< the recorder failed, see Run::problem
	ModuleGone = 3, ///< the module was unloaded meanwhile: its last observations are missing
	Crashed = 4,	///< a fault of the recorder's own ended it; Run::problem has the signal
};

/// A task, or an interrupt level of a CPU, that held a lock or waited for one when the machine
/// died.
struct DeadContext {
	std::string comm; ///< of interrupts: of the interrupted task
	std::uint32_t pid = 0, tgid = 0;
	std::optional<std::uint32_t> cpu; ///< where it ran; nullopt: it slept
	ls_level level = LS_TASK;
	std::vector<Held> held; ///< oldest first
	std::optional<Held> waits;
};

/// How the machine of a run died, by lockscope recover.
struct Death {
	std::string cause;		  ///< one line
	std::string messages;		  ///< the kernel's last ones, as dmesg prints them
	std::vector<std::string> missing; ///< what its memory did not have
	std::vector<DeadContext> contexts;
};

struct Run {
	std::string instance, boot, backend, release, build_id, file;
	std::int64_t started = 0, updated = 0;	       ///< seconds since 1970
	std::map<std::string, std::uint64_t> counters; ///< see model/counters.h
	std::vector<Chain> chains;		       ///< [0] unused
	std::unordered_map<std::uint32_t, std::size_t>
		observations; ///< ordinal -> Model::observations
	std::vector<Primitive> primitives;
	std::vector<OwnModule> modules;
	std::optional<StatReport> stat;		///< if there were statistics
	std::shared_ptr<const LockTrace> trace; ///< if there was one, and it was asked for
	std::shared_ptr<const Death> death;	///< if the machine died, and was looked at
	RunEnd end = RunEnd::Finished;
	std::string problem;		 ///< why the recorder failed, one line
	bool writing = false;		 ///< a recorder has the store open
	std::vector<std::string> unread; ///< tables that could only be read in part
};

/// Backend of runs that were read from a trace; the release of such a run begins like this, and
/// goes on with the name of the trace.
inline constexpr const char *kTraceBackend = "trace", *kTraceRelease = "trace ";
/// What was recorded: "kernel 6.1.0", or "trace NAME".
std::string system_name(const std::string &release);

/// The class of an id that is no index into Model::classes: "<hardirq>", "<softirq>" of the
/// interrupts, else "?", of kind LS_KIND_NONE.
const LockClass &special_class(ClassId id);
/// What an id that is no index stands for: a place or a variable without a name.
extern const Code kUnknownCode;
extern const Data kUnknownData;

struct Model {
	std::vector<Run> runs;
	std::vector<std::string> damaged; ///< files that may only be read in part
	std::vector<LockClass> classes;
	std::vector<Code> code{Code{}};
	std::vector<Observation> observations;
	std::vector<KernelFinding> kernel_findings;
	std::vector<Inversion> inversions;
	std::map<ClassId, ClassCounts> counts; ///< of classes with counts
	std::vector<Data> data;
	std::vector<MemoryAccess> accesses;
	std::vector<Race> races; ///< both sides are known
	/// Annotations of locks, by release; null where no table was found.
	std::map<std::string, std::shared_ptr<const annotations::Table>> annotations;
	std::vector<StateChange> histories; ///< in the order of each run's log
	/// By the finding's id. Of several in the stores the one that holds, see holds_over().
	std::map<std::string, Verdict> verdicts;

	/// Every value of an id has an entry: what is absent (kNoClass, kNoData, a number of a
	/// damaged store) is the unknown one, whose name says so.
	const LockClass &operator[](ClassId id) const
	{
		return index(id) < classes.size() ? classes[index(id)] : special_class(id);
	}
	const Code &operator[](CodeId id) const
	{
		return index(id) < code.size() ? code[index(id)] : kUnknownCode;
	}
	const Data &operator[](DataId id) const
	{
		return index(id) < data.size() ? data[index(id)] : kUnknownData;
	}

	/// The class with this name, kind and module within the name's validity, created if it
	/// is new.
	ClassId intern(LockClass cls);
	/// The place equal to @place except for its lines, created if it is new.
	CodeId intern(Code place);
	/// The data with this kind, name and module, created if it is new.
	DataId intern(Data data);
	std::uint64_t counter(const std::string &name) const; ///< summed over runs

private:
	NameIndex classes_by_name_, code_by_name_;
	std::unordered_map<std::string, DataId> data_by_name_;
};

/// Several symbols share the name, which has the number of its symbol: "lock#2". Numbers are
/// the same on every boot of a build, not in the next one.
bool numbered(const std::string &name);

/// Text: "spinlock", "mutex"...; "static", "slab"...
const char *kind_name(ls_kind kind);
const char *origin_name(ls_origin origin);
const char *level_name(std::uint32_t val);
/// "name+0x1f/module"; "?" when unknown.
std::string place_name(const Code &code);

} // namespace lockscope
