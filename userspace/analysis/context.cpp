// SPDX-License-Identifier: GPL-2.0
#include "analysis/context.h"

#include <span>
#include <string_view>

namespace lockscope {

namespace {

/// A dispatcher: its callee is the entry point.
struct Dispatcher {
	const char *function;
	EntryKind kind;
};

/*
 * The innermost one counts within a level: a work function may run a nested one. Names as of
 * 6.1; handle_softirqs is __do_softirq since 6.10, and __flush_smp_call_function_queue had no
 * underscores before 5.19.
 */
constexpr Dispatcher kHardirq[] = {{"__handle_irq_event_percpu", EntryKind::Irq},
				   {"__hrtimer_run_queues", EntryKind::Hrtimer},
				   {"__flush_smp_call_function_queue", EntryKind::Ipi},
				   {"flush_smp_call_function_queue", EntryKind::Ipi},
				   {"irq_work_run_list", EntryKind::Ipi},
				   {"irq_work_single", EntryKind::Ipi}};
constexpr Dispatcher kSoftirq[] = {
	{"call_timer_fn", EntryKind::Timer},	       {"__hrtimer_run_queues", EntryKind::Hrtimer},
	{"tasklet_action_common", EntryKind::Tasklet}, {"__napi_poll", EntryKind::Softirq},
	{"rcu_do_batch", EntryKind::Softirq},	       {"handle_softirqs", EntryKind::Softirq},
	{"__do_softirq", EntryKind::Softirq}};
constexpr Dispatcher kTask[] = {{"process_one_work", EntryKind::Work},
				{"do_one_initcall", EntryKind::Init},
				{"kthread", EntryKind::Kthread},
				{"asm_exc_page_fault", EntryKind::Fault}};

std::span<const Dispatcher> dispatchers(std::uint32_t level)
{
	if (level == LS_TASK)
		return kTask;
	if (level == LS_SOFTIRQ)
		return kSoftirq;
	return kHardirq;
}

/// "__x64_sys_openat" -> "openat"; empty for anything else.
std::string_view system_call(std::string_view function)
{
	for (const std::string_view prefix : {"__x64_sys_", "__ia32_sys_", "__ia32_compat_sys_"})
		if (function.starts_with(prefix))
			return function.substr(prefix.size());
	return {};
}

std::string_view plain_name(std::string_view function)
{
	/* A place of a trace, such as "Account.java:17": no function has a colon. */
	if (function.find(':') != function.npos)
		return function;
	return function.substr(0, function.find_first_of(".#", 1));
}

const char *kind_words(EntryKind kind)
{
	switch (kind) {
	case EntryKind::Syscall:
		return "system call";
	case EntryKind::Fault:
		return "page fault";
	case EntryKind::Work:
		return "work function";
	case EntryKind::Kthread:
		return "kernel thread";
	case EntryKind::Init:
		return "init function";
	case EntryKind::Timer:
		return "timer";
	case EntryKind::Hrtimer:
		return "hrtimer";
	case EntryKind::Tasklet:
		return "tasklet";
	case EntryKind::Softirq:
		return "softirq";
	case EntryKind::Irq:
		return "interrupt handler";
	case EntryKind::Ipi:
		return "inter-processor call";
	case EntryKind::Nmi:
		return "NMI";
	case EntryKind::Unknown:
		break;
	}
	return "";
}

} // namespace

std::string plain_function(const std::string &function)
{
	return std::string(plain_name(function));
}

bool same_function(const Code &a, const Code &b)
{
	return !a.function.empty() && a.function == b.function && a.module == b.module;
}

namespace {

/// Find the entry point of @context.
Context entered(const Model &model, Context context, const std::vector<CodeId> &stack)
{
	if (context.level == LS_NMI)
		context.kind = EntryKind::Nmi;

	auto function = [&](std::size_t at) { return plain_name(model[stack[at]].function); };
	auto enter = [&](EntryKind kind, std::string_view entry, std::size_t at) {
		context.kind = kind;
		context.entry = entry;
		if (at > 0)
			context.callee = function(at - 1);
	};
	for (std::size_t i = 0; i < stack.size(); i++) {
		const auto name = function(i);
		for (const auto &dispatcher : dispatchers(context.level)) {
			if (name != dispatcher.function)
				continue;
			if (dispatcher.kind == EntryKind::Fault)
				enter(dispatcher.kind, "", i);
			else if (i > 0)
				enter(dispatcher.kind, function(i - 1), i - 1);
			else
				enter(dispatcher.kind, name, i);
			return context;
		}
		if (context.level == LS_TASK)
			if (const auto call = system_call(name); !call.empty()) {
				enter(EntryKind::Syscall, call, i);
				return context;
			}
	}
	return context;
}

template <typename Seen> Context plain_context(const Seen &seen, std::uint32_t level)
{
	Context context;
	context.run = seen.run;
	context.pid = seen.pid;
	context.task_flags = seen.task_flags;
	context.level = level;
	context.comm = seen.comm;
	return context;
}

} // namespace

Context context_of(const Model &model, const Observation &observation)
{
	return entered(model, plain_context(observation, level_of(observation.acquired.val)),
		       observation.stack);
}

Context context_of(const Model &model, const MemoryAccess &access)
{
	return entered(model, plain_context(access, level_of(access.where)), access.stack);
}

Context context_of(const Model &model, const MemoryAccess &access, const RaceSide &side)
{
	const Context first = context_of(model, access);
	Context context;
	context.run = first.run;
	context.level = first.level;
	context.pid = side.pid;
	if (side.task) {
		context.task_flags = side.task_flags;
		context.comm = side.comm;
	}
	if (!side.stack.empty())
		return entered(model, context, side.stack);
	const bool alike = context.level != LS_TASK || (side.task && side.pid == access.pid) ||
			   (context.worker() && first.worker());
	if (alike) {
		context.kind = first.kind;
		context.entry = first.entry;
		context.callee = first.callee;
	}
	return context;
}

std::string task_name(const Context &context)
{
	return (context.comm.empty() ? "?" : context.comm) + "-" + std::to_string(context.pid);
}

std::string Context::key() const
{
	std::string key = std::to_string(run) + ":" + std::to_string(level) + ":";
	if (level == LS_TASK && !(worker() && !entry.empty()))
		return key + std::to_string(pid);
	return key + entry + ">" + callee;
}

std::string Context::name_in_any_run() const
{
	if (level == LS_TASK && !(worker() && !entry.empty()))
		return std::to_string(level) + ":" + (kernel_thread() ? comm : std::to_string(pid));
	return std::to_string(level) + ":" + entry + ">" + callee;
}

std::string Context::describe() const
{
	const std::string words = kind_words(kind);
	if (words.empty())
		return describe_task();
	return entry.empty() ? words : words + " " + entry;
}

std::string Context::describe_task() const
{
	static constexpr const char *levels[LS_NR_LEVELS] = {"task", "softirq", "hardirq", "NMI"};
	return level == LS_TASK && kernel_thread() ? "kernel thread" : levels[level];
}

} // namespace lockscope
