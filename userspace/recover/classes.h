// SPDX-License-Identifier: GPL-2.0
// Names of lock classes that the module's worker had no time to name.
#pragma once

#include "recover/symbols.h"
#include "recover/tables.h"

namespace lockscope::recover {

/// Append a record to the log of @tables for each class without one whose name needs nothing
/// but @kernel's symbols: static locks, with the module's names for them. A lock that hangs all
/// CPUs at its first use is such a class. Others stay without a name.
void name_classes(Tables &tables, const DeadKernel &kernel);

} // namespace lockscope::recover
