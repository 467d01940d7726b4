// SPDX-License-Identifier: GPL-2.0
/*
 * Per-CPU memory without a symbol of the kernel: static areas of modules and alloc_percpu().
 * Hooks look it up at the first acquisition of a lock and at watched accesses; the tracepoints
 * and the module notifier maintain it.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/module.h>
#include <linux/spinlock.h>

#include "base/lookup.h"
#include "base/memory.h"
#include "base/tracepoint.h"
#include "core/state.h"
#include "identity/identity.h"

#define MAX_RANGES 24576	/* of 32 bytes */
#define GRAIN_BITS 17	/* of 8 bytes: five per range on average */
#define MAX_SYMBOLS 1024

/*
 * The kernel's static per-CPU area in terms of symbols: from 0, since 6.15 from its load
 * address.
 */
unsigned long ls_percpu_static_start __ro_after_init, ls_percpu_static_size __ro_after_init;

static struct ls_ranges ranges;
static void *grains;

/*
 * The function in which BPF maps allocate their per-CPU values, each by itself. Statistics have
 * more of them than there are ranges here, and no value has a lock. Size 0: there is none.
 */
static unsigned long bpf_values __ro_after_init, bpf_values_size __ro_after_init;

/*
 * Names of modules' static per-CPU variables, kept after the module was unloaded; address 0:
 * free.
 */
static struct module_symbol {
	unsigned long addr;
	char name[LS_NAME_MAX - 16];
} *symbols;
static u32 nr_symbols;

/* Offset in the static per-CPU area, or -1. */
long ls_percpu_offset(unsigned long lock)
{
	unsigned int cpu;

	for_each_possible_cpu(cpu) {
		unsigned long at = lock - __per_cpu_offset[cpu] - ls_percpu_static_start;

		if (at < ls_percpu_static_size)
			return at;
	}
	return -1;
}

/* Range around offset @at, a copy in @out. False when there is none. Any context. */
bool ls_percpu_find(unsigned long at, struct ls_range *out)
{
	return ls_ranges_find(&ranges, at, out);
}

static void new_range(unsigned long start, unsigned long size, unsigned long site,
		      const char *name)
{
	struct ls_range r = { .start = start, .end = start + size, .site = site, .name = name };

	if (!ls_ranges_add(&ranges, &r))
		ls_lose(LS_LOSS_SITES);
}

static void on_alloc(void *data, unsigned long call_site, bool reserved, bool is_atomic, size_t size,
		     size_t align, void *base_addr, int off, void __percpu *ptr, size_t bytes_alloc,
		     gfp_t gfp)
{
	/* Modules' static areas come with a name, from the notifier. */
	if (ptr && !reserved && READ_ONCE(ls_active) && call_site - bpf_values >= bpf_values_size)
		new_range((__force unsigned long)ptr, size, call_site, NULL);
}

static void on_free(void *data, void *base_addr, int off, void __percpu *ptr)
{
	ls_ranges_remove(&ranges, (__force unsigned long)ptr);
}

static bool in_area(const Elf_Sym *sym, unsigned long start, unsigned long end)
{
	return sym->st_value >= start && sym->st_value < end && sym->st_shndx != SHN_UNDEF;
}

/* Number of variable @i among those of its name, from 1; 0 when the name is unique. */
static u32 symbol_number(const struct mod_kallsyms *k, u32 i, unsigned long start, unsigned long end)
{
	u32 other, before = 0, all = 0;

	for (other = 0; other < k->num_symtab; other++)
		if (in_area(&k->symtab[other], start, end) &&
		    !strcmp(k->strtab + k->symtab[other].st_name, k->strtab + k->symtab[i].st_name)) {
			all++;
			before += other < i;
		}
	return all > 1 ? before + 1 : 0;
}

