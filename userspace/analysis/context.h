// SPDX-License-Identifier: GPL-2.0
// The context of an acquisition, and its entry point.
#pragma once

#include "model/model.h"

#include <string>

namespace lockscope {

enum class EntryKind {
	Unknown,
	Syscall,
	Fault,
	Work,
	Kthread,
	Init, ///< init function of the kernel or a module
	Timer,
	Hrtimer,
	Tasklet,
	Softirq,
	Irq,
	Ipi,
	Nmi
};

struct Context {
	EntryKind kind = EntryKind::Unknown;
	std::string entry;  ///< entered function or system call; may be empty
	std::string callee; ///< called by the entry: distinguishes users of one dispatcher
	std::uint32_t run = 0, pid = 0, task_flags = 0;
	std::uint32_t level = LS_TASK;
	std::string comm;

	/// Two observations with different keys may run concurrently. Tasks are identified by their
	/// id, interrupts and work items by what they run [RELAY 4.3].
	std::string key() const;
	/// The same of contexts in different runs: kernel threads are identified by their names.
	std::string name_in_any_run() const;
	/// "system call openat", "work function foo_work", "task"
	std::string describe() const;
	/// The same without the entry point.
	std::string describe_task() const;
	bool init() const { return kind == EntryKind::Init; }
	bool worker() const { return task_flags & LS_TASK_WORKER; }
	/// System calls and faults of one process can as well come from two.
	bool user_task() const
	{
		return level == LS_TASK && !init() &&
		       !(task_flags & (LS_TASK_KTHREAD | LS_TASK_WORKER));
	}
	bool kernel_thread() const { return (task_flags & LS_TASK_KTHREAD) && !worker(); }
	/// Runs of the entry never overlap.
	bool serialised() const
	{
		return kind == EntryKind::Timer || kind == EntryKind::Hrtimer ||
		       kind == EntryKind::Tasklet || kind == EntryKind::Irq ||
		       kind == EntryKind::Work;
	}
};

Context context_of(const Model &model, const Observation &observation);
Context context_of(const Model &model, const MemoryAccess &access);
/// The context of one side of a race, at access site @access. Where its stack is not known and
/// the first access at that site came from a similar context, the entry point of the latter is
/// assumed.
Context context_of(const Model &model, const MemoryAccess &access, const RaceSide &side);

/// "comm-pid"
std::string task_name(const Context &context);

/// Function without compiler suffixes ("f.isra.0" -> "f") and without its number among
/// functions of that name ("f#2").
std::string plain_function(const std::string &function);
/// Are both in one known function?
bool same_function(const Code &a, const Code &b);

} // namespace lockscope
