// SPDX-License-Identifier: GPL-2.0
/*
 * Numbers of symbols that share a name within the kernel or a module (namesakes.h).
 * Modules are counted in the order of their symbol tables: since 6.4 the parts of a
 * module lie in another order on each boot. Worker only.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/jhash.h>
#include <linux/kallsyms.h>
#include <linux/sort.h>

#include <namesakes.h>

#include "base/lookup.h"
#include "base/memory.h"
#include "base/wrapper/module.h"
#include "features.h"
#include "out/out.h"

/*
 * The kernel's symbols whose names have equal hashes: hash and low half of the address,
 * sorted. The kernel moves as a whole from boot to boot, so this order is stable.
 */
static u64 *shared;
static u32 nr_shared, max_shared;

/* Address ranges of the kernel's text and init text. */
static struct {
	unsigned long start, end;
} text[2];

static typeof(__module_address) *module_address;

static bool kernel_code(unsigned long addr)
{
	u32 i;

	for (i = 0; i < ARRAY_SIZE(text); i++)
		if (addr >= text[i].start && addr < text[i].end)
			return true;
	return false;
}

static u32 hash_plain(const char *name)
{
	return jhash(name, ls_plain_length(name), 0);
}

#ifdef LS_HAVE_EACH_SYMBOL_NO_MODULE
static int collect(void *data, const char *name, unsigned long addr)
#else
static int collect(void *data, const char *name, struct module *mod, unsigned long addr)
#endif
{
	/* Per-CPU symbols have lower addresses, names.c handles them. */
	if (addr < __START_KERNEL_map)
		return 0;
	if (shared && nr_shared < max_shared)
		shared[nr_shared] = (u64)hash_plain(name) << 32 | (u32)addr;
	nr_shared++;
	return 0;
}

static int by_value(const void *a, const void *b)
{
	u64 x = *(const u64 *)a, y = *(const u64 *)b;

	return x < y ? -1 : x > y;
}

/* Keep symbols that share their hash with another one, each once. */
static u32 keep_shared(u64 *all, u32 nr)
{
	u32 i, first, kept = 0, begin;

	for (i = 0; i < nr; ) {
		begin = kept;
		for (first = i; i < nr && all[i] >> 32 == all[first] >> 32; i++)
			if (kept == begin || all[kept - 1] != all[i])
				all[kept++] = all[i];
		if (kept == begin + 1)
			kept = begin;
	}
	return kept;
}

static void see_kernel(struct ls_namesakes *n, unsigned long start)
{
	static char name[KSYM_SYMBOL_LEN];
	u32 low = 0, high = nr_shared, hash = hash_plain(n->symbol);

	while (low < high) {
		u32 mid = (low + high) / 2;

		if (shared[mid] >> 32 < hash)
			low = mid + 1;
		else
			high = mid;
	}
	for (; low < nr_shared && shared[low] >> 32 == hash; low++) {
		unsigned long at = __START_KERNEL_map | (u32)shared[low];

		sprint_symbol_no_offset(name, at);
		ls_namesakes_see(n, name, kernel_code(at), at < start);
	}
}

/* 1: @addr is in a core section of @mod, -1: in an init section. */
static int lasts(const struct module *mod, unsigned long addr)
{
	unsigned long start, end;
	int i;

	for (i = 0; i < LS_MODULE_ALL_AREAS; i++) {
		ls_module_area(mod, i, &start, &end);
		if (addr >= start && addr < end)
			return i < LS_MODULE_AREAS ? 1 : -1;
	}
	return 0;
}

/*
 * The symbol table loses init symbols after load: they are numbered after all others, so that
 * no number depends on when the symbol was looked up.
 */
