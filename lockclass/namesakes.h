/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Symbols that share a name: static locks and functions of several files. They are
 * distinguished by their number in the order of the symbol table, which is the same on every
 * boot of a build.
 */
#ifndef LOCKSCOPE_NAMESAKES_H
#define LOCKSCOPE_NAMESAKES_H

#include "port.h"

struct ls_namesakes {
	const char *symbol;	/* with compiler suffixes */
	ls_u32 plain;		/* length without suffixes */
	bool code;		/* a function */
	ls_u32 ahead;		/* namesakes before it in the table */
	ls_u32 bodies;		/* namesakes that are functions, without clones and parts of them */
	ls_u32 same;		/* namesakes with the same suffix */
};

/*
 * Length of @name without compiler suffixes (lock.12, f.isra.0, f.cold), which change between
 * builds.
 */
LS_INLINE ls_u32 ls_plain_length(const char *name)
{
	ls_u32 n = name[0] ? 1 : 0;

	/* Names that begin with a dot are the linker's. */
	while (name[n] && (name[n] != '.' || name[0] == '.'))
		n++;
	return n;
}

LS_INLINE bool ls_symbol_begins(const char *symbol, const char *prefix)
{
	while (*prefix && *symbol == *prefix) {
		symbol++;
		prefix++;
	}
	return !*prefix;
}

/*
 * Count the namesakes of @symbol: call ls_namesakes_see() for every symbol of its module,
 * including itself.
 */
LS_INLINE void ls_namesakes_of(struct ls_namesakes *n, const char *symbol, bool code)
{
	n->symbol = symbol;
	n->plain = ls_plain_length(symbol);
	n->code = code;
	n->ahead = n->bodies = n->same = 0;
}

/* Does @other have the name of the namesakes? */
LS_INLINE bool ls_namesakes_share(const struct ls_namesakes *n, const char *other, bool code)
{
	ls_u32 i = 0;

	if (code != n->code)
		return false;
	while (i < n->plain && other[i] == n->symbol[i])
		i++;
	return i == n->plain && ls_plain_length(other) == i;
}

/* @ahead: it comes before the symbol in the table. */
LS_INLINE void ls_namesakes_see(struct ls_namesakes *n, const char *other, bool code, bool ahead)
{
	ls_u32 i = n->plain;

	if (!ls_namesakes_share(n, other, code))
		return;
	if (ahead)
		n->ahead++;
	/*
	 * A clone or part of a function counts as the function, but LLVM's suffix
	 * distinguishes functions.
	 */
	if (!code || !other[i] || ls_symbol_begins(other + i, ".llvm."))
		n->bodies++;
	/* Within a file symbols have different names. */
	if (ls_symbol_begins(other + i, n->symbol + i) && ls_symbol_begins(n->symbol + i, other + i))
		n->same++;
}

/* Number of the symbol among its namesakes, from 1; 0 when there are no others. */
LS_INLINE ls_u32 ls_namesakes_number(const struct ls_namesakes *n)
{
	return n->bodies > 1 || n->same > 1 ? n->ahead + 1 : 0;
}

#endif /* LOCKSCOPE_NAMESAKES_H */
