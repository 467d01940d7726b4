// SPDX-License-Identifier: GPL-2.0
#include "store/load_accesses.h"

#include "log/accesses.h"
#include "model/variable.h"
#include "store/each_row.h"
#include "store/rows.h"
#include "store/schema.h"

#include <map>
#include <string_view>
#include <tuple>
#include <unordered_set>

namespace lockscope {

namespace {

constexpr std::string_view kStruct = "struct ";

/// Links of lists and trees point to a neighbour: no relation between types.
bool is_link(const std::string &member)
{
	const std::string last = member.substr(member.rfind('.') + 1);
	for (const char *known : {"next", "prev", "pprev", "first", "rb_left", "rb_right",
				  "rb_node", "__rb_parent_color"})
		if (last == known)
			return true;
	return false;
}

class AccessLoader {
public:
	AccessLoader(Database &db, Model &model, const LoadedRun &run, std::int64_t version)
		: db_(db), model_(model), run_(run), version_(version)
	{
	}

	Status load()
	{
		LS_TRY_STATUS(load_data());
		LS_TRY_STATUS(load_members());
		if (version_ >= kAloneSchema) {
			LS_TRY_STATUS(load_pointees());
			LS_TRY_STATUS(load_alone());
		}
		if (version_ >= kSideSchema)
			LS_TRY_STATUS(load_stored());
		LS_TRY_STATUS(load_accesses());
		LS_TRY_STATUS(load_races());
		if (version_ >= kSideSchema)
			LS_TRY_STATUS(load_sides());
		return load_histories();
	}

private:
	template <typename Row> Status each(const std::string &select, Row row)
	{
		return each_row(db_, select + " WHERE run = " + run_.id + " ORDER BY 1", row);
	}

	static std::uint32_t word32(const Statement &row, int column)
	{
		return static_cast<std::uint32_t>(row.word(column));
	}

	CodeId code(std::uint64_t id) const { return run_.code[id]; }

	const std::string &member(std::uint32_t data, std::uint32_t offset,
				  std::uint32_t lock) const
	{
		static const std::string none;
		auto at = members_.find({data, offset, lock});
		return at == members_.end() ? none : at->second;
	}

	Status load_data()
	{
		return each(
			"SELECT id, kind, object_size, module, name, type, build_id FROM data",
			[&](Statement &row) {
				if (row.word(1) == LS_DATA_NONE || row.word(1) >= LS_NR_DATA_KINDS)
					return false;
				Data data;
				data.kind = static_cast<ls_data_kind>(row.word(1));
				data.object_size = word32(row, 2);
				data.module = row.text(3);
				data.name = data_name(data.kind, data.module, row.text(4));
				data.type = row.text(5);
				if (numbered(data.name))
					data.within = row.text(6).empty()
							      ? "run " + std::to_string(run_.run)
							      : row.text(6);
				data_[word32(row, 0)] = model_.intern(std::move(data));
				return true;
			});
	}

	Status load_members()
	{
		return each("SELECT data, offset, lock, path FROM member", [&](Statement &row) {
			members_[{word32(row, 0), word32(row, 1), word32(row, 2)}] = row.text(3);
			return true;
		});
	}

	Status load_pointees()
	{
		return each("SELECT data, via, offset, lock, path FROM pointee",
			    [&](Statement &row) {
				    pointees_[{word32(row, 0), word32(row, 1), word32(row, 2),
					       word32(row, 3)}] = row.text(4);
				    return true;
			    });
	}

	Status load_alone()
	{
		return each("SELECT access FROM alone", [&](Statement &row) {
			alone_.insert(word32(row, 0));
			return true;
		});
	}

	Status load_stored()
	{
		return each("SELECT access, value, value IS NOT NULL FROM stored",
			    [&](Statement &row) {
				    if (row.integer(2))
					    stored_[word32(row, 0)] = row.word(1);
				    return true;
			    });
	}

