/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Names of functions that speak against a race: they initialise an object before it is
 * published, or tear it down when it is not reachable any more. The console and the report use
 * the same words.
 */
#ifndef LOCKSCOPE_DOUBTS_H
#define LOCKSCOPE_DOUBTS_H

#include "port.h"

static const char *const ls_making_words[] = {
	"alloc", "init", "create", "new", "setup", "ctor",
};

static const char *const ls_unmaking_words[] = {
	"free", "destroy", "release", "del", "delete", "remove", "unlink", "cleanup", "dtor",
	"teardown", "destruct", "evict", "fini",
};

/* Callers this far out count as tearing down an object. */
#define LS_NEAR_FRAMES 3

/* Is one of @words between two underscores of @name? Compiler suffixes of @name are ignored. */
LS_INLINE bool ls_has_word(const char *name, const char *const *words, ls_u32 nr)
{
	ls_u32 i, k;

	for (;;) {
		for (i = 0; i < nr; i++) {
			for (k = 0; words[i][k] && words[i][k] == name[k]; k++)
				;
			if (!words[i][k] && (!name[k] || name[k] == '_' || name[k] == '.'))
				return true;
		}
		while (*name && *name != '_' && *name != '.')
			name++;
		if (*name != '_')
			return false;
		name++;
	}
}

LS_INLINE bool ls_name_makes(const char *name)
{
	return ls_has_word(name, ls_making_words, sizeof(ls_making_words) / sizeof(ls_making_words[0]));
}

LS_INLINE bool ls_name_unmakes(const char *name)
{
	return ls_has_word(name, ls_unmaking_words,
			   sizeof(ls_unmaking_words) / sizeof(ls_unmaking_words[0]));
}

#endif /* LOCKSCOPE_DOUBTS_H */
