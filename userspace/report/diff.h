// SPDX-License-Identifier: GPL-2.0
// Formats of lockscope diff.
#pragma once

#include "analysis/comparison.h"
#include "report/report.h"

#include <string>

namespace lockscope {

/// @all: list also what is unchanged.
std::string text_diff(const Listing &old, const Listing &now, const Comparison &comparison,
		      bool all, const TextStyle &style);

/// "schema": "lockscope-diff/1", everything that is unchanged included.
std::string json_diff(const Listing &old, const Listing &now, const Comparison &comparison);

} // namespace lockscope
