/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Arrays of locks in memory from one allocation site: hash tables, one lock per queue.
 *
 * Two locks at two offsets of an object are two classes, however many there are. They are
 * elements of one array, and one class as with lockdep, when one acquire site takes
 * LS_ARRAY_ELEMENTS of one kind at regular distances: code that loops or hashes does, code
 * that works on members of a structure does not. The stride is the greatest common divisor of
 * the distances; below LS_ARRAY_STRIDE, which members of any structure have, at least half of
 * the places between the first and the last have to be elements, or LS_ARRAY_MANY in all: no
 * structure has so many members that one site takes.
 *
 * False negatives: a lock that is no element, but lies between two of them at a multiple of
 * the stride. Elements acquired before there were enough keep classes of their own.
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
	struct ls_tagtab tab;	/* (type, kind, number or ip) -> index in table */
	struct ls_array *table;
	ls_u32 max;
	ls_u32 nr;
};

/* @slots: zeroed, for 2^@bits; @table: zeroed, @max + 1 entries, @max < 2^@bits. */
void ls_arrays_init(struct ls_arrays *a, void *slots, ls_u32 bits, struct ls_array *table, ls_u32 max);

/*
 * The known array in objects of @type (any number that identifies it) of which the lock of
 * @kind at @offset is an element, NULL: none. Any context.
 */
const struct ls_array *ls_arrays_find(const struct ls_arrays *a, ls_u64 type, ls_u32 kind,
				      ls_u32 offset);

/*
 * The same when the code at @ip acquires the lock, which has no class yet: its earlier
 * acquisitions may become an array. Without room there is no array, and *@full is set. Any
 * context; a race costs an element, never more.
 */
const struct ls_array *ls_arrays_see(struct ls_arrays *a, ls_u64 type, ls_u32 kind,
				     ls_u32 offset, ls_u64 ip, bool *full);

/*
 * Number of known offsets at which the code at @ip has acquired locks of @kind in objects of
 * @type.
 */
ls_u32 ls_arrays_taken(const struct ls_arrays *a, ls_u64 type, ls_u32 kind, ls_u64 ip);

#endif /* LOCKSCOPE_ARRAYS_H */
