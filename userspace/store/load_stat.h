// SPDX-License-Identifier: GPL-2.0
// The part of load.cpp for statistics.
#pragma once

#include "model/stat.h"
#include "store/database.h"

#include <optional>
#include <string>

namespace lockscope {

/// Statistics of the run with run.id @run, except its release; nullopt if there are none, or
/// the store has an older schema.
Result<std::optional<StatReport>> load_stat(Database &db, const std::string &run);

} // namespace lockscope
