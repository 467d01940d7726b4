// SPDX-License-Identifier: GPL-2.0
/* Races on the console, in KCSAN's words. Worker only. */
#include <linux/kallsyms.h>
#include <linux/kernel.h>

#include "access.h"

static void function(char *text, u64 ip)
{
	sprint_symbol(text, ip);
	text[strcspn(text, "+ ")] = '\0';
	if (text[0] == '0' && text[1] == 'x')
		strcpy(text, "(unloaded code)");
}

static const char *operation(const struct ls_rec_access *a)
{
	bool marked = a->op & LS_ACC_MARKED, atomic = a->op & LS_ACC_ATOMIC;

	if (a->op & LS_ACC_READ && a->op & LS_ACC_WRITE)
		return atomic ? "read-write (marked)" : "read-write";
	if (a->op & LS_ACC_WRITE)
		return marked || atomic ? "write (marked)" : "write";
	return marked || atomic ? "read (marked)" : "read";
}

/* The stack is that of the site's first access; @pid is the task that raced. */
static void print_side(const struct ls_rec_access *a, u32 pid, const struct ls_guard_rec *guards)
{
	char text[KSYM_SYMBOL_LEN];
	u64 ips[LS_STACK_FRAMES];
	u32 nr = ls_worker_stack(a->stack, ips), i;

	if (a->where & LS_VAL_LEVEL_MASK)
		printk(KERN_WARNING "%s of %u bytes by interrupt:\n", operation(a), a->size);
	else
		printk(KERN_WARNING "%s of %u bytes by task %u:\n", operation(a), a->size, pid);
	for (i = 0; i < nr; i++) {
		sprint_symbol(text, ips[i]);
		if (text[0] == '0' && text[1] == 'x')
			strcpy(text, "(unloaded code)");
		printk(KERN_WARNING " %s\n", text);
	}
	for (i = 0; i < a->nr_guards; i++)
		printk(KERN_WARNING " holding (%s){%s}\n", ls_class_name(ls_worker_class(guards[i].val)),
		       ls_kind_name(ls.classes.table[guards[i].val & LS_VAL_CLASS_MASK].kind));
	printk(KERN_WARNING "\n");
}

void ls_splat_race(const struct ls_rec_race *race)
{
	static struct ls_guard_rec first_guards[LS_LOCKSET_LOCKS], second_guards[LS_LOCKSET_LOCKS];
	static char first[KSYM_SYMBOL_LEN], second[KSYM_SYMBOL_LEN];
	struct ls_rec_access a, b;

	if (!ls_access_get(race->first, &a, first_guards) || !ls_access_get(race->second, &b, second_guards))
		return;
	function(first, a.ip);
	function(second, b.ip);
	printk(KERN_WARNING "==================================================================\n");
	/* Like KCSAN: the names in an order that does not depend on who came first. */
	if (!strcmp(first, second))
		printk(KERN_WARNING "BUG: KCSAN: data-race in %s\n", first);
	else if (strcmp(first, second) < 0)
		printk(KERN_WARNING "BUG: KCSAN: data-race in %s / %s\n", first, second);
	else
		printk(KERN_WARNING "BUG: KCSAN: data-race in %s / %s\n", second, first);
	printk(KERN_WARNING "\n");
	print_side(&b, race->second_pid, second_guards);
	print_side(&a, race->first_pid, first_guards);
	printk(KERN_WARNING "Reported by LockScope: no lock in common (finding %u)\n", race->id);
	printk(KERN_WARNING "==================================================================\n");
}
