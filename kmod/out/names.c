// SPDX-License-Identifier: GPL-2.0
/* Stable names of lock classes: without addresses, the same on every boot. Worker only. */
#include <linux/ctype.h>
#include <linux/jhash.h>
#include <linux/kallsyms.h>
#include <linux/module.h>
#include <linux/slab.h>
#include <linux/sort.h>

#include <namesakes.h>

#include "base/lookup.h"
#include "base/memory.h"
#include "core/say.h"
#include "core/state.h"
#include "core/trace.h"
#include "identity/alloc.h"
#include "identity/identity.h"
#include "identity/refine.h"
#include "identity/wrappers.h"
#include "out/out.h"

#include "features.h"

#define NAMELESS "static lock without a symbol"

static struct ls_tagtab by_name;

/* Static per-CPU symbols, sorted; kallsyms does not look them up by address. */
static struct percpu_symbol {
	unsigned long addr;
	char name[LS_SYMBOL_LEN - 8];
} *percpu_symbols;
static u32 nr_percpu, max_percpu;

struct symbol {
	char name[KSYM_NAME_LEN];
	char module[LS_MODULE_LEN];
	unsigned long offset;
};

/*
 * Allocation sites in unloaded code: objects allocated there may outlive it, and their locks
 * may first be acquired when other code is at that address.
 */
static struct kept_name {
	struct kept_name *next;
	unsigned long addr;
	unsigned long offset;
	char module[LS_MODULE_LEN];
	char name[];
} *kept_names;

static bool find_kept(unsigned long addr, struct symbol *s)
{
	const struct kept_name *k;

	for (k = kept_names; k && k->addr != addr; k = k->next)
		;
	if (!k)
		return false;
	strscpy(s->name, k->name, sizeof(s->name));
	strscpy(s->module, k->module, sizeof(s->module));
	s->offset = k->offset;
	return true;
}

/*
 * False when no symbol covers @addr. Compiler suffixes (.isra.0, .cold) are dropped: they
 * change with the build. A name that several symbols share gets the number of the symbol,
 * "lock#2".
 */
static bool resolve(unsigned long addr, struct symbol *s)
{
	char text[KSYM_SYMBOL_LEN];
	char *p, *end;
	u32 number;

	if (find_kept(addr, s))
		return true;
	strscpy(s->module, "vmlinux", sizeof(s->module));
	s->offset = 0;
	sprint_symbol(text, addr);
	if (!strncmp(text, "0x", 2)) {
		strscpy(s->name, "?", sizeof(s->name));
		return false;
	}
	p = strstr(text, " [");
	if (p) {
		end = strpbrk(p + 2, " ]");
		if (end)
			*end = 0;
		strscpy(s->module, p + 2, sizeof(s->module));
		*p = 0;
	}
	p = strrchr(text, '+');
	if (p) {
		s->offset = simple_strtoul(p + 1, NULL, 16);
		*p = 0;
	}
	if (strcmp(s->module, "vmlinux"))
		ls_symbol_sized(text, sizeof(text), addr - s->offset);
	number = ls_symbol_number(text, addr - s->offset, !strcmp(s->module, "vmlinux"));
	text[ls_plain_length(text)] = 0;
	if (number)
		snprintf(s->name, sizeof(s->name), "%.*s#%u", KSYM_NAME_LEN - 16, text, number);
	else
		strscpy(s->name, text, sizeof(s->name));
	return true;
}

#ifdef LS_HAVE_EACH_SYMBOL_NO_MODULE
static int collect_percpu(void *data, const char *name, unsigned long addr)
#else
static int collect_percpu(void *data, const char *name, struct module *mod, unsigned long addr)
#endif
{
	addr -= ls_percpu_static_start;
	if (addr >= ls_percpu_static_size)
		return 0;
	if (percpu_symbols && nr_percpu < max_percpu) {
		percpu_symbols[nr_percpu].addr = addr;
		strscpy(percpu_symbols[nr_percpu].name, name, sizeof(percpu_symbols->name));
	}
	nr_percpu++;
	return 0;
}

static int by_addr(const void *a, const void *b)
{
	const struct percpu_symbol *x = a, *y = b;

	return x->addr < y->addr ? -1 : x->addr > y->addr;
}

