// SPDX-License-Identifier: GPL-2.0
#pragma once

#include "util/result.h"

#include <string>
#include <vector>

namespace lockscope {

/// Copy the runs of all @inputs into the store @out, which is made if need be;
/// runs it has already are kept. A run in several inputs is taken once, from
/// where most of it was recorded. Classes unite by name when the store is read.
Status merge_stores(const std::vector<std::string> &inputs, const std::string &out);

} // namespace lockscope
