// SPDX-License-Identifier: GPL-2.0
#pragma once

#include "store/database.h"
#include "util/result.h"

#include <string>

namespace lockscope {

/// Call @row for each row of @select; if it returns false the row is invalid, and the file is
/// damaged.
template <typename Row> Status read_rows(Database &db, const std::string &select, Row &row)
{
	auto statement = db.prepare(select);
	if (!statement)
		return statement.error();
	Status result = success();
	for (;;) {
		auto more = statement->step();
		if (!more)
			return more.error();
		if (!*more)
			return result;
		if (row(*statement))
			continue;
		result = Error{0, db.path() + " is damaged: a row makes no sense",
			       "record again, or take a copy made before the damage",
			       Exit::Environment};
		if (!db.salvaging())
			return result;
	}
}

/// The same; for a database that is salvaged, the rows that can be read from either end of the
/// table. @select is of one table, without order or with a final "ORDER BY 1".
template <typename Row> Status each_row(Database &db, const std::string &select, Row row)
{
	auto whole = read_rows(db, select, row);
	if (whole || !db.salvaging())
		return whole;
	const auto from = select.find(" FROM ") + 6;
	db.add_unread(select.substr(from, select.find(' ', from) - from));
	(void)db.exec("PRAGMA reverse_unordered_selects = ON").ok();
	(void)read_rows(db, select.ends_with("ORDER BY 1") ? select + " DESC" : select, row).ok();
	(void)db.exec("PRAGMA reverse_unordered_selects = OFF").ok();
	return success();
}

} // namespace lockscope
