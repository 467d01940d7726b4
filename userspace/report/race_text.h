// SPDX-License-Identifier: GPL-2.0
#pragma once

#include "analysis/finding.h"
#include "report/printer.h"

namespace lockscope {

/// "write in foo_add", its locks and its context: the head of a side.
std::string side_head(const Model &model, const AccessSide &side);

/// Origin of the callers on the side's stack, if they are not its own; else empty.
std::string stack_origin(const Model &model, const AccessSide &side);

/// Compare the instance of guard @i of @side with that of its class on @other, if both are
/// known: ", another instance than on the other side". Empty: nothing to add.
std::string instance_note(const Model &model, const AccessSide &side, std::size_t i,
			  const AccessSide &other);

/// Print the variable and its usual guards.
void print_variable(const RaceEvidence &race, Printer &out);

/// Print a granule's history at the time of the race, and every state change of it that was
/// followed (--log-variable), in terms of Eraser's states.
void print_histories(const Model &model, const RaceEvidence &race, Printer &out);

} // namespace lockscope
