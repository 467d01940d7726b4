// SPDX-License-Identifier: GPL-2.0
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace lockscope {

/// Lower-case hex digits of the bytes.
std::string to_hex(std::string_view bytes);
/// 16 hex digits.
std::string hex64(std::uint64_t value);
/// Value of 1 to 16 hex digits, 0 when @text is anything else.
std::uint64_t parse_hex64(std::string_view text);

/// 64-bit FNV-1a with a final mix; the same on every machine and in every
/// release, because identifiers of findings are made of it.
std::uint64_t stable_hash(std::string_view text);

/// 128-bit secret for keyed_hash().
using HashKey = std::array<std::uint64_t, 2>;
HashKey random_key();

/// SipHash-2-4 of one word [Aumasson, Bernstein: SipHash, 2012]: equal inputs have equal
/// hashes, which do not reveal the value, a kernel address.
std::uint64_t keyed_hash(const HashKey &key, std::uint64_t value);

/// Does @text match @pattern, where * matches any string and ? one character?
bool glob_matches(std::string_view pattern, std::string_view text);

std::vector<std::string> split(std::string_view text, char separator);
std::string join(const std::vector<std::string> &parts, std::string_view separator);

/// As a part of the path of a URL: all but letters, digits and "-._~" as %XX.
std::string url_encoded(std::string_view text);

/// "1,234,567"
std::string with_commas(std::uint64_t value);
/// "1 run", "2 runs"
std::string counted(std::uint64_t n, std::string_view noun);

} // namespace lockscope
