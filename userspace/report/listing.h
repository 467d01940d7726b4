// SPDX-License-Identifier: GPL-2.0
// Lists of findings in files, for lockscope diff: "lockscope-report/1", and its short form for
// CI, "lockscope-baseline/1".
#pragma once

#include "analysis/comparison.h"
#include "util/result.h"

#include <istream>
#include <string>

namespace lockscope {

/// Parse a report or a baseline. It may come from anywhere: values are checked, text is made
/// printable, members that are not needed are skipped without being kept. Errors name @file,
/// which is damaged, of another format or no report at all.
Result<Listing> read_listing(std::istream &in, const std::string &file);

/// The shown findings of @listing as a baseline, one a line, in the order of their ids: a file
/// that fits into a version control system.
std::string baseline_of(const Listing &listing);

} // namespace lockscope
