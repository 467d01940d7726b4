// SPDX-License-Identifier: GPL-2.0
#include "recover/pages.h"

#include <algorithm>
#include <cstring>

namespace lockscope::recover {

namespace {

constexpr std::uint64_t kPageBytes = 4096, kPresent = 1, kLarge = 1u << 7;
constexpr std::uint64_t kAddress = 0x000ffffffffff000;
/* Page tables of 16 GiB in small pages; more are read again. */
constexpr std::size_t kMostTables = 8192;

} // namespace

const KernelMemory::Table *KernelMemory::table(std::uint64_t physical)
{
	if (auto at = tables_.find(physical); at != tables_.end())
		return at->second ? &*at->second : nullptr;
	if (tables_.size() >= kMostTables)
		tables_.clear();
	auto &out = tables_[physical];
	if (!memory_.read(physical, out.emplace().data(), sizeof(Table)))
		out.reset();
	return out ? &*out : nullptr;
}

std::optional<std::uint64_t> KernelMemory::physical(std::uint64_t at)
{
	/* The upper half only: the bits above the used ones repeat the highest of those. */
	const unsigned bits = 12 + 9 * levels_;
	if (at >> (bits - 1) != ~std::uint64_t{0} >> (bits - 1))
		return std::nullopt;
	std::uint64_t entry = table_ & kAddress;
	for (unsigned level = levels_; level-- > 0;) {
		const Table *here = table(entry);
		if (!here)
			return std::nullopt;
		entry = (*here)[at >> (12 + 9 * level) & (kEntries - 1)];
		if (!(entry & kPresent))
			return std::nullopt;
		const std::uint64_t within = (std::uint64_t{1} << (12 + 9 * level)) - 1;
		if (level == 0 || (level <= 2 && entry & kLarge))
			return (entry & kAddress & ~within) | (at & within);
		entry &= kAddress;
	}
	return std::nullopt;
}

bool KernelMemory::read(std::uint64_t at, void *to, std::size_t n)
{
	auto *out = static_cast<char *>(to);
	while (n) {
		const auto from = physical(at);
		const auto part = std::min<std::size_t>(n, kPageBytes - at % kPageBytes);
		if (!from || !memory_.read(*from, out, part))
			return false;
		out += part;
		at += part;
		n -= part;
	}
	return true;
}

std::string KernelMemory::text(std::uint64_t at, std::size_t most)
{
	std::string out;
	char buffer[64];
	while (out.size() < most) {
		const auto part = std::min<std::size_t>(
			{sizeof(buffer), most - out.size(), kPageBytes - at % kPageBytes});
		if (!read(at, buffer, part))
			break;
		const auto *end = static_cast<const char *>(std::memchr(buffer, 0, part));
		out.append(buffer, end ? static_cast<std::size_t>(end - buffer) : part);
		if (end)
			break;
		at += part;
	}
	return out;
}

} // namespace lockscope::recover