static void load_percpu_symbols(void)
{
	typeof(kallsyms_on_each_symbol) *each;

	each = (void *)ls_symbol("kallsyms_on_each_symbol");
	max_percpu = 8192;
	percpu_symbols = ls_zalloc(array_size(max_percpu, sizeof(*percpu_symbols)));
	if (!each || !percpu_symbols)
		return;
	each(collect_percpu, NULL);
	nr_percpu = min(nr_percpu, max_percpu);
	sort(percpu_symbols, nr_percpu, sizeof(*percpu_symbols), by_addr, NULL);
}

/* Number of symbol @i among those of its name, from 1; 0 when the name is unique. */
static u32 percpu_number(u32 i)
{
	u32 other, before = 0, all = 0;

	for (other = 0; other < nr_percpu; other++)
		if (!strcmp(percpu_symbols[other].name, percpu_symbols[i].name)) {
			all++;
			before += other < i;
		}
	return all > 1 ? before + 1 : 0;
}

static void name_percpu(char *name, unsigned long at)
{
	u32 low = 0, high, number;
	int len;

	if (ls_percpu_module_name(at, name, LS_NAME_MAX))
		return;
	if (!percpu_symbols)
		load_percpu_symbols();
	high = nr_percpu;
	while (low < high) {
		u32 mid = (low + high) / 2;

		if (percpu_symbols[mid].addr <= at)
			low = mid + 1;
		else
			high = mid;
	}
	if (!low) {
		snprintf(name, LS_NAME_MAX, "percpu+%#lx", at);
		return;
	}
	at -= percpu_symbols[low - 1].addr;
	number = percpu_number(low - 1);
	len = snprintf(name, LS_NAME_MAX, "percpu:%s", percpu_symbols[low - 1].name);
	if (number)
		len += snprintf(name + len, LS_NAME_MAX - len, "#%u", number);
	if (at)
		snprintf(name + len, LS_NAME_MAX - len, "+%#lx", at);
}

static void name_static(char *name, const struct ls_class *c, struct symbol *s)
{
	char offset[24] = "";
	bool vmlinux;
	int room;

	if (!resolve(c->addr, s)) {
		strscpy(name, NAMELESS, LS_NAME_MAX);
		return;
	}
	vmlinux = !strcmp(s->module, "vmlinux");
	s->offset += c->offset;
	if (s->offset)
		snprintf(offset, sizeof(offset), "+%#lx", s->offset);
	/* A truncated symbol ends in a hash of the whole name, to keep it unique. */
	room = LS_NAME_MAX - 2 - (vmlinux ? 0 : strlen(s->module)) - strlen(offset);
	if (strlen(s->name) > room)
		snprintf(s->name + room - 9, 10, "~%08x", jhash(s->name, strlen(s->name), 0));
	snprintf(name, LS_NAME_MAX, "%s%s%s%s", vmlinux ? "" : s->module, vmlinux ? "" : ":",
		 s->name, offset);
}

static void name_allocated(char *name, const struct ls_class *c, const struct symbol *s)
{
	char size[16] = "";

	if (c->bytes)
		snprintf(size, sizeof(size), "(%u)", c->bytes);
	if (!strcmp(c->label, "stack"))
		snprintf(name, LS_NAME_MAX, "stack of %s-%#x", s->name, c->offset);
	else if (c->refinement != LS_REFINE_ARRAY)
		snprintf(name, LS_NAME_MAX, "%s%s+%#x @ %s", c->label, size, c->offset, s->name);
	else if (c->offset)
		snprintf(name, LS_NAME_MAX, "%s%s[]+%#x @ %s", c->label, size, c->offset, s->name);
	else
		snprintf(name, LS_NAME_MAX, "%s%s[] @ %s", c->label, size, s->name);
}

/* No name is known: use the acquire site, and what memory it is in. */
static void name_taken(char *name, const struct ls_class *c, const struct symbol *s)
{
	bool element = c->refinement == LS_REFINE_ARRAY;

	if (!c->label[0])
		snprintf(name, LS_NAME_MAX, "lock taken in %s", s->name);
	else if (element && !c->offset)
		snprintf(name, LS_NAME_MAX, "lock taken in %s, %s[]", s->name, c->label);
	else
		snprintf(name, LS_NAME_MAX, "lock taken in %s, %s%s+%#x", s->name, c->label,
			 element ? "[]" : "", c->offset);
}

