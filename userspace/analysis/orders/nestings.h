// SPDX-License-Identifier: GPL-2.0
// Cycles of several classes of which one nests in itself.
#pragma once

#include "analysis/orders/lockgraph.h"
#include "model/model.h"

#include <vector>

namespace lockscope {

/// Cycles of locks with a dependency of a class on itself and one between two classes, as the
/// classes of @graph in order; shortest first, each once. The graph of classes says nothing of
/// the former: there is a cycle for each set of observations of one run in which each
/// instance that one side waits for is held by the next one, no two sides exclude each other by
/// a lock, and readers do not wait for recursive readers. Of at most eight dependencies, and
/// there may be more: the steps of the search are bounded. @runs: those of @graph.
std::vector<std::vector<ClassId>> nested_cycles(const Model &model, const Runs &runs,
						const LockGraph &graph);

} // namespace lockscope
