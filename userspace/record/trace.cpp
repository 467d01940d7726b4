// SPDX-License-Identifier: GPL-2.0
// The recorder's part for traces.
#include "record/trace.h"

#include "model/counters.h"
#include "record/recorder.h"
#include "record/transaction.h"

#include <algorithm>
#include <cstring>
#include <set>
#include <span>

namespace lockscope {

namespace {

std::vector<TaskRow> tasks_of(std::span<const TracedEvent> events,
			      const std::vector<TracedTask> &all)
{
	std::set<std::uint32_t> pids;
	for (const auto &traced : events)
		pids.insert(traced.event.pid);
	std::vector<TaskRow> out;
	for (const auto &task : all) {
		if (!pids.contains(task.pid))
			continue;
		TaskRow row{task.pid, task.tgid, {}};
		std::memcpy(row.comm, task.comm.data(), sizeof(row.comm));
		out.push_back(row);
	}
	return out;
}

} // namespace

Status Recorder::begin_trace()
{
	if (trace_)
		return success();
	auto size = store_.trace_size(run_);
	if (!size)
		return size.error();
	Trace trace{size->next, size->bytes, {}, {}};
	for (std::size_t i = 0; i < trace.before.size(); i++) {
		auto lost = store_.counter(run_, kTraceLosses[i].name);
		if (!lost)
			return lost.error();
		trace.before[i] = trace.losses[i] = *lost;
	}
	trace_ = trace;
	return success();
}

Status Recorder::put_events(const TraceBatch &batch)
{
	std::span<const TracedEvent> rest(batch.events);
	std::uint64_t begin = batch.begin_ns;
	do {
		const auto some = rest.first(std::min(rest.size(), kMostTraceEvents));
		rest = rest.subspan(some.size());
		std::vector<TraceRow> rows;
		rows.reserve(some.size());
		for (const auto &[event, cpu] : some) {
			auto at = code(event.ip);
			if (!at)
				return at.error();
			rows.push_back({event.time_ns, event.ns, instance(event.lock), event.val,
					*at, event.pid, cpu, static_cast<std::uint8_t>(event.kind),
					0});
		}
		const auto tasks = tasks_of(some, batch.tasks);
		/* Those of one row may lie a little outside of the batch. */
		std::uint64_t end = batch.end_ns;
		if (!rest.empty())
			end = std::clamp<std::uint64_t>(some.back().event.time_ns, begin, end);
		LS_TRY_STATUS(store_.put_trace(run_, trace_->next++, begin, end,
					       batch.real_ns - (batch.end_ns - end), rows, tasks));
		trace_->bytes += rows.size() * sizeof(TraceRow) + tasks.size() * sizeof(TaskRow);
		begin = end;
	} while (!rest.empty());
	return success();
}

Status Recorder::put_trace(const TraceBatch &batch, std::uint64_t most)
{
	LS_TRY_STATUS(begin_trace());
	Transaction transaction(store_);
	LS_TRY_STATUS(transaction.begin());
	LS_TRY_STATUS(put_events(batch));
	while (trace_->bytes > most) {
		auto removed = store_.remove_trace(run_);
		if (!removed)
			return removed.error();
		if (!*removed)
			break;
		trace_->bytes -= std::min(trace_->bytes, (*removed)->bytes);
		trace_->before[LS_TRACE_LOSS_SIZE] += (*removed)->events;
	}
	for (std::size_t i = 0; i < batch.losses.size(); i++) {
		trace_->losses[i] = trace_->before[i] + batch.losses[i];
		LS_TRY_STATUS(store_.put_counter(run_, kTraceLosses[i].name, trace_->losses[i]));
	}
	return transaction.commit(run_);
}

} // namespace lockscope
