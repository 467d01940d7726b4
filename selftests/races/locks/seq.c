// SPDX-License-Identifier: GPL-2.0
/* Sequence counters: readers go without a lock, and look whether they had luck. */
#include <linux/delay.h>
#include <linux/interrupt.h>
#include <linux/preempt.h>
#include <linux/seqlock.h>
#include <linux/spinlock.h>

#include "races.h"

/* The reader does not look at the counter. */
static unsigned long seq_bare_v __shared;
static DEFINE_SEQLOCK(seq_bare_l);

static __side void seq_bare_write(void)
{
	write_seqlock(&seq_bare_l);
	seq_bare_v = ls_value();
	write_sequnlock(&seq_bare_l);
}

static __side void seq_bare_read(void)
{
	ls_use(seq_bare_v);
}

static unsigned long seq_bare_ok_v __shared;
static DEFINE_SEQLOCK(seq_bare_ok_l);

static __side void seq_bare_ok_write(void)
{
	write_seqlock(&seq_bare_ok_l);
	seq_bare_ok_v = ls_value();
	write_sequnlock(&seq_bare_ok_l);
}

static __side void seq_bare_ok_read(void)
{
	unsigned int seq;

	do {
		seq = read_seqbegin(&seq_bare_ok_l);
		ls_use(seq_bare_ok_v);
	} while (read_seqretry(&seq_bare_ok_l, seq));
}

/* The reader looks at the counter before, and not again. */
static unsigned long seq_once_v __shared;
static DEFINE_SEQLOCK(seq_once_l);

static __side void seq_once_write(void)
{
	write_seqlock(&seq_once_l);
	seq_once_v = ls_value();
	write_sequnlock(&seq_once_l);
}

static __side void seq_once_read(void)
{
	if (!(read_seqbegin(&seq_once_l) & 1))
		ls_use(seq_once_v);
}

/* A counter and a lock of their own, and more than one thing to read. */
static unsigned long seq_once_ok_v[3] __shared;
static seqcount_t seq_once_ok_c = SEQCNT_ZERO(seq_once_ok_c);
static DEFINE_SPINLOCK(seq_once_ok_s);

static __side void seq_once_ok_write(void)
{
	unsigned int i;

	spin_lock(&seq_once_ok_s);
	write_seqcount_begin(&seq_once_ok_c);
	for (i = 0; i < 3; i++)
		seq_once_ok_v[i] = ls_value();
	write_seqcount_end(&seq_once_ok_c);
	spin_unlock(&seq_once_ok_s);
}

static __side void seq_once_ok_read(void)
{
	unsigned int seq, i;

	do {
		seq = read_seqcount_begin(&seq_once_ok_c);
		for (i = 0; i < 3; i++)
			ls_use(seq_once_ok_v[i]);
	} while (read_seqcount_retry(&seq_once_ok_c, seq));
}

/* Two writers: the counter does not serialise them. */
static unsigned long seq_writer_v __shared;
static seqcount_t seq_writer_c = SEQCNT_ZERO(seq_writer_c);

static __side void seq_writer_a(void)
{
	preempt_disable();
	write_seqcount_begin(&seq_writer_c);
	seq_writer_v = ls_value();
	write_seqcount_end(&seq_writer_c);
	preempt_enable();
}

static __side void seq_writer_b(void)
{
	preempt_disable();
	write_seqcount_begin(&seq_writer_c);
	seq_writer_v = ls_value();
	write_seqcount_end(&seq_writer_c);
	preempt_enable();
}

static unsigned long seq_writer_ok_v __shared;
static DEFINE_SPINLOCK(seq_writer_ok_s);
static seqcount_spinlock_t seq_writer_ok_c = SEQCNT_SPINLOCK_ZERO(seq_writer_ok_c,
								  &seq_writer_ok_s);

static __side void seq_writer_ok_a(void)
{
	spin_lock(&seq_writer_ok_s);
	write_seqcount_begin(&seq_writer_ok_c);
	seq_writer_ok_v = ls_value();
	write_seqcount_end(&seq_writer_ok_c);
	spin_unlock(&seq_writer_ok_s);
}

