// SPDX-License-Identifier: GPL-2.0
#pragma once

#include <algorithm>
#include <cstdint>
#include <unordered_map>
#include <vector>

namespace lockscope {

/// What the numbers in a run's rows stand for. They are small where a recorder wrote them, and may
/// be anything else in a file.
template <typename T> class Numbers {
public:
	/// @none: what numbers stand for that are not set.
	explicit Numbers(T none) : none_(none) {}

	void set(std::uint64_t number, T value)
	{
		if (number >= kDense) {
			rest_[number] = value;
			return;
		}
		if (number >= dense_.size())
			dense_.resize(std::max<std::size_t>(number + 1, 2 * dense_.size()), none_);
		dense_[number] = value;
	}

	T operator[](std::uint64_t number) const
	{
		if (number < dense_.size())
			return dense_[number];
		const auto at = rest_.find(number);
		return at == rest_.end() ? none_ : at->second;
	}

private:
	static constexpr std::uint64_t kDense = 1 << 22;
	T none_;
	std::vector<T> dense_;
	std::unordered_map<std::uint64_t, T> rest_;
};

} // namespace lockscope
