/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Arrays of locks in memory from one allocation site: hash tables, one lock per queue.
 *
 * Two locks at two offsets of an object are two classes, however many there are. They
 * are elements of one array, and one class as with lockdep, when one acquire site
 * handles LS_ARRAY_ELEMENTS of one kind at regular distances: code that loops or hashes
 * does, code that works on members of a structure does not. The stride is what the
 * distances have in common; below LS_ARRAY_STRIDE, where members of any structure agree,
 * at least half of the places between the first and the last have to be elements, or
 * LS_ARRAY_MANY in all: no structure has so many members that one site takes.
 *
 * What this can hide: a lock that is no element, but lies between two of them, a multiple
 * of the stride away. What it leaves apart: the elements seen before there were enough.
 */
#ifndef LOCKSCOPE_ARRAYS_H
#define LOCKSCOPE_ARRAYS_H

#include "hash.h"
#include "port.h"
#include "tagtab.h"

#define LS_ARRAY_ELEMENTS 16
#define LS_ARRAY_STRIDE 16	/* bytes */
#define LS_ARRAY_MANY 256
#define LS_ARRAYS_EACH 4	/* arrays of one kind in objects of one type */

struct ls_array {
	ls_u32 count;		/* offsets seen */
	ls_u32 first;		/* offset, bytes */
	ls_u32 stride;		/* greatest common divisor of the distances from the first; 0: one offset */
	ls_u32 low, high;	/* least and greatest offset */
};

struct ls_arrays {
	struct ls_tagtab tab;	/* (type, kind, number or ip) -> place in table */
	struct ls_array *table;
	ls_u32 max;
	ls_u32 nr;
};

/* @slots: zeroed, for 2^@bits; @table: zeroed, @max + 1 entries, @max < 2^@bits. */
void ls_arrays_init(struct ls_arrays *a, void *slots, ls_u32 bits, struct ls_array *table, ls_u32 max);

/*
 * The array that the lock of @kind at @offset in objects of @type (any number that
 * stands for it) is an element of, NULL: of none that is known. Any context.
 */
const struct ls_array *ls_arrays_find(const struct ls_arrays *a, ls_u64 type, ls_u32 kind,
				      ls_u32 offset);

/*
 * The same when the code at @ip takes the lock, which has no class yet: it may make an
 * array of what it handled before. What finds no room is no array, and *@full is set.
 * Any context; a race costs an element, never more.
 */
const struct ls_array *ls_arrays_see(struct ls_arrays *a, ls_u64 type, ls_u32 kind,
				     ls_u32 offset, ls_u64 ip, bool *full);

/* Offsets at which the code at @ip has taken locks of @kind in objects of @type, as far as it was shown. */
ls_u32 ls_arrays_taken(const struct ls_arrays *a, ls_u64 type, ls_u32 kind, ls_u64 ip);

#endif /* LOCKSCOPE_ARRAYS_H */
