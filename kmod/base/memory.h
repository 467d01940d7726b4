/* SPDX-License-Identifier: GPL-2.0 */
/* The module's memory, counted. */
#ifndef LOCKSCOPE_MEMORY_H
#define LOCKSCOPE_MEMORY_H

#include <linux/types.h>

void *ls_zalloc(size_t bytes);
void ls_free(const void *memory);
void ls_memory_count(long bytes);
void ls_memory_info(unsigned long *bytes, unsigned long *peak);
void ls_memory_exit(void);

#endif /* LOCKSCOPE_MEMORY_H */