static __side void seq_writer_ok_b(void)
{
	spin_lock(&seq_writer_ok_s);
	write_seqcount_begin(&seq_writer_ok_c);
	seq_writer_ok_v = ls_value();
	write_seqcount_end(&seq_writer_ok_c);
	spin_unlock(&seq_writer_ok_s);
}

/* What a reader writes while it reads is not undone by reading again. */
static unsigned long seq_write_v __shared;
static DEFINE_SEQLOCK(seq_write_l);

static __side void seq_write_write(void)
{
	write_seqlock(&seq_write_l);
	seq_write_v = ls_value();
	write_sequnlock(&seq_write_l);
}

static __side void seq_write_read(void)
{
	unsigned int seq;

	do {
		seq = read_seqbegin(&seq_write_l);
		seq_write_v = 0;
	} while (read_seqretry(&seq_write_l, seq));
}

/* A writer takes the lock, like a reader that excludes writers. */
static unsigned long seq_write_ok_v __shared;
static DEFINE_SEQLOCK(seq_write_ok_l);

static __side void seq_write_ok_write(void)
{
	write_seqlock(&seq_write_ok_l);
	seq_write_ok_v = ls_value();
	write_sequnlock(&seq_write_ok_l);
}

static __side void seq_write_ok_read(void)
{
	read_seqlock_excl(&seq_write_ok_l);
	seq_write_ok_v = 0;
	read_sequnlock_excl(&seq_write_ok_l);
}

/* A softirq that comes in between is in no section of the task's. */
static unsigned long seq_softirq_v __shared;
static DEFINE_SEQLOCK(seq_softirq_l);

static __side void seq_softirq_write(void)
{
	write_seqlock_bh(&seq_softirq_l);
	seq_softirq_v = ls_value();
	write_sequnlock_bh(&seq_softirq_l);
}

static __side void seq_softirq_tasklet(void)
{
	ls_use(seq_softirq_v);
}

static void seq_softirq_comes(struct tasklet_struct *t)
{
	seq_softirq_tasklet();
}
static DECLARE_TASKLET(seq_softirq_t, seq_softirq_comes);

static __side void seq_softirq_read(void)
{
	unsigned int seq;

	do {
		seq = read_seqbegin(&seq_softirq_l);
		local_bh_disable();
		tasklet_schedule(&seq_softirq_t);
		local_bh_enable();
		ls_use(seq_softirq_v);
	} while (read_seqretry(&seq_softirq_l, seq));
}

static void seq_softirq_end(void)
{
	tasklet_kill(&seq_softirq_t);
}

/* Nor does it end the task's, though it has one of its own and counts besides. */
static unsigned long seq_softirq_ok_v __shared;
static DEFINE_SEQLOCK(seq_softirq_ok_l);
static u32 seq_softirq_ok_runs;

static __side void seq_softirq_ok_write(void)
{
	write_seqlock_bh(&seq_softirq_ok_l);
	seq_softirq_ok_v = ls_value();
	write_sequnlock_bh(&seq_softirq_ok_l);
}

static void seq_softirq_ok_comes(struct tasklet_struct *t)
{
	unsigned int seq;

	do {
		seq = read_seqbegin(&seq_softirq_ok_l);
		ls_use(seq_softirq_ok_v);
	} while (read_seqretry(&seq_softirq_ok_l, seq));
	seq_softirq_ok_runs++;
}
static DECLARE_TASKLET(seq_softirq_ok_t, seq_softirq_ok_comes);

static __side void seq_softirq_ok_read(void)
{
	unsigned int seq;

	do {
		seq = read_seqbegin(&seq_softirq_ok_l);
		local_bh_disable();
		tasklet_schedule(&seq_softirq_ok_t);
		local_bh_enable();
		ls_use(seq_softirq_ok_v);
	} while (read_seqretry(&seq_softirq_ok_l, seq));
}

static void seq_softirq_ok_end(void)
{
	tasklet_kill(&seq_softirq_ok_t);
}

/* A task that sleeps after the section resumes outside. */
static unsigned long seq_sleep_v __shared;
static DEFINE_SEQLOCK(seq_sleep_l);

