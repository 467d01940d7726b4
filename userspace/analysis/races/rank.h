// SPDX-License-Identifier: GPL-2.0
#pragma once

#include "analysis/finding.h"
#include "analysis/races/weights.h"
#include "analysis/rules/access_index.h"

namespace lockscope {

/// Fill in features and score, and lower the severity for filters, from what else
/// the finding says. Every feature that counts is listed with its points.
void rank_race(const Model &model, const AccessIndex &index, const RaceWeights &weights,
	       Finding &finding);

/// Let the first race of each variable come before the others' second: whoever looks
/// at one sees them all. @races: all of a store, each ranked.
void rank_variables(const RaceWeights &weights, std::vector<Finding> &races);

} // namespace lockscope
