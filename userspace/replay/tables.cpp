// SPDX-License-Identifier: GPL-2.0
#include "replay/tables.h"

#include "util/printable.h"
#include "util/text.h"

#include <algorithm>

namespace lockscope::replay {

std::uint32_t Numbers::of(std::string_view name, bool *added)
{
	const bool room = size() < most_;
	std::uint32_t number = room ? 0 : find(name);
	bool fresh = false;
	if (room) {
		const auto [at, first] = numbers_.try_emplace(std::string(name), size() + 1);
		number = at->second;
		fresh = first;
	}
	if (added)
		*added = fresh;
	return number;
}

std::uint32_t Numbers::find(std::string_view name) const
{
	const auto at = numbers_.find(std::string(name));
	return at == numbers_.end() ? 0 : at->second;
}

std::uint32_t Keys::of(std::uint64_t key, bool *added)
{
	const auto size = static_cast<std::uint32_t>(numbers_.size());
	const auto at = numbers_.find(key);
	if (added)
		*added = at == numbers_.end() && size < most_;
	if (at != numbers_.end())
		return at->second;
	return size < most_ ? numbers_.emplace(key, size + 1).first->second : 0;
}

std::string label(std::string_view text)
{
	constexpr std::size_t kMost = LS_NAME_MAX - 1, kHash = 16;
	std::string out(text.substr(0, kMost));
	if (text.size() > kMost)
		out = out.substr(0, kMost - kHash - 1) + "~" + hex64(stable_hash(text));
	std::replace(out.begin(), out.end(), '\n', '?');
	return printable(std::move(out));
}

bool Records::append(const void *record, std::size_t size, const void *tail, std::size_t bytes)
{
	if (size + bytes > most_ - bytes_.size())
		return false;
	const auto *from = static_cast<const std::byte *>(record);
	bytes_.insert(bytes_.end(), from, from + size);
	if (bytes) {
		const auto *rest = static_cast<const std::byte *>(tail);
		bytes_.insert(bytes_.end(), rest, rest + bytes);
	}
	return true;
}

} // namespace lockscope::replay
