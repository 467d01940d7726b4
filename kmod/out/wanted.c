// SPDX-License-Identifier: GPL-2.0
/*
 * Dependencies that are part of a cycle. A deadlock needs the same instances on all of them:
 * chains that have one are checked again, each for a while, and the observations of each
 * dependency are recorded, including earlier ones. Dependencies with gates against a cycle are
 * checked until no gate is left. Worker only, ls_work_mutex held.
 */
#include <linux/jiffies.h>
#include <linux/sched.h>

#include "base/memory.h"
#include "check/instances.h"
#include "core/state.h"
#include "hash.h"
#include "out/evidence.h"
#include "out/out.h"
#include "tagtab.h"
#include "uses.h"

#define WANTED_BITS 12
#define WANTED_MAX 1024
#define WANTED_INTERVAL HZ
#define PASSED_INTERVAL msecs_to_jiffies(2)
#define GATED_CHAINS 4096	/* that are checked for their gates */
#define FIRST_KEPT (LS_WANTED_OBSERVATIONS / 2)
#define SEG_BITS 6		/* dependencies whose observations are allocated at once */
#define BACK_STEPS 2048		/* earlier observations scanned in one round */

struct wanted {
	u32 since;		/* observations from this one on are recorded as they come */
	u32 nr;			/* recorded, including overwritten ones */
	u32 latest;		/* ordinal of the latest + 1 */
	bool gated;		/* gates of it speak against a cycle */
	bool marked;		/* its chains are marked */
};

/* canonical classes -> number of the dependency, from 1; 0 and a class: the newest one to it */
static struct ls_tagtab numbers;
static struct wanted *wanted;		/* indexed by number */
static u32 *noted[WANTED_MAX >> SEG_BITS];
static u32 nr_wanted;
static u32 looked_for;			/* chains of numbers up to this one are marked */
static bool gated_unmarked;			/* chains of some that are gated, or of classes, are not marked */
static u32 nr_gated;			/* chains marked for that */

static u32 next_observation;			/* recorded up to here, for those wanted by then */
static u32 back_at, back_end;		/* scan of earlier ones, for numbers after back_from */
static u32 back_from, back_to;

static u64 key_of(u32 from, u32 to)
{
	return ls_mix((u64)from << 32 | to);
}

static u32 *observations_of(u32 number)
{
	u32 seg = (number - 1) >> SEG_BITS;

	if (!noted[seg])
		noted[seg] = ls_zalloc(array_size(LS_WANTED_OBSERVATIONS << SEG_BITS, sizeof(u32)));
	return !noted[seg] ? NULL :
	       &noted[seg][((number - 1) & ((1u << SEG_BITS) - 1)) * LS_WANTED_OBSERVATIONS];
}

/* Number of dependency @from -> @to, which is part of a cycle; 0 when there is no room. */
u32 ls_wanted_add(u32 from, u32 to)
{
	u64 key = key_of(from, to);
	u32 number = ls_tagtab_find(&numbers, key);

	lockdep_assert_held(&ls_work_mutex);
	if (number || nr_wanted == WANTED_MAX || !observations_of(nr_wanted + 1) ||
	    !ls_tagtab_insert(&numbers, key, nr_wanted + 1))
		return number;
	wanted[++nr_wanted] = (struct wanted){ .since = next_observation };
	number = ls_tagtab_find(&numbers, key_of(0, to));
	if (number)
		ls_tagtab_change(&numbers, key_of(0, to), number, nr_wanted);
	else if (!ls_tagtab_insert(&numbers, key_of(0, to), nr_wanted))
		ls_lose(LS_LOSS_PAIRS);
	return nr_wanted;
}

/*
 * Gates of dependency @from -> @to speak against a cycle; an observation without one of them
 * is needed.
 */
void ls_wanted_gated(u32 from, u32 to)
{
	u32 number = ls_wanted_add(from, to);

	if (!number) {
		ls_lose(LS_LOSS_PAIRS);
		return;
	}
	gated_unmarked = gated_unmarked || !wanted[number].gated;
	wanted[number].gated = true;
}

