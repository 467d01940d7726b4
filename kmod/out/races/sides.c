// SPDX-License-Identifier: GPL-2.0
/* The two sides of a race in the log. Worker only. */
#include <linux/string.h>

#include "check/access/race_side.h"
#include "out/out.h"
#include "out/races/accesses.h"

static bool fits(const struct ls_race_side *s, u32 i, const struct ls_guard_rec *guard)
{
	return !(s->vals[i] & LS_VAL_READ_MASK) == !(guard->val & LS_VAL_READ_MASK) &&
	       ls_worker_class(s->vals[i]) == ls_worker_class(guard->val);
}

/*
 * Lock instance of guard @i of an access. A lockset has no order: for two locks of one class
 * it is not known which was acquired where.
 */
static u64 instance_of(const struct ls_race_side *s, const struct ls_guard_rec *guards, u32 nr, u32 i)
{
	u32 k, same = 0;
	u64 lock = 0;

	if (s->in_order)
		return s->nr_locks == nr && fits(s, i, &guards[i]) ? s->locks[i] : 0;
	for (k = 0; k < nr; k++)
		same += !((guards[k].val ^ guards[i].val) & LS_VAL_CLASS_MASK) &&
			!(guards[k].val & LS_VAL_READ_MASK) == !(guards[i].val & LS_VAL_READ_MASK);
	if (same > 1)
		return 0;
	for (k = 0; k < s->nr_locks; k++) {
		if (!s->vals[k] || !(s->vals[k] & LS_VAL_CLASS_MASK) || !fits(s, k, &guards[i]))
			continue;
		if (lock)
			return 0;
		lock = s->locks[k];
	}
	return lock;
}

void ls_sides_log(struct ls_race_event *e, const struct ls_rec_access *const accesses[2],
		  const struct ls_guard_rec *const guards[2])
{
	u64 locks[LS_LOCKSET_LOCKS];
	u32 side, i;

	for (side = 0; side < 2; side++) {
		const struct ls_race_side *s = &e->sides[side];
		u32 nr = accesses[side]->nr_guards;
		struct ls_rec_side rec = {
			.hdr = { sizeof(rec) + nr * sizeof(u64), LS_REC_SIDE }, .race = e->race.id,
			.flags = s->flags, .time_ns = e->race.time_ns, .access = accesses[side]->id,
			.stack = s->nr_frames ? ls_worker_stack_id(s->frames, s->nr_frames) : 0,
			.pid = s->pid, .tgid = s->tgid, .task_flags = s->task_flags, .cpu = s->cpu,
			.nr_locks = nr,
		};

		memcpy(rec.comm, s->comm, LS_COMM_LEN);
		for (i = 0; i < nr; i++)
			locks[i] = instance_of(s, guards[side], nr, i);
		ls_log_append(&rec, sizeof(rec), locks, nr * sizeof(u64), NULL);
	}
}
