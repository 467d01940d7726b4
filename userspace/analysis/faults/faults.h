// SPDX-License-Identifier: GPL-2.0
// Faults that one observation shows: violations of locking rules that did happen.
#pragma once

#include "analysis/evidence.h"
#include "analysis/finding.h"

#include <vector>

namespace lockscope {

/// One finding for every kind, lock and function; further observations add to its count.
std::vector<Finding> faults(const Model &model, const ObservationsByPlace &by_place,
			    const ObservationsByClass &by_class);

} // namespace lockscope
