// SPDX-License-Identifier: GPL-2.0
/*
 * The sides that are built with call-outs. Thread a runs watch_NAME_a, thread b the
 * others; watch_NAME_rare races with watch_NAME_a and so has the memory watched. What
 * _b does is no race with _a, but for watch_same and watch_own.
 */
#include <linux/compiler.h>
#include <linux/mutex.h>

#include "watch.h"

#define RARE 64		/* rounds */
#define PLACES 512

#define __side noinline __noclone

struct watch_pair watch_width, watch_look, watch_origin, watch_beside;
union watch_word watch_bytes, watch_same;
unsigned long watch_mark, watch_unsure;
unsigned int watch_own;

static DEFINE_MUTEX(watch_lock);
static unsigned long watch_places[PLACES];

/* Two readers of x, while y changes under its lock. */
static __side u32 watch_width_a(void)
{
	return watch_width.x;
}

/* Not the same code as _a, or the compiler would make one function of two. */
static __side u32 watch_width_b(void)
{
	return ~watch_width.x;
}

static __side void watch_width_beside(void)
{
	mutex_lock(&watch_lock);
	watch_width.y++;
	mutex_unlock(&watch_lock);
}

static __side void watch_width_rare(void)
{
	watch_width.x += 3;
}

/* The other reader is watch_look_bare(). */
static __side u32 watch_look_a(void)
{
	return watch_look.x;
}

static __side void watch_look_beside(void)
{
	mutex_lock(&watch_lock);
	watch_look.y += 2;
	mutex_unlock(&watch_lock);
}

static __side void watch_look_rare(void)
{
	watch_look.x += 5;
}

/* Two bytes of one word. */
static __side void watch_bytes_a(unsigned int round)
{
	watch_bytes.part[0] = round;
}

static __side void watch_bytes_b(unsigned int round)
{
	watch_bytes.part[4] = round;
}

static __side void watch_bytes_rare(unsigned int round)
{
	watch_bytes.all = round;
}

/* A byte, and a half word with that byte in it. */
static __side void watch_same_a(unsigned int round)
{
	watch_same.part[3] = round;
}

static __side void watch_same_b(unsigned int round)
{
	watch_same.half[1] = round;
}

/* Both sides are marked. What _b changes, the plain write of _rare does not. */
static __side unsigned long watch_mark_a(void)
{
	return READ_ONCE(watch_mark);
}

static __side void watch_mark_b(unsigned int round)
{
	WRITE_ONCE(watch_mark, round);
}

static __side void watch_mark_rare(void)
{
	watch_mark = READ_ONCE(watch_mark);
}

/* One is marked, and of watch_unsure_bare() nothing says whether it is. */
static __side unsigned long watch_unsure_a(void)
{
	return READ_ONCE(watch_unsure);
}

static __side void watch_unsure_rare(unsigned int round)
{
	watch_unsure = round;
}

/*
 * A marked read like that of a sequence counter: at each of the accesses that follow,
 * LockScope looks at the counter itself.
 */
static __side unsigned long watch_own_a(void)
{
	unsigned long sum = READ_ONCE(watch_own);
	unsigned int i;

	for (i = 0; i < PLACES; i++)
		sum += watch_places[i]++;
	return sum;
}

static __side void watch_own_b(unsigned int round)
{
	watch_own = round * 2;
}

/* Written by watch_origin_bare() as well. */
static __side u32 watch_origin_a(void)
{
	return watch_origin.x;
}

static __side void watch_origin_rare(void)
{
	watch_origin.x += 7;
}

/* watch_beside_bare() writes the neighbour. */
static __side u32 watch_beside_a(void)
{
	return watch_beside.x;
}

static __side void watch_beside_rare(void)
{
	watch_beside.x += 9;
}

void watch_all_a(unsigned int round)
{
	watch_use(watch_width_a());
	watch_use(watch_look_a());
	watch_use(watch_mark_a());
	watch_use(watch_unsure_a());
	watch_use(watch_origin_a());
	watch_use(watch_beside_a());
	watch_bytes_a(round);
	watch_same_a(round);
	if (round % 16 == 0)
		watch_use(watch_own_a());
}

void watch_all_b(unsigned int round)
{
	watch_width_beside();
	watch_use(watch_width_b());
	watch_look_beside();
	watch_bytes_b(round);
	watch_same_b(round);
	watch_mark_b(round);
	watch_own_b(round);
	watch_bare_all();
	if (round % RARE != RARE - 1)
		return;
	watch_width_rare();
	watch_look_rare();
	watch_bytes_rare(round);
	watch_mark_rare();
	watch_unsure_rare(round);
	watch_origin_rare();
	watch_beside_rare();
}
