/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Comes before the kernel's header of that name in modules that `lockscope instrument` builds:
 * a bucket of a hash table is locked by bit_spin_lock(), but released by storing its new head,
 * which no function reports. Its locks are ignored on both sides.
 */
#ifndef LOCKSCOPE_RHASHTABLE_H
#define LOCKSCOPE_RHASHTABLE_H

#include <linux/bit_spinlock.h>

#pragma push_macro("bit_spin_lock")
#pragma push_macro("bit_spin_trylock")
#pragma push_macro("bit_spin_unlock")
#pragma push_macro("__bit_spin_unlock")
#undef bit_spin_lock
#undef bit_spin_trylock
#undef bit_spin_unlock
#undef __bit_spin_unlock

#include_next <linux/rhashtable.h>

#pragma pop_macro("bit_spin_lock")
#pragma pop_macro("bit_spin_trylock")
#pragma pop_macro("bit_spin_unlock")
#pragma pop_macro("__bit_spin_unlock")

#endif
