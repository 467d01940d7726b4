/* SPDX-License-Identifier: GPL-2.0 */
/* Held locks as text, in lockdep's form, which log scanners parse. Any context. */
#ifndef LOCKSCOPE_SAY_H
#define LOCKSCOPE_SAY_H

#include <linux/stdarg.h>

#include "core/state.h"

/* vprintk(), or vprintk_deferred() where the console may not be entered. */
typedef int ls_vprintk(const char *fmt, va_list args);

/* Written by the worker, see names.c. */
struct ls_class_text {
	char name[LS_NAME_MAX];
};
extern struct ls_class_text *ls_class_texts;
const char *ls_class_name(u32 id);
const char *ls_kind_name(u32 kind);

#define LS_SAY_NAME 96		/* bytes of a lock's name */
const char *ls_say_name(char *text, const struct ls_held *h);
__printf(2, 3) void ls_say(ls_vprintk *out, const char *fmt, ...);
u32 ls_say_entries(ls_vprintk *out, const char *level, const struct ls_ctx *ctx, u32 nr, u32 first);
void ls_say_entry(ls_vprintk *out, const char *level, const char *lead, const struct ls_held *h);

#endif /* LOCKSCOPE_SAY_H */