/* Append the role of the class's objects to its name. */
static void name_role(char *name, const struct ls_class *c)
{
	size_t len = strlen(name);
	struct symbol data;

	if (c->refinement == LS_REFINE_ARRAY || (!c->role[0] && !c->role_addr))
		return;
	/* For drivers the symbol of the operations is the name; other roles have text. */
	if (LS_REFINED_BY_DRIVER >> c->refinement & 1) {
		if (resolve(c->role_addr, &data))
			snprintf(name + len, LS_NAME_MAX - len, " (%s%s%s)", data.name,
				 c->role[0] ? " " : "", c->role);
	} else {
		snprintf(name + len, LS_NAME_MAX - len, " (%s)", c->role);
	}
}

/*
 * "zspage-zram0", "raid5-md127": caches of devices. The number differs between boots, while
 * all of these caches hold the same type. A suffix without a number is kept.
 */
static void name_slab(char *name, const struct ls_class *c)
{
	const char *dash = strrchr(c->label, '-');
	size_t end = strlen(c->label);

	while (end && isdigit(c->label[end - 1]))
		end--;
	if (dash && end > dash + 1 - c->label && c->label[end])
		snprintf(name, LS_NAME_MAX, "%.*sN+%#x", (int)end, c->label, c->offset);
	else
		snprintf(name, LS_NAME_MAX, "%s+%#x", c->label, c->offset);
}

static void make_name(const struct ls_class *c, char *name, struct symbol *s)
{
	u32 call;

	strscpy(s->module, "vmlinux", sizeof(s->module));
	switch (c->origin) {
	case LS_ORIGIN_STATIC:
	case LS_ORIGIN_FUNCTION:
		name_static(name, c, s);
		break;
	case LS_ORIGIN_PERCPU:
		if (c->label[0])
			snprintf(name, LS_NAME_MAX, "percpu:%s+%#lx", c->label, (unsigned long)c->addr);
		else
			name_percpu(name, c->addr);
		break;
	case LS_ORIGIN_INIT:
		resolve(c->addr, s);
		call = ls_wrapper_call(c->addr);
		if (c->label[0] && call)
			snprintf(name, LS_NAME_MAX, "%s#%u @ %s", c->label, call, s->name);
		else if (c->label[0])
			snprintf(name, LS_NAME_MAX, "%s @ %s", c->label, s->name);
		else
			snprintf(name, LS_NAME_MAX, "%s of %s+%#lx", ls_kind_name(c->kind), s->name, s->offset);
		break;
	case LS_ORIGIN_SLAB:
		name_slab(name, c);
		break;
	case LS_ORIGIN_ALLOC:
		resolve(c->addr, s);
		name_allocated(name, c, s);
		break;
	case LS_ORIGIN_ANNOTATED:
		resolve(c->addr, s);
		strscpy(name, c->label, LS_NAME_MAX);
		break;
	case LS_ORIGIN_PAGE:
		snprintf(name, LS_NAME_MAX, "struct page+%#x", c->offset);
		break;
	default:
		resolve(c->addr, s);
		name_taken(name, c, s);
	}
}

/*
 * Name of the data at @addr: by kind (enum ls_data_kind) a symbol, a cache or an allocating or
 * accessing function. *@offset: of @addr in the symbol.
 */
void ls_name_data(u32 kind, unsigned long addr, const char *label, char *name, char *module,
		  unsigned long *offset)
{
	struct symbol s = { };
	char *plus;

	*offset = 0;
	strscpy(s.module, "vmlinux", sizeof(s.module));
	switch (kind) {
	case LS_DATA_PERCPU:
		if (label[0]) {
			snprintf(name, LS_NAME_MAX, "percpu:%s", label);
			break;
		}
		name_percpu(name, addr);
		plus = strrchr(name, '+');
		if (plus && !kstrtoul(plus + 1, 16, offset))
			*plus = 0;
		break;
	case LS_DATA_SLAB:
		strscpy(name, label, LS_NAME_MAX);
		break;
	default:
		resolve(addr, &s);
		strscpy(name, s.name, LS_NAME_MAX);
		if (kind == LS_DATA_STATIC)
			*offset = s.offset;
	}
	strscpy(module, s.module, LS_MODULE_LEN);
}

/* Classes with the same name, kind and module are one class: their common key. */
static u64 name_key(const char *name, const char *module, u32 kind)
{
	u64 key = kind;

	while (*name)
		key = ls_chain_mix(key, *name++);
	while (*module)
		key = ls_chain_mix(key, *module++);
	return key;
}

