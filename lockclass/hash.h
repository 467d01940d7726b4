/* SPDX-License-Identifier: GPL-2.0 */
/* Hash mixing of the fast path: a multiply and a shift, no tables. */
#ifndef LOCKSCOPE_HASH_H
#define LOCKSCOPE_HASH_H

#include "port.h"

#define LS_GOLDEN 0x9E3779B97F4A7C15ull

/* Bijective on 64 bits; both the top bits and the low 40 bits are well mixed. */
LS_INLINE ls_u64 ls_mix(ls_u64 x)
{
	x *= LS_GOLDEN;
	return x ^ (x >> 32);
}

/*
 * Chain key of @val on top of chain @key; depends on the order of the locks. No
 * final shift: the tables take the top bits for the place and the low 40 for the
 * tag, and a multiplication carries into both.
 */
LS_INLINE ls_u64 ls_chain_mix(ls_u64 key, ls_u64 val)
{
	return (key + val) * LS_GOLDEN;
}

#endif /* LOCKSCOPE_HASH_H */
