/* SPDX-License-Identifier: GPL-2.0 */
/* Primitives of the running kernel, and how a hook finds its own. */
#ifndef LOCKSCOPE_PRIMS_H
#define LOCKSCOPE_PRIMS_H

#include <linux/types.h>

#include "abi.h"
#include "primitives.h"

struct kretprobe;

#define LS_FENTRY_CALL 5	/* bytes of the patched call at a function's start */

enum {
#define X(f, kind, group, bits, offset, flags) LS_PRIM_##f,
	LS_PRIMITIVES(X)
#undef X
	LS_NR_PRIMS
};

extern const struct ls_prim_row {
	const char *function;
	u32 desc;
	u8 group;
	u8 flags;
} ls_prim_table[LS_NR_PRIMS];

extern struct ls_prim {
	unsigned long start;	/* of the function */
	unsigned long addr;	/* of the call that is patched in: behind ENDBR, where there is one */
	u8 state;		/* enum ls_prim_state */
	s32 error;
	struct kretprobe *probe;
} ls_prims[LS_NR_PRIMS];

extern bool ls_ww_unlock_covered;	/* ww_mutex_unlock() calls mutex_unlock() */
extern bool ls_waitqueues;		/* those of wait queues are hooked */

extern u32 ls_desc_table[];
extern u64 ls_desc_mul;
#define LS_DESC_BITS 10
static __always_inline u32 ls_desc_of(unsigned long func5)
{
	return ls_desc_table[(u64)func5 * ls_desc_mul >> (64 - LS_DESC_BITS)];
}

int ls_prims_init(void);
bool ls_prims_acquire_in(unsigned long ip);
bool ls_prims_spins_in(unsigned long ip);
bool ls_prims_hooks(unsigned long func5);
void ls_prims_readers(enum ls_read read);
void ls_prims_info(u32 i, struct ls_prim_info *out);

#endif /* LOCKSCOPE_PRIMS_H */