/* Name class @id, merge it with an older one of that name, log it. */
void ls_name_class(u32 id)
{
	struct ls_class *c = &ls.classes.table[id];
	struct ls_rec_class rec = {
		.hdr = { sizeof(rec), LS_REC_CLASS },
		.id = id, .kind = c->kind, .origin = c->origin,
		.offset = c->offset, .object_size = c->object_size,
	};
	struct symbol s = { };

	make_name(c, ls_class_texts[id].name, &s);
	name_role(ls_class_texts[id].name, c);
	c->canonical = 0;
	if (strcmp(ls_class_texts[id].name, NAMELESS))
		c->canonical = ls_tagtab_insert(&by_name, name_key(ls_class_texts[id].name, s.module, c->kind), id);
	if (!c->canonical)
		c->canonical = id;
	rec.canonical = c->canonical;
	strscpy(rec.name, ls_class_texts[id].name, sizeof(rec.name));
	strscpy(rec.module, s.module, sizeof(rec.module));
	ls_log_append(&rec, sizeof(rec), NULL, 0, NULL);
	trace_class(id, ls_class_texts[id].name, ls_kind_name(c->kind));
}

/* Symbol at @rec->ip. False when there is none. Process context. */
bool ls_symbol_at(struct ls_rec_symbol *rec)
{
	char text[KSYM_SYMBOL_LEN], *p;

	sprint_symbol(text, rec->ip);
	p = strstr(text, " [");
	if (p) {
		strscpy(rec->module, p + 2, sizeof(rec->module));
		rec->module[strcspn(rec->module, " ]")] = 0;
		*p = 0;
	}
	p = strrchr(text, '+');
	if (p) {
		rec->offset = simple_strtoul(p + 1, &p, 16);
		rec->size = *p == '/' ? simple_strtoul(p + 1, NULL, 16) : 0;
		*strrchr(text, '+') = 0;
	}
	strscpy(rec->function, text, sizeof(rec->function));
	return p;
}

/* Log the symbol of @ip while it can be resolved. */
void ls_symbol_log(u64 ip)
{
	struct ls_rec_symbol rec = { .hdr = { sizeof(rec), LS_REC_SYMBOL }, .ip = ip };

	/* Unresolved symbols are addresses, which must not be shown. */
	if (!ls_symbol_at(&rec))
		strscpy(rec.function, "(unloaded code)", sizeof(rec.function));
	ls_log_append(&rec, sizeof(rec), NULL, 0, NULL);
}

/* Code at [start, end) is unloaded: keep the names of the allocation sites in it. Worker only. */
void ls_names_keep(unsigned long start, unsigned long end)
{
	struct kept_name *k, **at;
	unsigned long ip;
	struct symbol s;
	u32 site;

	/* An earlier site at the same address, in code unloaded before, is older. */
	for (site = 1; (ip = ls_site_ip(site)); site++) {
		if (ip < start || ip >= end)
			continue;
		for (at = &kept_names; (k = *at); at = &k->next)
			if (k->addr == ip) {
				*at = k->next;
				kfree(k);
				break;
			}
		if (!resolve(ip, &s))
			continue;
		k = kmalloc(struct_size(k, name, strlen(s.name) + 1), GFP_KERNEL);
		if (!k)
			return;
		k->addr = ip;
		k->offset = s.offset;
		strcpy(k->module, s.module);
		strcpy(k->name, s.name);
		k->next = kept_names;
		kept_names = k;
	}
}

int ls_names_init(u32 max_classes)
{
	u32 bits = order_base_2(max_classes + 1) + 1;
	void *slots = ls_zalloc(ls_tagtab_bytes(bits));

	ls_class_texts = ls_zalloc(array_size(max_classes + 1, sizeof(*ls_class_texts)));
	if (!slots || !ls_class_texts) {
		ls_free(slots);
		return -ENOMEM;
	}
	ls_tagtab_init(&by_name, slots, bits);
	return ls_symbols_init();
}

void ls_names_exit(void)
{
	struct kept_name *k;

	while ((k = kept_names)) {
		kept_names = k->next;
		kfree(k);
	}
	ls_free(ls_class_texts);
	ls_free(by_name.slots);
	ls_free(percpu_symbols);
	ls_symbols_exit();
}
