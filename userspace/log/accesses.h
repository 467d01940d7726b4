// SPDX-License-Identifier: GPL-2.0
// Decoders of the records about memory accesses; log.cpp has the others.
#pragma once

#include "log/log.h"

#include <cstddef>
#include <span>

namespace lockscope {

/// Decode one whole record into @out. Returns the error, nullptr if there is none; on errors
/// @out is not valid.
const char *decode_data(std::span<const std::byte> bytes, DataRecord &out);
const char *decode_access(std::span<const std::byte> bytes, AccessRecord &out);
const char *decode_race(std::span<const std::byte> bytes, RaceRecord &out);
const char *decode_side(std::span<const std::byte> bytes, SideRecord &out);
const char *decode_history(std::span<const std::byte> bytes, HistoryRecord &out);

/// The bits of an access that this program knows.
inline constexpr std::uint16_t kKnownOps = LS_ACC_READ | LS_ACC_WRITE | LS_ACC_MARKED |
					   LS_ACC_ATOMIC | LS_ACC_RANGE | LS_ACC_PROBE |
					   LS_ACC_TRAP;
/// Is @op a possible access?
inline bool valid_op(std::uint64_t op)
{
	return (op & (LS_ACC_READ | LS_ACC_WRITE)) != 0 && (op & ~std::uint64_t{kKnownOps}) == 0;
}

/// Most entries of a race's history that a reader accepts.
inline constexpr std::uint32_t kMaxRaceHistory = 256;

} // namespace lockscope
