// SPDX-License-Identifier: GPL-2.0
/* What abi.h promises, for the compiler to prove. */
#include "abi.h"

/* Rows of tables are in the order of their values, without gaps. */
#define AT(prefix, symbol) prefix##symbol##_AT
#define PLACE_OF_KIND(symbol, ...) AT(LS_KIND_, symbol),
#define PLACE_OF_FINDING(symbol, ...) AT(LS_FINDING_, symbol),
#define PLACE_OF_LOSS(symbol, ...) AT(LS_LOSS_, symbol),
#define PLACE_OF_ACCESS_LOSS(symbol, ...) AT(LS_ALOSS_, symbol),
enum { LS_LOCK_KINDS(PLACE_OF_KIND) };
enum { NO_FINDING, LS_SIGHT_FINDINGS(PLACE_OF_FINDING) };
enum { LS_LOSSES(PLACE_OF_LOSS) };
enum { LS_ACCESS_LOSSES(PLACE_OF_ACCESS_LOSS) };

#define IN_PLACE(prefix, symbol, value) \
	_Static_assert(AT(prefix, symbol) == value, #symbol " stands in the order of values");
#define KIND(symbol, value, ...) IN_PLACE(LS_KIND_, symbol, value)
#define FINDING(symbol, value, ...) IN_PLACE(LS_FINDING_, symbol, value)
#define LOSS(symbol, value, ...) IN_PLACE(LS_LOSS_, symbol, value)
#define ACCESS_LOSS(symbol, value, ...) IN_PLACE(LS_ALOSS_, symbol, value)
LS_LOCK_KINDS(KIND)
LS_SIGHT_FINDINGS(FINDING)
LS_LOSSES(LOSS)
LS_ACCESS_LOSSES(ACCESS_LOSS)

/* One number holds what an observation is, and which kind of finding. */
_Static_assert(LS_SIGHT_COMPLETE < LS_FINDING_WAIT_CONTEXT, "findings of one sight come behind");
_Static_assert(LS_NR_FINDINGS <= LS_FINDING_RACE, "those of accesses have numbers of their own");

/* One held or acquired lock in a word. */
#define LS_VAL_FLAGS (LS_VAL_TRY | LS_VAL_IRQ_OFF | LS_VAL_BH_OFF | LS_VAL_CTX | LS_VAL_ATOMIC | LS_VAL_WAIT | \
		      LS_VAL_QUIET)
_Static_assert(LS_RECURSIVE <= LS_VAL_READ_MASK >> LS_VAL_READ_SHIFT, "how a lock is taken has two bits");
_Static_assert(LS_NR_LEVELS <= (LS_VAL_LEVEL_MASK >> LS_VAL_LEVEL_SHIFT) + 1, "a level has two bits");
_Static_assert((LS_VAL_CLASS_MASK & LS_VAL_READ_MASK) == 0 && (LS_VAL_READ_MASK & LS_VAL_LEVEL_MASK) == 0 &&
	       ((LS_VAL_CLASS_MASK | LS_VAL_READ_MASK | LS_VAL_LEVEL_MASK) & LS_VAL_FLAGS) == 0,
	       "no bit is of two fields");

/* Enumerations in fields of records. */
_Static_assert(LS_NR_KINDS <= 32, "sets of kinds have a bit each");
_Static_assert(LS_NR_KINDS < 256 && LS_NR_ORIGINS < 256, "a class has a byte for each");
_Static_assert(LS_NR_PRIM_STATES < 256 && LS_NR_DATA_KINDS < 256, "a byte");
_Static_assert(LS_FINDING_RACE < 65536, "a finding has 16 bits for its kind");
_Static_assert(LS_MAX_DEPTH <= 64, "masks of held locks have a bit each");
_Static_assert(LS_CPU_UNKNOWN == 0xffff, "a processor has 16 bits");