/*
 * The instances of canonical class @id that are used in interrupts, or with them on, are needed:
 * of each acquisition, for a while (lockclass/uses.h).
 */
void ls_wanted_uses(u32 id)
{
	struct ls_class *c = &ls.classes.table[id];

	lockdep_assert_held(&ls_work_mutex);
	if (!ls_uses_want(c))
		return;
	ls_fetch_or(&c->marks, (u16)LS_CLASS_USES);
	gated_unmarked = true;
}

/*
 * Is canonical class @to one of which each acquisition is compared (claims.c)? Then that of
 * @data, a chain that is not marked yet, is marked so as well.
 */
static bool mark_compared(struct ls_chain *data, u32 to)
{
	u16 marks = ls_load(&ls.classes.table[to].marks) & (LS_CLASS_PASSED | LS_CLASS_USES);

	if (!marks)
		return false;
	ls_fetch_or(&ls.classes.table[data->val & LS_VAL_CLASS_MASK].marks, marks);
	if (ls_load(&data->looks) & LS_LOOKS_GATED)
		return false;
	if (nr_gated < GATED_CHAINS)
		return true;
	ls_lose(LS_LOSS_PAIRS);
	return false;
}

/* Request that the gates of dependency @prev -> @next are compared at each observation. */
static bool ask_for_gates(u32 prev, u32 next)
{
	if (nr_gated < GATED_CHAINS && ls_gates_ask(&ls.gates, ls_gates_key(prev, next)))
		return true;
	ls_lose(LS_LOSS_PAIRS);
	return false;
}

/*
 * Does chain @data have a dependency that was not searched for yet? @vals: room for its words.
 * @passed: does it have none, but acquires a lock that one leads to? See lockclass/passed.h.
 */
static void look_at_chain(struct ls_chain *data, u32 *vals, bool passed)
{
	struct ls_chain *up = data;
	u32 nr = 0, i, to, number, newest = 0;
	bool gated = false, passing = true;
	u64 key = 0;

	while (up && nr < LS_MAX_DEPTH) {
		vals[nr++] = up->val;
		up = ls_chains_get(&ls.chains, up->parent);
	}
	to = ls_worker_class(data->val);
	for (i = 1; i < nr; i++) {
		u32 from = ls_worker_class(vals[i]);

		number = ls_tagtab_find(&numbers, key_of(from, to));
		passing = passing && !number && from != to;
		newest = max(newest, number);
		if (passed)
			continue;
		if (number > looked_for)
			ls_edges_wanted(&ls.edges, vals[i], data->val);
		/* Without a gate there is none to compare. */
		if (number && nr > 2 && wanted[number].gated && !wanted[number].marked)
			gated |= ask_for_gates(vals[i], data->val);
	}
	if (passed == passing)
		gated |= mark_compared(data, to);
	if (passed)
		newest = newest > looked_for ? 0 : ls_tagtab_find(&numbers, key_of(0, to));
	if (newest <= looked_for && !gated)
		return;
	nr_gated += gated;
	while (nr)
		key = ls_chain_mix(key, vals[--nr]);
	ls_chains_look(&ls.chains, key, data, gated);
}

static void look_at_all(bool passed)
{
	static u32 vals[LS_MAX_DEPTH];
	u32 id;

	for (id = 1; id <= ls_load(&ls.chains.nr); id++) {
		struct ls_chain *data = ls_chains_get(&ls.chains, id);

		if (data && ls_load(&data->count))
			look_at_chain(data, vals, passed);
		if (!(id & 1023))
			cond_resched();
	}
}

/* @now: even if the last scan is less than WANTED_INTERVAL ago. */
static void look_at_chains(bool now)
{
	static unsigned long last;
	u32 id, upto = nr_wanted;

	if ((looked_for == nr_wanted && !gated_unmarked) ||
	    (!now && time_before(jiffies, last + WANTED_INTERVAL)))
		return;
	last = jiffies;
	gated_unmarked = false;
	/* A hold that began before does not know what was passed: let most of them end. */
	look_at_all(true);
	schedule_timeout_uninterruptible(1 + PASSED_INTERVAL);
	look_at_all(false);
	for (id = 1; id <= upto; id++)
		wanted[id].marked = wanted[id].gated;
	looked_for = upto;
}

