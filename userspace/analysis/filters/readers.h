// SPDX-License-Identifier: GPL-2.0
// Readers that no writer can block: a lock held shared keeps another reader out only while a
// writer waits in between.
#pragma once

#include "analysis/finding.h"
#include "model/model.h"

namespace lockscope {

/// Adds no-writer-waits, a note, to a cycle one of whose locks is held and acquired shared, or
/// to a reader that reads again, where every writer that was seen only tries. A finding of
/// another kind stays as it is.
void no_writer_waits(const Model &model, Finding &finding);

} // namespace lockscope
