// SPDX-License-Identifier: GPL-2.0
/*
 * Lives of objects: memory is reused, and what is recorded for an address ends with the object
 * that was there.
 */
#include <linux/mm.h>
#include <linux/sched/task_stack.h>
#include <linux/slab.h>

#include "base/memory.h"
#include "core/state.h"
#include "identity/alloc.h"
#include "identity/identity.h"
#include "identity/slab.h"
#include "identity/vmap.h"

#define LIFE_BITS 17			/* objects with a life number: those with reported locks */
#define HOLDER_BITS 16			/* memory with locks that are known by address */

static struct ls_addrmap lives;		/* object -> number of its life */
static u32 nr_lives;
/* Pages, slab objects and vmalloc areas with locks that are known by address. */
static struct ls_addrmap holders;
static bool holders_full;		/* not all of them could be added */
unsigned long ls_watched_memory[BITS_TO_LONGS(1 << LS_WATCH_BITS)];

/*
 * The object around @addr whose allocation and free are seen: of a cache, a page's, or a whole
 * allocation of large kmalloc memory. 0: none.
 */
static unsigned long object_around(unsigned long addr)
{
	struct kmem_cache *cache;
	unsigned long object;
	u32 offset;

	if (addr - VMEMMAP_START < 1ul << 40)	/* lives as long as the use of the page */
		return addr & ~(sizeof(struct page) - 1);
	if (!in_direct_map(addr))
		return 0;
	if (ls_slab_locate(addr, &cache, &object, &offset))
		return object;
	object = ls_large_object(addr);
	return object && ls_alloc_site(object) ? object : 0;
}

static unsigned long object_of(unsigned long addr)
{
	unsigned long object = object_around(addr);

	return object ? object : addr;
}

static u32 life_of(unsigned long object)
{
	u32 life = ls_addrmap_find(&lives, object);

	if (!life) {
		do
			life = ls_fetch_add(&nr_lives, 1) & LS_ADDR_ID_MASK;
		while (!life);
		if (ls_addrmap_set(&lives, object, life))
			ls_lose(LS_LOSS_PAIRS);
		set_bit(ls_watch_bit(object), ls_watched_memory);
	}
	return life;
}

/*
 * The lock at @lock as records have it: its address, with the life of the object around it in
 * the top bits, so that another lock at the same address is another instance. A lock outside
 * of such objects keeps its address. Any context.
 */
u64 ls_lock_instance(u64 lock)
{
	unsigned long object = lock < __START_KERNEL_map ? object_around(lock) : 0;

	if (!object)
		return lock;
	return (lock & ((1ull << LS_INSTANCE_SHIFT) - 1)) |
	       (u64)life_of(object) << LS_INSTANCE_SHIFT;
}

/* Number of the life of the object around @addr. Any context. */
u32 ls_life(unsigned long addr)
{
	return life_of(object_of(addr));
}

/* The same, 0 when it has no number yet. Any context. */
u32 ls_life_known(unsigned long addr)
{
	return ls_addrmap_find(&lives, object_of(addr));
}

/* Hash of the lives of the objects around @a and @b, in any order. Any context. */
u32 ls_lives(unsigned long a, unsigned long b)
{
	a = object_of(a);
	b = object_of(b);
	if (a > b)
		swap(a, b);
	return ls_mix((u64)life_of(a) << 32 | life_of(b)) >> 16;
}

/* Something is recorded for the object at @object by its address: a lock's name, a benign range. */
void ls_watch_object(unsigned long object)
{
	set_bit(ls_watch_bit(object), ls_watched_memory);
}

/* Key of the object at @object, which a page may begin at, too. */
static u64 object_key(unsigned long object)
{
	return ls_addr_of_lock(object | 4);
}

/*
 * The object at @object is freed: the next one there is another instance. What is known of its
 * locks by address is not removed here, see ls_forget_object(). Any context.
 */
void ls_life_ends(unsigned long object)
{
	ls_addrmap_remove(&lives, object);
	ls_addrmap_remove(&holders, object_key(object));
}

/*
 * The object at @object was allocated: what was there has ended, also where its free was not seen.
 * Any context.
 */
void ls_life_restarts(unsigned long object)
{
	ls_addrmap_remove(&lives, object);
}

/*
 * The object around @addr becomes another one in the same memory, with the same locks. What is
 * recorded from now on is of another instance. Any context.
 */
void ls_life_begins(unsigned long addr)
{
	ls_addrmap_remove(&lives, object_of(addr));
}

static void add_holder(u64 key)
{
	if (!ls_addrmap_add(&holders, key, 1))
		ls_store(&holders_full, true);
}

static void forget_locks(u64 key, unsigned long start, size_t size)
{
	unsigned long end = start + size;

	if (likely(!ls_addrmap_remove(&holders, key) && !ls_load(&holders_full)))
		return;
	for (; start < end; start += 4)
		ls_addrmap_remove(&ls.addrs, ls_addr_of_lock(start));
}

/* The page at @page is freed: forget the locks in it that are known by address. Any context. */
void ls_forget_page(unsigned long page)
{
	forget_locks(page, page, PAGE_SIZE);
}

/* The same of the slab object at @object, @size bytes long. */
void ls_forget_object(unsigned long object, size_t size)
{
	forget_locks(object_key(object), object, size);
}

/*
 * A lock in the vmalloc area at @start is known by address. Without room it is not removed when
 * the area is freed, and that counts as lost.
 */
void ls_watch_area(unsigned long start)
{
	if (!ls_addrmap_add(&holders, start, 1))
		ls_lose(LS_LOSS_ADDRESSES);
}

/* The lock at @addr is known by address only: remove it when its memory is freed. */
void ls_watch_memory(unsigned long addr)
{
	unsigned long stack = (unsigned long)task_stack_page(current), object;
	struct kmem_cache *cache;
	struct ls_vmap area;
	u32 offset;

	if (in_direct_map(addr)) {
		add_holder(addr & PAGE_MASK);
		set_bit(ls_watch_bit(addr & PAGE_MASK), ls_watched_memory);
		if (ls_slab_locate(addr, &cache, &object, &offset)) {
			add_holder(object_key(object));
			set_bit(ls_watch_bit(object), ls_watched_memory);
		}
	} else if (addr - stack < THREAD_SIZE) {
		ls_watch_area(stack);
	} else if (ls_vmap_find(addr, &area)) {
		ls_watch_area(area.start);
	}
}

/* The vmalloc area at @start is freed. Any context. */
void ls_area_freed(unsigned long start)
{
	struct ls_vmap area;

	/* To look for its locks is too expensive for every thread's stack. */
	if (ls_addrmap_remove(&holders, start) && ls_vmap_find(start, &area))
		ls_addrmap_forget_locks(&ls.addrs, area.start, area.size);
}

int ls_lives_init(void)
{
	void *life = ls_zalloc(ls_addrmap_bytes(LIFE_BITS));
	void *held = ls_zalloc(ls_addrmap_bytes(HOLDER_BITS));

	if (!life || !held) {
		ls_free(held);
		ls_free(life);
		return -ENOMEM;
	}
	ls_addrmap_init_spread(&lives, life, LIFE_BITS);
	ls_addrmap_init_spread(&holders, held, HOLDER_BITS);
	return 0;
}

void ls_lives_exit(void)
{
	ls_free(lives.slots);
	ls_free(holders.slots);
}
