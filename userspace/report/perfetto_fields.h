// SPDX-License-Identifier: GPL-2.0
// Numbers of Perfetto's messages [protos/perfetto/trace/trace_packet.proto and what it imports].
#pragma once

#include <cstdint>

namespace lockscope::perfetto {

enum class Trace : std::uint32_t { Packet = 1 };

enum class Packet : std::uint32_t {
	ClockSnapshot = 6,
	Timestamp = 8,
	SequenceId = 10,
	TrackEvent = 11,
	InternedData = 12,
	SequenceFlags = 13,
	Defaults = 59,
	TrackDescriptor = 60,
	FirstOnSequence = 87,
};
inline constexpr std::uint32_t kStateCleared = 1, kNeedsState = 2; ///< SequenceFlags

enum class Defaults : std::uint32_t { ClockId = 58 };

enum class Snapshot : std::uint32_t { Clock = 1, PrimaryClock = 2 };
enum class Clock : std::uint32_t { Id = 1, Timestamp = 2 };
inline constexpr std::uint32_t kRealtime = 1, kMonotonic = 3; ///< Clock::Id

enum class Descriptor : std::uint32_t { Uuid = 1, Name = 2, Process = 3, Thread = 4, Parent = 5 };
enum class Process : std::uint32_t { Pid = 1, Name = 6 };
enum class Thread : std::uint32_t { Pid = 1, Tid = 2, Name = 5 };

enum class Event : std::uint32_t {
	CategoryIid = 3,
	Annotation = 4,
	Type = 9,
	NameIid = 10,
	Track = 11,
	LocationIid = 34,
};
enum class EventType : std::int32_t { Begin = 1, End = 2, Instant = 3 };

enum class Annotation : std::uint32_t { NameIid = 1, Bool = 2, Uint = 3, StringIid = 17 };

/// Tables of names; ids are of one table each, from 1.
enum class Interned : std::uint32_t {
	Categories = 1,
	EventNames = 2,
	AnnotationNames = 3,
	Locations = 4,
	AnnotationStrings = 29,
};
enum class Name : std::uint32_t { Iid = 1, Text = 2 }; ///< of all tables but Locations
enum class Location : std::uint32_t { Iid = 1, File = 2, Function = 3, Line = 4 };

} // namespace lockscope::perfetto
