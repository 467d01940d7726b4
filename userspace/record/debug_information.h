// SPDX-License-Identifier: GPL-2.0
// What debug information adds to a store: lines of code, types of variables, stored constants.
#pragma once

#include "store/writer.h"
#include "symbolize/lines.h"
#include "util/result.h"

namespace lockscope {

/// Yes: also for code that was looked up before and had no lines then.
enum class Again { No, Yes };

/// Add what @finder knows and the store has not.
Status add_debug_information(StoreWriter &store, LineFinder &finder, Again again);

} // namespace lockscope
