// SPDX-License-Identifier: GPL-2.0
#include "store/rows.h"

#include "log/accesses.h"

#include <bit>
#include <cstring>

namespace lockscope {

static_assert(std::endian::native == std::endian::little, "stores are little endian");
static_assert(sizeof(HeldRow) == 24 && sizeof(GuardRow) == 24 && sizeof(ls_history_rec) == 8);
static_assert(sizeof(TraceRow) == 40 && sizeof(TaskRow) == 24);

namespace {

template <typename T> std::string pack_array(std::span<const T> items)
{
	return {reinterpret_cast<const char *>(items.data()), items.size_bytes()};
}

template <typename T>
std::optional<std::vector<T>> unpack_array(std::string_view blob, std::size_t most)
{
	if (blob.size() % sizeof(T) != 0 || blob.size() / sizeof(T) > most)
		return std::nullopt;
	std::vector<T> out(blob.size() / sizeof(T));
	if (!blob.empty())
		std::memcpy(out.data(), blob.data(), blob.size());
	return out;
}

} // namespace

std::string pack(std::span<const HeldRow> held)
{
	return pack_array(held);
}

std::optional<std::vector<HeldRow>> unpack_held(std::string_view blob)
{
	return unpack_array<HeldRow>(blob, 2 * LS_MAX_DEPTH);
}

std::string pack(std::span<const GuardRow> guards)
{
	return pack_array(guards);
}

std::optional<std::vector<GuardRow>> unpack_guards(std::string_view blob)
{
	return unpack_array<GuardRow>(blob, LS_MAX_DEPTH);
}

std::string pack(std::span<const ls_history_rec> history)
{
	return pack_array(history);
}

std::optional<std::vector<ls_history_rec>> unpack_history(std::string_view blob)
{
	return unpack_array<ls_history_rec>(blob, kMaxRaceHistory);
}

std::string pack(std::span<const TraceRow> events)
{
	return pack_array(events);
}

std::optional<std::vector<TraceRow>> unpack_trace(std::string_view blob)
{
	return unpack_array<TraceRow>(blob, kMostTraceEvents);
}

std::string pack(std::span<const TaskRow> tasks)
{
	return pack_array(tasks);
}

std::optional<std::vector<TaskRow>> unpack_tasks(std::string_view blob)
{
	return unpack_array<TaskRow>(blob, kMostTraceEvents);
}

std::string pack(std::span<const std::uint64_t> hashes)
{
	return pack_array(hashes);
}

std::optional<std::vector<std::uint64_t>> unpack_hashes(std::string_view blob, std::size_t most)
{
	return unpack_array<std::uint64_t>(blob, most);
}

std::string pack(std::span<const std::uint32_t> words)
{
	return pack_array(words);
}

std::optional<std::vector<std::uint32_t>> unpack_words(std::string_view blob, std::size_t most)
{
	return unpack_array<std::uint32_t>(blob, most);
}

} // namespace lockscope
