// SPDX-License-Identifier: GPL-2.0
/*
 * What is inferred from use: whether a semaphore is a lock or counts events, and
 * which order nested locks of one class keep. Scenario 09 looks at the inferred
 * verdicts and rules, too.
 */
#include <linux/minmax.h>
#include <linux/mutex.h>
#include <linux/semaphore.h>
#include <linux/slab.h>

#include "selftest.h"

#define BELIEF_ROUNDS 8

/* A lock, though a helper gives it back now and then. */
static struct semaphore sem_noise_s = __SEMAPHORE_INITIALIZER(sem_noise_s, 1);
static DEFINE_MUTEX(sem_noise_m);

static __side void sem_noise_helper(void)
{
	up(&sem_noise_s);
}

static __side void sem_noise_sm(void)
{
	unsigned int i;

	for (i = 0; i < BELIEF_ROUNDS; i++) {
		down(&sem_noise_s);
		mutex_lock(&sem_noise_m);
		mutex_unlock(&sem_noise_m);
		if (i % 4 == 1)
			ls_require(!ls_run_in(LS_THREAD, "lst_helper", sem_noise_helper));
		else
			up(&sem_noise_s);
	}
}

LS_NESTS(sem_noise_ms, sem_noise_m, mutex_lock, mutex_unlock, sem_noise_s, down, up)

/* A lock that is made closed and opened by its maker, and then once by a helper. */
static struct semaphore sem_early_s = __SEMAPHORE_INITIALIZER(sem_early_s, 0);
static DEFINE_MUTEX(sem_early_m);

static __side void sem_early_opens(void)
{
	up(&sem_early_s);
}

static __side void sem_early_sm(void)
{
	unsigned int i;

	down(&sem_early_s);
	ls_require(!ls_run_in(LS_THREAD, "lst_helper", sem_early_opens));
	for (i = 0; i < BELIEF_ROUNDS; i++) {
		down(&sem_early_s);
		mutex_lock(&sem_early_m);
		mutex_unlock(&sem_early_m);
		up(&sem_early_s);
	}
}

LS_NESTS(sem_early_ms, sem_early_m, mutex_lock, mutex_unlock, sem_early_s, down, up)

/* Leaves it as it was: closed. */
static __side void sem_early_closes(void)
{
	down(&sem_early_s);
}

/* Events: the first wait is followed by the mutex before the use is known. */
static struct semaphore sem_event_ok_s = __SEMAPHORE_INITIALIZER(sem_event_ok_s, 0);
static DEFINE_MUTEX(sem_event_ok_m);

static __side void sem_event_ok_tells(void)
{
	up(&sem_event_ok_s);
}

static __side void sem_event_ok_sm(void)
{
	unsigned int i;

	for (i = 0; i < BELIEF_ROUNDS; i++) {
		ls_require(!ls_run_in(LS_THREAD, "lst_producer", sem_event_ok_tells));
		down(&sem_event_ok_s);
		mutex_lock(&sem_event_ok_m);
		mutex_unlock(&sem_event_ok_m);
	}
}

static __side void sem_event_ok_ms(void)
{
	ls_require(!ls_run_in(LS_THREAD, "lst_producer", sem_event_ok_tells));
	mutex_lock(&sem_event_ok_m);
	down(&sem_event_ok_s);
	mutex_unlock(&sem_event_ok_m);
}

/* Two sorts of events, waited for in either order. */
static struct semaphore sem_both_ok_a = __SEMAPHORE_INITIALIZER(sem_both_ok_a, 0);
static struct semaphore sem_both_ok_b = __SEMAPHORE_INITIALIZER(sem_both_ok_b, 0);

static __side void sem_both_ok_tells(void)
{
	up(&sem_both_ok_a);
	up(&sem_both_ok_b);
}

static __side void sem_both_ok_ab(void)
{
	unsigned int i;

	for (i = 0; i < BELIEF_ROUNDS; i++) {
		ls_require(!ls_run_in(LS_THREAD, "lst_producer", sem_both_ok_tells));
		down(&sem_both_ok_a);
		down(&sem_both_ok_b);
	}
}

static __side void sem_both_ok_ba(void)
{
	ls_require(!ls_run_in(LS_THREAD, "lst_producer", sem_both_ok_tells));
	down(&sem_both_ok_b);
	down(&sem_both_ok_a);
}

struct ls_member {
	unsigned long payload[4];
	struct ls_member *parent;
	struct mutex lock;
};

#define RULE_MEMBERS 24

