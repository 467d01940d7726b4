/* SPDX-License-Identifier: GPL-2.0 */
#ifndef LOCKSCOPE_WRAPPER_MODULE_H
#define LOCKSCOPE_WRAPPER_MODULE_H

#include <linux/module.h>

#include "features.h"

/*
 * The areas of a module's code and data that stay until it is unloaded: for (i = 0; i <
 * LS_MODULE_AREAS; i++) ls_module_area(mod, i, &start, &end). Those of its init sections,
 * empty once freed, are numbered from LS_MODULE_AREAS up to LS_MODULE_ALL_AREAS.
 */
#ifdef LS_HAVE_MODULE_MEM
#define LS_MODULE_AREAS MOD_INIT_TEXT
#define LS_MODULE_ALL_AREAS MOD_MEM_NUM_TYPES
static inline void ls_module_area(const struct module *mod, int i, unsigned long *start,
				  unsigned long *end)
{
	*start = (unsigned long)mod->mem[i].base;
	*end = *start + mod->mem[i].size;
}

/* Core code, or (@init) code of the init sections. */
static inline void ls_module_text(const struct module *mod, bool init, u64 *start, u64 *end)
{
	const struct module_memory *mem = &mod->mem[init ? MOD_INIT_TEXT : MOD_TEXT];

	*start = mem->size ? (unsigned long)mem->base : 0;
	*end = *start + mem->size;
}

/* Members of struct module with the areas of its code and of its read-only data. */
#define LS_MODULE_TEXT mem[MOD_TEXT]
#define LS_MODULE_RODATA mem[MOD_RODATA]
#else
#define LS_MODULE_AREAS 1
#define LS_MODULE_ALL_AREAS 2
static inline void ls_module_area(const struct module *mod, int i, unsigned long *start,
				  unsigned long *end)
{
	const struct module_layout *layout = i ? &mod->init_layout : &mod->core_layout;

	*start = (unsigned long)layout->base;
	*end = *start + layout->size;
}

/* Core code, or (@init) code of the init sections. */
static inline void ls_module_text(const struct module *mod, bool init, u64 *start, u64 *end)
{
	const struct module_layout *layout = init ? &mod->init_layout : &mod->core_layout;

	*start = layout->text_size ? (unsigned long)layout->base : 0;
	*end = *start + layout->text_size;
}

#define LS_MODULE_TEXT core_layout
#define LS_MODULE_RODATA core_layout
#endif

#endif