static void see_module(struct ls_namesakes *n, unsigned long start)
{
	const struct mod_kallsyms *k;
	struct module *mod;
	u32 i, self;

	rcu_read_lock_sched();
	mod = module_address(start);
	k = mod ? rcu_dereference_sched(mod->kallsyms) : NULL;
	for (self = 0; k && self < k->num_symtab; self++)
		if (k->symtab[self].st_value == start &&
		    !strcmp(k->strtab + k->symtab[self].st_name, n->symbol))
			break;
	if (k && self < k->num_symtab) {
		int own = lasts(mod, start);

		n->code = ELF_ST_TYPE(k->symtab[self].st_info) == STT_FUNC;
		for (i = 0; i < k->num_symtab; i++) {
			const Elf_Sym *sym = &k->symtab[i];
			const char *name = k->strtab + sym->st_name;
			bool code = ELF_ST_TYPE(sym->st_info) == STT_FUNC;
			int other;

			if (sym->st_shndx == SHN_UNDEF || !ls_namesakes_share(n, name, code))
				continue;
			other = lasts(mod, sym->st_value);
			if (other && other >= own)
				ls_namesakes_see(n, name, code, other > own || i < self);
		}
	}
	rcu_read_unlock_sched();
}

/*
 * @symbol is the first in a module's table at @start. If it has no size, like a lock's key
 * without lockdep, and another one at @start has one, @symbol gets the name of the latter.
 * @room: bytes. Process context.
 */
void ls_symbol_sized(char *symbol, size_t room, unsigned long start)
{
	const struct mod_kallsyms *k;
	const char *sized = NULL;
	struct module *mod;
	u32 i;

	if (!module_address)
		return;
	rcu_read_lock_sched();
	mod = module_address(start);
	k = mod ? rcu_dereference_sched(mod->kallsyms) : NULL;
	for (i = 0; k && i < k->num_symtab; i++) {
		const Elf_Sym *sym = &k->symtab[i];
		const char *name = k->strtab + sym->st_name;

		if (sym->st_shndx == SHN_UNDEF || sym->st_value != start || !name[0])
			continue;
		if (sym->st_size && !sized)
			sized = name;
		if (sym->st_size && !strcmp(name, symbol))
			sized = symbol;
	}
	if (sized && sized != symbol)
		strscpy(symbol, sized, room);
	rcu_read_unlock_sched();
}

/*
 * Number of the symbol called @symbol at @start among those of its module with the same name,
 * from 1; 0 when the name is unique.
 */
u32 ls_symbol_number(const char *symbol, unsigned long start, bool in_kernel)
{
	struct ls_namesakes n;

	ls_namesakes_of(&n, symbol, in_kernel && kernel_code(start));
	if (in_kernel)
		see_kernel(&n, start);
	else if (module_address)
		see_module(&n, start);
	return ls_namesakes_number(&n);
}

int ls_symbols_init(void)
{
	typeof(kallsyms_on_each_symbol) *each = (void *)ls_symbol("kallsyms_on_each_symbol");
	u64 *all, *kept;

	text[0].start = ls_symbol("_stext");
	text[0].end = ls_symbol("_etext");
	text[1].start = ls_symbol("_sinittext");
	text[1].end = ls_symbol("_einittext");
	module_address = (void *)ls_symbol("__module_address");
	if (!each || !module_address) {
		pr_warn("static locks of one name cannot be told apart\n");
		return 0;
	}
	each(collect, NULL);
	max_shared = nr_shared;
	nr_shared = 0;
	all = ls_zalloc(array_size(max_shared, sizeof(*all)));
	if (!all)
		return -ENOMEM;
	shared = all;
	each(collect, NULL);
	nr_shared = min(nr_shared, max_shared);
	sort(all, nr_shared, sizeof(*all), by_value, NULL);
	nr_shared = keep_shared(all, nr_shared);
	kept = ls_zalloc(array_size(nr_shared, sizeof(*kept)));
	shared = kept;
	if (kept)
		memcpy(kept, all, nr_shared * sizeof(*kept));
	ls_free(all);
	return kept ? 0 : -ENOMEM;
}

void ls_symbols_exit(void)
{
	ls_free(shared);
	shared = NULL;
}
