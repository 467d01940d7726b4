// SPDX-License-Identifier: GPL-2.0
// The file of suppressions; its format is in analysis/suppressions.h.
#pragma once

#include "analysis/suppressions.h"
#include "util/result.h"

#include <string>
#include <vector>

namespace lockscope {

/// Used when it exists and no other file is given.
inline constexpr const char *kSuppressionsPath = "/etc/lockscope/suppressions";

/// All entries of the file at @path.
Result<std::vector<Suppression>> load_suppressions(const std::string &path);

/// Append @entry to the file at @path, which is created if need be and replaced as a whole.
/// Refuses an entry with the same target as an existing one, and a file that does not parse.
Status add_suppression(const std::string &path, const Suppression &entry);

} // namespace lockscope
