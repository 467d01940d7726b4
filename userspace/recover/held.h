// SPDX-License-Identifier: GPL-2.0
// What each context held when the machine died.
#pragma once

#include "log/death.h"
#include "recover/tables.h"

#include <vector>

namespace lockscope::recover {

/// Those that ran first, by CPU, then those that slept. They were changing when the machine
/// died: what makes no sense is left out.
std::vector<ContextAtDeath> held_at_death(KernelMemory &kernel, const ls_anchor &anchor);

} // namespace lockscope::recover
