// SPDX-License-Identifier: GPL-2.0
#pragma once

#include "analysis/finding.h"
#include "report/printer.h"

namespace lockscope {

/// "write in foo_add", what it holds, and in which context: the head of a side.
std::string side_head(const Model &model, const AccessSide &side);

/// Where callers on the side's stack are from, if they are not its own; else empty.
std::string stack_origin(const Model &model, const AccessSide &side);

/// How the instance of guard @i of @side compares with that of its class on @other, as far as
/// both are known: ", another instance than on the other side". Empty: nothing to say.
std::string instance_note(const Model &model, const AccessSide &side, std::size_t i,
			  const AccessSide &other);

/// What the variable is, who guards it otherwise.
void print_variable(const RaceEvidence &race, Printer &out);

/// What a granule remembered when the race was found, and every change of it that
/// was followed (--log-variable), as Eraser describes its states.
void print_histories(const Model &model, const RaceEvidence &race, Printer &out);

} // namespace lockscope
