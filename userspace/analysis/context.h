// SPDX-License-Identifier: GPL-2.0
// In which context an acquisition ran, and where that context was entered.
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
	std::string entry;  ///< function, or system call, that was entered; may be empty
	std::string callee; ///< what the entry called: tells users of one dispatcher apart
	std::uint32_t run = 0, pid = 0, task_flags = 0;
	std::uint32_t level = LS_TASK;
	std::string comm;

	/// Two sights with different keys may run at the same time. Tasks are
	/// told apart by their id, interrupts and work items by what they run
	/// [RELAY 4.3].
	std::string key() const;
	/// "system call openat", "work function foo_work", "task"
	std::string describe() const;
	/// The same without what was entered.
	std::string describe_task() const;
	bool init() const { return kind == EntryKind::Init; }
	bool worker() const { return task_flags & LS_TASK_WORKER; }
	bool kernel_thread() const { return (task_flags & LS_TASK_KTHREAD) && !worker(); }
	/// One run of the entry ends before the next begins.
	bool serialised() const
	{
		return kind == EntryKind::Timer || kind == EntryKind::Hrtimer ||
		       kind == EntryKind::Tasklet || kind == EntryKind::Irq ||
		       kind == EntryKind::Work;
	}
};

Context context_of(const Model &model, const Sight &sight);
Context context_of(const Model &model, const MemoryAccess &access);
/// The same of a side of a race, on way @access. Where its stack is not known and the first
/// access of that way came by in the like of it, it was entered there as well.
Context context_of(const Model &model, const MemoryAccess &access, const RaceSide &side);

/// "comm-pid"
std::string task_name(const Context &context);

/// Function without the suffixes compilers add to clones ("f.isra.0" -> "f"), nor its number
/// among those of its name ("f#2").
std::string plain_function(const std::string &function);

} // namespace lockscope
