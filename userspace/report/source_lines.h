// SPDX-License-Identifier: GPL-2.0
#pragma once

#include "model/model.h"

#include <string>

namespace lockscope {

/// One sentence about the kernels whose own code has no source lines in the runs although a
/// package has them; empty when there is none.
std::string without_source_lines(const Model &model);

} // namespace lockscope