static __side void rule_free(struct ls_member **member)
{
	unsigned int i;

	for (i = 0; i < RULE_MEMBERS; i++) {
		kfree(member[i]);
		member[i] = NULL;
	}
}

static __side void rule_nest(struct ls_member *outer, struct ls_member *inner)
{
	mutex_lock(&outer->lock);
	mutex_lock_nested(&inner->lock, SINGLE_DEPTH_NESTING);
	mutex_unlock(&inner->lock);
	mutex_unlock(&outer->lock);
}

/* Two at a time, the lower address first. */
static struct ls_member *rule_addr_ok_member[RULE_MEMBERS];

static __side struct ls_member *rule_addr_ok_new(void)
{
	struct ls_member *member = kzalloc(sizeof(*member), GFP_KERNEL);

	if (member)
		mutex_init(&member->lock);
	return member;
}

static int rule_addr_ok_setup(void)
{
	unsigned int i;

	for (i = 0; i < RULE_MEMBERS; i++) {
		rule_addr_ok_member[i] = rule_addr_ok_new();
		if (!rule_addr_ok_member[i])
			return -ENOMEM;
	}
	return 0;
}

static void rule_addr_ok_teardown(void)
{
	rule_free(rule_addr_ok_member);
}

static __side void rule_addr_ok_double(void)
{
	unsigned int i;

	for (i = 0; i < RULE_MEMBERS; i++) {
		struct ls_member *a = rule_addr_ok_member[i];
		struct ls_member *b = rule_addr_ok_member[(i + 1) % RULE_MEMBERS];

		rule_nest(min(a, b), max(a, b));
	}
}

/* Parents before their children, wherever they lie. */
static struct ls_member *rule_tree_ok_member[RULE_MEMBERS];

static __side struct ls_member *rule_tree_ok_new(void)
{
	struct ls_member *member = kzalloc(sizeof(*member), GFP_KERNEL);

	if (member)
		mutex_init(&member->lock);
	return member;
}

static int rule_tree_ok_setup(void)
{
	unsigned int i;

	for (i = 0; i < RULE_MEMBERS; i++) {
		rule_tree_ok_member[i] = rule_tree_ok_new();
		if (!rule_tree_ok_member[i])
			return -ENOMEM;
	}
	/* Every other parent lies above its child. */
	for (i = 0; i < RULE_MEMBERS; i += 2) {
		if ((rule_tree_ok_member[i] < rule_tree_ok_member[i + 1]) != !(i & 2))
			swap(rule_tree_ok_member[i], rule_tree_ok_member[i + 1]);
		rule_tree_ok_member[i + 1]->parent = rule_tree_ok_member[i];
	}
	return 0;
}

static void rule_tree_ok_teardown(void)
{
	rule_free(rule_tree_ok_member);
}

static __side void rule_tree_ok_descend(void)
{
	unsigned int i;

	for (i = 0; i < RULE_MEMBERS; i += 2)
		rule_nest(rule_tree_ok_member[i], rule_tree_ok_member[i + 1]);
}

const struct ls_case verdict_belief_cases[] = {
	{ "sem_noise", LS_FAULT, LS_CYCLE, "semaphore used as a lock, given back by a helper now and then",
	  "sem_noise_s sem_noise_m severity=warning",
	  .side = { { sem_noise_sm }, { sem_noise_ms } } },
	{ "sem_early", LS_FAULT, LS_CYCLE, "semaphore used as a lock, opened by its maker",
	  "sem_early_s sem_early_m",
	  .side = { { sem_early_opens }, { sem_early_sm }, { sem_early_ms }, { sem_early_closes } } },
	{ "sem_event_ok", LS_TWIN, LS_CYCLE, "semaphore that counts events, before and under a mutex",
	  "sem_event_ok_s sem_event_ok_m",
	  .side = { { sem_event_ok_sm }, { sem_event_ok_ms } } },
	{ "sem_both_ok", LS_TWIN, LS_CYCLE, "two semaphores that count events, in both orders",
	  "sem_both_ok_a sem_both_ok_b",
	  .side = { { sem_both_ok_ab }, { sem_both_ok_ba } } },
	{ "rule_addr_ok", LS_TWIN, LS_RECURSIVE, "two objects of a type, the lower address first",
	  "rule_addr_ok_new", rule_addr_ok_setup, rule_addr_ok_teardown,
	  { { rule_addr_ok_double } } },
	{ "rule_tree_ok", LS_TWIN, LS_RECURSIVE, "parents before their children",
	  "rule_tree_ok_new", rule_tree_ok_setup, rule_tree_ok_teardown,
	  { { rule_tree_ok_descend } } },
	{ }
};