/*
 * Observation @ordinal shows @from -> @to. @back: from the scan of earlier ones. Is the
 * dependency part of a cycle?
 */
static bool note(u32 from, u32 to, u32 ordinal, bool back)
{
	u32 number = ls_tagtab_find(&numbers, key_of(from, to)), *of, i;
	struct wanted *w = &wanted[number];

	if (!number)
		return false;
	if (w->latest == ordinal + 1 ||
	    (back ? number <= back_from || number > back_to || ordinal >= w->since :
		    ordinal < w->since))
		return true;
	w->latest = ordinal + 1;
	of = observations_of(number);
	i = w->nr < LS_WANTED_OBSERVATIONS ? w->nr :
		FIRST_KEPT + (w->nr - LS_WANTED_OBSERVATIONS) %
			     (LS_WANTED_OBSERVATIONS - FIRST_KEPT);
	of[i] = ordinal;
	w->nr++;
	ls_evidence_noted(number);
	return true;
}

/* Record which wanted dependencies observation @ordinal shows. */
static void take_observation(u32 ordinal, bool back)
{
	static struct ls_rec_sight s;
	static struct ls_held_rec held[LS_MAX_DEPTH];
	u64 of = 0;
	u32 from, to, i;

	if (!ls_worker_observation(ordinal, &s, held) || s.what != LS_SIGHT_ACQUIRE)
		return;
	to = ls_worker_class(s.val);
	for (i = 0; to && i < s.nr_held; i++) {
		from = ls_worker_class(held[i].val);
		if (note(from, to, ordinal, back) || from == to)
			of |= 1ull << i;
	}
	if (of && ls_claims_take(&s, held, of))
		gated_unmarked = true;
}

/*
 * A round, with @nr observations in the log: process what was recorded since the last one, and
 * some earlier ones, or @all of them.
 */
void ls_wanted_work(u32 nr, bool all)
{
	u32 steps;

	look_at_chains(all);
	while (next_observation < nr) {
		take_observation(next_observation++, false);
		cond_resched();
	}
	do {
		if (back_at == back_end) {
			if (back_to == nr_wanted && !ls_claims_again(all))
				return;
			back_from = back_to;
			back_to = nr_wanted;
			back_at = 0;
			back_end = next_observation;
		}
		for (steps = 0; back_at < back_end && steps < BACK_STEPS; steps++)
			take_observation(back_at++, true);
		cond_resched();
	} while (all);
}

/* Observations recorded of dependency @number, *@nr of them. */
const u32 *ls_wanted_observations(u32 number, u32 *nr)
{
	*nr = min_t(u32, wanted[number].nr, LS_WANTED_OBSERVATIONS);
	return observations_of(number);
}

/* Is there something left to scan? */
bool ls_wanted_pending(void)
{
	return back_at < back_end || back_to < nr_wanted;
}

void ls_wanted_forget(u32 nr)
{
	memset(numbers.slots, 0, ls_tagtab_bytes(WANTED_BITS));
	nr_wanted = looked_for = nr_gated = 0;
	gated_unmarked = false;
	ls_claims_forget();
	back_at = back_end = back_from = back_to = 0;
	next_observation = nr;
}

int ls_wanted_init(void)
{
	wanted = ls_zalloc(array_size(WANTED_MAX + 1, sizeof(*wanted)));
	return wanted ? ls_worker_tagtab(&numbers, WANTED_BITS) : -ENOMEM;
}

void ls_wanted_exit(void)
{
	u32 i;

	for (i = 0; i < ARRAY_SIZE(noted); i++)
		ls_free(noted[i]);
	ls_free(numbers.slots);
	ls_free(wanted);
}
