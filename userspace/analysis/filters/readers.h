// SPDX-License-Identifier: GPL-2.0
// Readers that no writer can block: a lock held shared only blocks another reader while a
// writer waits in between.
#pragma once

#include "analysis/finding.h"
#include "model/model.h"

namespace lockscope {

/// Add no-writer-waits, a note, to a cycle with a lock that is held and acquired shared, or to
/// a recursive read, where all observed writers are trylocks. Findings of other kinds are not
/// changed.
void no_writer_waits(const Model &model, Finding &finding);

} // namespace lockscope
