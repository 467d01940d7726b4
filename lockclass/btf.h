/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Where structures of the kernel that no header shows keep their members: read from
 * the kernel's own description of its types (BTF, Documentation/bpf/btf.rst).
 */
#ifndef LOCKSCOPE_BTF_H
#define LOCKSCOPE_BTF_H

#include "port.h"

#define LS_BTF_NONE (~(ls_u32)0)

/*
 * Offset in bytes of @member in struct or union @type, members of unnamed structures
 * inside it included; LS_BTF_NONE when @btf, @size bytes of a raw BTF blob, has no such
 * thing, or a bit field. Never reads beyond @size. Goes through all types: for start-up.
 */
ls_u32 ls_btf_offset(const void *btf, ls_size size, const char *type, const char *member);

/* Size in bytes of struct or union @type, likewise. */
ls_u32 ls_btf_size(const void *btf, ls_size size, const char *type);

#endif /* LOCKSCOPE_BTF_H */
