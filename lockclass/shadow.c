// SPDX-License-Identifier: GPL-2.0
#include "shadow.h"

#define STATE(s) ((s) & 3)
_Static_assert(LS_SHARED_MODIFIED <= 3 && LS_SHADOW_ENTRIES <= 4, "state and next entry have two bits each");
#define PASSED_ON 4ull
#define EVICTED 8ull
#define NEXT(s) ((s) >> 4 & 3)
#define GENERATION(s) ((s) >> 6 & 15)
#define OWNER(s) ((s) >> 16 & 0xffff)
#define CANDIDATES(s) ((s) >> 32 & 0xffff)

static bool live(ls_u64 entry, ls_u64 state)
{
	return ls_entry_site(entry) && (entry >> 59 & 15) == GENERATION(state);
}

bool ls_shadow_live(const struct ls_granule *g, ls_u32 i)
{
	return live(ls_load(&g->entry[i]), ls_load(&g->state));
}

/* A snapshot of a granule; entries may be slightly newer than its state. */
struct view {
	ls_u64 state, entry[LS_SHADOW_ENTRIES], stamps;
};

static struct view look(const struct ls_granule *g)
{
	struct view v;
	ls_u32 i;

	v.state = ls_load_acquire(&g->state);
	for (i = 0; i < LS_SHADOW_ENTRIES; i++)
		v.entry[i] = ls_load(&g->entry[i]);
	v.stamps = ls_load(&g->stamps);
	return v;
}

static bool is_ordered(const struct view *v, ls_u32 i, const struct ls_shadow_access *a,
		       const struct ls_shadow_rules *rules)
{
	return rules->ordered && rules->ordered(rules->cookie, ls_entry_context(v->entry[i]), a->context,
						ls_stamp_of(v->stamps, i));
}

/* Are all accesses of other contexts ordered before this one? */
static bool all_ordered(const struct view *v, const struct ls_shadow_access *a,
			const struct ls_shadow_rules *rules)
{
	ls_u32 i;

	if (v->state & EVICTED || !rules->ordered)
		return false;
	for (i = 0; i < LS_SHADOW_ENTRIES; i++)
		if (live(v->entry[i], v->state) && ls_entry_context(v->entry[i]) != a->context &&
		    !is_ordered(v, i, a, rules))
			return false;
	return true;
}

static bool marked(ls_u32 op)
{
	return op & (LS_ACC_MARKED | LS_ACC_ATOMIC);
}

/*
 * Is entry @i redundant because of entry @j: the same context and locks, later, and in
 * conflict with everything that @i conflicts with?
 */
static bool says_less(const struct view *v, ls_u32 i, ls_u32 j, const struct ls_shadow_rules *rules)
{
	ls_u64 a = v->entry[i], b = v->entry[j];
	ls_u32 op = rules->ops[ls_entry_site(a)], later = rules->ops[ls_entry_site(b)];

	return ls_entry_context(a) == ls_entry_context(b) &&
	       ls_entry_lockset(a) == ls_entry_lockset(b) &&
	       !(ls_entry_bytes(a) & ~ls_entry_bytes(b)) &&
	       (!(op & LS_ACC_WRITE) || later & LS_ACC_WRITE) && (marked(op) || !marked(later)) &&
	       (ls_entry_initial(a) || !ls_entry_initial(b)) &&
	       !ls_stamp_before(ls_stamp_of(v->stamps, j), ls_stamp_of(v->stamps, i));
}

