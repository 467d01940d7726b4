/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A module of seeded cases in debugfs, /sys/kernel/debug/DIR/:
 *
 *   list   one case a line: NAME fault|twin GROUP KIND PATTERN...
 *   about  one case a line: NAME, a tab and what it is about
 *   run    write words: a NAME, NAME:N for its Nth side alone, or one of
 *          GROUP/all, GROUP/faults, GROUP/twins. The write returns when
 *          everything has run.
 */
#ifndef LS_DRIVER_H
#define LS_DRIVER_H

#include "selftest.h"

struct dentry;
struct seq_file;

/* Ended by an entry without a group. */
struct ls_table {
	const char *group;
	const struct ls_case *cases;
};

struct ls_driver {
	const char *dir;
	const struct ls_table *tables;
	/* @only: number of the one side to run, from 1; 0 runs them all. Sleeps. */
	int (*run_sides)(const struct ls_case *c, unsigned int only);
	/*
	 * All may be NULL: before the words of a write, for a word with "=" in it, and whether
	 * a case cannot run the way that such words asked for.
	 */
	void (*begin)(void);
	int (*option)(char *word);
	bool (*refuse)(const struct ls_case *c);
};

/* Process context. The directory, for more files, or an ERR_PTR. */
struct dentry *ls_driver_start(const struct ls_driver *driver);
void ls_driver_stop(void);

/* One thing at a time. Any context. */
bool ls_claim(void);
void ls_disclaim(void);

/*
 * The lines of list. @mark may be NULL; else what it returns is put at the end of a case's
 * line, and a case for which that is NULL has none.
 */
void ls_driver_print(struct seq_file *m, const char *(*mark)(const struct ls_case *c));

unsigned int ls_nr_sides(const struct ls_case *c);

#endif /* LS_DRIVER_H */
