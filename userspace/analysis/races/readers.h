// SPDX-License-Identifier: GPL-2.0
// Races in which a reader without the writers' lock does no harm, according to the accesses.
#pragma once

#include "analysis/finding.h"
#include "analysis/rules/access_index.h"

namespace lockscope {

/// Add to @finding, a data race, each filter that applies to its reader.
void apply_reader_filters(const Model &model, const AccessIndex &index, Finding &finding);

/// Does the filter only concern the harm? Then it does not doubt the race itself.
bool about_harm(const Filter &filter);

} // namespace lockscope
