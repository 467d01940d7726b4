// SPDX-License-Identifier: GPL-2.0
#include "store/builds.h"

#include "store/each_row.h"
#include "store/schema.h"

namespace lockscope {

Result<std::vector<CodeBuild>> code_builds(const std::string &path)
{
	auto db = open_store(path, Access::Read);
	if (!db)
		return db.error();
	std::vector<CodeBuild> out;
	/* An address has a row of its own in each run. */
	const std::string places =
		"(SELECT DISTINCT r.release, c.module, c.build_id, c.function, c.offset FROM code c"
		" JOIN run r ON r.id = c.run WHERE c.build_id <> '' AND c.function <> '')";
	LS_TRY_STATUS(each_row(
		*db,
		"SELECT p.release, p.module, p.build_id, count(*), count(l.frames) FROM " + places +
			" p LEFT JOIN line l ON l.build_id = p.build_id AND"
			" l.function = p.function AND l.offset = p.offset AND l.frames <> '[]'"
			" GROUP BY 1, 2, 3 ORDER BY 1, p.module <> 'vmlinux', 2, 3",
		[&](Statement &row) {
			out.push_back({row.text(0), row.text(1), row.text(2),
				       static_cast<std::size_t>(row.word(3)),
				       static_cast<std::size_t>(row.word(4))});
			return true;
		}));
	return out;
}

} // namespace lockscope
