/* SPDX-License-Identifier: GPL-2.0 */
/* Variables that instrumented.c accesses with call-outs and bare.c without. */
#ifndef LS_WATCH_H
#define LS_WATCH_H

#include <linux/types.h>

/* A neighbour in the same eight bytes. */
struct watch_pair {
	u32 x;
	u32 y;
} __aligned(8);

union watch_word {
	u64 all;
	u16 half[4];
	u8 part[8];
} __aligned(8);

extern struct watch_pair watch_width, watch_look, watch_origin, watch_beside;
extern union watch_word watch_bytes, watch_same;
extern unsigned long watch_mark, watch_unsure;
extern unsigned int watch_own;

/* Keeps the read of @value. */
static inline void watch_use(unsigned long value)
{
	asm volatile("" : : "r" (value));
}

/* instrumented.c: all that a thread does once; @round counts. */
void watch_all_a(unsigned int round);
void watch_all_b(unsigned int round);

/* bare.c */
void watch_bare_all(void);

#endif /* LS_WATCH_H */
