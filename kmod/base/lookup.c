// SPDX-License-Identifier: GPL-2.0
/* Symbols of the kernel by name and by address, exported or not. */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/kprobes.h>
#include <linux/printk.h>

#include "base/lookup.h"
#include "base/wrapper/rearm.h"

static unsigned long (*lookup_name)(const char *name);

/* kallsyms_lookup_size_offset(): size of the function around an address; 0 when there is none. */
typeof(kallsyms_lookup_size_offset) *ls_size_offset;
unsigned long ls_rearm_start __read_mostly, ls_rearm_size __read_mostly;

/* Address of a kernel symbol, 0 when there is none. */
unsigned long ls_symbol(const char *name)
{
	return lookup_name ? lookup_name(name) : 0;
}

/* Start of the function that @ip lies in; @ip itself where it lies in none. Any context. */
unsigned long ls_function_of(unsigned long ip)
{
	unsigned long size, offset;

	return ls_size_offset(ip, &size, &offset) ? ip - offset : ip;
}

/* Start and size of function @name; *@size is 0 when it is not found. Process context. */
void ls_find_function(const char *name, unsigned long *start, unsigned long *size)
{
	unsigned long offset;

	*start = ls_symbol(name);
	if (!*start || !ls_size_offset(*start, size, &offset))
		*size = 0;
}

/* kallsyms_lookup_name() is not exported, but registering a kprobe yields its address. */
static int find_lookup(void)
{
	struct kprobe kp = { .symbol_name = "kallsyms_lookup_name" };
	int rc = register_kprobe(&kp);

	if (rc) {
		pr_err("kprobes do not work here (%d)\n", rc);
		return rc;
	}
	lookup_name = (void *)kp.addr;
	unregister_kprobe(&kp);
	return 0;
}

/* Runs before the rest of the module's initialisation. Process context. */
int ls_lookup_init(void)
{
	int rc = find_lookup();

	if (rc)
		return rc;
	ls_size_offset = (void *)ls_symbol("kallsyms_lookup_size_offset");
	if (!ls_size_offset)
		return -ENOENT;
	ls_find_function("__hrtimer_rearm_deferred", &ls_rearm_start, &ls_rearm_size);
	return 0;
}
