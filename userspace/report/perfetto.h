// SPDX-License-Identifier: GPL-2.0
// A trace for Perfetto [perfetto.dev, protos/perfetto/trace].
#pragma once

#include "model/model.h"
#include "report/stream.h"

#include <functional>

namespace lockscope {

/// The trace of @run, which has one, as packets of TrackEvent: the locks that each task and each
/// interrupt held and waited for, as far as their classes are @wanted; what is missing is on a
/// track "losses". Parts are binary. Names are valid UTF-8 without control characters.
void perfetto_trace(const Model &model, const Run &run, const std::function<bool(ClassId)> &wanted,
		    const Sink &sink);

} // namespace lockscope
