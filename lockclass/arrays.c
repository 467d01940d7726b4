// SPDX-License-Identifier: GPL-2.0
#include "arrays.h"

void ls_arrays_init(struct ls_arrays *a, void *slots, ls_u32 bits, struct ls_array *table, ls_u32 max)
{
	ls_tagtab_init(&a->tab, slots, bits);
	a->table = table;
	a->max = max;
	a->nr = 0;
}

static ls_u64 array_key(ls_u64 type, ls_u32 kind, ls_u64 which)
{
	return ls_mix(ls_mix(ls_mix(type) + kind) + which);
}

static ls_u32 common_divisor(ls_u32 a, ls_u32 b)
{
	while (b) {
		ls_u32 rest = a % b;

		a = b;
		b = rest;
	}
	return a;
}

static ls_u32 distance(const struct ls_array *x, ls_u32 offset)
{
	return offset > x->first ? offset - x->first : x->first - offset;
}

static void extend(struct ls_array *x, ls_u32 offset)
{
	if (offset < ls_load(&x->low))
		ls_store(&x->low, offset);
	if (offset > ls_load(&x->high))
		ls_store(&x->high, offset);
}

const struct ls_array *ls_arrays_find(const struct ls_arrays *a, ls_u64 type, ls_u32 kind,
				      ls_u32 offset)
{
	ls_u32 i;

	for (i = 0; i < LS_ARRAYS_EACH; i++) {
		ls_u32 id = ls_tagtab_find(&a->tab, array_key(type, kind, i));
		const struct ls_array *x = &a->table[id];
		ls_u32 stride;

		if (!id)
			return NULL;
		stride = ls_load(&x->stride);
		if (stride && distance(x, offset) % stride == 0 && offset >= ls_load(&x->low) &&
		    offset <= ls_load(&x->high))
			return x;
	}
	return NULL;
}

static struct ls_array *place(struct ls_arrays *a, ls_u64 key, ls_u32 offset)
{
	ls_u32 id = ls_tagtab_find(&a->tab, key), nr = ls_load(&a->nr);

	if (id)
		return &a->table[id];
	do {
		if (nr >= a->max)
			return NULL;
	} while (!ls_cmpxchg(&a->nr, &nr, nr + 1));
	a->table[nr + 1].first = a->table[nr + 1].low = a->table[nr + 1].high = offset;
	id = ls_tagtab_insert(&a->tab, key, nr + 1);
	return id ? &a->table[id] : NULL;
}

static bool is_regular(const struct ls_array *x)
{
	ls_u32 stride = ls_load(&x->stride);

	return ls_load(&x->count) >= LS_ARRAY_ELEMENTS && stride &&
	       (stride >= LS_ARRAY_STRIDE ||
		ls_load(&x->count) >= LS_ARRAY_MANY ||
		(ls_load(&x->high) - ls_load(&x->low)) / stride < 2 * ls_load(&x->count));
}

ls_u32 ls_arrays_taken(const struct ls_arrays *a, ls_u64 type, ls_u32 kind, ls_u64 ip)
{
	ls_u32 id = ls_tagtab_find(&a->tab, array_key(type, kind, ip));

	return id ? ls_load(&a->table[id].count) : 0;
}

/* The array of the elements in @x, created if it is the first one with its stride. */
static struct ls_array *array_of(struct ls_arrays *a, ls_u64 type, ls_u32 kind,
				 const struct ls_array *x, bool *full)
{
	ls_u32 stride = ls_load(&x->stride), i;

	for (i = 0; i < LS_ARRAYS_EACH; i++) {
		struct ls_array *array = place(a, array_key(type, kind, i), x->first);

		if (!array) {
			*full = true;
			return NULL;
		}
		if (!ls_load(&array->stride))
			ls_store(&array->stride, stride);
		if (ls_load(&array->stride) == stride && distance(array, x->first) % stride == 0)
			return array;
	}
	return NULL;
}

const struct ls_array *ls_arrays_see(struct ls_arrays *a, ls_u64 type, ls_u32 kind,
				     ls_u32 offset, ls_u64 ip, bool *full)
{
	const struct ls_array *known = ls_arrays_find(a, type, kind, offset);
	struct ls_array *x, *array;

	if (known)
		return known;
	/* Numbers of arrays are not addresses of code. */
	x = place(a, array_key(type, kind, ip), offset);
	if (!x) {
		*full = true;
		return NULL;
	}
	if (!ls_load(&x->count) || distance(x, offset)) {
		ls_store(&x->stride, common_divisor(distance(x, offset), ls_load(&x->stride)));
		extend(x, offset);
		ls_fetch_add(&x->count, 1);
	}
	if (!is_regular(x))
		return NULL;
	array = array_of(a, type, kind, x, full);
	if (!array)
		return NULL;
	extend(array, ls_load(&x->low));
	extend(array, ls_load(&x->high));
	return array;
}
