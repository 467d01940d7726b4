// SPDX-License-Identifier: GPL-2.0
// The kernel's virtual memory in physical memory: page tables of x86-64 [Intel SDM 3A, 4.5].
#pragma once

#include "recover/memory.h"

#include <array>
#include <optional>
#include <string>
#include <type_traits>
#include <unordered_map>

namespace lockscope::recover {

/// Reads through the kernel's page tables, and remembers what it read of them. Nothing in them
/// is trusted: entries may point anywhere.
class KernelMemory {
public:
	/// @table: physical address of the top page table; @levels: 4 or 5. @memory has to
	/// outlive this.
	KernelMemory(const PhysicalMemory &memory, std::uint64_t table, unsigned levels)
		: memory_(memory), table_(table), levels_(levels)
	{
	}

	/// Physical address of @at; nullopt where nothing is mapped.
	std::optional<std::uint64_t> physical(std::uint64_t at);

	/// Copy @n bytes; false, and @to is undefined, unless all of them are there.
	bool read(std::uint64_t at, void *to, std::size_t n);

	template <typename T> std::optional<T> get(std::uint64_t at)
	{
		static_assert(std::is_trivially_copyable_v<T>);
		T out;
		return read(at, &out, sizeof(out)) ? std::optional<T>(out) : std::nullopt;
	}

	/// Up to a zero, or @most bytes; empty where nothing can be read.
	std::string text(std::uint64_t at, std::size_t most);

private:
	static constexpr unsigned kEntries = 512;
	using Table = std::array<std::uint64_t, kEntries>;
	const Table *table(std::uint64_t physical);

	const PhysicalMemory &memory_;
	std::uint64_t table_;
	unsigned levels_;
	std::unordered_map<std::uint64_t, std::optional<Table>> tables_;
};

} // namespace lockscope::recover
