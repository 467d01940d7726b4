// SPDX-License-Identifier: GPL-2.0
// The part of StoreWriter for verdicts of lockscope confirm.
#include "store/load_verdicts.h"
#include "store/statement.h"
#include "store/writer.h"

namespace lockscope {

Status StoreWriter::put_verdict(const RunState &run, const Verdict &verdict)
{
	/* Such a row would make the whole store unreadable. */
	if (!sensible(verdict))
		return Error{0, "the verdict on " + verdict.finding + " makes no sense",
			     "report this as a bug of lockscope", Exit::Environment};
	LS_STATEMENT(put, "INSERT OR REPLACE INTO verdict VALUES(?,?,?,?,?,?,?,?)");
	put.bind(0, run.id).bind(1, verdict.finding).bind(2, static_cast<int>(verdict.result));
	put.bind(3, verdict.reason).bind(4, verdict.why).bind(5, verdict.tries);
	return put.bind(6, verdict.time).bind(7, verdict.evidence).run();
}

} // namespace lockscope
