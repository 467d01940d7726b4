// SPDX-License-Identifier: GPL-2.0
// The part of load.cpp for verdicts of lockscope confirm.
#pragma once

#include "model/model.h"
#include "store/database.h"

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace lockscope {

/// Limits of what a store may say: of Verdict::evidence in bytes and in nested objects and
/// arrays, and of Verdict::why in bytes.
inline constexpr std::size_t kMostEvidence = 65536;
inline constexpr int kDeepestEvidence = 8;
inline constexpr std::size_t kLongestWhy = 1024;

/// The evidence, if it is a JSON object within the limits; control characters in its texts
/// are replaced as by printable(), line feeds included.
std::optional<std::string> checked_evidence(std::string_view json);

/// Are all fields within their ranges?
bool sensible(const Verdict &verdict);

/// Add the verdicts of the run with run.id @run to Model::verdicts; none for a store with an
/// older schema.
Status load_verdicts(Database &db, Model &model, const std::string &run);

} // namespace lockscope
