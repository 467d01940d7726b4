// SPDX-License-Identifier: GPL-2.0
// One lock in two states: acquired in an interrupt, and held while that interrupt can come.
#pragma once

#include "analysis/finding.h"

namespace lockscope {

/// Doubts about @finding, an InconsistentIrqState: no instance was observed in both states, or
/// what the interrupt acquires before keeps it from the lock.
void different_instances(const Model &model, Finding &finding);

} // namespace lockscope
