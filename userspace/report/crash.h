// SPDX-License-Identifier: GPL-2.0
// A finding as syzkaller keeps a crash.
#pragma once

#include "analysis/finding.h"
#include "model/model.h"

#include <string>

namespace lockscope {

struct Crash {
	std::string title;  ///< that syzkaller gives to @report; one line
	std::string report; ///< the console report, without times
	std::string log;    ///< with times, between what is known of the runs and of the finding
};

Crash crash_of(const Model &model, const Finding &finding);

/// The title that syzkaller's pkg/report gives to a console report of a finding of @kind; empty
/// when it would find no title, or call the report corrupted for want of a function to blame.
std::string crash_title(FindingKind kind, const std::string &report);

} // namespace lockscope
