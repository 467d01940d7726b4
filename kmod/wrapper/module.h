/* SPDX-License-Identifier: GPL-2.0 */
#ifndef LOCKSCOPE_WRAPPER_MODULE_H
#define LOCKSCOPE_WRAPPER_MODULE_H

#include <linux/module.h>

#include "features.h"

/*
 * The areas of a module's code and data that stay until it goes:
 * for (i = 0; i < LS_MODULE_AREAS; i++) ls_module_area(mod, i, &start, &end).
 */
#ifdef LS_HAVE_MODULE_MEM
#define LS_MODULE_AREAS MOD_INIT_TEXT
static inline void ls_module_area(const struct module *mod, int i, unsigned long *start,
				  unsigned long *end)
{
	*start = (unsigned long)mod->mem[i].base;
	*end = *start + mod->mem[i].size;
}
#else
#define LS_MODULE_AREAS 1
static inline void ls_module_area(const struct module *mod, int i, unsigned long *start,
				  unsigned long *end)
{
	*start = (unsigned long)mod->core_layout.base;
	*end = *start + mod->core_layout.size;
}
#endif

#endif
