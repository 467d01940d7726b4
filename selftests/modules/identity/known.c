// SPDX-License-Identifier: GPL-2.0
/*
 * Locks that no initialiser and no cache name: they are distinguished by what is known of
 * their memory. Each twin has a third lock between the two, a ring that is open where they are
 * two.
 */
#include <linux/mutex.h>
#include <linux/slab.h>
#include <linux/spinlock.h>
#include <linux/vmalloc.h>

#include "selftest.h"

/* NAME_OUTER_INNER: takes INNER while it holds OUTER. */
#define PAIR(function, outer, inner)		\
	static __side void function(void)	\
	{					\
		spin_lock(outer);		\
		spin_lock(inner);		\
		spin_unlock(inner);		\
		spin_unlock(outer);		\
	}

struct ls_two {
	unsigned long head[4];
	spinlock_t a;
	unsigned long middle[4];
	spinlock_t b;
};

static void two_init(struct ls_two *two)
{
	spin_lock_init(&two->a);
	spin_lock_init(&two->b);
}

/* Two locks of one vmalloc'ed object. */
#define AREA(name)						\
	static struct ls_two *name##_two;			\
								\
	static __side int name##_setup(void)			\
	{							\
		name##_two = vzalloc(sizeof(*name##_two));	\
		if (!name##_two)				\
			return -ENOMEM;				\
		two_init(name##_two);				\
		return 0;					\
	}							\
								\
	static void name##_teardown(void)			\
	{							\
		vfree(name##_two);				\
		name##_two = NULL;				\
	}

AREA(known_area)
PAIR(known_area_ab, &known_area_two->a, &known_area_two->b)
PAIR(known_area_ba, &known_area_two->b, &known_area_two->a)

AREA(known_area_ok)
static DEFINE_SPINLOCK(known_area_ok_m);

/* By one function: the acquire site does not distinguish the locks. */
static __side void known_area_ok_take(spinlock_t *outer, spinlock_t *inner)
{
	spin_lock(outer);
	spin_lock(inner);
	spin_unlock(inner);
	spin_unlock(outer);
}

static __side void known_area_ok_am(void)
{
	known_area_ok_take(&known_area_ok_two->a, &known_area_ok_m);
}

static __side void known_area_ok_mb(void)
{
	known_area_ok_take(&known_area_ok_m, &known_area_ok_two->b);
}

/* Two locks in one frame, which a thread takes while the frame is there. */
static struct ls_two *known_frame_two;
PAIR(known_frame_ba, &known_frame_two->b, &known_frame_two->a)

static __side void known_frame_ab(void)
{
	struct ls_two two;

	two_init(&two);
	spin_lock(&two.a);
	spin_lock(&two.b);
	spin_unlock(&two.b);
	spin_unlock(&two.a);

	known_frame_two = &two;
	ls_require(!ls_run_in(LS_THREAD, "lst_frame", known_frame_ba));
	known_frame_two = NULL;
}

static struct ls_two *known_frame_ok_two;
static DEFINE_SPINLOCK(known_frame_ok_m);
PAIR(known_frame_ok_mb, &known_frame_ok_m, &known_frame_ok_two->b)

static __side void known_frame_ok_am(void)
{
	struct ls_two two;

	two_init(&two);
	spin_lock(&two.a);
	spin_lock(&known_frame_ok_m);
	spin_unlock(&known_frame_ok_m);
	spin_unlock(&two.a);
	/* Its class is known by the frame before others meet it. */
	spin_lock(&two.b);
	spin_unlock(&two.b);

	known_frame_ok_two = &two;
	ls_require(!ls_run_in(LS_THREAD, "lst_frame_ok", known_frame_ok_mb));
	known_frame_ok_two = NULL;
}

/*
 * Two types from one function that allocates for others: of two sizes in one cache, or with
 * mutexes that two functions initialise. The first objects show that, later ones are
 * distinguished. Locks of a kernel with lockdep are larger.
 */
#define LS_LARGE (sizeof(struct mutex) > 64)
#define LS_WORDS ((LS_LARGE ? 480 : 112) / sizeof(long) - sizeof(struct mutex) / sizeof(long) - \
		  DIV_ROUND_UP(sizeof(spinlock_t), sizeof(long)))

struct ls_left {
	unsigned long id;
	spinlock_t lock;
	struct mutex m;
	unsigned long more[LS_WORDS];
};

struct ls_right {
	unsigned long id;
	spinlock_t lock;
	struct mutex m;
	unsigned long more[LS_WORDS + 1];
};

static_assert(sizeof(struct ls_left) > (LS_LARGE ? 256 : 96) &&
	      sizeof(struct ls_right) <= (LS_LARGE ? 512 : 128));

#define WRAPPED(name)							\
	static struct ls_left *name##_left;				\
	static struct ls_right *name##_right;				\
									\
	static __side void *name##_alloc(size_t size)			\
	{								\
		void *memory = kzalloc(size, GFP_KERNEL);		\
									\
		/* No jump: the allocator returns to here. */		\
		barrier();						\
		return memory;						\
	}								\
									\
	static void name##_teardown(void)				\
	{								\
		kfree(name##_left);					\
		kfree(name##_right);					\
		name##_left = NULL;					\
		name##_right = NULL;					\
	}								\
									\
	static int name##_setup(void)					\
	{								\
		unsigned int round;					\
									\
		for (round = 0; round < 2; round++) {			\
			name##_teardown();				\
			name##_left = name##_new_left();		\
			name##_right = name##_new_right();		\
			if (!name##_left || !name##_right)		\
				return -ENOMEM;				\
			spin_lock(&name##_left->lock);			\
			spin_unlock(&name##_left->lock);		\
			spin_lock(&name##_right->lock);			\
			spin_unlock(&name##_right->lock);		\
		}							\
		return 0;						\
	}

static __side void *known_sizes_alloc(size_t size);
static __side void *known_sizes_ok_alloc(size_t size);
static __side void *known_inits_alloc(size_t size);
static __side void *known_inits_ok_alloc(size_t size);

/* NAME_new_SIDE: allocates @bytes through NAME_alloc(), and initialises the lock or both. */
#define NEW(name, side, bytes, init)					\
	static __side struct ls_##side *name##_new_##side(void)		\
	{								\
		struct ls_##side *object = name##_alloc(bytes);		\
									\
		if (object) {						\
			spin_lock_init(&object->lock);			\
			init;						\
		}							\
		return object;						\
	}

NEW(known_sizes, left, sizeof(*object), )
NEW(known_sizes, right, sizeof(*object), )
WRAPPED(known_sizes)
PAIR(known_sizes_lr, &known_sizes_left->lock, &known_sizes_right->lock)
PAIR(known_sizes_rl, &known_sizes_right->lock, &known_sizes_left->lock)

NEW(known_sizes_ok, left, sizeof(*object), )
NEW(known_sizes_ok, right, sizeof(*object), )
WRAPPED(known_sizes_ok)
static DEFINE_SPINLOCK(known_sizes_ok_m);
PAIR(known_sizes_ok_lm, &known_sizes_ok_left->lock, &known_sizes_ok_m)
PAIR(known_sizes_ok_mr, &known_sizes_ok_m, &known_sizes_ok_right->lock)

NEW(known_inits, left, sizeof(struct ls_right), mutex_init(&object->m))
NEW(known_inits, right, sizeof(struct ls_right), mutex_init(&object->m))
WRAPPED(known_inits)
PAIR(known_inits_lr, &known_inits_left->lock, &known_inits_right->lock)
PAIR(known_inits_rl, &known_inits_right->lock, &known_inits_left->lock)

NEW(known_inits_ok, left, sizeof(struct ls_right), mutex_init(&object->m))
NEW(known_inits_ok, right, sizeof(struct ls_right), mutex_init(&object->m))
WRAPPED(known_inits_ok)
static DEFINE_SPINLOCK(known_inits_ok_m);
PAIR(known_inits_ok_lm, &known_inits_ok_left->lock, &known_inits_ok_m)
PAIR(known_inits_ok_mr, &known_inits_ok_m, &known_inits_ok_right->lock)

const struct ls_case order_known_cases[] = {
	{ "known_area", LS_FAULT, LS_CYCLE, "two spinlocks of a vmalloc'ed object in both orders",
	  "vmalloc+0x20 vmalloc+0x48 severity=error",
	  .setup = known_area_setup, .teardown = known_area_teardown,
	  .side = { { known_area_ab }, { known_area_ba } } },
	{ "known_area_ok", LS_TWIN, LS_CYCLE, "a ring that is open between two of a vmalloc'ed object", "",
	  .setup = known_area_ok_setup, .teardown = known_area_ok_teardown,
	  .side = { { known_area_ok_am }, { known_area_ok_mb } } },
	{ "known_frame", LS_FAULT, LS_CYCLE, "two spinlocks on one function's stack in both orders",
	  "stack severity=error",
	  .side = { { known_frame_ab } } },
	{ "known_frame_ok", LS_TWIN, LS_CYCLE, "a ring that is open between two on one function's stack", "",
	  .side = { { known_frame_ok_am } } },
	{ "known_sizes", LS_FAULT, LS_CYCLE, "two types of two sizes from one function, in both orders",
	  "known_sizes_new_left known_sizes_new_right severity=error",
	  .setup = known_sizes_setup, .teardown = known_sizes_teardown,
	  .side = { { known_sizes_lr }, { known_sizes_rl } } },
	{ "known_sizes_ok", LS_TWIN, LS_CYCLE, "a ring that is open between types of two sizes", "",
	  .setup = known_sizes_ok_setup, .teardown = known_sizes_ok_teardown,
	  .side = { { known_sizes_ok_lm }, { known_sizes_ok_mr } } },
	{ "known_inits", LS_FAULT, LS_CYCLE, "two types initialised by two functions, in both orders",
	  "known_inits_new_left known_inits_new_right severity=error",
	  .setup = known_inits_setup, .teardown = known_inits_teardown,
	  .side = { { known_inits_lr }, { known_inits_rl } } },
	{ "known_inits_ok", LS_TWIN, LS_CYCLE, "a ring that is open between types of two initialisers", "",
	  .setup = known_inits_ok_setup, .teardown = known_inits_ok_teardown,
	  .side = { { known_inits_ok_lm }, { known_inits_ok_mr } } },
	{ }
};
