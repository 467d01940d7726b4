// SPDX-License-Identifier: GPL-2.0
/* Annotated names of locks (annotate.h). Runs in hooks, see identity.c. */
#include <linux/semaphore.h>
#include <linux/slab.h>
#include <net/sock.h>

#include "base/memory.h"
#include "core/state.h"
#include "identity/alloc.h"
#include "identity/identity.h"
#include "identity/refine.h"
#include "identity/slab.h"
#include "primitives.h"

/*
 * Annotated names. A slot is created by the first annotation of a lock, and released only when
 * the lock's memory is freed.
 */
#define NAMED_BITS 12
#define MAX_NAMED (1u << (NAMED_BITS - 1))
static struct ls_tagtab named;		/* lock -> index in names */
static struct given_name {
	unsigned long lock;
	const char *text;
} *names;
static u32 nr_names;

static u32 name_index(unsigned long lock)
{
	return likely(!ls_load(&nr_names)) ? 0 : ls_tagtab_find(&named, ls_mix(lock));
}

bool ls_identity_is_named(unsigned long lock)
{
	return name_index(lock);
}

/* Drop what the fast path has cached of the class of @lock. */
static void forget_class(unsigned long lock)
{
	struct kmem_cache *cache;
	unsigned long object;
	u32 offset, id, kind, i;

	if (lock >= __START_KERNEL_map || !ls_slab_locate(lock, &cache, &object, &offset)) {
		ls_tagtab_remove(&ls.classes.keys, ls_key_address(lock));
		ls_addrmap_remove(&ls.addrs, ls_addr_of_lock(lock));
		return;
	}
	ls_watch_object(object);
	for (i = 0; i < 2 * LS_NR_KINDS; i++) {
		const struct ls_class *c;
		u64 key;

		kind = i / 2;
		key = i % 2 ? ls_key_alloc((u64)cache, offset, kind, ls_alloc_site(object)) :
			      ls_key_slab((u64)cache, offset, kind);
		id = ls_classes_find(&ls.classes, key);
		c = &ls.classes.table[id];
		if (id && c->marks & LS_CLASS_REFINE)
			ls_tagtab_remove(&ls.classes.keys,
					 ls_key_refined(key, ls_role_of(c->refinement, lock - c->root)));
		ls_tagtab_remove(&ls.classes.keys, key);
	}
}

/* Put @lock into the class called @text. Any context. */
void ls_identity_annotate(unsigned long lock, const char *text)
{
	u32 i = name_index(lock);

	if (i && names[i].text == text)
		return;
	if (!i) {
		i = ls_load(&nr_names);
		do {
			if (i + 1 >= MAX_NAMED) {
				ls_lose(LS_LOSS_ADDRESSES);
				return;
			}
		} while (!ls_cmpxchg(&nr_names, &i, i + 1));
		i++;
		names[i].lock = lock;
		names[i].text = text;
		ls_tagtab_insert(&named, ls_mix(lock), i);
	} else {
		WRITE_ONCE(names[i].text, text);
	}
	/*
	 * Drop the cached class for each kind; the kind of the lock at this address is not
	 * known.
	 */
	forget_class(lock + LS_RTM_OFF);
	forget_class(lock + LS_SEM_OFF);
	forget_class(lock + LS_SOCK_OFF);
	forget_class(lock + LS_WQ_OFF);
	forget_class(lock);
}

/*
 * Memory or code at [start, end) goes away: remove the names that lie in it, and those of
 * locks in it.
 */
void ls_identity_forget_names(unsigned long start, unsigned long end)
{
	u32 i, nr = ls_load(&nr_names);

	for (i = 1; i <= nr; i++) {
		struct given_name *n = &names[i];

		if ((n->lock < start || n->lock >= end) &&
		    ((unsigned long)n->text < start || (unsigned long)n->text >= end))
			continue;
		ls_tagtab_remove(&named, ls_mix(n->lock));
		ls_tagtab_remove(&ls.classes.keys, ls_key_address(n->lock));
		n->lock = 0;
		n->text = NULL;
	}
}

u32 ls_named_class(unsigned long lock, u32 kind)
{
	u32 offset = LS_KIND_OFFSET(kind), i = name_index(lock - offset), id;
	struct ls_class proto = { .kind = kind, .origin = LS_ORIGIN_ANNOTATED };
	const char *text = i ? READ_ONCE(names[i].text) : NULL;

	if (!text)
		return 0;
	proto.addr = (unsigned long)text;
	/* The spinlock inside it has the same address, and is another class. */
	proto.key = ls_key_init(proto.addr, 1 + offset);
	id = ls_classes_find(&ls.classes, proto.key);
	if (!id) {
		ls_copy_label(proto.label, text, sizeof(proto.label));
		id = ls_class_add(&proto);
	}
	if (id && lock >= __START_KERNEL_map)
		ls_classes_alias(&ls.classes, ls_key_address(lock), id);
	return id;
}

/*
 * Where an object of a cache has an annotated name, every lock at that offset is looked up by
 * address: its class is marked so that the fast path is left.
 */
u32 ls_named_mark(void)
{
	return unlikely(ls_load(&nr_names)) ? LS_CLASS_ASK : 0;
}

int ls_named_init(void)
{
	void *slots = ls_zalloc(ls_tagtab_bytes(NAMED_BITS));

	names = ls_zalloc(array_size(MAX_NAMED, sizeof(*names)));
	if (!names || !slots) {
		ls_free(slots);
		return -ENOMEM;
	}
	ls_tagtab_init(&named, slots, NAMED_BITS);
	return 0;
}

void ls_named_exit(void)
{
	ls_free(named.slots);
	ls_free(names);
}
