// SPDX-License-Identifier: GPL-2.0
#include "store/load_trace.h"

#include "store/each_row.h"
#include "store/rows.h"
#include "store/schema.h"

#include <algorithm>
#include <cstring>
#include <limits>
#include <map>
#include <unordered_map>

namespace lockscope {

namespace {

constexpr std::uint64_t kMostTime = std::numeric_limits<std::int64_t>::max();
constexpr std::uint32_t kMostPid = std::numeric_limits<std::int32_t>::max();

class TraceLoader {
public:
	explicit TraceLoader(const LoadedRun &run) : run_(run) {}

	/// false: the row makes no sense.
	bool add(Statement &row)
	{
		const std::uint64_t begin = row.word(1), end = row.word(2), real = row.word(3);
		const auto events = unpack_trace(row.blob(4));
		const auto tasks = unpack_tasks(row.blob(5));
		if (!events || !tasks || begin > end || end > kMostTime || real > kMostTime ||
		    (!trace_.spans.empty() && begin < trace_.spans.back().end_ns))
			return false;
		if (trace_.spans.empty() || begin != trace_.spans.back().end_ns) {
			trace_.spans.push_back({begin, end, real, 0});
		} else {
			trace_.spans.back().end_ns = end;
			trace_.spans.back().real_ns = real;
		}
		TasksOfRow numbers;
		for (const auto &task : *tasks)
			if (!add_task(task, numbers))
				return false;
		for (const auto &event : *events)
			if (!add_event(event, numbers))
				return false;
		trace_.spans.back().events += events->size();
		return true;
	}

	/* Rows overlap a little: each ring is read at another moment. */
	LockTrace take()
	{
		auto begin = trace_.events.begin();
		for (auto &span : trace_.spans) {
			const auto end = begin + static_cast<std::ptrdiff_t>(span.events);
			std::stable_sort(begin, end, [](const auto &a, const auto &b) {
				return a.time_ns < b.time_ns;
			});
			if (begin != end) {
				span.begin_ns = std::min(span.begin_ns, begin->time_ns);
				span.end_ns = std::max(span.end_ns, (end - 1)->time_ns);
			}
			begin = end;
		}
		return std::move(trace_);
	}

private:
	using TasksOfRow = std::unordered_map<std::uint32_t, std::uint32_t>; ///< by pid

	bool add_task(const TaskRow &task, TasksOfRow &numbers)
	{
		/* Only idle tasks have no number. */
		if (task.pid > kMostPid || task.tgid > kMostPid || !task.pid != !task.tgid)
			return false;
		const auto [at, added] =
			tasks_.try_emplace({task.pid, task.tgid}, trace_.tasks.size());
		if (added)
			trace_.tasks.push_back({task.pid, task.tgid, {}});
		trace_.tasks[at->second].comm = {task.comm, ::strnlen(task.comm, LS_COMM_LEN)};
		numbers[task.pid] = at->second;
		return true;
	}

	bool add_event(const TraceRow &row, const TasksOfRow &numbers)
	{
		TraceEvent event;
		if (row.kind >= LS_TRACE_NR_STORED || row.pad || row.time_ns > kMostTime)
			return false;
		event.kind = static_cast<ls_trace_kind>(row.kind);
		if (event.kind != LS_TRACE_LOST) {
			const auto task = numbers.find(row.pid);
			if (task == numbers.end() || !(row.val & LS_VAL_CLASS_MASK))
				return false;
			event.task = task->second;
		}
		event.time_ns = row.time_ns;
		event.ns = row.ns;
		event.instance = row.lock;
		event.cls = run_.classes[row.val & LS_VAL_CLASS_MASK];
		event.at = run_.code[row.code];
		event.val = row.val;
		event.cpu = row.cpu;
		trace_.events.push_back(event);
		return true;
	}

	const LoadedRun &run_;
	LockTrace trace_;
	std::map<std::pair<std::uint32_t, std::uint32_t>, std::uint32_t> tasks_; ///< pid, tgid
};

} // namespace

Result<LockTrace> load_trace(Database &db, const LoadedRun &run)
{
	auto version = schema_version(db);
	if (!version)
		return version.error();
	if (*version < kTraceSchema)
		return LockTrace{};
	TraceLoader loader(run);
	LS_TRY_STATUS(each_row(db,
			       "SELECT n, begin_ns, end_ns, real_ns, events, tasks FROM trace"
			       " WHERE run = " +
				       run.id + " ORDER BY 1",
			       [&](Statement &row) { return loader.add(row); }));
	return loader.take();
}

} // namespace lockscope
