// SPDX-License-Identifier: GPL-2.0
#include "sites.h"

bool ls_site_valid(const struct ls_site *s)
{
	return (s->base < 16 || s->base == LS_BASE_NONE || s->base == LS_BASE_RIP) &&
	       (s->index < 16 || s->index == LS_BASE_NONE) &&
	       (s->scale == 1 || s->scale == 2 || s->scale == 4 || s->scale == 8) && s->percpu < 2 &&
	       s->size && s->size <= LS_SITE_MAX_SIZE && s->op & (LS_ACC_READ | LS_ACC_WRITE) &&
	       !(s->op & ~(LS_ACC_READ | LS_ACC_WRITE | LS_ACC_ATOMIC | LS_ACC_MARKED));
}

bool ls_site_same(const struct ls_site *a, const struct ls_site *b)
{
	return a->ip == b->ip && a->disp == b->disp && a->base == b->base && a->index == b->index &&
	       a->scale == b->scale && a->percpu == b->percpu && a->size == b->size && a->op == b->op;
}

void ls_sites_keep(struct ls_site **next, const struct ls_site *sites, ls_u32 nr,
		   struct ls_site **old, ls_u32 nr_old)
{
	ls_u32 i, at = 0;

	for (i = 0; i < nr; i++) {
		while (at < nr_old && old[at]->ip < sites[i].ip)
			at++;
		if (at == nr_old)
			break;
		if (old[at]->error || !ls_site_same(old[at], &sites[i]))
			continue;
		next[i] = old[at];
		old[at++] = NULL;
	}
}
