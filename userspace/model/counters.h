// SPDX-License-Identifier: GPL-2.0
// The names of a run's counters, in Run::counters and in a store.
#pragma once

#include "bpf/trace.h"
#include "lockclass/abi.h"

#include <cstdint>
#include <span>

namespace lockscope {

struct Model;

/// A counter of ls_info and its name in the store.
struct CounterName {
	const char *name;
	std::uint64_t (*get)(const ls_info &info);
};
std::span<const CounterName> counter_names();

/// The same for ls_access_info.
struct AccessCounterName {
	const char *name;
	std::uint64_t (*get)(const ls_access_info &info);
};
std::span<const AccessCounterName> access_counter_names();
/// Number of accesses; enum ls_access_mode.
inline constexpr const char *kAccessesCounter = "accesses";
inline constexpr const char *kAccessModeCounter = "access_mode";
/// Why accesses were lost, by enum ls_access_loss; see lockclass/losses.h.
struct AccessLoss {
	const char *name, *why;
};
extern const AccessLoss kAccessLosses[LS_NR_ALOSSES];
/// Their sum over all runs.
std::uint64_t access_losses(const Model &model);

/// Why events are not in a trace, by enum ls_trace_loss; see bpf/trace.h. No finding is missing
/// because of them.
struct TraceLoss {
	const char *name, *why;
};
extern const TraceLoss kTraceLosses[LS_TRACE_NR_LOSSES];
/// Their sum over all runs.
std::uint64_t trace_losses(const Model &model);

/// What is lost with each: acquisitions, records, or detail of findings.
enum class LossUnit { ACQUISITIONS, RECORDS, DETAIL };
/// Losses by enum ls_loss; see lockclass/losses.h.
struct Loss {
	ls_loss loss;
	const char *name;   ///< in JSON
	const char *stored; ///< in the store, and in text
	LossUnit unit;
};
extern const Loss kLosses[LS_NR_LOSSES];
/// ABI minor of the module that recorded the run.
inline constexpr const char *kMinorCounter = "abi_minor";
/// Records that the log decoder refused, also a loss.
inline constexpr const char *kMalformedCounter = "malformed_records";

} // namespace lockscope
