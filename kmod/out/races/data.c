// SPDX-License-Identifier: GPL-2.0
/* Data of accesses: names and ids. Worker only. */
#include <linux/bitmap.h>
#include <linux/string.h>

#include "base/memory.h"
#include "check/access/access.h"
#include "hash.h"
#include "out/out.h"
#include "out/races/accesses.h"
#include "tagtab.h"

#define DATA_BITS 15
#define MAX_DATA (1u << DATA_BITS)

static struct ls_tagtab data_ids;	/* symbol, cache or site -> id */
static DECLARE_BITMAP(objects, MAX_DATA);	/* ids of memory that is allocated as objects */
static u32 nr_data;

/* Id of the accessed data, and offset of the access in it. */
u32 ls_data_id(const struct ls_access_object *o, u32 *offset)
{
	struct ls_rec_data rec = {
		.hdr = { sizeof(rec), LS_REC_DATA }, .object_size = o->size, .kind = o->kind,
	};
	unsigned long at = o->type, rest = 0;
	u64 key;
	u32 id;

	ls_name_data(o->kind, o->type, o->label, rec.name, rec.module, &rest);
	if (o->kind == LS_DATA_STATIC || o->kind == LS_DATA_PERCPU) {
		*offset += rest;
		at -= rest;
	}
	key = ls_data_hash(o, at);
	id = ls_tagtab_find(&data_ids, key);
	if (id)
		return id;
	if (nr_data + 1 >= MAX_DATA) {
		ls_lose_access(LS_ALOSS_SITES);
		return 0;
	}
	rec.id = ++nr_data;
	if (o->kind == LS_DATA_SLAB || o->kind == LS_DATA_ALLOC)
		__set_bit(rec.id, objects);
	ls_log_append(&rec, sizeof(rec), NULL, 0, NULL);
	ls_tagtab_insert(&data_ids, key, rec.id);
	return rec.id;
}

/* Is data @id an object of a cache or an allocation? Worker only. */
bool ls_races_object(u32 id)
{
	return id < MAX_DATA && test_bit(id, objects);
}

void ls_data_forget(void)
{
	memset(data_ids.slots, 0, sizeof(u64) * (data_ids.mask + 1));
	bitmap_zero(objects, MAX_DATA);
	nr_data = 0;
}

int ls_data_init(void)
{
	return ls_worker_tagtab(&data_ids, DATA_BITS + 1);
}

void ls_data_exit(void)
{
	ls_free(data_ids.slots);
}
