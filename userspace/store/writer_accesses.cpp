// SPDX-License-Identifier: GPL-2.0
// The tables of memory accesses.
#include "store/statement.h"
#include "store/writer.h"

namespace lockscope {

Status StoreWriter::put_data(const RunState &run, const DataRecord &record,
			     const std::string &build_id, const std::string &type)
{
	LS_STATEMENT(put, "INSERT OR REPLACE INTO data VALUES(?,?,?,?,?,?,?,?)");
	put.bind(0, run.id).bind(1, record.id).bind(2, int{record.kind});
	put.bind(3, record.object_size).bind(4, record.module).bind(5, record.name);
	return put.bind(6, build_id).bind(7, type).run();
}

Status StoreWriter::put_member(std::int64_t run, std::uint32_t data, std::uint32_t offset,
			       ls_kind lock, const std::string &path)
{
	LS_STATEMENT(put, "INSERT OR REPLACE INTO member VALUES(?,?,?,?,?)");
	put.bind(0, run).bind(1, data).bind(2, offset).bind(3, int{lock});
	return put.bind(4, path).run();
}

Status StoreWriter::put_access(const RunState &run, const AccessRecord &record, std::uint32_t code,
			       const std::vector<GuardRow> &guards)
{
	LS_STATEMENT(put, "INSERT OR REPLACE INTO access(run, id, data, offset, size, op, code,"
			  " time, place, stack, pid, tgid, task_flags, cpu, comm, guards)"
			  " VALUES(?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?)");
	put.bind(0, run.id).bind(1, record.id).bind(2, record.data).bind(3, record.offset);
	put.bind(4, int{record.size}).bind(5, int{record.op}).bind(6, code);
	put.bind(7, record.time_ns).bind(8, record.where).bind(9, record.stack);
	put.bind(10, record.pid).bind(11, record.tgid).bind(12, record.task_flags);
	put.bind(13, int{record.cpu}).bind(14, record.comm);
	return put.bind_blob(15, pack(guards)).run();
}

Status StoreWriter::put_pointee(std::int64_t run, std::uint32_t data, std::uint32_t via,
				std::uint32_t offset, ls_kind lock, const std::string &path)
{
	LS_STATEMENT(put, "INSERT OR REPLACE INTO pointee VALUES(?,?,?,?,?,?)");
	put.bind(0, run).bind(1, data).bind(2, via).bind(3, offset).bind(4, int{lock});
	return put.bind(5, path).run();
}

Status StoreWriter::set_access_count(const RunState &run, std::uint32_t id, std::uint32_t count,
				     bool alone)
{
	LS_STATEMENT(set, "UPDATE access SET count = ? WHERE run = ? AND id = ?");
	LS_TRY_STATUS(set.bind(0, count).bind(1, run.id).bind(2, id).run());
	if (alone) {
		LS_STATEMENT(add, "INSERT OR IGNORE INTO alone VALUES(?,?)");
		return add.bind(0, run.id).bind(1, id).run();
	}
	LS_STATEMENT(remove, "DELETE FROM alone WHERE run = ? AND access = ?");
	return remove.bind(0, run.id).bind(1, id).run();
}

Status StoreWriter::put_race(const RunState &run, const RaceRecord &record, std::uint64_t granule)
{
	LS_STATEMENT(put, "INSERT OR REPLACE INTO race VALUES(?,?,?,?,?,?,?,?,?,?)");
	put.bind(0, run.id).bind(1, record.id).bind(2, record.flags);
	put.bind(3, record.first).bind(4, record.second);
	put.bind(5, record.first_pid).bind(6, record.second_pid).bind(7, granule);
	return put.bind(8, record.time_ns).bind_blob(9, pack(record.history)).run();
}

Status StoreWriter::put_side(const RunState &run, const SideRecord &record,
			     const std::vector<std::uint64_t> &locks)
{
	LS_STATEMENT(put, "INSERT OR REPLACE INTO side VALUES(?,?,?,?,?,?,?,?,?,?,?,?,?)");
	put.bind(0, run.id).bind(1, record.race).bind(2, int{(record.flags & LS_SIDE_SECOND) != 0});
	put.bind(3, record.time_ns).bind(4, record.access).bind(5, record.stack);
	put.bind(6, int{(record.flags & LS_SIDE_TASK) != 0}).bind(7, record.pid);
	put.bind(8, record.tgid).bind(9, record.task_flags).bind(10, int{record.cpu});
	return put.bind(11, record.comm).bind_blob(12, pack(locks)).run();
}

/* The order of the log is kept by numbers: a batch is stored once. */
Status StoreWriter::put_history(const RunState &run, const HistoryRecord &record,
				std::uint64_t granule, const std::vector<std::uint64_t> &locks)
{
	LS_STATEMENT(put, "INSERT INTO history SELECT ?1, coalesce(max(n), 0) + 1,"
			  " ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10 FROM history WHERE run = ?1");
	put.bind(0, run.id).bind(1, granule).bind(2, record.time_ns).bind(3, record.access);
	put.bind(4, int{record.before}).bind(5, int{record.after}).bind(6, int{record.context});
	put.bind(7, record.candidates).bind(8, record.pid);
	return put.bind_blob(9, pack(locks)).run();
}

Result<std::unordered_map<std::uint32_t, ls_kind>> StoreWriter::class_kinds(const RunState &run)
{
	LS_STATEMENT(get, "SELECT id, kind FROM class WHERE run = ? AND kind < ?");
	get.bind(0, run.id).bind(1, int{LS_NR_KINDS});
	std::unordered_map<std::uint32_t, ls_kind> out;
	for (;;) {
		auto row = get.step();
		if (!row)
			return row.error();
		if (!*row)
			return out;
		out[static_cast<std::uint32_t>(get.word(0))] = static_cast<ls_kind>(get.word(1));
	}
}

Result<std::unordered_map<std::uint32_t, DataRecord>> StoreWriter::data(const RunState &run)
{
	LS_STATEMENT(get, "SELECT id, object_size, kind, module, name FROM data WHERE run = ?");
	get.bind(0, run.id);
	std::unordered_map<std::uint32_t, DataRecord> out;
	for (;;) {
		auto row = get.step();
		if (!row)
			return row.error();
		if (!*row)
			return out;
		const auto id = static_cast<std::uint32_t>(get.word(0));
		out[id] = {id, static_cast<std::uint32_t>(get.word(1)),
			   static_cast<std::uint8_t>(get.word(2)), get.text(3), get.text(4)};
	}
}

Result<std::vector<StoreWriter::Untyped>> StoreWriter::untyped()
{
	LS_STATEMENT(get, "SELECT d.run, d.id, d.module, d.build_id, d.name, m.offset, m.lock"
			  " FROM data d JOIN member m ON m.run = d.run AND m.data = d.id"
			  " WHERE d.kind = ? AND d.build_id <> '' AND m.path = ''"
			  " AND m.lock < ? ORDER BY d.run, d.id");
	get.bind(0, int{LS_DATA_STATIC}).bind(1, int{LS_NR_KINDS});
	std::vector<Untyped> out;
	for (;;) {
		auto row = get.step();
		if (!row)
			return row.error();
		if (!*row)
			return out;
		const auto id = static_cast<std::uint32_t>(get.word(1));
		if (out.empty() || out.back().run != get.integer(0) || out.back().id != id)
			out.push_back(
				{get.integer(0), id, get.text(2), get.text(3), get.text(4), {}});
		out.back().places.push_back({static_cast<std::uint32_t>(get.word(5)),
					     static_cast<ls_kind>(get.word(6))});
	}
}

Status StoreWriter::put_type(const Untyped &data, const std::string &type)
{
	LS_STATEMENT(put, "UPDATE data SET type = ? WHERE run = ? AND id = ?");
	return put.bind(0, type).bind(1, data.run).bind(2, data.id).run();
}

} // namespace lockscope
