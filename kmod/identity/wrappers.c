// SPDX-License-Identifier: GPL-2.0
/*
 * Drivers wrap locks: afs_mutex_init(l) does mutex_init(&l->mutex), afs_mutex_enter(l) does
 * mutex_lock(&l->mutex) and keeps its owner. For a lock the place of its initialiser is the class
 * and that of the acquisition the site; with a wrapper, all locks would be one class, taken at
 * one place. So both are those of the wrapper's caller.
 *
 * What is a wrapper is decided from its code when its module is loaded, so that names do not
 * depend on what ran first: a small function of an out-of-tree module, called directly by
 * several others, that passes its argument, or a member of what that points to, to one lock
 * function, releases nothing, and does no more than some bookkeeping. An initialiser of whole objects has fewer
 * callers, more to initialise and its lock inside; a wrapper has it first.
 *
 * Modules of the kernel are left alone: their wrappers are known to the tables of annotations.
 */
#include <linux/elf.h>
#include <linux/kernel.h>
#include <linux/mutex.h>
#include <linux/sched/task_stack.h>
#include <asm/insn.h>

#include "base/lookup.h"
#include "base/wrapper/module.h"
#include "core/prims.h"
#include "core/stacks.h"
#include "identity/slab.h"
#include "identity/wrappers.h"
#include "tagtab.h"

#define MAX_SIZE 256		/* bytes of a wrapper */
#define MAX_OTHERS 2		/* calls besides the lock function: panics, assertions */
#define MAX_STORES 2		/* of an initialiser's bookkeeping */
#define MIN_CALLERS 2
#define MAX_WRAPPERS 127
#define INNER_BITS 8
#define OUTER_BITS 13
#define MAX_OUTER (1u << (OUTER_BITS - 1))
#define MAX_FRAME 24		/* words of a wrapper's frame */
#define MAX_OWN_WORDS 256	/* between this module's frames and the hooked function's */

/* Places behind the calls in wrappers, and behind the calls of wrappers: both to the number. */
static u64 inner_slots[1 << INNER_BITS], outer_slots[1 << OUTER_BITS];
static struct ls_tagtab inner, outer;
static unsigned long inner_places[MAX_WRAPPERS + 1], outer_places[MAX_OUTER];
static u32 nr_outer;
u32 ls_nr_wrappers;
static DEFINE_MUTEX(scan_mutex);	/* modules are loaded in parallel */

static typeof(insn_decode) *decode;
static unsigned long return_thunk;

void ls_wrappers_init(void)
{
	ls_tagtab_init(&inner, inner_slots, INNER_BITS);
	ls_tagtab_init(&outer, outer_slots, OUTER_BITS);
	decode = (void *)ls_symbol("insn_decode");
	return_thunk = ls_symbol("__x86_return_thunk");
}

#define NO_LOCKS (LS_AWAITED_KINDS | 1u << LS_KIND_WORK | 1u << LS_KIND_NONE)

/* What the calls of a function are. */
struct calls {
	u32 locks, unlocks, inits, others, stores;
	unsigned long place;	/* behind the only call of a lock function */
	bool moved;		/* the argument was changed before that call */
	bool fixed;		/* to an address that the function has by itself */
};

static void see_call(struct calls *c, unsigned long target, unsigned long behind)
{
	u32 i;

	for (i = 0; i < LS_NR_PRIMS && ls_prims[i].start != target; i++)
		;
	/* Waits for the end of something are no acquisitions. */
	if (i == LS_NR_PRIMS || NO_LOCKS >> (ls_prim_table[i].desc >> LS_DESC_KIND_SHIFT) & 1) {
		c->others++;
		return;
	}
	switch (ls_prim_table[i].group) {
	case LS_G_ACQUIRE:
	case LS_G_SPIN:
	case LS_G_RESULT:
	case LS_G_FALLIBLE:
		c->locks++;
		c->place = behind;
		break;
	case LS_G_RELEASE:
		c->unlocks++;
		break;
	case LS_G_SPECIAL:
		switch (ls_prim_table[i].desc & LS_OP_MASK) {
		case LS_OP_ACQUIRE:
			c->locks++;
			c->place = behind;
			break;
		case LS_OP_INIT:
		case LS_OP_INIT_UNNAMED:
			c->inits++;
			c->place = behind;
			break;
		case LS_OP_RELEASE:
			c->unlocks++;
			break;
		default:
			c->others++;
		}
		break;
	default:
		c->others++;
	}
}

#define RDI 7

