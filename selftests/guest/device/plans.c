// SPDX-License-Identifier: GPL-2.0
/*
 * Plans: of acquire sites that are in use, so that gates hold contexts of all kinds; of
 * numbers that are nothing; and their states.
 */
#include "operations.h"

#include <errno.h>
#include <linux/types.h>
#include <stdbool.h>
#include <string.h>
#include <sys/ioctl.h>

#include "abi.h"

#define SITES 256

static int call(int fd, unsigned long request, void *argument)
{
	return ioctl(fd, request, argument) < 0 ? errno : 0;
}

/* One that the module accepts, if all sites are real. */
static int set(struct worker *w, int fd, const struct ls_chain *chains, uint32_t nr)
{
	struct ls_confirm_plan plans[8] = { 0 };
	struct ls_confirm_point points[8 * LS_CONFIRM_SIDES * 2];
	struct ls_confirm_req req = { .nr_plans = 1 + (uint32_t)below(w, 8), .plans = (uintptr_t)plans,
				      .points = (uintptr_t)points };
	uint32_t i, side, role;
	bool race;

	for (i = 0; i < req.nr_plans; i++) {
		plans[i].nr_sides = 1 + (uint32_t)below(w, LS_CONFIRM_SIDES);
		race = plans[i].nr_sides <= 2 && !below(w, 3);
		if (!race && plans[i].nr_sides <= 2 && below(w, 2))
			plans[i].flags[below(w, plans[i].nr_sides)] = LS_CONFIRM_INTERRUPTED;
		for (side = 0; race && side < plans[i].nr_sides; side++)
			plans[i].flags[side] = LS_CONFIRM_ACCESS;
		for (side = 0; side < plans[i].nr_sides; side++)
			for (role = 0; role < (race ? 1 : 2); role++)
				points[req.nr_points++] = (struct ls_confirm_point){
					.ip = chains[below(w, nr)].ip, .plan = (uint16_t)i,
					.side = (uint8_t)side, .role = (uint8_t)role,
				};
	}
	return call(fd, LS_IOC_CONFIRM, &req);
}

static int plan(struct worker *w, int fd)
{
	struct ls_chain chains[SITES] = { { 0 } };
	struct ls_chains_req req = { .from = 1 + (uint32_t)below(w, 200), .nr = SITES,
				     .buf = (uintptr_t)chains };
	int rc = call(fd, LS_IOC_CHAINS, &req);

	return rc || !req.nr ? rc : set(w, fd, chains, req.nr);
}

int op_plan(struct worker *w)
{
	return plan(w, device(w));
}

int op_plan_end(struct worker *w)
{
	struct ls_confirm_req req = { 0 };

	return call(device(w), LS_IOC_CONFIRM, &req);
}

int op_plan_garbage(struct worker *w)
{
	struct ls_confirm_plan *plans = (struct ls_confirm_plan *)w->arena;
	struct ls_confirm_point *points = (struct ls_confirm_point *)(w->arena + 1024);
	struct ls_confirm_req req = {
		.nr_plans = (uint32_t)(below(w, 4) ? below(w, 6) : odd_number(w)),
		.nr_points = (uint32_t)(below(w, 4) ? below(w, 12) : odd_number(w)),
		.plans = below(w, 4) ? (uintptr_t)plans : (uintptr_t)odd_pointer(w),
		.points = below(w, 4) ? (uintptr_t)points : (uintptr_t)odd_pointer(w),
	};
	uint32_t i;

	for (i = 0; i < 6; i++) {
		memset(&plans[i], 0, sizeof(plans[i]));
		plans[i].nr_sides = (uint32_t)(below(w, 4) ? below(w, 6) : odd_number(w));
		plans[i].flags[below(w, LS_CONFIRM_SIDES)] = (uint32_t)below(w, 4);
	}
	for (i = 0; i < 12; i++)
		points[i] = (struct ls_confirm_point){
			.ip = odd_number(w), .plan = (uint16_t)below(w, 7), .side = (uint8_t)below(w, 5),
			.role = (uint8_t)below(w, 3), .pad = !below(w, 8),
		};
	return call(device(w), LS_IOC_CONFIRM, &req);
}

int op_plan_state(struct worker *w)
{
	static __thread struct ls_confirm_state state;
	struct ls_confirm_state_req req = {
		.plan = (uint32_t)(below(w, 4) ? below(w, 8) : odd_number(w)), .pad = !below(w, 16),
		.buf = below(w, 4) ? (uintptr_t)&state : (uintptr_t)odd_pointer(w),
	};

	int fd = device(w);

	/* Only the file that set a plan reads its state. */
	if (!below(w, 10))
		plan(w, fd);
	return call(fd, LS_IOC_CONFIRM_STATE, &req);
}