	/* "struct foo.lock", or empty. */
	std::string place(const Guard &guard, std::uint32_t data, std::uint32_t kind) const
	{
		if (guard.relation == LS_REL_VIA) {
			auto at = pointees_.find({data, guard.via, guard.lock_offset, kind});
			return at == pointees_.end() ? std::string() : at->second;
		}
		auto at = data_.find(data);
		const std::string &inner = member(data, guard.lock_offset, kind);
		if (guard.relation != LS_REL_SELF || at == data_.end() || inner.empty())
			return {};
		return model_[at->second].type + "." + inner;
	}

	Guard guard(const GuardRow &row, std::uint32_t data) const
	{
		Guard guard;
		guard.cls = run_.classes[row.val & LS_VAL_CLASS_MASK];
		guard.val = row.val;
		guard.at = code(row.code);
		guard.instance = row.lock;
		guard.relation = row.relation <= LS_REL_PERCPU
					 ? static_cast<ls_relation>(row.relation)
					 : LS_REL_OTHER;
		guard.via = row.via;
		guard.lock_offset = row.lock_offset;
		const std::string &pointer = member(data, row.via, LS_KIND_NONE);
		if (guard.relation == LS_REL_VIA && is_link(pointer))
			guard.relation = LS_REL_OTHER;
		const LockClass *lock = guard.cls == kNoClass ? nullptr : &model_[guard.cls];
		const auto kind = lock ? lock->kind : LS_KIND_NONE;
		if (const auto found = place(guard, data, kind); found.starts_with(kStruct))
			guard.place = found.substr(kStruct.size());
		const auto dot = guard.place.find('.');
		guard.name = guard_name(lock, guard, member(data, row.lock_offset, kind), pointer,
					dot == guard.place.npos ? "" : guard.place.substr(dot + 1));
		return guard;
	}

	/* The access comes first in its stack; a probe's code row is one byte behind the
	 * address in the stack. */
	std::vector<CodeId> stack(std::uint64_t id, const MemoryAccess &access) const
	{
		std::vector<CodeId> out;
		if (auto at = run_.stacks.find(id); at != run_.stacks.end())
			out = at->second;
		const auto &place = model_[access.at];
		const auto *front = out.empty() ? nullptr : &model_[out.front()];
		if (front && out.front() != access.at && (access.op & LS_ACC_PROBE) &&
		    front->function == place.function && front->offset + 1 == place.offset)
			out.front() = access.at;
		if (out.empty() || out.front() != access.at)
			out.insert(out.begin(), access.at);
		return out;
	}

	Status load_accesses()
	{
		return each("SELECT id, data, offset, size, op, code, time, place, stack, pid,"
			    " tgid, task_flags, cpu, comm, guards, count FROM access",
			    [&](Statement &row) {
				    auto guards = unpack_guards(row.blob(14));
				    if (!guards || !valid_op(row.word(4)) || row.word(3) == 0 ||
					row.word(3) > 65535)
					    return false;
				    MemoryAccess access;
				    access.run = run_.run;
				    access.id = word32(row, 0);
				    const auto data = word32(row, 1);
				    if (auto at = data_.find(data); at != data_.end())
					    access.data = at->second;
				    access.offset = word32(row, 2);
				    access.size = word32(row, 3);
				    access.member = member(data, access.offset, LS_KIND_NONE);
				    access.op = word32(row, 4);
				    access.at = code(row.word(5));
				    access.time_ns = row.word(6);
				    access.where = word32(row, 7);
				    access.stack = stack(row.word(8), access);
				    access.pid = word32(row, 9);
				    access.tgid = word32(row, 10);
				    access.task_flags = word32(row, 11);
				    access.cpu = word32(row, 12);
				    access.comm = row.text(13);
				    for (const auto &each : *guards)
					    access.guards.push_back(guard(each, data));
				    access.count = word32(row, 15);
				    access.alone = alone_.count(access.id) != 0;
				    if (auto at = stored_.find(access.id); at != stored_.end())
					    access.constant = at->second;
				    accesses_[access.id] = model_.accesses.size();
				    model_.accesses.push_back(std::move(access));
				    return true;
			    });
	}