/* Does @in write the register of the first argument? */
static void see_argument(struct calls *c, const struct insn *in)
{
	u8 op = in->opcode.bytes[0], mod = X86_MODRM_MOD(in->modrm.value);
	u32 reg = X86_MODRM_REG(in->modrm.value) | X86_REX_R(in->rex_prefix.value) << 1;
	u32 rm = X86_MODRM_RM(in->modrm.value) | X86_REX_B(in->rex_prefix.value) << 3;

	switch (op) {
	case 0xbf:	/* mov $imm, %edi */
		if (!X86_REX_B(in->rex_prefix.value))
			c->fixed = true;
		break;
	case 0xc7:	/* mov $imm, rm */
		if (mod == 3 && rm == RDI)
			c->fixed = true;
		break;
	case 0x8b:	/* mov rm, reg */
	case 0x8d:	/* lea */
		if (reg != RDI)
			break;
		if (mod == 0 && X86_MODRM_RM(in->modrm.value) == 5)
			c->fixed = true;
		c->moved = true;
		break;
	case 0x89:	/* mov reg, rm */
	case 0x01:
	case 0x81:
	case 0x83:
		if (mod == 3 && rm == RDI && (op == 0x89 || op == 0x01 || X86_MODRM_REG(in->modrm.value) != 7))
			c->moved = true;
		break;
	}
}

static void see_store(struct calls *c, const struct insn *in)
{
	u8 op = in->opcode.bytes[0];

	if ((op == 0x88 || op == 0x89 || op == 0xc6 || op == 0xc7) && X86_MODRM_MOD(in->modrm.value) != 3)
		c->stores++;
}

/* Code of the function at [@start, @start + @size); false when it cannot be decoded. */
static bool see_function(struct calls *c, unsigned long start, u32 size)
{
	unsigned long at = start, end = start + size, target;
	struct insn in;

	while (at < end && *(u8 *)at != 0xcc) {
		if (decode(&in, (void *)at, end - at, INSN_MODE_64))
			return false;
		target = at + in.length + (s32)in.immediate.value;
		if (in.opcode.bytes[0] == 0xe8) {
			/* Behind an ENDBR at most, that is ftrace's. */
			if (at > start + 4)
				see_call(c, target, at + in.length);
		} else if (in.opcode.bytes[0] == 0xe9 && (target < start || target >= end) && target != return_thunk) {
			/* Called by a jump, it returns to the caller. */
			c->others++;
		} else if (in.opcode.bytes[0] == 0xff && (X86_MODRM_REG(in.modrm.value) & 6) == 2) {
			c->others++;
		} else {
			if (!c->locks && !c->inits)
				see_argument(c, &in);
			see_store(c, &in);
		}
		at += in.length;
	}
	return true;
}

/* Place behind the call of the lock function if the function is a wrapper, else 0. */
static unsigned long wraps(unsigned long start, u32 size)
{
	struct calls c = { };

	if (!see_function(&c, start, size) || c.locks + c.inits != 1 || c.unlocks || c.fixed)
		return 0;
	if (c.inits && (c.moved || c.others || c.stores > MAX_STORES))
		return 0;
	return c.others <= MAX_OTHERS ? c.place : 0;
}

/* Does the function at [@from, @to) call the one at @start? Places behind the calls are added. */
static u32 see_caller(unsigned long from, unsigned long to, unsigned long start, u32 id)
{
	u32 found = 0;

	for (; from + 5 <= to; from++) {
		if (*(u8 *)from != 0xe8 || from + 5 + *(s32 *)(from + 1) != start)
			continue;
		found++;
		if (!id)
			continue;
		if (nr_outer == MAX_OUTER || !ls_tagtab_insert(&outer, ls_mix(from + 5), id)) {
			ls_lose(LS_LOSS_SITES);
			continue;
		}
		outer_places[nr_outer++] = from + 5;
	}
	return found;
}

#ifdef CONFIG_KALLSYMS
static bool is_function(const struct module *mod, const Elf_Sym *sym)
{
	u64 start, end;

	ls_module_text(mod, false, &start, &end);
	return ELF_ST_TYPE(sym->st_info) == STT_FUNC && sym->st_size && sym->st_value >= start &&
	       sym->st_value + sym->st_size <= end;
}

/* The functions that call the one at @start, @id: its number as a wrapper, or 0. */
static u32 see_callers(const struct module *mod, const struct mod_kallsyms *syms, unsigned long start, u32 id)
{
	u32 i, callers = 0;

	for (i = 0; i < syms->num_symtab; i++) {
		const Elf_Sym *sym = &syms->symtab[i];

		/* A module may have megabytes of code. */
		cond_resched();
		if (is_function(mod, sym) && sym->st_value != start)
			callers += see_caller(sym->st_value, sym->st_value + sym->st_size, start, id) != 0;
	}
	return callers;
}

/* A number that is free, 0: none is. */
static u32 free_number(void)
{
	u32 id;

	for (id = 1; id <= MAX_WRAPPERS; id++)
		if (!inner_places[id])
			return id;
	return 0;
}

