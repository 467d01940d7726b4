// SPDX-License-Identifier: GPL-2.0
#include "model/verdict.h"

namespace lockscope {

const char *name(VerdictResult result)
{
	return result == VerdictResult::Confirmed ? "confirmed"
	       : result == VerdictResult::Refuted ? "refuted"
						  : "not-reached";
}

bool holds_over(const Verdict &a, const Verdict &b)
{
	return a.result != b.result ? a.result < b.result : a.time > b.time;
}

} // namespace lockscope