static void remember_symbols(struct module *mod, unsigned long start, unsigned long end)
{
	struct mod_kallsyms *k = rcu_dereference_raw(mod->kallsyms);
	u32 i, number, place = 0;

	for (i = 0; k && i < k->num_symtab; i++) {
		unsigned long at = k->symtab[i].st_value;
		int len;

		if (!in_area(&k->symtab[i], start, end))
			continue;
		while (place < nr_symbols && symbols[place].addr)
			place++;
		if (place == MAX_SYMBOLS) {
			ls_lose(LS_LOSS_SITES);
			continue;
		}
		nr_symbols = max(nr_symbols, place + 1);
		len = scnprintf(symbols[place].name, sizeof(symbols->name), "percpu:%s:%s", mod->name,
				k->strtab + k->symtab[i].st_name);
		number = symbol_number(k, i, start, end);
		if (number)
			snprintf(symbols[place].name + len, sizeof(symbols->name) - len, "#%u", number);
		ls_store_release(&symbols[place].addr, at);
	}
}

/* @size bytes per CPU at @ptr were allocated before the module was loaded; @name describes them. */
void ls_percpu_named(void __percpu *ptr, unsigned long size, const char *name)
{
	struct ls_range known;

	if (ptr && !ls_percpu_find((__force unsigned long)ptr, &known))
		new_range((__force unsigned long)ptr, size, 0, name);
}

/* A module is loaded or unloaded. Called by its notifier: may sleep. */
void ls_percpu_module(struct module *mod, bool coming)
{
	unsigned long start = (__force unsigned long)mod->percpu;
	u32 i;

	if (!mod->percpu_size)
		return;
	if (coming) {
		/* An older module may have used this range. */
		for (i = 0; i < nr_symbols; i++)
			if (symbols[i].addr >= start && symbols[i].addr < start + mod->percpu_size)
				symbols[i].addr = 0;
		remember_symbols(mod, start, start + mod->percpu_size);
		new_range(start, mod->percpu_size, 0, NULL);
	} else {
		ls_ranges_remove(&ranges, start);
	}
}

/* Name of a module's static per-CPU variable at offset @at. Worker only. */
bool ls_percpu_module_name(unsigned long at, char *name, size_t len)
{
	const struct module_symbol *best = NULL;
	struct ls_range area;
	u32 i;

	for (i = 0; i < nr_symbols; i++)
		if (symbols[i].addr && symbols[i].addr <= at && (!best || symbols[i].addr > best->addr))
			best = &symbols[i];
	if (!best || !ls_percpu_find(at, &area))
		return false;
	if (at == best->addr)
		strscpy(name, best->name, len);
	else
		snprintf(name, len, "%s+%#lx", best->name, at - best->addr);
	return true;
}

void ls_percpu_attach(void)
{
	int rc = ls_tracepoint_attach("percpu_alloc_percpu", on_alloc, NULL);

	rc = rc ? rc : ls_tracepoint_attach("percpu_free_percpu", on_free, NULL);
	if (rc)
		pr_warn("no per-CPU tracepoints (%d): locks there go by acquire site\n", rc);
}

void ls_percpu_detach(void)
{
	ls_tracepoint_detach("percpu_alloc_percpu", on_alloc, NULL);
	ls_tracepoint_detach("percpu_free_percpu", on_free, NULL);
}

int ls_percpu_init(void)
{
	struct ls_range *all = ls_zalloc(array_size(MAX_RANGES, sizeof(*all)));

	ls_percpu_static_start = ls_symbol("__per_cpu_start");
	ls_percpu_static_size = ls_symbol("__per_cpu_end") - ls_percpu_static_start;
	ls_find_function("bpf_map_alloc_percpu", &bpf_values, &bpf_values_size);
	grains = ls_zalloc(ls_addrmap_bytes(GRAIN_BITS));
	symbols = ls_zalloc(array_size(MAX_SYMBOLS, sizeof(*symbols)));
	if (all && grains)
		ls_ranges_init(&ranges, all, MAX_RANGES, grains, GRAIN_BITS);
	else
		ls_free(all);
	return ranges.ranges && symbols ? 0 : -ENOMEM;
}

void ls_percpu_exit(void)
{
	ls_free(ranges.ranges);
	ls_free(grains);
	ls_free(symbols);
}
