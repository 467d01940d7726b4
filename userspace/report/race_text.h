// SPDX-License-Identifier: GPL-2.0
#pragma once

#include "analysis/finding.h"
#include "report/printer.h"

namespace lockscope {

/// "write in foo_add", what it holds, and in which context: the head of a side.
std::string side_head(const Model &model, const AccessSide &side);

/// What the variable is, who guards it otherwise.
void print_variable(const RaceEvidence &race, Printer &out);

/// What a granule remembered when the race was found, and every change of it that
/// was followed (--log-variable), as Eraser describes its states.
void print_histories(const Model &model, const RaceEvidence &race, Printer &out);

} // namespace lockscope
