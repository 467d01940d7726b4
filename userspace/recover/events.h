// SPDX-License-Identifier: GPL-2.0
// Events that hooks had written to the rings and the module's worker had not taken yet.
#pragma once

#include "recover/tables.h"

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace lockscope::recover {

/// What the rings had.
struct Pending {
	std::uint32_t observations = 0; ///< added to the log
	std::uint32_t lost = 0; ///< of a kind that only the worker can take, or half-written
};

/// Append to the log of @tables what the worker would have written for the events in the rings,
/// in the order of their time, but for its findings: reports search for those anyway.
Pending take_pending(KernelMemory &kernel, const ls_anchor &anchor, Tables &tables);

/// The events between @tail and @head in the data of a ring, oldest first; a part of @data each.
/// @lost counts those that are not complete.
std::vector<std::span<const std::byte>> ring_events(std::span<const std::byte> data,
						    std::uint64_t tail, std::uint64_t head,
						    std::uint32_t &lost);

} // namespace lockscope::recover
