// SPDX-License-Identifier: GPL-2.0
// The packed columns of a store and the names of its counters.
#pragma once

#include "model/model.h"

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

/// One element of access.guards.
struct GuardRow {
	std::uint32_t val = 0, code = 0;
	std::uint16_t relation = 0, via = 0; ///< enum ls_relation
	std::uint32_t lock_offset = 0;
	std::uint64_t lock = 0; ///< keyed hash
};

/// Arrays of fixed-size little-endian elements; nothing on a size that does
/// not fit, or more elements than a record may have.
std::string pack(std::span<const HeldRow> held);
std::optional<std::vector<HeldRow>> unpack_held(std::string_view blob);
std::string pack(std::span<const GuardRow> guards);
std::optional<std::vector<GuardRow>> unpack_guards(std::string_view blob);
std::string pack(std::span<const ls_history_rec> history);
std::optional<std::vector<ls_history_rec>> unpack_history(std::string_view blob);
std::string pack(std::span<const std::uint64_t> hashes);
std::optional<std::vector<std::uint64_t>> unpack_hashes(std::string_view blob, std::size_t most);
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

/// The same of ls_access_info.
struct AccessCounterName {
	const char *name;
	std::uint64_t (*get)(const ls_access_info &info);
};
std::span<const AccessCounterName> access_counter_names();
/// How many accesses were seen; enum ls_access_mode.
inline constexpr const char *kAccessesCounter = "accesses";
inline constexpr const char *kAccessModeCounter = "access_mode";
/// Why accesses were lost, by enum ls_access_loss: name in the store, words for people.
struct AccessLoss {
	const char *name, *why;
};
extern const AccessLoss kAccessLosses[LS_NR_ALOSSES];
/// All of them together, over all runs.
std::uint64_t access_losses(const Model &model);

/// In stat_total: for how long somebody counted. A run without it has no statistics.
inline constexpr const char *kStatMilliseconds = "milliseconds";

/// The names of losses in the store, by enum ls_loss.
extern const char *const kLossNames[LS_NR_LOSSES];
/// ABI minor of the module that recorded the run.
inline constexpr const char *kMinorCounter = "abi_minor";
/// Records the log decoder refused: a loss of ours.
inline constexpr const char *kMalformedCounter = "malformed_records";

} // namespace lockscope