/* Slot for the access; *@evicts when it replaces an entry of another context. */
static ls_u32 place_for(const struct view *v, const struct ls_shadow_access *a,
			const struct ls_shadow_rules *rules, bool *evicts)
{
	ls_u32 i, own = LS_SHADOW_ENTRIES, next;

	*evicts = false;
	for (i = 0; i < LS_SHADOW_ENTRIES; i++)
		if (live(v->entry[i], v->state) && ls_entry_context(v->entry[i]) == a->context &&
		    ls_entry_site(v->entry[i]) == a->site)
			return i;
	for (i = 0; i < LS_SHADOW_ENTRIES; i++)
		if (!live(v->entry[i], v->state))
			return i;
	/*
	 * Of its own entries an access replaces a read before a write, of others' the oldest
	 * one.
	 */
	for (i = 0; i < LS_SHADOW_ENTRIES; i++) {
		if (ls_entry_context(v->entry[i]) != a->context)
			continue;
		if (!(rules->ops[ls_entry_site(v->entry[i])] & LS_ACC_WRITE))
			return i;
		if (own == LS_SHADOW_ENTRIES)
			own = i;
	}
	/* A write only when no entry is redundant. */
	for (i = 0; i < LS_SHADOW_ENTRIES * LS_SHADOW_ENTRIES; i++)
		if (i / LS_SHADOW_ENTRIES != i % LS_SHADOW_ENTRIES &&
		    says_less(v, i / LS_SHADOW_ENTRIES, i % LS_SHADOW_ENTRIES, rules))
			return i / LS_SHADOW_ENTRIES;
	if (own < LS_SHADOW_ENTRIES)
		return own;
	next = NEXT(v->state);
	*evicts = true;
	return next < LS_SHADOW_ENTRIES ? next : 0;
}

/* Does entry @i race with @a? */
static bool conflicts(const struct view *v, ls_u32 i, const struct ls_shadow_access *a,
		      bool initial_too, const struct ls_shadow_rules *rules)
{
	ls_u64 e = v->entry[i];
	ls_u32 op = rules->ops[ls_entry_site(e)];

	return live(e, v->state) && ls_entry_context(e) != a->context &&
	       (ls_entry_bytes(e) & a->bytes) && ((op | a->op) & LS_ACC_WRITE) &&
	       !(marked(op) && marked(a->op)) && !(ls_entry_initial(e) && !initial_too) &&
	       !ls_lockset_meet(rules->sets, ls_entry_lockset(e), a->lockset).apart &&
	       !is_ordered(v, i, a, rules);
}

/* All entries that race with @a, the latest plain one first. */
static LS_COLD void find_races(const struct view *v, const struct ls_shadow_access *a,
			       bool initial_too, const struct ls_shadow_rules *rules,
			       struct ls_shadow_result *r)
{
	ls_u32 i, first = LS_SHADOW_ENTRIES, found = 0;

	for (i = 0; i < LS_SHADOW_ENTRIES; i++) {
		if (!conflicts(v, i, a, initial_too, rules))
			continue;
		found |= 1u << i;
		if (first == LS_SHADOW_ENTRIES || !marked(rules->ops[ls_entry_site(v->entry[i])]))
			first = i;
	}
	if (!found)
		return;
	r->race = true;
	r->other = ls_entry_site(v->entry[first]);
	r->other_context = ls_entry_context(v->entry[first]);
	r->other_lockset = ls_entry_lockset(v->entry[first]);
	for (i = 0; i < LS_SHADOW_ENTRIES; i++) {
		if (i == first || !(found >> i & 1))
			continue;
		r->further[r->nr_further++] = (struct ls_shadow_side){
			ls_entry_site(v->entry[i]), ls_entry_context(v->entry[i]), ls_entry_lockset(v->entry[i]),
		};
	}
}

static ls_u64 with_state(ls_u64 state, ls_u32 to, ls_u32 candidates)
{
	return (state & ~(3ull | 0xffffull << 32)) | to | (ls_u64)candidates << 32;
}

static ls_u64 owned_by(ls_u64 state, ls_u32 context)
{
	return (state & ~(3ull | 0xffffffffull << 16)) | LS_EXCLUSIVE_TO | (ls_u64)context << 16;
}

/* A new owner, and everything before is discarded. */
static ls_u64 handed_over(ls_u64 state, ls_u32 context)
{
	ls_u64 generation = (GENERATION(state) + 1) & 15;

	/* An owner by a proven hand-over is expected to hand it over that way, too. */
	return owned_by(generation << 6, context) | PASSED_ON;
}

/*
 * Refine @candidates by this access [Eraser 2.3]. LS_LOCKSET_NONE is the set of all locks: no
 * access with known locks has shared the memory yet.
 */
