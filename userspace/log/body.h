// SPDX-License-Identifier: GPL-2.0
// Common parts of the decoders of log records.
#pragma once

#include "lockclass/abi.h"

#include <cstddef>
#include <cstring>
#include <optional>
#include <span>
#include <string>

namespace lockscope {

/// Bounded reader of one record's body; after a read beyond the end all reads fail.
class Body {
public:
	explicit Body(std::span<const std::byte> bytes) : bytes_(bytes) {}

	template <typename T> T get()
	{
		T value{};
		if (bytes_.size() - at_ < sizeof(T)) {
			failed_ = true;
			return value;
		}
		std::memcpy(&value, bytes_.data() + at_, sizeof(T));
		at_ += sizeof(T);
		return value;
	}

	bool failed() const { return failed_; }
	bool done() const { return at_ == bytes_.size(); }
	std::size_t left() const { return bytes_.size() - at_; }

private:
	std::span<const std::byte> bytes_;
	std::size_t at_ = 0;
	bool failed_ = false;
};

/// Text up to the final zero; nullopt when there is none. Control characters would garble a
/// terminal, so they become '?'.
template <std::size_t N> std::optional<std::string> text(const char (&field)[N])
{
	const void *end = std::memchr(field, 0, N);
	if (!end)
		return std::nullopt;
	std::string out(field, static_cast<const char *>(end));
	for (char &c : out)
		if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f)
			c = '?';
	return out;
}

inline bool valid_mode(std::uint32_t val)
{
	return ((val & LS_VAL_READ_MASK) >> LS_VAL_READ_SHIFT) <= LS_RECURSIVE;
}

template <typename Raw> std::optional<Raw> fixed(std::span<const std::byte> bytes)
{
	Body body(bytes);
	Raw raw = body.get<Raw>();
	if (body.failed() || !body.done())
		return std::nullopt;
	return raw;
}

} // namespace lockscope
