/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Member offsets in structures of the kernel that no header declares: read from the kernel's
 * own type information (BTF, Documentation/bpf/btf.rst).
 */
#ifndef LOCKSCOPE_BTF_H
#define LOCKSCOPE_BTF_H

#include "port.h"

#define LS_BTF_NONE (~(ls_u32)0)

/*
 * Offset in bytes of @member in struct or union @type, including members of unnamed structures
 * inside it; LS_BTF_NONE when @btf, @size bytes of a raw BTF blob, has no such member, or for
 * a bit field. Never reads beyond @size. Scans all types: for initialisation.
 */
ls_u32 ls_btf_offset(const void *btf, ls_size size, const char *type, const char *member);

/* Size in bytes of struct or union @type, likewise. */
ls_u32 ls_btf_size(const void *btf, ls_size size, const char *type);

#endif /* LOCKSCOPE_BTF_H */
