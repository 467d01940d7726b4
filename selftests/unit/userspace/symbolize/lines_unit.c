// SPDX-License-Identifier: GPL-2.0
/*
 * Built as unit 1 and as unit 2 of lines.ko, for test_userspace: static functions that
 * share a name. It is never run.
 */
void lines_called(void);

#define ROOM(n) __asm__ volatile(".rept " #n "; nop; .endr")

/* As of a header: the same in both. */
static __attribute__((noinline)) void lines_of_header(int n)
{
#line 100
	lines_called();
	ROOM(1);
	(void)n;
}

#if UNIT == 1
static __attribute__((noinline)) void lines_of_unit(void)
{
	ROOM(64);
#line 200
	lines_called();
	ROOM(1);
}

void lines_first(int n)
#else
static __attribute__((noinline)) void lines_of_unit(void)
{
	ROOM(32);
#line 300
	lines_called();
	ROOM(64);
}

void lines_second(int n)
#endif
{
	lines_of_header(n);
	lines_of_unit();
}