static __side void seq_sleep_write(void)
{
	write_seqlock(&seq_sleep_l);
	seq_sleep_v = ls_value();
	write_sequnlock(&seq_sleep_l);
}

static __side void seq_sleep_read(void)
{
	unsigned int seq;

	do
		seq = read_seqbegin(&seq_sleep_l);
	while (read_seqretry(&seq_sleep_l, seq));
	fsleep(100);
	ls_use(seq_sleep_v);
}

/* A task that sleeps within the section is still within it afterwards, on any CPU. */
static unsigned long seq_sleep_ok_v __shared;
static DEFINE_SEQLOCK(seq_sleep_ok_l);

static __side void seq_sleep_ok_write(void)
{
	write_seqlock(&seq_sleep_ok_l);
	seq_sleep_ok_v = ls_value();
	write_sequnlock(&seq_sleep_ok_l);
}

static __side void seq_sleep_ok_read(void)
{
	unsigned int seq;

	do {
		seq = read_seqbegin(&seq_sleep_ok_l);
		fsleep(100);
		ls_use(seq_sleep_ok_v);
	} while (read_seqretry(&seq_sleep_ok_l, seq));
}

const struct ls_case race_seq_cases[] = {
	{ "seq_bare", LS_FAULT, LS_RACE, "written under a seqlock, read without",
	  "severity!=note variable=seq_bare_v",
	  .side = { SIDE(seq_bare_write), SIDE(seq_bare_read) } },
	{ "seq_bare_ok", LS_TWIN, LS_RACE, "written under a seqlock, read until it fits",
	  "", .side = { SIDE(seq_bare_ok_write), SIDE(seq_bare_ok_read) } },
	{ "seq_once", LS_FAULT, LS_RACE, "read after read_seqbegin, without read_seqretry",
	  "severity!=note variable=seq_once_v",
	  .side = { SIDE(seq_once_write), SIDE(seq_once_read) } },
	{ "seq_once_ok", LS_TWIN, LS_RACE, "several things read between begin and retry",
	  "", .side = { SIDE(seq_once_ok_write), SIDE(seq_once_ok_read) } },
	{ "seq_writer", LS_FAULT, LS_RACE, "two writers of a sequence counter without a lock",
	  "severity!=note variable=seq_writer_v",
	  .side = { SIDE(seq_writer_a), SIDE(seq_writer_b) } },
	{ "seq_writer_ok", LS_TWIN, LS_RACE, "two writers of a sequence counter under its lock",
	  "", .side = { SIDE(seq_writer_ok_a), SIDE(seq_writer_ok_b) } },
	{ "seq_write", LS_FAULT, LS_RACE, "written between read_seqbegin and read_seqretry",
	  "severity!=note variable=seq_write_v",
	  .side = { SIDE(seq_write_write), SIDE(seq_write_read) } },
	{ "seq_write_ok", LS_TWIN, LS_RACE, "written under read_seqlock_excl",
	  "", .side = { SIDE(seq_write_ok_write), SIDE(seq_write_ok_read) } },
	{ "seq_softirq", LS_FAULT, LS_RACE, "read bare by a softirq amid a task's read section",
	  "severity!=note variable=seq_softirq_v", NULL, seq_softirq_end,
	  .side = { SIDE(seq_softirq_write), IN(LS_TASKLET, seq_softirq_tasklet),
		    { seq_softirq_read } } },
	{ "seq_softirq_ok", LS_TWIN, LS_RACE, "a softirq's read section amid a task's",
	  "", NULL, seq_softirq_ok_end,
	  .side = { SIDE(seq_softirq_ok_write), SIDE(seq_softirq_ok_read) } },
	{ "seq_sleep", LS_FAULT, LS_RACE, "read section ended, slept, read",
	  "severity!=note variable=seq_sleep_v",
	  .side = { SIDE(seq_sleep_write), SIDE(seq_sleep_read) } },
	{ "seq_sleep_ok", LS_TWIN, LS_RACE, "slept within a read section",
	  "", .side = { SIDE(seq_sleep_ok_write), SIDE(seq_sleep_ok_read) } },
	{ }
};
