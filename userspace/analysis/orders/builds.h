// SPDX-License-Identifier: GPL-2.0
// Runs grouped by build of the kernel. Dependencies of different builds never occur at the
// same time.
#pragma once

#include "analysis/finding.h"
#include "analysis/orders/lockgraph.h"
#include "model/model.h"

#include <string>
#include <vector>

namespace lockscope {

/// The runs of one build.
struct Build {
	std::string name; ///< its release, and the build id where a release has several builds
	Runs runs;
};

/// In the order of their first runs.
std::vector<Build> builds_of(const Model &model);

/// Names of classes in several builds, or in runs of unknown ones: the same name need not be
/// the same class there, so they are kept apart. Each once, sorted.
std::vector<std::string> kept_apart(const Model &model);

/// Filter of a cycle that no build shows completely, with the source of each part.
Filter different_kernels(const Model &model, const std::vector<Build> &builds,
			 const Finding &finding);

} // namespace lockscope
