// SPDX-License-Identifier: GPL-2.0
/* Parts of warnings on the console. Worker only. */
#include <linux/bitops.h>
#include <linux/kallsyms.h>
#include <linux/kernel.h>
#include <linux/utsname.h>

#include "console_words.h"
#include "core/state.h"
#include "out/console/splat.h"
#include "out/out.h"

/* Interrupts are classes in findings only, and have no kind. */
const char *ls_splat_kind(u32 class_id)
{
	return class_id >= LS_CLASS_HARDIRQ ? "interrupt" : ls_kind_name(ls.classes.table[class_id].kind);
}

static bool is_kind(u32 class_id, u32 kinds)
{
	return class_id < LS_CLASS_HARDIRQ && kinds >> ls.classes.table[class_id].kind & 1;
}

bool ls_splat_is_queue(u32 class_id)
{
	return is_kind(class_id, 1u << LS_KIND_WAITQUEUE);
}

/* A completion, or a wait queue. */
bool ls_splat_is_awaited(u32 class_id)
{
	return is_kind(class_id, LS_AWAITED_KINDS);
}

/* Printed before the name, as lockdep did for completions. */
const char *ls_splat_prefix(u32 class_id)
{
	return !ls_splat_is_awaited(class_id) ? "" : ls_splat_is_queue(class_id) ? LS_SAY_QUEUE : LS_SAY_COMPLETION;
}

bool ls_splat_load(struct ls_splat_side *x, u32 ordinal)
{
	if (!ls_worker_observation(ordinal, &x->s, x->held))
		return false;
	x->nr_ips = ls_worker_stack(x->s.stack, x->ips);
	return true;
}

/* No addresses on the console, not even of unloaded code. */
void ls_splat_symbol(char *text, u64 ip)
{
	sprint_symbol(text, ip);
	if (text[0] == '0' && text[1] == 'x')
		strcpy(text, "(unloaded code)");
}

/* The function alone, for titles. */
void ls_splat_function(char *text, u64 ip)
{
	ls_splat_symbol(text, ip);
	text[strcspn(text, "+ ")] = '\0';
}

void ls_splat_frames(const char *indent, const struct ls_splat_side *x)
{
	char text[KSYM_SYMBOL_LEN];
	u32 i;

	for (i = 0; i < x->nr_ips; i++) {
		ls_splat_symbol(text, x->ips[i]);
		printk(KERN_WARNING "%s%s\n", indent, text);
	}
}

void ls_splat_lock(const char *lead, u32 class_id, u64 ip)
{
	char text[KSYM_SYMBOL_LEN];

	ls_splat_symbol(text, ip);
	printk(KERN_WARNING LS_SAY_LOCK "\n", lead, ls_splat_prefix(class_id),
	       ls_class_name(class_id), ls_splat_kind(class_id), text);
}

void ls_splat_head(const char *warning)
{
	printk(KERN_WARNING "\n");
	printk(KERN_WARNING LS_SAY_RULER "\n");
	printk(KERN_WARNING "%s\n", warning);
	printk(KERN_WARNING "%s %.*s\n", init_utsname()->release, (int)strcspn(init_utsname()->version, " "), init_utsname()->version);
	printk(KERN_WARNING LS_SAY_LINE "\n");
}

void ls_splat_backtrace(const struct ls_splat_side *x)
{
	printk(KERN_WARNING LS_SAY_TRACE "\n");
	printk(KERN_WARNING LS_SAY_TASK "\n");
	ls_splat_frames("  ", x);
	printk(KERN_WARNING LS_SAY_END_TASK "\n");
}

/*
 * A waiting task does not hold the lock that it waits for: that entry is the owner's. An entry
 * that is only a gate is the last one.
 */
u64 ls_splat_owners(const struct ls_splat_side *x)
{
	u32 nr = x->s.nr_held;

	if (nr && x->held[nr - 1].val & LS_VAL_QUIET)
		return 1ull << (nr - 1);
	return x->s.what == LS_FINDING_LONG_HOLD ? x->s.new_mask : 0;
}

void ls_splat_held(const struct ls_splat_side *x)
{
	u64 others = ls_splat_owners(x);
	u32 i, nr = x->s.nr_held - hweight64(others), n = 0;
	char lead[16];

	printk(KERN_WARNING LS_SAY_HELD "\n", nr, nr == 1 ? "" : "s", x->s.comm, x->s.pid);
	for (i = 0; i < x->s.nr_held; i++) {
		if (others & (1ull << i))
			continue;
		snprintf(lead, sizeof(lead), " #%u: ", n++);
		ls_splat_lock(lead, ls_worker_class(x->held[i].val), x->held[i].ip);
	}
}

/* The held entry of class @class_id; the topmost when there are several. */
const struct ls_held_rec *ls_splat_held_of(const struct ls_splat_side *x, u32 class_id)
{
	u32 i;

	for (i = x->s.nr_held; i-- > 0;)
		if (ls_worker_class(x->held[i].val) == class_id)
			return &x->held[i];
	return NULL;
}

/* Where and how @x acquired a lock of class @class_id. */
struct ls_held_rec ls_splat_taken(const struct ls_splat_side *x, u32 class_id)
{
	const struct ls_held_rec *held = ls_splat_held_of(x, class_id);

	if (held && (x->s.what != LS_SIGHT_ACQUIRE || ls_worker_class(x->s.val) != class_id))
		return *held;
	return (struct ls_held_rec){ .val = x->s.val, .ip = x->s.ip };
}