static ls_u32 refined(ls_u32 candidates, const struct ls_shadow_access *a,
		      const struct ls_shadow_rules *rules, struct ls_shadow_result *r)
{
	ls_u32 held = a->op & LS_ACC_WRITE ? ls_lockset_writers(rules->sets, a->lockset) : a->lockset;

	if (candidates != LS_LOCKSET_NONE && candidates != held)
		held = ls_lockset_meet(rules->sets, candidates, held).id;
	/* An unknown lockset proves nothing. */
	r->unknown = held == LS_LOCKSET_NONE;
	return r->unknown ? candidates : held;
}

/* The granule's next state [Eraser figure 4]. */
static ls_u64 next_state(const struct view *v, const struct ls_shadow_access *a,
			 const struct ls_shadow_rules *rules, struct ls_shadow_result *r)
{
	ls_u64 s = v->state;
	bool write = a->op & LS_ACC_WRITE;
	ls_u32 state = STATE(s), candidates = CANDIDATES(s);

	if (state == LS_VIRGIN)
		return owned_by(s, a->context);
	if (state == LS_EXCLUSIVE_TO && OWNER(s) == a->context)
		return s;
	if (all_ordered(v, a, rules)) {
		r->handed_over = true;
		return handed_over(s, a->context);
	}
	if (state == LS_EXCLUSIVE_TO) {
		if (write && rules->pass_on && !(s & PASSED_ON)) {
			r->handed_over = true;
			return owned_by(s, a->context) | PASSED_ON;
		}
		state = LS_SHARED_READ;
		candidates = LS_LOCKSET_NONE;
	}
	return with_state(s, write ? LS_SHARED_MODIFIED : state, refined(candidates, a, rules, r));
}

struct ls_shadow_result ls_shadow_step(struct ls_granule *g, const struct ls_shadow_access *a,
				       const struct ls_shadow_rules *rules)
{
	struct ls_shadow_result r;
	struct view v = look(g);
	ls_u64 next, entry, stamps, want;
	ls_u32 place;
	bool evicts;

	for (;;) {
		r = (struct ls_shadow_result){ 0 };
		next = next_state(&v, a, rules, &r);
		place = 0;
		if (GENERATION(next) == GENERATION(v.state)) {
			place = place_for(&v, a, rules, &evicts);
			if (evicts) {
				ls_u64 turn = (place + 1) % LS_SHADOW_ENTRIES;

				next = (next & ~(3ull << 4)) | EVICTED | turn << 4;
			}
		}
		if (next == v.state || ls_cmpxchg(&g->state, &v.state, next))
			break;
		v = look(g);
	}
	r.before = STATE(v.state);
	r.after = STATE(next);
	r.candidates = CANDIDATES(next);
	if (r.after == LS_SHARED_MODIFIED && r.candidates == LS_LOCKSET_EMPTY && !r.unknown &&
	    a->lockset != LS_LOCKSET_NONE)
		find_races(&v, a, v.state & PASSED_ON || !rules->pass_on, rules, &r);
	if (GENERATION(next) != GENERATION(v.state))
		ls_shadow_wrap(g, GENERATION(next));
	entry = ls_entry_make(a, r.after == LS_EXCLUSIVE_TO, GENERATION(next));
	/* A loop over bytes is one site: with the same locks and stamp the bytes are merged. */
	if (ls_entry_covers(v.entry[place] | LS_ENTRY_BYTES, entry) &&
	    ls_stamp_of(v.stamps, place) == (a->stamp & LS_STAMP_MASK))
		entry |= v.entry[place] & LS_ENTRY_BYTES;
	/* Unchanged words are not written, so that the cache line stays shared. */
	if (entry != ls_load(&g->entry[place]))
		ls_store(&g->entry[place], entry);
	stamps = ls_load(&g->stamps);
	do {
		want = (stamps & ~((ls_u64)LS_STAMP_MASK << 21 * place)) |
		       (ls_u64)(a->stamp & LS_STAMP_MASK) << 21 * place;
	} while (stamps != want && !ls_cmpxchg(&g->stamps, &stamps, want));
	return r;
}
