// SPDX-License-Identifier: GPL-2.0
// For members of StoreWriter.
#pragma once

/* Prepared once per call site: string literals are compared by address. */
#define LS_STATEMENT(name, sql)                                                                    \
	static constexpr const char *name##_sql = sql;                                             \
	auto name##_cached = cached(name##_sql);                                                   \
	if (!name##_cached)                                                                        \
		return name##_cached.error();                                                      \
	Statement &name = **name##_cached