/* Module @mod is loaded; its code is complete, and none of it runs yet. Process context. */
void ls_wrappers_module(const struct module *mod)
{
	const struct mod_kallsyms *syms;
	u32 i, id;

	if (!decode || !test_bit(TAINT_OOT_MODULE, &mod->taints))
		return;
	/* Replaced only when the module's initialisation is over. */
	syms = rcu_dereference_raw(mod->kallsyms);
	mutex_lock(&scan_mutex);
	for (i = 0; syms && i < syms->num_symtab; i++) {
		const Elf_Sym *sym = &syms->symtab[i];
		unsigned long place;

		if (!is_function(mod, sym) || sym->st_size > MAX_SIZE)
			continue;
		place = wraps(sym->st_value, sym->st_size);
		if (!place || see_callers(mod, syms, sym->st_value, 0) < MIN_CALLERS)
			continue;
		id = free_number();
		if (!id || !ls_tagtab_insert(&inner, ls_mix(place), id)) {
			ls_lose(LS_LOSS_SITES);
			break;
		}
		inner_places[id] = place;
		see_callers(mod, syms, sym->st_value, id);
		ls_fetch_add(&ls_nr_wrappers, 1);
	}
	mutex_unlock(&scan_mutex);
}
#else
void ls_wrappers_module(const struct module *mod) { }
#endif

/* Code at [start, end) goes away. Process context. */
void ls_wrappers_forget(unsigned long start, unsigned long end)
{
	u32 i;

	mutex_lock(&scan_mutex);
	for (i = 1; i <= MAX_WRAPPERS; i++) {
		if (inner_places[i] - start >= end - start)
			continue;
		ls_tagtab_remove(&inner, ls_mix(inner_places[i]));
		inner_places[i] = 0;
		ls_fetch_add(&ls_nr_wrappers, -1);
	}
	for (i = 0; i < nr_outer;) {
		if (outer_places[i] - start >= end - start) {
			i++;
			continue;
		}
		ls_tagtab_remove(&outer, ls_mix(outer_places[i]));
		outer_places[i] = outer_places[--nr_outer];
	}
	mutex_unlock(&scan_mutex);
}

/*
 * Which of the calls of a wrapper in its function is the one before @place, counted from 1 in the
 * order of the code? The locks of one object are often initialised by one function, and a wrapper
 * has one expression for all of them. 0: it is no such call, or the only one. Process context.
 */
u32 ls_wrapper_call(unsigned long place)
{
	u32 id = ls_tagtab_find(&outer, ls_mix(place)), i, all = 0, before = 0;
	unsigned long function = id ? ls_function_of(place) : 0;

	if (!function)
		return 0;
	mutex_lock(&scan_mutex);
	for (i = 0; i < nr_outer; i++)
		if (ls_tagtab_find(&outer, ls_mix(outer_places[i])) == id &&
		    ls_function_of(outer_places[i]) == function) {
			all++;
			before += outer_places[i] < place;
		}
	mutex_unlock(&scan_mutex);
	return all > 1 ? before + 1 : 0;
}

/* By the unwinder: on the stack of an interrupt. */
static noinline unsigned long unwound_caller(unsigned long ip)
{
	unsigned long frames[24];
	u32 nr = ls_stack_save(frames, ARRAY_SIZE(frames)), i;

	for (i = 0; i + 1 < nr; i++)
		if (frames[i] == ip)
			return frames[i + 1];
	return ip;
}

/*
 * Place behind the call of the wrapper that the code at @ip is in; @ip when it is in none. The
 * return addresses of the lock function and of the wrapper are on the stack, the latter in the
 * frame behind the former; what lies there is compared with the known callers of that wrapper.
 */
noinline unsigned long ls_wrapper_caller(unsigned long ip)
{
	const unsigned long *word = __builtin_frame_address(0), *end;
	u32 id = ls_tagtab_find(&inner, ls_mix(ip)), i;

	if (likely(!id))
		return ip;
	if (!object_is_on_stack(word))
		return unwound_caller(ip);
	end = (const unsigned long *)(task_stack_page(current) + THREAD_SIZE);
	for (i = 0; word < end && *word != ip && i < MAX_OWN_WORDS; i++)
		word++;
	for (i = 0; ++word < end && i < MAX_FRAME; i++)
		if (ls_tagtab_find(&outer, ls_mix(*word)) == id)
			return *word;
	/* Called through a pointer. */
	return unwound_caller(ip);
}

/*
 * A fast path does not know the callers of a wrapper: the class of @lock of @kind, which was acquired
 * through one, is found by the slow path from now on.
 */
void ls_class_ask(unsigned long lock, u32 kind)
{
	struct kmem_cache *cache;
	unsigned long object;
	u32 offset, id, i;
	u64 keys[2];

	if (lock >= __START_KERNEL_map || !ls_slab_locate(lock, &cache, &object, &offset)) {
		keys[0] = keys[1] = ls_key_address(lock);
	} else {
		keys[0] = ls_key_slab((u64)cache, offset, ls_key_kind(kind));
		keys[1] = ls_key_alloc((u64)cache, offset, ls_key_kind(kind),
				       ls_addrmap_find(&ls.sites, object));
	}
	for (i = 0; i < ARRAY_SIZE(keys); i++) {
		id = ls_tagtab_find(&ls.classes.keys, keys[i]);
		if (id && !(id & LS_KEY_ASK))
			ls_tagtab_change(&ls.classes.keys, keys[i], id, id | LS_KEY_ASK);
	}
}
