// SPDX-License-Identifier: GPL-2.0
// The packed columns of a store.
#pragma once

#include "lockclass/abi.h"

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace lockscope {

/// One element of observation.held, as stored. Behind the locks are rows of class 0: what
/// ls_held_rec.passed of the lock number `code` is, in `lock`.
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

/// One element of trace.events.
struct TraceRow {
	std::uint64_t time_ns = 0, ns = 0; ///< see TraceEvent
	std::uint64_t lock = 0;		   ///< keyed hash, 0 unknown
	std::uint32_t val = 0, code = 0, pid = 0;
	std::uint16_t cpu = 0;
	std::uint8_t kind = 0; ///< enum ls_trace_kind, below LS_TRACE_NR_STORED
	std::uint8_t pad = 0;
};

/// One element of trace.tasks: a task with events in that row.
struct TaskRow {
	std::uint32_t pid = 0, tgid = 0;
	char comm[LS_COMM_LEN] = {}; ///< ends with a zero if it is shorter
};

/// Most events in one row of the table trace.
inline constexpr std::size_t kMostTraceEvents = 8192;

/// Arrays of fixed-size little-endian elements; nullopt for an invalid size, or more elements
/// than a record may have.
std::string pack(std::span<const HeldRow> held);
std::optional<std::vector<HeldRow>> unpack_held(std::string_view blob);
std::string pack(std::span<const GuardRow> guards);
std::optional<std::vector<GuardRow>> unpack_guards(std::string_view blob);
std::string pack(std::span<const ls_history_rec> history);
std::optional<std::vector<ls_history_rec>> unpack_history(std::string_view blob);
std::string pack(std::span<const TraceRow> events);
std::optional<std::vector<TraceRow>> unpack_trace(std::string_view blob);
std::string pack(std::span<const TaskRow> tasks);
std::optional<std::vector<TaskRow>> unpack_tasks(std::string_view blob);
std::string pack(std::span<const std::uint64_t> hashes);
std::optional<std::vector<std::uint64_t>> unpack_hashes(std::string_view blob, std::size_t most);
std::string pack(std::span<const std::uint32_t> words);
std::optional<std::vector<std::uint32_t>> unpack_words(std::string_view blob, std::size_t most);

/// kernel_finding.edges is from, to, kinds, observation of every edge.
inline constexpr std::size_t kWordsPerEdge = 4;

/// In stat_total: the duration of counting. A run without it has no statistics.
inline constexpr const char *kStatMilliseconds = "milliseconds";

} // namespace lockscope
