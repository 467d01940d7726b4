// SPDX-License-Identifier: GPL-2.0
// Text of a verdict of lockscope confirm.
#pragma once

#include "model/verdict.h"
#include "report/printer.h"

namespace lockscope {

/// One line: result, reason, tries.
std::string verdict_line(const Verdict &verdict);
void print_verdict(const Verdict &verdict, Printer &out);

/// Its evidence: both sides as they met, with locks held and stacks. Nothing without evidence.
/// Members of the JSON object that are missing or of another type are left out.
void print_evidence(const Verdict &verdict, Printer &out);

} // namespace lockscope