	/* Without one of its sides a race cannot be shown. */
	Status load_races()
	{
		return each("SELECT id, flags, first, second, first_pid, second_pid, granule, time,"
			    " history FROM race",
			    [&](Statement &row) {
				    auto history = unpack_history(row.blob(8));
				    if (!history)
					    return false;
				    auto first = accesses_.find(word32(row, 2)),
					 second = accesses_.find(word32(row, 3));
				    if (first == accesses_.end() || second == accesses_.end())
					    return true;
				    Race race{run_.run,
					      word32(row, 0),
					      word32(row, 1),
					      first->second,
					      second->second,
					      word32(row, 4),
					      word32(row, 5),
					      row.word(6),
					      row.word(7),
					      {},
					      {}};
				    for (const auto &entry : *history)
					    if (auto at = accesses_.find(entry.access);
						at != accesses_.end())
						    race.history.push_back(
							    {at->second, entry.context, entry.bytes,
							     entry.initial != 0});
				    races_[race.id] = model_.races.size();
				    model_.races.push_back(std::move(race));
				    return true;
			    });
	}

	/* Sides of another record of the race than the one kept do not apply. */
	Status load_sides()
	{
		return each("SELECT race, second, time, access, stack, task, pid, tgid, task_flags,"
			    " cpu, comm, locks FROM side",
			    [&](Statement &row) {
				    auto locks = unpack_hashes(row.blob(11), LS_MAX_DEPTH);
				    if (!locks || row.word(1) > 1)
					    return false;
				    auto at = races_.find(word32(row, 0));
				    if (at == races_.end())
					    return true;
				    Race &race = model_.races[at->second];
				    const auto way = row.word(1) ? race.second : race.first;
				    const auto &access = model_.accesses[way];
				    if (race.time_ns != row.word(2) || access.id != row.word(3) ||
					access.guards.size() != locks->size())
					    return true;
				    RaceSide &side = race.sides[row.word(1)];
				    side.known = true;
				    if (row.word(4))
					    side.stack = stack(row.word(4), access);
				    side.task = row.word(5) != 0;
				    side.pid = word32(row, 6);
				    side.tgid = word32(row, 7);
				    side.task_flags = word32(row, 8);
				    if (row.word(9) < LS_CPU_UNKNOWN)
					    side.cpu = word32(row, 9);
				    side.comm = row.text(10);
				    side.locks = std::move(*locks);
				    return true;
			    });
	}

	Status load_histories()
	{
		return each("SELECT n, granule, time, access, before, after, context, candidates,"
			    " pid, locks FROM history",
			    [&](Statement &row) {
				    auto locks = unpack_hashes(row.blob(9),
							       std::size(ls_rec_history{}.locks));
				    if (!locks || row.word(4) > LS_SHARED_MODIFIED ||
					row.word(5) > LS_SHARED_MODIFIED)
					    return false;
				    auto access = accesses_.find(word32(row, 3));
				    if (access == accesses_.end())
					    return true;
				    model_.histories.push_back(
					    {run_.run, row.word(1), row.word(2), access->second,
					     static_cast<ls_shadow_state>(row.word(4)),
					     static_cast<ls_shadow_state>(row.word(5)),
					     word32(row, 6), word32(row, 7), word32(row, 8),
					     std::move(*locks)});
				    return true;
			    });
	}

	Database &db_;
	Model &model_;
	const LoadedRun &run_;
	const std::int64_t version_;
	std::unordered_map<std::uint32_t, DataId> data_;
	std::map<std::tuple<std::uint32_t, std::uint32_t, std::uint32_t>, std::string> members_;
	std::map<std::tuple<std::uint32_t, std::uint32_t, std::uint32_t, std::uint32_t>,
		 std::string>
		pointees_; ///< by data, via, offset, kind
	std::unordered_set<std::uint32_t> alone_;
	std::unordered_map<std::uint32_t, std::uint64_t> stored_;
	std::unordered_map<std::uint32_t, std::size_t> accesses_, races_;
};

} // namespace

Status load_accesses(Database &db, Model &model, const LoadedRun &run)
{
	auto version = schema_version(db);
	if (!version)
		return version.error();
	if (*version < kAccessSchema)
		return success();
	return AccessLoader(db, model, run, *version).load();
}

} // namespace lockscope
