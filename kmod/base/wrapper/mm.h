/* SPDX-License-Identifier: GPL-2.0 */
#ifndef LOCKSCOPE_WRAPPER_MM_H
#define LOCKSCOPE_WRAPPER_MM_H

#include <linux/mm.h>

#include "features.h"

#ifndef LS_HAVE_VM_FLAGS_CLEAR
#define vm_flags_clear(vma, flags) ((vma)->vm_flags &= ~(flags))
#endif

#endif
