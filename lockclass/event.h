/* SPDX-License-Identifier: GPL-2.0 */
/*
 * An event in a ring: struct ls_event, then a record. Observations have a struct ls_rec_sight
 * whose header is unused but for these flags, nr_held entries behind it, then the frames of its
 * stack; ls_rec_sight.stack has their number.
 */
#ifndef LOCKSCOPE_EVENT_H
#define LOCKSCOPE_EVENT_H

/* Properties of an event: ls_rec.flags while it lies in the ring. */
#define LS_EV_INVERSION 1	/* two instances of a class, in the opposite order */
#define LS_EV_SAME 2		/* the same instance again */
#define LS_EV_PAIR 4		/* a pair of instances not seen before */
#define LS_EV_STRICT 8		/* a class nests in itself, under strict rules */
#define LS_EV_NESTED 16		/* a pair of instances of one class, for the log */
#define LS_EV_RING 32		/* a CPU of a ring of them, see spinring.h */
#define LS_EV_RING_LAST 64	/* the last one of that ring */

#endif /* LOCKSCOPE_EVENT_H */
