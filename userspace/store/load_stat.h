// SPDX-License-Identifier: GPL-2.0
// The part of load.cpp for statistics.
#pragma once

#include "model/stat.h"
#include "store/database.h"

#include <optional>
#include <string>

namespace lockscope {

/// What was counted in the run whose run.id is @run, but for its release; nothing when
/// nobody did, or the store is older than statistics.
Result<std::optional<StatReport>> load_stat(Database &db, const std::string &run);

} // namespace lockscope
