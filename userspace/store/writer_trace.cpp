// SPDX-License-Identifier: GPL-2.0
// The part of StoreWriter for traces.
#include "store/statement.h"
#include "store/writer.h"

namespace lockscope {

Result<StoreWriter::TraceSize> StoreWriter::trace_size(const RunState &run)
{
	LS_STATEMENT(get, "SELECT coalesce(max(n) + 1, 0),"
			  " coalesce(sum(length(events) + length(tasks)), 0) FROM trace"
			  " WHERE run = ?");
	auto row = get.bind(0, run.id).step();
	if (!row)
		return row.error();
	const TraceSize size{get.word(0), get.word(1)};
	get.reset();
	return size;
}

Status StoreWriter::put_trace(const RunState &run, std::uint64_t n, std::uint64_t begin_ns,
			      std::uint64_t end_ns, std::uint64_t real_ns,
			      std::span<const TraceRow> events, std::span<const TaskRow> tasks)
{
	LS_STATEMENT(put, "INSERT INTO trace VALUES(?,?,?,?,?,?,?)");
	put.bind(0, run.id).bind(1, n).bind(2, begin_ns).bind(3, end_ns).bind(4, real_ns);
	return put.bind_blob(5, pack(events)).bind_blob(6, pack(tasks)).run();
}

Result<std::optional<StoreWriter::TraceRemoved>> StoreWriter::remove_trace(const RunState &run)
{
	LS_STATEMENT(find, "SELECT n, length(events), length(tasks) FROM trace WHERE run = ?"
			   " ORDER BY n LIMIT 1");
	auto row = find.bind(0, run.id).step();
	if (!row)
		return row.error();
	if (!*row)
		return std::optional<TraceRemoved>{};
	const std::uint64_t n = find.word(0), events = find.word(1), tasks = find.word(2);
	find.reset();
	LS_STATEMENT(remove, "DELETE FROM trace WHERE run = ? AND n = ?");
	LS_TRY_STATUS(remove.bind(0, run.id).bind(1, n).run());
	return std::optional(TraceRemoved{events / sizeof(TraceRow), events + tasks});
}

} // namespace lockscope
