// SPDX-License-Identifier: GPL-2.0
// Formats of report for other programs.
#pragma once

#include "report/ci.h"
#include "report/html/html.h"
#include "report/stream.h"

#include <string>
#include <vector>

namespace lockscope::cli {

/// All values of --format.
inline const std::vector<std::string> kReportFormats = {"text",	 "json", "html",  "sarif",
							"junit", "ktap", "dmesg", "syzkaller"};

/// Is it one for other programs?
bool foreign_format(const std::string &format);

/// Write the report in such a format to stdout, or to @out if it is not empty; for syzkaller
/// that is a folder. Returns 0, or the exit status of the failure.
int deliver_foreign(const std::string &format, const Model &model, const Analysis &analysis,
		    const CiOptions &options, const std::string &out);

/// Like deliver(), for what @make makes in parts.
int deliver_parts(const std::function<void(const Sink &)> &make, const std::string &path);

/// The report as HTML, with the statistics of the runs; @part: see html_report().
std::string html_of(const Model &model, const Analysis &analysis, const ReportOptions &options,
		    const GraphPart *part = nullptr);

} // namespace lockscope::cli
