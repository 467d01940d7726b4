// SPDX-License-Identifier: GPL-2.0
#include "recover/held.h"

extern "C" {
#include "lockclass/held.h"
}

#include <algorithm>
#include <memory>
#include <set>

namespace lockscope::recover {

namespace {

constexpr std::uint32_t kMostContexts = 1u << 17;

class Contexts {
public:
	Contexts(KernelMemory &kernel, const ls_anchor &anchor) : kernel_(kernel), anchor_(anchor)
	{
	}

	/// The context at @at, whose task, or interrupted task, is @task.
	void take(std::uint64_t at, std::uint64_t task, std::optional<std::uint32_t> cpu,
		  ls_level level)
	{
		if (!at || !seen_.insert(at).second ||
		    !kernel_.read(at, ctx_.get(), sizeof(ls_ctx)))
			return;
		ContextAtDeath out;
		for (std::uint32_t i = 0; i < std::min<std::uint32_t>(ctx_->depth, LS_MAX_DEPTH);
		     i++) {
			const ls_held &h = ctx_->held[i];
			out.held.push_back({h.val, h.ip, h.lock, 0});
		}
		for (const auto &wait : ctx_->wait)
			if (wait.lock)
				out.waits = HeldRecord{wait.val, wait.ip, wait.lock, 0};
		if (out.held.empty() && !out.waits)
			return;
		const ls_anchor_task_layout &l = anchor_.task_layout;
		if (task) {
			out.pid = kernel_.get<std::uint32_t>(task + l.pid).value_or(0);
			out.tgid = kernel_.get<std::uint32_t>(task + l.tgid).value_or(0);
			out.comm = kernel_.text(task + l.comm, LS_COMM_LEN);
		}
		out.cpu = cpu;
		out.level = level;
		out_.push_back(std::move(out));
	}

	/// Owner of the context at @at, 0: none.
	std::uint64_t owner(std::uint64_t at)
	{
		return kernel_.get<std::uint64_t>(at + offsetof(ls_ctx, owner)).value_or(0);
	}

	std::vector<ContextAtDeath> &result() { return out_; }

private:
	KernelMemory &kernel_;
	const ls_anchor &anchor_;
	std::unique_ptr<ls_ctx> ctx_ = std::make_unique<ls_ctx>();
	std::set<std::uint64_t> seen_;
	std::vector<ContextAtDeath> out_;
};

} // namespace

std::vector<ContextAtDeath> held_at_death(KernelMemory &kernel, const ls_anchor &anchor)
{
	Contexts contexts(kernel, anchor);
	const ls_anchor_array &pool = anchor.contexts;
	if (anchor.context_bytes != sizeof(ls_ctx) || anchor.held_bytes != sizeof(ls_held) ||
	    pool.bytes != sizeof(ls_ctx))
		return {};
	const auto cpus = cpu_states(kernel, anchor);
	for (std::uint32_t i = 0; i < cpus.size(); i++) {
		if (!cpus[i])
			continue;
		const ls_anchor_cpu_layout &l = anchor.cpu_layout;
		const auto task = kernel.get<std::uint64_t>(cpus[i] + l.current_task),
			   context = kernel.get<std::uint64_t>(cpus[i] + l.context),
			   levels = kernel.get<std::uint64_t>(cpus[i] + l.levels);
		/* The innermost first: what runs last. */
		for (unsigned level = LS_NR_LEVELS - 1; levels && *levels && level > LS_TASK;
		     level--)
			contexts.take(*levels + (level - 1) * sizeof(ls_ctx), task.value_or(0), i,
				      static_cast<ls_level>(level));
		if (task && *task && context)
			contexts.take(*context, *task, i, LS_TASK);
	}
	for (std::uint32_t i = 0; i < std::min(pool.nr, kMostContexts); i++) {
		const auto used =
			kernel.get<std::uint64_t>(anchor.contexts_used + std::uint64_t{i / 64} * 8);
		const std::uint64_t at = pool.at + std::uint64_t{i} * pool.bytes;
		if (used && *used >> (i % 64) & 1)
			if (const std::uint64_t task = contexts.owner(at))
				contexts.take(at, task, std::nullopt, LS_TASK);
	}
	return std::move(contexts.result());
}

} // namespace lockscope::recover
