// SPDX-License-Identifier: GPL-2.0
#pragma once

#include "analysis/finding.h"
#include "analysis/races/weights.h"
#include "analysis/rules/access_index.h"

namespace lockscope {

/// Fill in features and score, and lower the severity for filters, based on the rest of the
/// finding. Every feature that counts is listed with its points.
void rank_race(const Model &model, const AccessIndex &index, const RaceWeights &weights,
	       Finding &finding);

/// Rank the first race of each variable before second ones of others, so that the top of the
/// report has them all. @races: all of a store, each ranked.
void rank_variables(const RaceWeights &weights, std::vector<Finding> &races);

} // namespace lockscope
