// SPDX-License-Identifier: GPL-2.0
// The second file of the module: its lock has the name of one in the first.
typedef struct spinlock {
	unsigned int word;
} spinlock_t;

static spinlock_t lock;
extern void initialise(spinlock_t *one);

void other_probe(void)
{
	initialise(&lock);
}
