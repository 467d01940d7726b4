// SPDX-License-Identifier: GPL-2.0
/*
 * Races on the console, in KCSAN's words. Worker only. A race that the report demotes is
 * printed as well, with what speaks against it as far as its two sides show it
 * (races/filters.cpp, where the doubts have their names); the report compares all that was
 * seen of the memory.
 */
#include <linux/kallsyms.h>
#include <linux/kernel.h>

#include "check/access/race_side.h"
#include "console_words.h"
#include "core/state.h"
#include "doubts.h"
#include "out/console/splat.h"
#include "out/out.h"
#include "out/races/accesses.h"

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

/* Stack of this access, or of the first access at its site. */
static u32 stack_of(const struct ls_rec_access *a, const struct ls_race_side *s, u64 *ips)
{
	if (!s->nr_frames)
		return ls_worker_stack(a->stack, ips);
	memcpy(ips, s->frames, s->nr_frames * sizeof(*ips));
	return s->nr_frames;
}

static void print_head(const struct ls_rec_access *a, const struct ls_race_side *s)
{
	char cpu[24] = "", task[24] = "an unknown task";

	if (s->cpu != LS_CPU_UNKNOWN)
		snprintf(cpu, sizeof(cpu), " on cpu %u", s->cpu);
	if (s->pid || s->flags & LS_SIDE_TASK)
		snprintf(task, sizeof(task), s->flags & LS_SIDE_TASK ? "task %u" : "task ...%u", s->pid);
	printk(KERN_WARNING LS_SAY_ACCESS "\n", operation(a), a->size,
	       a->where & LS_VAL_LEVEL_MASK ? "interrupt" : task, cpu);
}

static void print_side(const struct ls_rec_access *a, const struct ls_race_side *s,
		       const struct ls_guard_rec *guards)
{
	char text[KSYM_SYMBOL_LEN];
	u64 ips[LS_STACK_FRAMES];
	u32 nr = stack_of(a, s, ips), i;

	print_head(a, s);
	for (i = 0; i < nr; i++) {
		sprint_symbol(text, ips[i]);
		if (text[0] == '0' && text[1] == 'x')
			strcpy(text, "(unloaded code)");
		printk(KERN_WARNING " %s\n", text);
	}
	if (nr > 1 && !s->nr_frames)
		printk(KERN_WARNING LS_SAY_FIRST_SEEN "\n");
	for (i = 0; i < a->nr_guards; i++)
		printk(KERN_WARNING LS_SAY_GUARD "\n", ls_class_name(ls_worker_class(guards[i].val)),
		       ls_kind_name(ls.classes.table[guards[i].val & LS_VAL_CLASS_MASK].kind));
	printk(KERN_WARNING "\n");
}

/* What the names of the functions on the stack of an access show. */
struct way {
	bool init;		/* init code of the kernel or of a module */
	bool unmakes;		/* one of the innermost functions tears an object down */
};

/* If this site was first seen in another task, that task's init functions show nothing. */
static void look_at_way(struct way *way, const struct ls_rec_access *a, const struct ls_race_side *s)
{
	bool own = s->nr_frames || (s->flags & LS_SIDE_TASK && s->pid == a->pid);
	char text[KSYM_SYMBOL_LEN];
	u64 ips[LS_STACK_FRAMES];
	u32 nr = stack_of(a, s, ips), i;

	*way = (struct way){ };
	for (i = 0; i < nr; i++) {
		function(text, ips[i]);
		way->init |= own && !(a->where & LS_VAL_LEVEL_MASK) && !strcmp(text, "do_one_initcall");
		way->unmakes |= i < LS_NEAR_FRAMES && ls_name_unmakes(text);
	}
}

/* Was the memory not shared yet at the access at site @id? */
static bool alone(const struct ls_rec_race *race, u32 id)
{
	u32 i;

	for (i = 0; i < race->nr; i++)
		if (race->history[i].access == id && race->history[i].initial)
			return true;
	return false;
}

static void doubt(const char *name, const char *who, const char *what)
{
	printk(KERN_WARNING "LockScope doubts it: %s %s (%s)\n", who, what, name);
}

/*
 * Print the doubts about the race of @a and @b, in functions @first and @second. A race caught
 * in the act did happen.
 */
static void print_doubts(const struct ls_race_event *e, const struct ls_rec_access *a,
			 const struct ls_rec_access *b, const char *first, const char *second)
{
	const struct ls_rec_race *race = &e->race;
	const struct ls_rec_access *reader = a->op & LS_ACC_WRITE ? b : a, *writer = reader == a ? b : a;
	struct way ways[2];

	if (!(reader->op & LS_ACC_WRITE) && reader->where & LS_WHERE_SEQ_READ &&
	    writer->where & LS_WHERE_SEQ_WRITE)
		doubt("sequence-counter", reader == a ? first : second,
		      "checks a sequence counter that the writer counts up, and reads again");
	if (race->flags & (LS_RACE_CAUGHT | LS_RACE_CHANGED))
		return;
	look_at_way(&ways[0], a, &e->sides[0]);
	look_at_way(&ways[1], b, &e->sides[1]);
	if (ls_races_object(a->data) && alone(race, race->first) && ls_name_makes(first))
		doubt("thread-local-allocation", first, "runs while the object is made and nobody else knows it");
	if ((ls_races_object(a->data) && ways[0].unmakes) || (ls_races_object(b->data) && ways[1].unmakes))
		doubt("unsharing", ls_races_object(a->data) && ways[0].unmakes ? first : second,
		      "takes the object apart, after it was taken out of reach");
	if (ways[0].init || ways[1].init)
		doubt("initialisation-only", ways[0].init ? first : second, "runs in init code");
	if (a->data != b->data && ls_races_object(a->data) && ls_races_object(b->data))
		doubt("different-objects", "the memory",
		      "was another object for the other side: it was freed in between");
}

void ls_splat_race(const struct ls_race_event *e)
{
	const char *head = ls_finding_head(LS_FINDING_RACE);
	const struct ls_rec_race *race = &e->race;
	static struct ls_guard_rec first_guards[LS_LOCKSET_LOCKS], second_guards[LS_LOCKSET_LOCKS];
	static char first[KSYM_SYMBOL_LEN], second[KSYM_SYMBOL_LEN];
	struct ls_rec_access a, b;

	if (!ls_access_get(race->first, &a, first_guards) || !ls_access_get(race->second, &b, second_guards))
		return;
	function(first, a.ip);
	function(second, b.ip);
	printk(KERN_WARNING LS_SAY_RACE_RULER "\n");
	/* Like KCSAN: names in an order that does not depend on which access was first. */
	if (!strcmp(first, second))
		printk(KERN_WARNING "%s %s\n", head, first);
	else if (strcmp(first, second) < 0)
		printk(KERN_WARNING "%s %s / %s\n", head, first, second);
	else
		printk(KERN_WARNING "%s %s / %s\n", head, second, first);
	printk(KERN_WARNING "\n");
	print_side(&b, &e->sides[1], second_guards);
	print_side(&a, &e->sides[0], first_guards);
	printk(KERN_WARNING LS_SAY_REPORTED "\n", race->id);
	print_doubts(e, &a, &b, first, second);
	printk(KERN_WARNING "More may speak against it than is known here: see lockscope report\n");
	printk(KERN_WARNING LS_SAY_RACE_RULER "\n");
}
