/* SPDX-License-Identifier: GPL-2.0 */
/* Symbols of the kernel by name and by address, exported or not. */
#ifndef LOCKSCOPE_LOOKUP_H
#define LOCKSCOPE_LOOKUP_H

#include <linux/kallsyms.h>

extern typeof(kallsyms_lookup_size_offset) *ls_size_offset;

unsigned long ls_symbol(const char *name);
unsigned long ls_function_of(unsigned long ip);
void ls_find_function(const char *name, unsigned long *start, unsigned long *size);
int ls_lookup_init(void);

#endif /* LOCKSCOPE_LOOKUP_H */
