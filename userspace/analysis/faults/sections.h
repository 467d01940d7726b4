// SPDX-License-Identifier: GPL-2.0
// Critical sections in which nothing is ever touched: a mistake of the programmer's,
// or of ours [RacerX 8.6].
#pragma once

#include "analysis/finding.h"

#include <vector>

namespace lockscope {

/// Locks that code of an instrumented module takes, often enough to tell, while no
/// access was ever seen with the lock held that was taken there. Hidden notes: the
/// section may work on memory that code elsewhere touches. Only runs that watched
/// all accesses tell.
std::vector<Finding> empty_sections(const Model &model);

} // namespace lockscope
