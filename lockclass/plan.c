// SPDX-License-Identifier: GPL-2.0
/* Plans: checks, and the lookup of their sites. */
#include "plan.h"

#include "hash.h"

static ls_u32 place_of(ls_u64 ip)
{
	return (ls_u32)(ls_mix(ip) >> 32) & (LS_CONFIRM_HASH - 1);
}

static bool sides_valid(const struct ls_confirm_plan *p)
{
	ls_u32 i, interrupted = 0, accesses = 0, deadly = 0;

	if (!p->nr_sides || p->nr_sides > LS_CONFIRM_SIDES || p->pad)
		return false;
	for (i = 0; i < LS_CONFIRM_SIDES; i++) {
		if (p->flags[i] && i >= p->nr_sides)
			return false;
		switch (p->flags[i]) {
		case 0:
			break;
		case LS_CONFIRM_INTERRUPTED:
			interrupted++;
			break;
		case LS_CONFIRM_ACCESS:
			accesses++;
			break;
		case LS_CONFIRM_DEADLY:
			deadly++;
			break;
		default:
			return false;
		}
	}
	if (deadly)
		return deadly == p->nr_sides && deadly > 1;
	if (accesses)
		return accesses == p->nr_sides && accesses <= 2;
	return !interrupted || (interrupted == 1 && p->nr_sides <= 2);
}

bool ls_confirm_valid(const struct ls_confirm_plan *plans, ls_u32 nr_plans,
		      const struct ls_confirm_point *points, ls_u32 nr_points)
{
	ls_u8 ends[LS_CONFIRM_PLANS][LS_CONFIRM_SIDES] = { };
	ls_u32 i, k;

	if (!nr_plans || nr_plans > LS_CONFIRM_PLANS || nr_points > LS_CONFIRM_POINTS)
		return false;
	for (i = 0; i < nr_plans; i++)
		if (!sides_valid(&plans[i]))
			return false;
	for (i = 0; i < nr_points; i++) {
		const struct ls_confirm_point *p = &points[i];

		if (!p->ip || p->pad || p->role > LS_CONFIRM_LAST || p->plan >= nr_plans ||
		    p->side >= plans[p->plan].nr_sides)
			return false;
		ends[p->plan][p->side] |= (ls_u8)(1u << p->role);
	}
	for (i = 0; i < nr_plans; i++)
		for (k = 0; k < plans[i].nr_sides; k++)
			if (ends[i][k] != (plans[i].flags[k] == LS_CONFIRM_ACCESS ? 1 : 3))
				return false;
	return true;
}

void ls_confirm_init(struct ls_confirm *c, struct ls_plan *meets,
		     const struct ls_confirm_plan *plans, ls_u32 nr_plans,
		     struct ls_confirm_point *points, ls_u32 nr_points, ls_u64 now)
{
	ls_u32 i, k;

	c->meets = meets;
	c->points = points;
	c->nr_meets = nr_plans;
	c->nr_points = nr_points;
	for (i = 0; i < LS_CONFIRM_HASH; i++)
		c->head[i] = 0;
	for (i = 0; i < nr_points; i++) {
		ls_u16 *head = &c->head[place_of(points[i].ip)];

		c->next[i] = *head;
		*head = (ls_u16)(i + 1);
	}
	for (i = 0; i < nr_plans; i++) {
		meets[i].since = now;
		meets[i].nr_sides = meets[i].state.nr_sides = plans[i].nr_sides;
		for (k = 0; k < LS_CONFIRM_SIDES; k++)
			meets[i].flags[k] = plans[i].flags[k];
		/* Interrupts come where they are waited for. */
		meets[i].turn = plans[i].nr_sides == 2 && plans[i].flags[1] != LS_CONFIRM_INTERRUPTED;
	}
}

static ls_u32 same_ip(const struct ls_confirm *c, ls_u32 point, ls_u64 ip)
{
	while (point && c->points[point - 1].ip != ip)
		point = c->next[point - 1];
	return point;
}

ls_u32 ls_confirm_find(const struct ls_confirm *c, ls_u64 ip)
{
	return same_ip(c, c->head[place_of(ip)], ip);
}

ls_u32 ls_confirm_next(const struct ls_confirm *c, ls_u32 point)
{
	return same_ip(c, c->next[point - 1], c->points[point - 1].ip);
}

bool ls_confirm_begins(const struct ls_confirm *c, ls_u32 plan, ls_u32 side, ls_u64 ip)
{
	ls_u32 i;

	for (i = ls_confirm_find(c, ip); i; i = ls_confirm_next(c, i)) {
		const struct ls_confirm_point *p = &c->points[i - 1];

		if (p->plan == plan && p->role == LS_CONFIRM_FIRST &&
		    (side == LS_CONFIRM_SIDES || p->side == side))
			return true;
	}
	return false;
}

ls_u64 ls_confirm_first(const struct ls_confirm *c, const struct ls_ctx *ctx, ls_u32 plan, ls_u32 side)
{
	ls_u32 i;

	for (i = ctx->depth; i-- > 0;)
		if (ls_confirm_begins(c, plan, side, ctx->held[i].ip))
			return ctx->held[i].lock;
	return 0;
}

/* Interrupts come where they are waited for, and deadly plans are to cause what others avoid. */
static bool keeps_out(const struct ls_confirm *c, const struct ls_confirm_point *p)
{
	return p->role == LS_CONFIRM_FIRST && !c->meets[p->plan].flags[p->side];
}

bool ls_confirm_inside(const struct ls_confirm *c, ls_u64 ip)
{
	ls_u32 i;

	for (i = ls_confirm_find(c, ip); i; i = ls_confirm_next(c, i))
		if (keeps_out(c, &c->points[i - 1]))
			return true;
	return false;
}

bool ls_confirm_bars(const struct ls_confirm *c, const struct ls_ctx *own, ls_u64 ip, ls_u64 other)
{
	ls_u32 i, k;

	for (k = ls_confirm_find(c, other); k; k = ls_confirm_next(c, k)) {
		const struct ls_confirm_point *inside = &c->points[k - 1];

		if (!keeps_out(c, inside))
			continue;
		for (i = ls_confirm_find(c, ip); i; i = ls_confirm_next(c, i)) {
			const struct ls_confirm_point *p = &c->points[i - 1];

			if (p->plan == inside->plan && keeps_out(c, p) &&
			    (p->side != inside->side || c->meets[p->plan].nr_sides == 1) &&
			    !ls_confirm_first(c, own, p->plan, LS_CONFIRM_SIDES))
				return true;
		}
	}
	return false;
}
