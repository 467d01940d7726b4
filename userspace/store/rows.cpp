// SPDX-License-Identifier: GPL-2.0
#include "store/rows.h"

#include <array>
#include <bit>
#include <cstring>

namespace lockscope {

static_assert(std::endian::native == std::endian::little, "stores are little endian");
static_assert(sizeof(HeldRow) == 24);

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
	return unpack_array<HeldRow>(blob, LS_MAX_DEPTH);
}

std::string pack(std::span<const std::uint32_t> words)
{
	return pack_array(words);
}

std::optional<std::vector<std::uint32_t>> unpack_words(std::string_view blob, std::size_t most)
{
	return unpack_array<std::uint32_t>(blob, most);
}

const char *const kLossNames[LS_NR_LOSSES] = {
	"lost_records",	 "lost_stacks", "lost_chains",	  "lost_classes", "lost_edges",
	"held_overflow", "recursion",	"lost_addresses", "lost_sites",	  "lost_pairs"};

std::span<const CounterName> counter_names()
{
	static constexpr std::array names{
		CounterName{"acquisitions",
			    [](const ls_info &i) { return std::uint64_t{i.acquisitions}; }},
		CounterName{"releases", [](const ls_info &i) { return std::uint64_t{i.releases}; }},
		CounterName{"unknown_releases",
			    [](const ls_info &i) { return std::uint64_t{i.unknown_releases}; }},
		CounterName{"deferred", [](const ls_info &i) { return std::uint64_t{i.deferred}; }},
		CounterName{"task",
			    [](const ls_info &i) {
				    return std::uint64_t{i.level_acquisitions[LS_TASK]};
			    }},
		CounterName{"softirq",
			    [](const ls_info &i) {
				    return std::uint64_t{i.level_acquisitions[LS_SOFTIRQ]};
			    }},
		CounterName{"hardirq",
			    [](const ls_info &i) {
				    return std::uint64_t{i.level_acquisitions[LS_HARDIRQ]};
			    }},
		CounterName{"nmi",
			    [](const ls_info &i) {
				    return std::uint64_t{i.level_acquisitions[LS_NMI]};
			    }},
		CounterName{"classes", [](const ls_info &i) { return std::uint64_t{i.classes}; }},
		CounterName{"edges", [](const ls_info &i) { return std::uint64_t{i.edges}; }},
		CounterName{"chains", [](const ls_info &i) { return std::uint64_t{i.chains}; }},
		CounterName{"findings", [](const ls_info &i) { return std::uint64_t{i.findings}; }},
		CounterName{"max_classes",
			    [](const ls_info &i) { return std::uint64_t{i.max_classes}; }},
		CounterName{"max_edges",
			    [](const ls_info &i) { return std::uint64_t{i.max_edges}; }},
		CounterName{"max_chains",
			    [](const ls_info &i) { return std::uint64_t{i.max_chains}; }},
	};
	return names;
}

} // namespace lockscope
