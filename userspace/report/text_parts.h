// SPDX-License-Identifier: GPL-2.0
// What a report says of its runs, for formats that people read.
#pragma once

#include "analysis/findings.h"
#include "report/printer.h"
#include "report/report.h"

#include <string>
#include <vector>

namespace lockscope {

/// Kernels, runs, how many findings are listed, what was left out and what is new.
void print_header(const Model &model, const Analysis &analysis,
		  const std::vector<const Finding *> &shown, const ReportOptions &options,
		  Printer &out);

/// Losses, what was seen and what was not; blind spots by name if @in_full.
void print_footer(const Model &model, const Analysis &analysis, bool in_full, Printer &out);

/// Orders that nested locks of one class keep, and how semaphores are used.
void print_rules(const Model &model, Printer &out);

/// Equal neighbours once: "a (2 times)", "b" of a, a, b.
std::vector<std::string> neighbours_once(const std::vector<std::string> &parts);

} // namespace lockscope
