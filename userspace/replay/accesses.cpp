// SPDX-License-Identifier: GPL-2.0
// Accesses to variables, judged by Eraser's states with the shadow of the core. A variable is one
// granule. What one thread did before it forked another, or before it was joined, comes before
// what follows there, by vector clocks: other orders are those of locks, which prove nothing for
// the next time.
#include "replay/player.h"

#include <algorithm>

namespace lockscope::replay {

namespace {

constexpr std::uint16_t kBytes = 8; ///< of a granule

std::uint64_t variable_address(std::uint32_t number)
{
	return 0xffff888000000000u + std::uint64_t{number} * kBytes;
}

} // namespace

std::uint32_t Player::variable(const Event &event)
{
	bool added = false;
	const std::string name = label(event.object);
	const std::uint32_t number = variables_.of(name, &added);
	if (!added)
		return number;
	granules_.emplace_back();
	ls_rec_data record{};
	record.id = number;
	record.object_size = kBytes;
	record.kind = LS_DATA_STATIC;
	fill(record.name, name);
	if (!log_.put(record, LS_REC_DATA))
		accesses_.losses[LS_ALOSS_EVENTS]++;
	return number;
}

std::uint32_t Player::lockset(const ls_ctx &ctx)
{
	ls_u64 elements[LS_LOCKSET_LOCKS], key = 0;
	if (ctx.depth > LS_LOCKSET_LOCKS || ctx.lost)
		return LS_LOCKSET_NONE;
	for (std::uint32_t i = 0; i < ctx.depth; i++) {
		elements[i] =
			ls_lockset_element(ctx.held[i].lock, ctx.held[i].val & LS_VAL_READ_MASK);
		key = ls_lockset_key(key, elements[i]);
	}
	return ls_lockset_intern(&sets_, elements, ctx.depth, key);
}

/* new_site(): the way of this access, 0 when there is no room for another one. */
std::uint32_t Player::site(const Event &event, std::uint32_t own, std::uint32_t data)
{
	const Thread &t = at(own);
	std::uint64_t ip = 0;
	const std::uint32_t stack_id = stack(event, ip);
	std::uint64_t key =
		ls_mix(ls_mix(ls_mix(data) + ip) + static_cast<std::uint64_t>(event.op));
	ls_guard_rec guards[LS_MAX_DEPTH];
	for (std::uint32_t i = 0; i < t.ctx.depth; i++) {
		const ls_held &held = t.ctx.held[i];
		key = ls_mix(ls_mix(key + held.val) + held.ip);
		guards[i] = {};
		guards[i].val = held.val;
		guards[i].relation = LS_REL_STATIC;
		guards[i].ip = held.ip;
		guards[i].lock = held.lock;
	}
	bool added = false;
	const std::uint32_t number = sites_.of(key, &added);
	if (!added)
		return number;
	ls_rec_access record{};
	record.id = number;
	record.data = data;
	record.size = kBytes;
	record.op = event.op == Op::Write ? LS_ACC_WRITE : LS_ACC_READ;
	record.ip = ip;
	record.time_ns = event.time_ns ? event.time_ns : events_;
	record.stack = stack_id;
	record.pid = t.pid;
	record.tgid = t.tgid;
	record.nr_guards = static_cast<__u16>(t.ctx.depth);
	record.cpu = event.cpu == LS_CPU_UNKNOWN ? 0 : event.cpu;
	fill(record.comm, t.comm);
	if (!log_.put(record, LS_REC_ACCESS, guards, t.ctx.depth * sizeof(guards[0])))
		accesses_.losses[LS_ALOSS_EVENTS]++;
	site_of_.push_back({data, stack_id});
	ops_.push_back(static_cast<ls_u8>(record.op));
	counts_.push_back(0);
	return number;
}

void Player::access(const Event &event, std::uint32_t own)
{
	accesses_.seen++;
	const std::uint32_t data = variable(event);
	if (!own || !data) {
		accesses_.losses[LS_ALOSS_PAGES]++;
		return;
	}
	Thread &t = at(own);
	ls_shadow_access now{};
	now.lockset = lockset(t.ctx);
	now.site = now.lockset == LS_LOCKSET_NONE ? 0 : site(event, own, data);
	if (!now.site) {
		accesses_.losses[now.lockset == LS_LOCKSET_NONE ? LS_ALOSS_LOCKSETS
								: LS_ALOSS_SITES]++;
		return;
	}
	now.stamp = t.stamp;
	now.context = static_cast<ls_u16>(own);
	now.bytes = 0xff;
	now.op = ops_[now.site];

	ls_shadow_rules rules{};
	rules.sets = &sets_;
	rules.ops = ops_.data();
	rules.cookie = &t;
	rules.ordered = [](void *cookie, ls_u32 from, ls_u32, ls_u32 stamp) {
		const auto &known = static_cast<const Thread *>(cookie)->known;
		return from < known.size() && known[from] && !ls_stamp_before(known[from], stamp);
	};
	const ls_shadow_result result = ls_shadow_step(&granules_[data], &now, &rules);
	auto &count = counts_[now.site - 1];
	if ((count & ~LS_COUNT_SHARED) != ~LS_COUNT_SHARED)
		count++;
	if (result.after >= LS_SHARED_READ)
		count |= LS_COUNT_SHARED;
	if (result.unknown)
		accesses_.losses[LS_ALOSS_LOCKSETS]++;
	if (!result.race)
		return;
	race(now, event, {result.other, result.other_context, result.other_lockset});
	for (std::uint32_t i = 0; i < result.nr_further; i++)
		race(now, event, result.further[i]);
}

/* tell(): each pair of ways is reported once. */
void Player::race(const ls_shadow_access &now, const Event &event, const ls_shadow_side &other)
{
	bool added = false;
	const std::uint32_t low = std::min(now.site, other.site),
			    high = std::max(now.site, other.site);
	if (!races_.of(ls_mix(std::uint64_t{low} << 32 | high), &added))
		accesses_.losses[LS_ALOSS_EVENTS]++;
	if (!added)
		return;
	ls_rec_race record{};
	record.id = ++findings_;
	record.first = other.site;
	record.second = now.site;
	record.first_pid = at(other.context).pid;
	record.second_pid = at(now.context).pid;
	record.addr = variable_address(site_of_[now.site].variable);
	record.time_ns = event.time_ns ? event.time_ns : events_;
	if (!log_.put(record, LS_REC_RACE)) {
		accesses_.losses[LS_ALOSS_EVENTS]++;
		return;
	}
	accesses_.races++;
	side(record.id, event, other.site, other.context, site_of_[other.site].stack, false);
	side(record.id, event, now.site, now.context, site_of_[now.site].stack, true);
}

void Player::side(std::uint32_t race, const Event &event, std::uint32_t access,
		  std::uint32_t context, std::uint32_t stack_id, bool second)
{
	const Thread &t = at(context);
	ls_rec_side record{};
	record.race = race;
	record.flags = LS_SIDE_TASK | (second ? LS_SIDE_SECOND : 0);
	record.time_ns = event.time_ns ? event.time_ns : events_;
	record.access = access;
	record.stack = stack_id;
	record.pid = t.pid;
	record.tgid = t.tgid;
	record.cpu = second ? event.cpu : LS_CPU_UNKNOWN;
	fill(record.comm, t.comm);
	if (!log_.put(record, LS_REC_SIDE))
		accesses_.losses[LS_ALOSS_EVENTS]++;
}

} // namespace lockscope::replay
