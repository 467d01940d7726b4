// SPDX-License-Identifier: GPL-2.0
#pragma once

#include "analysis/finding.h"
#include "report/printer.h"

#include <cstddef>

namespace lockscope {

enum class Detail { Short, Full };

/// Print one finding; @rank 0: without a number.
void print_finding(const Model &model, const Finding &finding, Printer &out, Detail detail,
		   std::size_t rank);

} // namespace lockscope
