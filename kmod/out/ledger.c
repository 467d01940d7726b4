// SPDX-License-Identifier: GPL-2.0
/*
 * The ledger: stacks and observations by number, as records of the log refer to them. Worker
 * only, ls_work_mutex held.
 */
#include <linux/string.h>

#include "base/memory.h"
#include "core/state.h"
#include "hash.h"
#include "out/logindex.h"
#include "out/out.h"
#include "tagtab.h"

#define STACK_BITS 18
#define MAX_STACKS (1u << (STACK_BITS - 1))

static struct ls_tagtab stacks;		/* hash of a stack -> id */
static struct ls_logindex stack_index, observation_index;

/* An empty table of 2^@bits slots. */
int ls_worker_tagtab(struct ls_tagtab *tab, u32 bits)
{
	void *slots = ls_zalloc(ls_tagtab_bytes(bits));

	if (slots)
		ls_tagtab_init(tab, slots, bits);
	return slots ? 0 : -ENOMEM;
}

/* Read observation @ordinal and its held locks; room for LS_MAX_DEPTH entries. */
bool ls_worker_observation(u32 ordinal, struct ls_rec_sight *s, struct ls_held_rec *held)
{
	u64 at;

	return ls_logindex_get(&observation_index, ordinal, &at) && ls_log_read(at, s, sizeof(*s)) &&
	       ls_log_read(at + sizeof(*s), held, s->nr_held * sizeof(*held));
}

/* Read frames of stack @id into @ips (room for LS_STACK_FRAMES); returns their number. */
u32 ls_worker_stack(u32 id, u64 *ips)
{
	struct ls_rec_stack rec;
	u64 at;

	if (!id || !ls_logindex_get(&stack_index, id - 1, &at) || !ls_log_read(at, &rec, sizeof(rec)) ||
	    !ls_log_read(at + sizeof(rec), ips, rec.nr * sizeof(*ips)))
		return 0;
	return rec.nr;
}

static u64 stack_key(const u64 *ips, u32 nr)
{
	u64 key = nr;
	u32 i;

	for (i = 0; i < nr; i++)
		key = ls_chain_mix(key, ips[i]);
	return key;
}

/* Id of the stack @ips, which is logged when it is new; 0 when there is no room. */
u32 ls_worker_stack_id(const u64 *ips, u32 nr)
{
	struct ls_rec_stack rec = {
		.hdr = { sizeof(rec) + nr * sizeof(u64), LS_REC_STACK }, .nr = nr,
	};
	u64 key = stack_key(ips, nr), at;
	u32 id;

	lockdep_assert_held(&ls_work_mutex);
	id = ls_tagtab_find(&stacks, key);
	if (id)
		return id;
	if (stack_index.nr >= MAX_STACKS || !ls_logindex_room(&stack_index)) {
		ls_lose(LS_LOSS_STACKS);
		return 0;
	}
	rec.id = stack_index.nr + 1;
	if (!ls_log_append(&rec, sizeof(rec), ips, nr * sizeof(u64), &at))
		return 0;
	ls_logindex_add(&stack_index, at);
	ls_tagtab_insert(&stacks, key, rec.id);
	return rec.id;
}

/* Code of the stack @ips is about to go: the same addresses are another stack from now on. */
void ls_ledger_forget_stack(const u64 *ips, u32 nr)
{
	lockdep_assert_held(&ls_work_mutex);
	ls_tagtab_remove(&stacks, stack_key(ips, nr));
}

/*
 * Log observation @s; *@ordinal gets its number. False, and a counted loss, when there is no
 * room.
 */
bool ls_ledger_add(const struct ls_rec_sight *s, u32 *ordinal)
{
	u64 at;

	lockdep_assert_held(&ls_work_mutex);
	/* Readers count the observations in the log: each must have a number. */
	if (!ls_logindex_room(&observation_index)) {
		ls_log_refuse();
		return false;
	}
	if (!ls_log_append(s, s->hdr.len, NULL, 0, &at))
		return false;
	*ordinal = observation_index.nr;
	ls_logindex_add(&observation_index, at);
	return true;
}

u32 ls_ledger_observations(void)
{
	return READ_ONCE(observation_index.nr);
}

u32 ls_ledger_stacks(void)
{
	return READ_ONCE(stack_index.nr);
}

int ls_ledger_init(void)
{
	return ls_worker_tagtab(&stacks, STACK_BITS);
}

void ls_ledger_exit(void)
{
	ls_logindex_free(&stack_index);
	ls_logindex_free(&observation_index);
	ls_free(stacks.slots);
}
