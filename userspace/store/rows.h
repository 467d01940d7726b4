// SPDX-License-Identifier: GPL-2.0
// The packed columns of a store and the names of its counters.
#pragma once

#include "analysis/model.h"

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace lockscope {

/// One element of sight.held, as stored.
struct HeldRow {
	std::uint32_t val = 0, code = 0;    ///< LS_VAL_*; code.id
	std::uint64_t lock = 0, object = 0; ///< keyed hashes, 0 unknown
};

/// Arrays of fixed-size little-endian elements; nothing on a size that does
/// not fit, or more elements than a record may have.
std::string pack(std::span<const HeldRow> held);
std::optional<std::vector<HeldRow>> unpack_held(std::string_view blob);
std::string pack(std::span<const std::uint32_t> words);
std::optional<std::vector<std::uint32_t>> unpack_words(std::string_view blob, std::size_t most);

/// kernel_finding.edges is from, to, kinds, sight of every edge.
inline constexpr std::size_t kWordsPerEdge = 4;

/// A counter of ls_info and its name in the store.
struct CounterName {
	const char *name;
	std::uint64_t (*get)(const ls_info &info);
};
std::span<const CounterName> counter_names();

/// The names of losses in the store, by enum ls_loss.
extern const char *const kLossNames[LS_NR_LOSSES];
/// Records the log decoder refused: a loss of ours.
inline constexpr const char *kMalformedCounter = "malformed_records";

} // namespace lockscope
