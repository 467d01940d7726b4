// SPDX-License-Identifier: GPL-2.0
// Reports in parts: a whole one can be larger than all that it is about.
#pragma once

#include "report/report.h"

#include <functional>
#include <string_view>

namespace lockscope {

/// Takes the parts of a text, in order.
using Sink = std::function<void(std::string_view part)>;

/// What the functions of report.h return.
void text_report(const Model &model, const Analysis &analysis, const ReportOptions &options,
		 const TextStyle &style, const Sink &sink);
void json_report(const Model &model, const Analysis &analysis, const ReportOptions &options,
		 const Sink &sink);

} // namespace lockscope
