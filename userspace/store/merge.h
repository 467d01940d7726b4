// SPDX-License-Identifier: GPL-2.0
#pragma once

#include "util/result.h"

#include <string>
#include <vector>

namespace lockscope {

/// Copy the runs of all @inputs into the store @out, which is created if need be; its runs are
/// kept. A run in several inputs is copied once, from the longest recording, with the verdicts of
/// all. Classes are
/// merged by name when the store is read.
Status merge_stores(const std::vector<std::string> &inputs, const std::string &out);

} // namespace lockscope
