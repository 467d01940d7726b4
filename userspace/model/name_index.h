// SPDX-License-Identifier: GPL-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string_view>
#include <vector>

namespace lockscope {

/// Numbers of items by the hash of their names. Unlike a map it keeps no names of its own: a
/// model has hundreds of thousands.
class NameIndex {
public:
	/// The number of the item with @hash for which @same is true; @next, which is added, when
	/// there is none.
	template <typename Same>
	std::uint32_t find_or_add(std::uint64_t hash, std::uint32_t next, const Same &same)
	{
		if (2 * (used_ + 1) > slots_.size())
			grow();
		for (std::size_t at = place(hash);; at = (at + 1) & (slots_.size() - 1)) {
			auto &slot = slots_[at];
			if (!slot.used) {
				slot = {hash, next, true};
				used_++;
				return next;
			}
			if (slot.hash == hash && same(slot.number))
				return slot.number;
		}
	}

	/// None: there is no such item.
	template <typename Same>
	std::optional<std::uint32_t> find(std::uint64_t hash, const Same &same) const
	{
		if (slots_.empty())
			return std::nullopt;
		for (std::size_t at = place(hash); slots_[at].used;
		     at = (at + 1) & (slots_.size() - 1))
			if (slots_[at].hash == hash && same(slots_[at].number))
				return slots_[at].number;
		return std::nullopt;
	}

private:
	struct Slot {
		std::uint64_t hash = 0;
		std::uint32_t number = 0;
		bool used = false;
	};

	std::size_t place(std::uint64_t hash) const { return hash & (slots_.size() - 1); }

	void grow()
	{
		std::vector<Slot> old(slots_.empty() ? 64 : 2 * slots_.size());
		old.swap(slots_);
		for (const auto &slot : old) {
			if (!slot.used)
				continue;
			auto at = place(slot.hash);
			while (slots_[at].used)
				at = (at + 1) & (slots_.size() - 1);
			slots_[at] = slot;
		}
	}

	std::vector<Slot> slots_; ///< a power of two
	std::size_t used_ = 0;
};

/// Of several names and numbers, one after the other.
class NameHash {
public:
	NameHash &add(std::string_view text) { return add(std::hash<std::string_view>()(text)); }
	NameHash &add(std::uint64_t number)
	{
		value_ = (value_ ^ number) * 0x9e3779b97f4a7c15;
		value_ ^= value_ >> 32;
		return *this;
	}
	std::uint64_t value() const { return value_; }

private:
	std::uint64_t value_ = 0;
};

} // namespace lockscope
