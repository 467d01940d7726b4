// SPDX-License-Identifier: GPL-2.0
#include "log/accesses.h"

#include "log/body.h"

namespace lockscope {

namespace {

constexpr std::uint32_t kKnownWhere = LS_WHERE_PREEMPT_OFF | LS_WHERE_RCU | LS_WHERE_SEQ_READ |
				      LS_WHERE_SEQ_WRITE | LS_WHERE_WAITING | LS_VAL_LEVEL_MASK |
				      LS_VAL_IRQ_OFF | LS_VAL_BH_OFF;

} // namespace

const char *decode_data(std::span<const std::byte> bytes, DataRecord &out)
{
	auto raw = fixed<ls_rec_data>(bytes);
	if (!raw)
		return "data record of a wrong length";
	auto module = text(raw->module), name = text(raw->name);
	if (!module || !name || name->empty())
		return "data record whose name does not end";
	if (raw->id == 0)
		return "data record with an impossible id";
	if (raw->kind == LS_DATA_NONE || raw->kind >= LS_NR_DATA_KINDS)
		return "data record of an unknown kind";
	out = {raw->id, raw->object_size, raw->kind, *module, *name};
	return nullptr;
}

const char *decode_access(std::span<const std::byte> bytes, AccessRecord &out)
{
	Body body(bytes);
	auto raw = body.get<ls_rec_access>();
	if (body.failed() || raw.nr_guards > LS_MAX_DEPTH ||
	    body.left() != raw.nr_guards * sizeof(ls_guard_rec))
		return "access record whose count of locks does not fit its length";
	if (raw.id == 0)
		return "access record with an impossible id";
	/* Bits added by a newer minor ABI are ignored, not an error. */
	raw.op &= kKnownOps;
	raw.where &= kKnownWhere;
	if (!valid_op(raw.op) || raw.size == 0)
		return "access record that neither reads nor writes";
	auto comm = text(raw.comm);
	if (!comm)
		return "access record whose task name does not end";
	AccessRecord access{raw.id,   raw.data,	      raw.offset, raw.size,  raw.op,
			    raw.ip,   raw.time_ns,    raw.where,  raw.stack, raw.pid,
			    raw.tgid, raw.task_flags, raw.cpu,	  *comm,     {}};
	for (std::uint32_t i = 0; i < raw.nr_guards; i++) {
		auto guard = body.get<ls_guard_rec>();
		if (!valid_mode(guard.val))
			return "access record with an impossible lock";
		if (guard.relation > LS_REL_PERCPU)
			guard.relation = LS_REL_OTHER;
		access.guards.push_back({guard.val, guard.relation, guard.via, guard.lock_offset,
					 guard.ip, guard.lock});
	}
	out = std::move(access);
	return nullptr;
}

const char *decode_race(std::span<const std::byte> bytes, RaceRecord &out)
{
	Body body(bytes);
	auto raw = body.get<ls_rec_race>();
	if (body.failed() || raw.nr > kMaxRaceHistory ||
	    body.left() != raw.nr * sizeof(ls_history_rec))
		return "race record whose history does not fit its length";
	if (raw.id == 0 || raw.first == 0 || raw.second == 0)
		return "race record without an id or accesses";
	RaceRecord race{raw.id,		raw.flags, raw.first,	raw.second, raw.first_pid,
			raw.second_pid, raw.addr,  raw.time_ns, {}};
	for (std::uint32_t i = 0; i < raw.nr; i++)
		race.history.push_back(body.get<ls_history_rec>());
	out = std::move(race);
	return nullptr;
}

const char *decode_side(std::span<const std::byte> bytes, SideRecord &out)
{
	Body body(bytes);
	auto raw = body.get<ls_rec_side>();
	if (body.failed() || raw.nr_locks > LS_MAX_DEPTH ||
	    body.left() != raw.nr_locks * sizeof(__u64))
		return "side record whose count of locks does not fit its length";
	if (raw.race == 0 || raw.access == 0)
		return "side record without a race or an access";
	auto comm = text(raw.comm);
	if (!comm)
		return "side record whose task name does not end";
	SideRecord side{raw.race, raw.flags,	  raw.time_ns, raw.access, raw.stack, raw.pid,
			raw.tgid, raw.task_flags, raw.cpu,     *comm,	   {}};
	for (std::uint32_t i = 0; i < raw.nr_locks; i++)
		side.locks.push_back(body.get<std::uint64_t>());
	out = std::move(side);
	return nullptr;
}

const char *decode_history(std::span<const std::byte> bytes, HistoryRecord &out)
{
	auto raw = fixed<ls_rec_history>(bytes);
	if (!raw)
		return "history record of a wrong length";
	if (raw->before > LS_SHARED_MODIFIED || raw->after > LS_SHARED_MODIFIED)
		return "history record with an unknown state";
	out = {raw->addr,    raw->time_ns,    raw->access, raw->before, raw->after,
	       raw->context, raw->candidates, raw->pid,	   {}};
	for (auto lock : raw->locks)
		if (lock)
			out.locks.push_back(lock);
	return nullptr;
}

} // namespace lockscope
