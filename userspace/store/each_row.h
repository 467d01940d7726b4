// SPDX-License-Identifier: GPL-2.0
#pragma once

#include "store/database.h"
#include "util/result.h"

#include <string>

namespace lockscope {

/// Call @row for each row that @select finds; false from it: the row makes no
/// sense, and the file is damaged.
template <typename Row> Status each_row(Database &db, const std::string &select, Row row)
{
	auto statement = db.prepare(select);
	if (!statement)
		return statement.error();
	for (;;) {
		auto more = statement->step();
		if (!more)
			return more.error();
		if (!*more)
			return success();
		if (!row(*statement))
			return Error{0, db.path() + " is damaged: a row makes no sense",
				     "record again, or take a copy made before the damage",
				     Exit::Environment};
	}
}

} // namespace lockscope
