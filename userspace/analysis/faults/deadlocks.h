// SPDX-License-Identifier: GPL-2.0
// Tasks that were seen to wait for each other.
#pragma once

#include "analysis/evidence.h"
#include "analysis/finding.h"

namespace lockscope {

/// A finding for each ring of locks whose tasks the module found waiting, shown as a
/// cycle is: each side holds what the one before it waits for.
std::vector<Finding> deadlocks(const Model &model, const SightsByPlace &by_place);

} // namespace lockscope
