/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Event ring of one CPU: hooks of every level write, one thread reads.
 *
 * Writers of one CPU nest (an interrupt may write while the task below it is half-way
 * through), so room is reserved with a compare-and-swap and a record counts only once its
 * state word says so. The reader stops at the first record that is not committed. It zeroes
 * records before it frees their room, so that an uncommitted record can be recognised.
 */
#ifndef LOCKSCOPE_RING_H
#define LOCKSCOPE_RING_H

#include "abi.h"
#include "port.h"

struct ls_ring {
	struct ls_ring_header *hdr;
	ls_u8 *data;
	ls_u32 mask;		/* data bytes - 1 */
};

struct ls_event {
	ls_u32 len;		/* with this header, a multiple of 8 */
	ls_u32 state;		/* enum ls_event_state, written last */
};

enum ls_event_state {
	LS_EVENT_FREE = 0,
	LS_EVENT_READY = 1,
	LS_EVENT_SKIP = 2,	/* padding up to the end of the ring */
};

/* @data: zeroed, @bytes a power of two from 4096 up. */
void ls_ring_init(struct ls_ring *r, struct ls_ring_header *hdr, void *data, ls_u32 bytes, ls_u32 cpu);

/*
 * Reserve an event of @len bytes in total (at most a quarter of the ring), NULL when the ring
 * is full. Any context on the ring's own CPU, preemption off.
 */
struct ls_event *ls_ring_reserve(struct ls_ring *r, ls_u32 len);

LS_INLINE void ls_ring_commit(struct ls_event *e)
{
	ls_store_release(&e->state, LS_EVENT_READY);
}

/* The reader: next event or NULL, and freeing it. One thread only. */
struct ls_event *ls_ring_peek(struct ls_ring *r);
void ls_ring_consume(struct ls_ring *r, struct ls_event *e);

#endif /* LOCKSCOPE_RING_H */
