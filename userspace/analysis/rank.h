// SPDX-License-Identifier: GPL-2.0
#pragma once

#include "analysis/finding.h"

namespace lockscope {

/// Counts below this are noise: the module counts about every 64th acquisition.
inline constexpr std::uint64_t kMeasurable = 256;

/// Fill in severity, features and score from what else the finding says. One about
/// memory has its own by then (races/rank.h): only its severity follows the filters.
void rank_finding(const Model &model, Finding &finding);

/// Lower the severity according to the filters.
void limit_severity(Finding &finding);

/// Sort by severity, score and title: most worth a look first.
void sort_findings(std::vector<Finding> &findings);

} // namespace lockscope
