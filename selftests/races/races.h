/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What a seeded race is made of, beside selftest.h.
 *
 * The first two sides are the two sides of the race, each with the access in the
 * side's own function: a report has to name both. They run in turns, again and
 * again, so everything a case does has to bear repetition; the memory of one run
 * is kept by the runner, which is not instrumented: the pointers to it race with
 * nothing.
 *
 * Patterns of a case: "severity=note" where it may be no more than that,
 * "severity!=note" where it has to be more, "variable=NAME" when it has a name,
 * "never=FUNCTION" where a side must not be named.
 */
#ifndef LS_RACES_H
#define LS_RACES_H

#include "selftest.h"

#define IN(context, function) { .run = function, .where = context, .name = #function }
#define SIDE(function) IN(LS_THREAD, function)

/* Data of a case: the compiler must keep writes that are never read. */
#define __shared __used

/* Never the same twice in a row. Any context. */
unsigned long ls_value(void);

/* Something to do with a value that was read. Any context. */
void ls_use(unsigned long value);

/*
 * Separate the sides without a visible lock where a race would do real harm, for as short as
 * possible, without sleeping.
 */
void ls_apart_begin(void);
void ls_apart_end(void);

/*
 * Keep @p in @slot (below LS_NR_KEPT) for the sides of the running case. Returns
 * -ENOMEM when it is NULL. Only setup() may change what is kept.
 */
#define LS_NR_KEPT 4
int ls_keep(unsigned int slot, void *p);
void *ls_kept(unsigned int slot);

/* A teardown() has freed it. */
void ls_drop(unsigned int slot);

/* A teardown(): kfree() all that is kept. */
void ls_free_kept(void);

/* What is out of use, but may still be looked at until the case is over. */
void ls_bury(void *p);

/* One array per file, ended by an entry without a name. */
extern const struct ls_case race_lock_cases[];
extern const struct ls_case race_lock_more_cases[];
extern const struct ls_case race_rw_cases[];
extern const struct ls_case race_interrupt_cases[];
extern const struct ls_case race_context_cases[];
extern const struct ls_case race_object_cases[];
extern const struct ls_case race_torn_cases[];
extern const struct ls_case race_publish_cases[];
extern const struct ls_case race_handover_cases[];
extern const struct ls_case race_deferred_cases[];
extern const struct ls_case race_count_cases[];
extern const struct ls_case race_list_cases[];
extern const struct ls_case race_percpu_cases[];
extern const struct ls_case race_seq_cases[];
extern const struct ls_case race_memory_cases[];
extern const struct ls_case race_annotate_cases[];
extern const struct ls_case race_bit_cases[];
extern const struct ls_case race_block_cases[];
extern const struct ls_case race_array_cases[];
extern const struct ls_case race_doubt_cases[];
extern const struct ls_case race_pair_cases[];
extern const struct ls_case kcsan_cases[];
extern const struct ls_case kcsan_assert_cases[];
extern const struct ls_case kcsan_atomic_cases[];

#endif /* LS_RACES_H */
