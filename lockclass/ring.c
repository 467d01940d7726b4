// SPDX-License-Identifier: GPL-2.0
#include "ring.h"

void ls_ring_init(struct ls_ring *r, struct ls_ring_header *hdr, void *data, ls_u32 bytes, ls_u32 cpu)
{
	r->hdr = hdr;
	r->data = data;
	r->mask = bytes - 1;
	hdr->data_bytes = bytes;
	hdr->cpu = cpu;
}

LS_INLINE struct ls_event *event_at(struct ls_ring *r, ls_u64 pos)
{
	return (struct ls_event *)(r->data + (pos & r->mask));
}

struct ls_event *ls_ring_reserve(struct ls_ring *r, ls_u32 len)
{
	__u64 head = ls_load(&r->hdr->head);
	ls_u32 size = r->mask + 1;
	struct ls_event *e;
	ls_u64 at, need;

	len = (len + 7) & ~7u;
	if (len > size / 4)
		return (struct ls_event *)0;
	do {
		ls_u32 to_end = size - (head & r->mask);

		/* A record never wraps: the rest of the buffer becomes padding. */
		at = len <= to_end ? head : head + to_end;
		need = at + len - head;
		if (at + len - ls_load_acquire(&r->hdr->tail) > size) {
			ls_fetch_add(&r->hdr->deferred, 1);
			return (struct ls_event *)0;
		}
	} while (!ls_cmpxchg(&r->hdr->head, &head, head + need));

	if (at != head) {
		e = event_at(r, head);
		e->len = (ls_u32)(at - head);
		ls_store_release(&e->state, LS_EVENT_SKIP);
	}
	e = event_at(r, at);
	e->len = len;
	ls_fetch_add(&r->hdr->events, 1);
	return e;
}

void ls_ring_consume(struct ls_ring *r, struct ls_event *e)
{
	ls_u64 *word = (ls_u64 *)e;
	ls_u32 len = e->len, i;

	for (i = 0; i < len / 8; i++)
		ls_store(&word[i], 0);
	ls_store_release(&r->hdr->tail, r->hdr->tail + len);
}

struct ls_event *ls_ring_peek(struct ls_ring *r)
{
	for (;;) {
		struct ls_event *e = event_at(r, r->hdr->tail);

		if (ls_load_acquire(&r->hdr->head) == r->hdr->tail)
			return (struct ls_event *)0;
		switch (ls_load_acquire(&e->state)) {
		case LS_EVENT_READY:
			return e;
		case LS_EVENT_SKIP:
			ls_ring_consume(r, e);
			break;
		default:
			return (struct ls_event *)0;
		}
	}
}
