// SPDX-License-Identifier: GPL-2.0
// Verdicts of lockscope confirm.
#pragma once

#include <cstdint>
#include <string>

namespace lockscope {

/// What lockscope confirm found out about a finding. The numbers are in stores.
enum class VerdictResult { Confirmed = 1, Refuted = 2, NotReached = 3 };
/// "confirmed", "refuted", "not-reached"
const char *name(VerdictResult result);

/// The verdict on one finding.
struct Verdict {
	std::string finding; ///< id, 16 hex digits
	VerdictResult result = VerdictResult::NotReached;
	std::string reason; ///< of a refuted one, a word: "gate", "instances", "order"; else empty
	std::string why;    ///< one sentence without a full stop
	std::uint64_t tries = 0;     ///< how often a side waited for the other
	std::int64_t time = 0;	     ///< seconds since 1970
	std::string evidence = "{}"; ///< JSON text, see docs/findings.md; "{}" for none
};

/// Does @a hold where both are known? Confirmed holds over refuted, that over not reached; of
/// equal ones the later.
bool holds_over(const Verdict &a, const Verdict &b);

} // namespace lockscope
