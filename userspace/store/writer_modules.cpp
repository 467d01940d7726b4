// SPDX-License-Identifier: GPL-2.0
// The part of StoreWriter for modules that a recording is about.
#include "store/statement.h"
#include "store/writer.h"

namespace lockscope {

Status StoreWriter::put_module(const RunState &run, const OwnModule &module)
{
	LS_STATEMENT(forget, "DELETE FROM lock_site WHERE run = ? AND module = ?");
	LS_TRY_STATUS(forget.bind(0, run.id).bind(1, module.name).run());
	LS_STATEMENT(put, "INSERT OR REPLACE INTO module VALUES(?,?,?,?,?)");
	put.bind(0, run.id).bind(1, module.name).bind(2, module.build_id);
	LS_TRY_STATUS(put.bind(3, int{module.decoded}).bind(4, int{module.instrumented}).run());
	for (const auto &site : module.sites) {
		LS_STATEMENT(add, "INSERT OR REPLACE INTO lock_site VALUES(?,?,?,?,?,?,"
				  " CASE ?8 WHEN 1 THEN ?7 END)");
		add.bind(0, run.id).bind(1, module.name).bind(2, site.place.function);
		add.bind(3, site.place.offset).bind(4, site.primitive).bind(5, int{site.start});
		add.bind(6, int{site.reached.value_or(false)});
		LS_TRY_STATUS(add.bind(7, int{site.reached.has_value()}).run());
	}
	return success();
}

} // namespace lockscope
