// SPDX-License-Identifier: GPL-2.0
/*
 * Maps the table of primitives to the running kernel: the address of each function, and its
 * descriptor, which its hook finds by one multiplication.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/ftrace.h>
#include <linux/module.h>
#include <linux/semaphore.h>
#include <net/sock.h>

#include "base/lookup.h"
#include "core/prims.h"
#include "hash.h"

const struct ls_prim_row ls_prim_table[LS_NR_PRIMS] = {
#define X(f, kind, group, bits, offset, flags) \
	{ #f, LS_DESC(kind, bits, offset, flags), LS_G_##group, flags },
	LS_PRIMITIVES(X)
#undef X
};

struct ls_prim ls_prims[LS_NR_PRIMS];

u32 ls_desc_table[1 << LS_DESC_BITS];
u64 ls_desc_mul __read_mostly;
bool ls_ww_unlock_covered;
bool ls_waitqueues __read_mostly;

/*
 * Does the function call one of the hooked primitives? Then hooking it too
 * would count one acquire twice. Calls and tail calls are e8/e9 with a 32-bit
 * displacement; a false match in other bytes costs no more than a primitive
 * reported as covered.
 */
static bool calls_primitive(unsigned long addr)
{
	const u8 *code = (const u8 *)addr;
	u32 at, i;

	for (at = LS_FENTRY_CALL; at < 96; at++) {
		unsigned long target;

		if (code[at] != 0xe8 && code[at] != 0xe9)
			continue;
		target = addr + at + 5 + *(s32 *)(code + at + 1);
		for (i = 0; i < LS_NR_PRIMS; i++)
			/* might_sleep() is called by many functions and covers none. */
			if (ls_prims[i].addr && ls_prims[i].start == target &&
			    ls_prim_table[i].group != LS_G_SPECIAL &&
			    ls_prim_table[i].group != LS_G_SLEEP && ls_prim_table[i].group != LS_G_WAIT &&
			    ls_prim_table[i].group != LS_G_QUEUE &&
			    ls_prim_table[i].desc >> LS_DESC_KIND_SHIFT != LS_KIND_SPINLOCK)
				return true;
	}
	return false;
}

/* Find a multiplier that hashes all hooked functions without collision. */
static int build_desc_table(void)
{
	u64 mul = LS_GOLDEN;
	int tries;

	for (tries = 0; tries < 100000; tries++, mul = mul * 6364136223846793005ull + 1442695040888963407ull) {
		bool clash = false;
		u32 i;

		memset(ls_desc_table, 0, sizeof(ls_desc_table));
		for (i = 0; i < LS_NR_PRIMS && !clash; i++) {
			u32 *slot;

			if (!ls_prims[i].addr)
				continue;
			slot = &ls_desc_table[(u64)(ls_prims[i].addr + LS_FENTRY_CALL) * (mul | 1) >> (64 - LS_DESC_BITS)];
			clash = *slot != 0;
			/*
			 * Kind NONE with operation 0 would look like an empty slot; no entry
			 * has that.
			 */
			*slot = ls_prim_table[i].desc;
		}
		if (!clash) {
			ls_desc_mul = mul | 1;
			return 0;
		}
	}
	return -ENOSPC;
}

int ls_prims_init(void)
{
	typeof(ftrace_location) *location;
	u32 i;

	location = (void *)ls_symbol("ftrace_location");
	if (!location) {
		pr_err("this kernel has no dynamic ftrace\n");
		return -ENODEV;
	}
	for (i = 0; i < LS_NR_PRIMS; i++) {
		if (ls_prim_table[i].group == LS_G_QUEUE && !ls_waitqueues) {
			ls_prims[i].state = LS_PRIM_OFF;
			continue;
		}
		ls_prims[i].start = ls_symbol(ls_prim_table[i].function);
		if (!ls_prims[i].start)
			continue;
		/* A function that cannot be traced counts as absent. */
		ls_prims[i].addr = location(ls_prims[i].start);
		if (!ls_prims[i].addr) {
			ls_prims[i].state = LS_PRIM_FAILED;
			ls_prims[i].error = -EINVAL;
		}
	}
	for (i = 0; i < LS_NR_PRIMS; i++) {
		if (ls_prims[i].addr && ls_prim_table[i].group == LS_G_SPECIAL &&
		    (ls_prim_table[i].desc & LS_OP_MASK) == LS_OP_WW_UNLOCK)
			ls_ww_unlock_covered = calls_primitive(ls_prims[i].addr);
		if (ls_prims[i].addr && (ls_prim_table[i].flags & LS_P_WRAPS) && calls_primitive(ls_prims[i].addr)) {
			ls_prims[i].addr = 0;
			ls_prims[i].state = LS_PRIM_COVERED;
		}
	}
	return build_desc_table();
}

/* How every read_lock() counts from now on, where the context does not decide. */
void ls_prims_readers(enum ls_read read)
{
	u32 i;

	for (i = 0; i < LS_NR_PRIMS; i++) {
		u32 *slot = &ls_desc_table[(u64)(ls_prims[i].addr + LS_FENTRY_CALL) * ls_desc_mul >> (64 - LS_DESC_BITS)];

		if (ls_prims[i].addr && ls_prim_table[i].group != LS_G_RELEASE && ls_prim_table[i].desc & LS_VAL_READ_MASK &&
		    ls_prim_table[i].desc >> LS_DESC_KIND_SHIFT == LS_KIND_RWLOCK)
			WRITE_ONCE(*slot, (ls_prim_table[i].desc & ~LS_VAL_READ_MASK) | (u32)read << LS_VAL_READ_SHIFT);
	}
}

/* The hooked function that @ip lies in, LS_NR_PRIMS for none. Any context. */
static u32 prim_around(unsigned long ip)
{
	unsigned long size, offset;
	u32 i;

	if (!ls_size_offset(ip, &size, &offset))
		return LS_NR_PRIMS;
	for (i = 0; i < LS_NR_PRIMS; i++)
		if (ls_prims[i].addr && ls_prims[i].start == ip - offset)
			break;
	return i;
}

/* Does @ip lie in a hooked function that sleeps for a lock? Any context. */
bool ls_prims_acquire_in(unsigned long ip)
{
	u32 i = prim_around(ip);

	return i < LS_NR_PRIMS && ls_prim_table[i].desc & LS_DESC_SLEEPS;
}

/* Does @ip lie in a hooked function that spins for a lock with preemption off? Any context. */
bool ls_prims_spins_in(unsigned long ip)
{
	u32 i = prim_around(ip);

	return i < LS_NR_PRIMS && ls_prim_table[i].group == LS_G_SPIN;
}

/* Is @func5 the address behind the hook of a hooked function? Any context. */
bool ls_prims_hooks(unsigned long func5)
{
	u32 i;

	for (i = 0; i < LS_NR_PRIMS; i++)
		if (ls_prims[i].addr && ls_prims[i].addr + LS_FENTRY_CALL == func5)
			return true;
	return false;
}

void ls_prims_info(u32 i, struct ls_prim_info *out)
{
	strscpy(out->function, ls_prim_table[i].function, sizeof(out->function));
	out->kind = ls_prim_table[i].desc >> LS_DESC_KIND_SHIFT;
	out->state = ls_prims[i].state;
	out->error = ls_prims[i].error;
}
