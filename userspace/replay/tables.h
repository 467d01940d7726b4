// SPDX-License-Identifier: GPL-2.0
// Tables of a player, all of them bounded.
#pragma once

#include "lockclass/abi.h"

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace lockscope::replay {

/// Zeroed memory for the core; pages that it does not use take none.
class Zeroed {
public:
	explicit Zeroed(std::size_t bytes) : memory_(std::calloc(bytes, 1)) {}
	void *get() const { return memory_.get(); }

private:
	struct Free {
		void operator()(void *memory) const { std::free(memory); }
	};
	std::unique_ptr<void, Free> memory_;
};

/// Numbers from 1 on for names, in the order in which they come.
class Numbers {
public:
	explicit Numbers(std::uint32_t most) : most_(most) {}

	/// Number of @name, 0 when there is no room for another one. *@added: it is new.
	std::uint32_t of(std::string_view name, bool *added = nullptr);
	/// Number of @name, 0: it has none.
	std::uint32_t find(std::string_view name) const;
	std::uint32_t size() const { return static_cast<std::uint32_t>(numbers_.size()); }

private:
	std::uint32_t most_;
	std::unordered_map<std::string, std::uint32_t> numbers_;
};

/// The same for keys that are well mixed.
class Keys {
public:
	explicit Keys(std::uint32_t most) : most_(most) {}

	std::uint32_t of(std::uint64_t key, bool *added = nullptr);

private:
	std::uint32_t most_;
	std::unordered_map<std::uint64_t, std::uint32_t> numbers_;
};

/// Text of a trace as a name of at most LS_NAME_MAX - 1 bytes without control characters. A
/// longer one ends with a hash of all of it.
std::string label(std::string_view text);

/// Records as the module logs them.
class Records {
public:
	explicit Records(std::size_t most_bytes) : most_(most_bytes) {}

	/// Append @record of @type and @tail. False: no room.
	template <typename Raw>
	bool put(Raw record, ls_rec_type type, const void *tail = nullptr, std::size_t bytes = 0)
	{
		record.hdr = {static_cast<__u32>(sizeof(Raw) + bytes), static_cast<__u16>(type), 0};
		return append(&record, sizeof(Raw), tail, bytes);
	}
	std::vector<std::byte> take() { return std::move(bytes_); }

private:
	bool append(const void *record, std::size_t size, const void *tail, std::size_t bytes);

	std::size_t most_;
	std::vector<std::byte> bytes_;
};

template <std::size_t N> void fill(char (&field)[N], std::string_view text)
{
	std::memset(field, 0, N);
	text.copy(field, N - 1);
}

} // namespace lockscope::replay
