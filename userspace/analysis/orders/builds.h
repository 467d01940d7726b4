// SPDX-License-Identifier: GPL-2.0
// Which runs are of one build of the kernel. An order of one build and an order of
// another are never followed at the same time.
#pragma once

#include "analysis/finding.h"
#include "analysis/orders/lockgraph.h"
#include "model/model.h"

#include <string>
#include <vector>

namespace lockscope {

/// The runs of one build.
struct Build {
	std::string name; ///< its release; the build as well, where a release has several
	Runs runs;
};

/// In the order of their first runs.
std::vector<Build> builds_of(const Model &model);

/// Names that classes of several builds, or of runs of unknown ones, have: not even one that
/// is in both of them is known to be the same, so they are apart. Each once, in order.
std::vector<std::string> kept_apart(const Model &model);

/// Says of a cycle that no build shows all of it, and where each part is from.
Filter different_kernels(const Model &model, const std::vector<Build> &builds,
			 const Finding &finding);

} // namespace lockscope
