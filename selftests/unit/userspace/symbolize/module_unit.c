// SPDX-License-Identifier: GPL-2.0
// A module's types, variables and functions, whose debug information the tests read. The locks
// are as in the kernel that the tests make.
typedef struct raw_spinlock {
	unsigned int raw_lock;
} raw_spinlock_t;

typedef struct spinlock {
	union {
		struct raw_spinlock rlock;
	};
} spinlock_t;

struct both;

struct station {
	long number;
	spinlock_t busy; /* at 8 */
	struct {
		spinlock_t inner; /* at 16 */
		int length;
	} queue __attribute__((aligned(8)));
	spinlock_t many[2];
	struct station *next;
	struct both *kernels;
};

struct line {
	struct station *first;
	char name[100];
};

struct station depot;
static spinlock_t lock;
extern void *allocate(unsigned long bytes);
extern void initialise(spinlock_t *lock);

static inline __attribute__((always_inline)) struct station *station_make(void)
{
	struct station *made = allocate(sizeof(*made));

	initialise(&made->busy);
	return made;
}

/* Returns nothing that has the type. */
int station_probe(int number)
{
	struct station *one = station_make();

	initialise(&one->queue.inner);
	initialise(&lock);
	one->number = number;
	depot.next = one;
	return one->number;
}

struct shed {
	char name[40];
	spinlock_t door; /* at 40 */
};

/* Allocates two objects of one size class. */
int yard_probe(void)
{
	struct station *one = allocate(sizeof(*one));
	struct shed *two = allocate(sizeof(*two));

	initialise(&one->busy);
	initialise(&two->door);
	return one->number + two->name[0];
}

int line_probe(struct line *line)
{
	initialise(&line->first->many[1]);
	return line->name[0];
}
