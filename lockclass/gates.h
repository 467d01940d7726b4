/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Gates: instances that were held at every observation of a dependency, besides its own locks.
 * An observation that lacks one of them is reported: a cycle that was dismissed because of it
 * may be a deadlock [DLOS D2]. A key identifies a dependency or a pair of instances; of each
 * the first LS_GATES_KEPT gates are compared, exactly except for 15 bits of hash.
 *
 * Entries are never removed and only lose gates: so each key causes few reports.
 */
#ifndef LOCKSCOPE_GATES_H
#define LOCKSCOPE_GATES_H

#include "abi.h"
#include "hash.h"
#include "port.h"

#define LS_GATES_LANES 4	/* of 16 bits in a word: a tag, 0 none */
#define LS_GATES_WORDS 2
#define LS_GATES_KEPT (LS_GATES_LANES * LS_GATES_WORDS - 1)	/* the first lane is the entry's state */

struct ls_gate_set {
	ls_u64 key;			/* 0: free */
	ls_u64 tags[LS_GATES_WORDS];
};

struct ls_gates {
	struct ls_gate_set *slots;
	ls_u32 shift;
	ls_u32 mask;
	ls_u32 nr;			/* in use */
};

LS_INLINE ls_size ls_gates_bytes(ls_u32 bits)
{
	return sizeof(struct ls_gate_set) << bits;
}

/* @mem: zeroed, ls_gates_bytes(@bits). */
void ls_gates_init(struct ls_gates *g, void *mem, ls_u32 bits);
/* Only while it is not in use. */
void ls_gates_clear(struct ls_gates *g);

/* Tag of @instance, held as @val; never 0. Bit 0: shared. */
LS_INLINE ls_u16 ls_gate_tag(ls_u64 instance, ls_u32 val)
{
	ls_u32 hash = (ls_u32)(ls_mix(ls_mix(instance)) >> 49);

	return (ls_u16)((hash ? hash : 1) << 1 | (val & LS_VAL_READ_MASK ? 1 : 0));
}

enum ls_gates_result {
	LS_GATES_UNKNOWN,	/* no entry, or one under construction */
	LS_GATES_ASKED,		/* an entry without observations yet */
	LS_GATES_KNOWN,		/* all its gates are held */
	LS_GATES_FEWER,		/* one is missing, or no longer held exclusively */
};

/* Compare entry @key with @held, @nr tags of held locks (0: skipped). Any context. */
enum ls_gates_result ls_gates_peek(const struct ls_gates *g, ls_u64 key, const ls_u16 *held, ls_u32 nr);

/* Has entry @key, observed before, each of @held, at least as exclusively? Any context. */
bool ls_gates_cover(const struct ls_gates *g, ls_u64 key, const ls_u16 *held, ls_u32 nr);

/* Has entry @key gates left that an observation could lack? Any context. */
bool ls_gates_left(const struct ls_gates *g, ls_u64 key);

/*
 * @key, not 0, was observed with @held. @make: create it if there is none. False: no room. Any
 * context.
 */
bool ls_gates_mark(struct ls_gates *g, ls_u64 key, const ls_u16 *held, ls_u32 nr, bool make);

/* Create entry @key, LS_GATES_ASKED, unless there is one. False: no room. Any context. */
bool ls_gates_ask(struct ls_gates *g, ls_u64 key);

#endif /* LOCKSCOPE_GATES_H */
