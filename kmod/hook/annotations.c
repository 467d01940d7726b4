// SPDX-License-Identifier: GPL-2.0
/*
 * Annotations of other modules (annotate.h): each calls an empty function of its own, which is
 * found by name and hooked. So neither side depends on the other.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/ftrace.h>
#include <linux/kallsyms.h>
#include <linux/module.h>
#include <linux/semaphore.h>
#include <net/sock.h>

#include "annotate.h"
#include "base/preempt.h"
#include "base/wrapper/ftrace.h"
#include "check/access/access.h"
#include "check/check.h"
#include "check/events.h"
#include "core/context.h"
#include "hook/hook.h"
#include "identity/identity.h"
#include "primitives.h"

static void on_annotation(unsigned long ip, unsigned long parent, struct ftrace_ops *o,
			  struct ftrace_regs *fregs);
static struct ftrace_ops ops = { .func = on_annotation };
static bool registered;
static DEFINE_MUTEX(attach_mutex);

static void ignore(struct ls_ctx *ctx, bool begin)
{
	if (begin) {
		ctx->ignoring++;
		ctx->busy = 1;
	} else if (ctx->ignoring && !--ctx->ignoring) {
		ctx->busy = 0;
	}
}

/* Topmost entry of the lock that begins at @p, whatever its kind; -1 when it is not held. */
static int find_held(const struct ls_ctx *ctx, u64 p)
{
	u32 i;

	for (i = ctx->depth; i-- > 0;)
		if (ctx->held[i].lock - LS_KIND_OFFSET(ls_kind_of(ctx->held[i].val)) == p)
			return i;
	return -1;
}

/* Private locks are only known from annotations: without an entry the lock is not held. */
static void release(struct ls_cpu *pc, struct ls_ctx *ctx, u64 lock, u64 ip)
{
	int i = find_held(ctx, lock);
	u32 id;

	if (i >= 0) {
		ls_held_remove(ctx, i);
		return;
	}
	if (ctx->busy)
		return;
	id = ls_class_at(ctx, lock, LS_KIND_PRIVATE, ip);
	ls_fault_here(pc, ctx, LS_FINDING_DOUBLE_UNLOCK, lock, ip, id, 0, 0);
	ls_held_distrust(ctx);
}

static void require_held(struct ls_cpu *pc, struct ls_ctx *ctx, u64 lock, u64 ip)
{
	u32 id;

	if (ctx->busy || find_held(ctx, lock) >= 0)
		return;
	id = ls_class_at(ctx, lock, LS_KIND_NONE, ip);
	ls_fault_here(pc, ctx, LS_FINDING_NOT_HELD, lock, ip, id, 0, 0);
}

/*
 * One of many locks: its name is kept by address only while it is held, so that nothing
 * remains for memory whose free is not seen. Locks in objects of a named cache, and static
 * ones, have a name already.
 */
static void name_member(u64 lock, const char *text)
{
	struct ls_class proto = {
		.kind = LS_KIND_PRIVATE, .origin = LS_ORIGIN_ANNOTATED, .addr = (unsigned long)text,
		.key = ls_key_init((unsigned long)text, 1),
	};
	u32 id = ls_classes_find(&ls.classes, proto.key);
	bool created;

	if (!id) {
		ls_copy_label(proto.label, text, sizeof(proto.label));
		id = ls_classes_add(&ls.classes, &proto, &created);
		if (!id)
			ls_lose(LS_LOSS_CLASSES);
		else if (created)
			ls_wake_worker();
	}
	if (id)
		ls_remember(&ls.addrs, ls_addr_of_lock(lock), id);
}

static void annotated(unsigned long op, u64 p, unsigned long n, const char *text, u64 ip)
{
	struct ls_cpu *pc = this_cpu_ptr(&ls_cpus);
	u32 level;
	struct ls_ctx *ctx = ls_context(pc, &level);

	switch (op) {
	case LOCKSCOPE_OP_ACQUIRE:
	case LOCKSCOPE_OP_ACQUIRE_READ:
	case LOCKSCOPE_OP_ACQUIRE_TRY:
		if (!ctx->busy && !ls_identity_is_named(p))
			ls_identity_annotate(p, text);
		ls_acquire(pc, p, ip, LS_DESC(PRIVATE, 0, 0, 0) |
				      (op == LOCKSCOPE_OP_ACQUIRE_READ ? LS_SH :
				       op == LOCKSCOPE_OP_ACQUIRE_TRY ? LS_VAL_TRY : 0));
		break;
	case LOCKSCOPE_OP_RELEASE:
		release(pc, ctx, p, ip);
		break;
	case LOCKSCOPE_OP_INIT:
		ls_lock_initialised(pc, p, ip);
		fallthrough;
	case LOCKSCOPE_OP_CLASS:
		ls_identity_annotate(p, text);
		break;
	case LOCKSCOPE_OP_ASSERT_HELD:
		require_held(pc, ctx, p, ip);
		break;
	case LOCKSCOPE_OP_NEST:
		require_held(pc, ctx, n, ip);
		ctx->nest = 1;
		break;
	case LOCKSCOPE_OP_IGNORE:
		ignore(ctx, n);
		break;
	case LOCKSCOPE_OP_REUSE:
		ls_range_freed(p, n, ip);
		ls_identity_forget_names(p, p + n);
		ls_shadow_freed(p, n);
		break;
	case LOCKSCOPE_OP_ACQUIRE_MEMBER:
		if (!ctx->busy)
			name_member(p, text);
		ls_acquire(pc, p, ip, LS_DESC(PRIVATE, 0, 0, 0) | (n ? LS_VAL_TRY : 0));
		break;
	case LOCKSCOPE_OP_RELEASE_MEMBER:
		release(pc, ctx, p, ip);
		if (!ctx->busy)
			ls_addrmap_remove(&ls.addrs, ls_addr_of_lock(p));
		break;
	case LOCKSCOPE_OP_BENIGN:
		if (ls_access_benign(p, n))
			ls_lose_access(LS_ALOSS_SITES);
		break;
	}
}

static void on_annotation(unsigned long ip, unsigned long parent, struct ftrace_ops *o,
			  struct ftrace_regs *fregs)
{
	preempt_disable_notrace();
	if (READ_ONCE(ls_active))
		annotated(ftrace_regs_get_argument(fregs, 0), ftrace_regs_get_argument(fregs, 1),
			  ftrace_regs_get_argument(fregs, 2),
			  (const char *)ftrace_regs_get_argument(fregs, 3), parent);
	ls_leave();
}

/*
 * @mod was loaded: hook its annotations, one function for each file that uses them. Process
 * context.
 */
void ls_annotations_module(struct module *mod)
{
	struct mod_kallsyms *k;
	unsigned int i;

	mutex_lock(&attach_mutex);
	rcu_read_lock_sched();
	k = rcu_dereference_sched(mod->kallsyms);
	rcu_read_unlock_sched();
	for (i = 0; k && i < k->num_symtab; i++) {
		const char *name = k->strtab + k->symtab[i].st_name;

		if (strcmp(name, "lockscope_annotation") || !k->symtab[i].st_value)
			continue;
		if (ftrace_set_filter_ip(&ops, k->symtab[i].st_value, 0, 0)) {
			pr_warn("annotations of module %s cannot be hooked\n", mod->name);
			continue;
		}
		if (!registered)
			registered = !register_ftrace_function(&ops);
	}
	mutex_unlock(&attach_mutex);
}

void ls_annotations_detach(void)
{
	if (registered)
		unregister_ftrace_function(&ops);
	registered = false;
	ftrace_free_filter(&ops);
}
