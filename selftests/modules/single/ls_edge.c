// SPDX-License-Identifier: GPL-2.0
/*
 * The end of memory: a lock of a class never seen, in the last object of a page behind
 * which nothing is mapped. What reads on behind the object faults. The next page is
 * unmapped for that while; the first one is offered to the slab allocator until it takes it.
 */
#include <linux/kprobes.h>
#include <linux/mm.h>
#include <linux/module.h>
#include <linux/slab.h>
#include <linux/spinlock.h>

#define OBJECT_BYTES 64
#define PAIRS 64		/* pairs of pages offered */
#define OBJECTS 4096		/* at most, until one lies in a page offered */

struct edge {
	spinlock_t lock;
};

static struct page *pairs[PAIRS];
static struct edge *objects[OBJECTS];
static u32 nr_pairs, nr_objects;

static void *find(const char *name)
{
	struct kprobe kp = { .symbol_name = name };
	void *at;

	if (register_kprobe(&kp))
		return NULL;
	at = kp.addr;
	unregister_kprobe(&kp);
	return at;
}

/* The second page of the pair whose first one holds @object as its last; NULL: none. */
static struct page *page_behind(const struct edge *object)
{
	u32 i;

	if (offset_in_page(object) + OBJECT_BYTES != PAGE_SIZE)
		return NULL;
	for (i = 0; i < nr_pairs; i++)
		if (virt_to_page((void *)object) == pairs[i])
			return pairs[i] + 1;
	return NULL;
}

static int __init edge_init(void)
{
	int (*unmap)(struct page *page) = find("set_direct_map_invalid_noflush");
	int (*map)(struct page *page) = find("set_direct_map_default_noflush");
	void (*flush)(unsigned long start, unsigned long end) = find("flush_tlb_kernel_range");
	struct kmem_cache *cache = kmem_cache_create("ls_edge", OBJECT_BYTES, OBJECT_BYTES, 0, NULL);
	struct edge *last = NULL;
	struct page *behind = NULL;
	unsigned long at;
	int rc = -EAGAIN;
	u32 i;

	if (!unmap || !map || !flush || !cache) {
		kmem_cache_destroy(cache);
		return -ENOENT;
	}
	while (nr_pairs < PAIRS) {
		struct page *pair = alloc_pages(GFP_KERNEL, 1);

		if (!pair)
			break;
		split_page(pair, 1);
		pairs[nr_pairs++] = pair;
	}
	for (i = 0; i < nr_pairs; i++)
		__free_page(pairs[i]);
	while (!behind && nr_objects < OBJECTS) {
		last = kmem_cache_alloc(cache, GFP_KERNEL);
		if (!last)
			break;
		objects[nr_objects++] = last;
		behind = page_behind(last);
	}
	if (behind) {
		spin_lock_init(&last->lock);
		at = (unsigned long)page_address(behind);
		rc = unmap(behind);
		flush(at, at + PAGE_SIZE);
		spin_lock(&last->lock);
		spin_unlock(&last->lock);
		map(behind);
		flush(at, at + PAGE_SIZE);
	}
	while (nr_objects)
		kmem_cache_free(cache, objects[--nr_objects]);
	for (i = 0; i < nr_pairs; i++)
		__free_page(pairs[i] + 1);
	kmem_cache_destroy(cache);
	return rc;
}

static void __exit edge_exit(void)
{
}

module_init(edge_init);
module_exit(edge_exit);

MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("LockScope selftest: a lock at the end of memory");
