// SPDX-License-Identifier: GPL-2.0
/* Any context, no lock, no allocation; bounded by CPUs, levels and LS_MAX_DEPTH. */
#include "spinring.h"

static ls_u32 depth_of(const struct ls_ctx *ctx)
{
	ls_u32 depth = ctx ? ls_load(&ctx->depth) : 0;

	return depth < LS_MAX_DEPTH ? depth : LS_MAX_DEPTH;
}

static void copy(struct ls_held *to, const struct ls_held *from)
{
	to->lock = ls_load(&from->lock);
	to->ip = ls_load(&from->ip);
	to->val = ls_load(&from->val);
	to->below = 0;
	to->stamp = 0;
}

static bool same(const struct ls_held *a, const struct ls_held *b)
{
	return a->lock == b->lock && a->ip == b->ip && a->val == b->val;
}

/* Does stack @level of @cpu spin for the lock on its top, to @top? */
static bool spins_for(const struct ls_spin_view *view, ls_u32 cpu, ls_u32 level, struct ls_held *top)
{
	const struct ls_ctx *ctx = view->stack(cpu, level);
	ls_u32 depth = depth_of(ctx);

	if (!depth)
		return false;
	copy(top, &ctx->held[depth - 1]);
	return view->noted(cpu, level) == top->lock && view->spins(top->val) &&
	       !(top->val & (LS_VAL_TRY | LS_VAL_QUIET));
}

/* What keeps the contexts of @cpu from @level on: the innermost one that spins. */
static bool stuck(const struct ls_spin_view *view, ls_u32 cpu, ls_u32 level, struct ls_spinner *out)
{
	ls_u32 l;

	for (l = LS_NR_LEVELS; l-- > level;) {
		if (spins_for(view, cpu, l, &out->waits)) {
			out->cpu = cpu;
			out->level = l;
			return true;
		}
	}
	return false;
}

/* Has @waits to be released by the holder of @holds? */
static bool conflict(const struct ls_held *waits, const struct ls_held *holds)
{
	bool both_read = waits->val & LS_VAL_READ_MASK && holds->val & LS_VAL_READ_MASK;

	return waits->lock == holds->lock && !both_read && !(holds->val & LS_VAL_QUIET);
}

/*
 * The level at which @cpu holds what @waits is for, to @holds; LS_NR_LEVELS: none. An entry on top
 * that was not noted counts in @unsure alone: it was acquired, or is just about to be.
 */
static ls_u32 holder(const struct ls_spin_view *view, ls_u32 cpu, const struct ls_held *waits,
		     struct ls_held *holds, bool *unsure)
{
	ls_u32 level, i, at = LS_NR_LEVELS;

	for (level = 0; level < LS_NR_LEVELS; level++) {
		const struct ls_ctx *ctx = view->stack(cpu, level);
		ls_u32 depth = depth_of(ctx);

		for (i = 0; i < depth; i++) {
			struct ls_held h;

			copy(&h, &ctx->held[i]);
			if (!conflict(waits, &h))
				continue;
			if (i + 1 < depth || h.val & LS_VAL_TRY) {
				*holds = h;
				*unsure = false;
				return level;
			}
			if (view->noted(cpu, level) != h.lock) {
				*holds = h;
				*unsure = true;
				at = level;
			}
		}
	}
	return at;
}

/* The CPU that holds what @before waits for, if it spins as well, to @out. */
static bool next(const struct ls_spin_view *view, const struct ls_spinner *before, struct ls_spinner *out)
{
	ls_u32 cpu, level = LS_NR_LEVELS, nr_unsure = 0, at = 0;

	for (cpu = 0; cpu < view->nr_cpus; cpu++) {
		struct ls_held h;
		bool unsure;
		ls_u32 l;

		if (cpu == before->cpu)
			continue;
		l = holder(view, cpu, &before->waits, &h, &unsure);
		if (l == LS_NR_LEVELS)
			continue;
		nr_unsure += unsure;
		if (unsure && level != LS_NR_LEVELS)
			continue;
		level = l;
		at = cpu;
		out->holds = h;
		if (!unsure) {
			nr_unsure = 0;
			break;
		}
	}
	/* Of several such entries one is the holder's. */
	return level != LS_NR_LEVELS && nr_unsure < 2 && stuck(view, at, level, out);
}

/* Is @after, the one behind the last of @ring, its first one? */
static bool closes(const struct ls_spinner *ring, const struct ls_spinner *after)
{
	return after->cpu == ring[0].cpu && after->level == ring[0].level;
}

ls_u32 ls_spin_ring(const struct ls_spin_view *view, ls_u32 cpu, ls_u32 level, struct ls_spinner *ring)
{
	struct ls_spinner after;
	ls_u32 nr;

	ring[0].cpu = cpu;
	ring[0].level = level;
	if (!spins_for(view, cpu, level, &ring[0].waits))
		return 0;
	for (nr = 1; nr <= LS_SPIN_CPUS; nr++) {
		if (!next(view, &ring[nr - 1], &after))
			return 0;
		if (closes(ring, &after)) {
			ring[0].holds = after.holds;
			return nr;
		}
		if (nr < LS_SPIN_CPUS)
			ring[nr] = after;
	}
	return 0;
}

bool ls_spin_ring_stands(const struct ls_spin_view *view, const struct ls_spinner *ring, ls_u32 nr)
{
	struct ls_spinner after;
	ls_u32 i;

	for (i = 0; i < nr; i++) {
		const struct ls_spinner *was = &ring[(i + 1) % nr];

		if (!next(view, &ring[i], &after) || after.cpu != was->cpu || after.level != was->level ||
		    !same(&after.waits, &was->waits) || !same(&after.holds, &was->holds))
			return false;
	}
	return true;
}

bool ls_spinner_held(const struct ls_spin_view *view, const struct ls_spinner *s, ls_u32 i,
		     struct ls_held *out)
{
	ls_u32 level;

	for (level = 0; level <= s->level; level++) {
		const struct ls_ctx *ctx = view->stack(s->cpu, level);
		ls_u32 depth = depth_of(ctx);

		/* What it waits for is on top. */
		if (level == s->level && depth)
			depth--;
		if (i < depth) {
			copy(out, &ctx->held[i]);
			return true;
		}
		i -= depth;
	}
	return false;
}
