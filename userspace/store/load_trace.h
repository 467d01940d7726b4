// SPDX-License-Identifier: GPL-2.0
// The part of load.cpp for traces.
#pragma once

#include "model/trace.h"
#include "store/database.h"
#include "store/load_accesses.h"

namespace lockscope {

/// The trace of a run, without events if there is none, or the store has an older schema.
Result<LockTrace> load_trace(Database &db, const LoadedRun &run);

} // namespace lockscope
