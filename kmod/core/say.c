// SPDX-License-Identifier: GPL-2.0
/*
 * Held locks as text, in lockdep's form. Any context, NMI included: takes no lock, does not
 * allocate or sleep. A context of another CPU may change meanwhile; then lines may be wrong, as
 * lockdep's.
 */
#include <linux/kallsyms.h>
#include <linux/kernel.h>
#include <linux/printk.h>

#include "base/lookup.h"
#include "core/say.h"

struct ls_class_text *ls_class_texts;

static const char *const kinds[LS_NR_KINDS] = {
#define LS_ROW(symbol, value, name, wait) [value] = name,
	LS_LOCK_KINDS(LS_ROW)
#undef LS_ROW
};

const char *ls_kind_name(u32 kind)
{
	return kind < LS_NR_KINDS ? kinds[kind] : "?";
}

/* Empty until the worker has named the class. */
const char *ls_class_name(u32 id)
{
	return id <= ls.classes.max ? ls_class_texts[id].name : "?";
}

void ls_say(ls_vprintk *out, const char *fmt, ...)
{
	va_list args;

	va_start(args, fmt);
	out(fmt, args);
	va_end(args);
}

/*
 * The name of the lock of @h; @text has room for LS_SAY_NAME bytes. The worker may not have
 * named the class yet: then the lock's symbol, or the place of its acquisition. Never an
 * address.
 */
const char *ls_say_name(char *text, const struct ls_held *h)
{
	const char *name = ls_class_name(h->val & LS_VAL_CLASS_MASK);
	char symbol[LS_SAY_NAME], *module;
	unsigned long size, offset;

	if (*name)
		return name;
	if (!ls_size_offset(h->lock, &size, &offset)) {
		snprintf(text, LS_SAY_NAME, "lock taken in %ps", (void *)(long)h->ip);
		return text;
	}
	/* "SYMBOL [MODULE]": as the worker names it, "MODULE:SYMBOL". */
	snprintf(symbol, sizeof(symbol), "%ps", (void *)(long)h->lock);
	module = strstr(symbol, " [");
	if (!module) {
		strscpy(text, symbol, LS_SAY_NAME);
	} else {
		*module = '\0';
		module += 2;
		module[strcspn(module, " ]")] = '\0';
		snprintf(text, LS_SAY_NAME, "%s:%s", module, symbol);
	}
	return text;
}

/* One of lockdep's usage characters. @in: acquired in that interrupt, @on: held with it enabled. */
static char usage(u32 use, u32 in, u32 on)
{
	return use & on ? use & in ? '?' : '+' : use & in ? '-' : '.';
}

/* lockdep's enum lockdep_wait_type, where raw spinlocks do not nest in others. */
static u32 wait_type(u32 kind)
{
	return LS_SPINNING_KINDS >> kind & 1 ? 2 : LS_SLEEPING_KINDS >> kind & 1 ? 3 : 0;
}

/* "LEAD%p (NAME){USAGE}-{TYPE}, at: PLACE", as print_lock() does; the address is hashed. */
void ls_say_entry(ls_vprintk *out, const char *level, const char *lead, const struct ls_held *h)
{
	u32 id = h->val & LS_VAL_CLASS_MASK, type, use;
	char text[LS_SAY_NAME];

	if (!id || id > ls.classes.max || ls_load_acquire(&ls.classes.table[id].state) != LS_CLASS_READY) {
		ls_say(out, "%s%s<RELEASED>\n", level, lead);
		return;
	}
	use = ls_load(&ls.classes.table[id].usage);
	type = wait_type(ls.classes.table[id].kind);
	ls_say(out, "%s%s%p (%s){%c%c%c%c}-{%u:%u}, at: %pS\n", level, lead, (void *)(long)h->lock,
	       ls_say_name(text, h),
	       usage(use, LS_USE_IN_HARDIRQ, LS_USE_ON_HARDIRQ),
	       usage(use, LS_USE_IN_HARDIRQ_READ, LS_USE_ON_HARDIRQ_READ),
	       usage(use, LS_USE_IN_SOFTIRQ, LS_USE_ON_SOFTIRQ),
	       usage(use, LS_USE_IN_SOFTIRQ_READ, LS_USE_ON_SOFTIRQ_READ),
	       type, type, (void *)(long)h->ip);
}

/* The @nr outermost entries of @ctx, numbered from @first on; returns the next number. */
u32 ls_say_entries(ls_vprintk *out, const char *level, const struct ls_ctx *ctx, u32 nr, u32 first)
{
	u32 i;

	for (i = 0; i < nr && i < LS_MAX_DEPTH; i++) {
		struct ls_held h = ctx->held[i];
		char lead[12];

		snprintf(lead, sizeof(lead), " #%u: ", first++);
		ls_say_entry(out, level, lead, &h);
	}
	return first;
}
