// SPDX-License-Identifier: GPL-2.0
#include "util/text.h"

#include <sys/random.h>

#include <bit>
#include <charconv>
#include <random>

namespace lockscope {

std::string to_hex(std::string_view bytes)
{
	static constexpr char digits[] = "0123456789abcdef";
	std::string out;
	out.reserve(bytes.size() * 2);
	for (unsigned char byte : bytes) {
		out += digits[byte >> 4];
		out += digits[byte & 15];
	}
	return out;
}

std::string hex64(std::uint64_t value)
{
	std::string bytes(8, '\0');
	for (int i = 0; i < 8; i++)
		bytes[i] = static_cast<char>(value >> (56 - 8 * i));
	return to_hex(bytes);
}

std::uint64_t parse_hex64(std::string_view text)
{
	std::uint64_t value = 0;
	if (text.empty() || text.size() > 16)
		return 0;
	auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value, 16);
	return error == std::errc{} && end == text.data() + text.size() ? value : 0;
}

std::uint64_t stable_hash(std::string_view text)
{
	std::uint64_t hash = 0xcbf29ce484222325u;
	for (unsigned char byte : text) {
		hash ^= byte;
		hash *= 0x100000001b3u;
	}
	hash ^= hash >> 33;
	hash *= 0xff51afd7ed558ccdu;
	hash ^= hash >> 33;
	return hash;
}

HashKey random_key()
{
	HashKey key{};
	if (::getrandom(key.data(), sizeof(key), 0) != static_cast<ssize_t>(sizeof(key))) {
		std::random_device device;
		for (auto &word : key)
			word = std::uint64_t{device()} << 32 | device();
	}
	return key;
}

std::uint64_t keyed_hash(const HashKey &key, std::uint64_t value)
{
	std::uint64_t v0 = key[0] ^ 0x736f6d6570736575u, v1 = key[1] ^ 0x646f72616e646f6du;
	std::uint64_t v2 = key[0] ^ 0x6c7967656e657261u, v3 = key[1] ^ 0x7465646279746573u;
	auto round = [&] {
		v0 += v1, v1 = std::rotl(v1, 13) ^ v0, v0 = std::rotl(v0, 32);
		v2 += v3, v3 = std::rotl(v3, 16) ^ v2;
		v0 += v3, v3 = std::rotl(v3, 21) ^ v0;
		v2 += v1, v1 = std::rotl(v1, 17) ^ v2, v2 = std::rotl(v2, 32);
	};
	/* One message word of eight bytes, then the length block. */
	for (std::uint64_t word : {value, std::uint64_t{8} << 56}) {
		v3 ^= word;
		round(), round();
		v0 ^= word;
	}
	v2 ^= 0xff;
	for (int i = 0; i < 4; i++)
		round();
	return v0 ^ v1 ^ v2 ^ v3;
}

bool glob_matches(std::string_view pattern, std::string_view text)
{
	/* Only the last * has to be retried. */
	std::size_t p = 0, t = 0, star = pattern.npos, resume = 0;
	while (t < text.size()) {
		if (p < pattern.size() && pattern[p] == '*') {
			star = p++;
			resume = t;
		} else if (p < pattern.size() && (pattern[p] == '?' || pattern[p] == text[t])) {
			p++;
			t++;
		} else if (star != pattern.npos) {
			p = star + 1;
			t = ++resume;
		} else {
			return false;
		}
	}
	while (p < pattern.size() && pattern[p] == '*')
		p++;
	return p == pattern.size();
}

std::vector<std::string> split(std::string_view text, char separator)
{
	std::vector<std::string> parts;
	for (std::size_t at = 0;;) {
		auto end = text.find(separator, at);
		parts.emplace_back(text.substr(at, end == text.npos ? text.npos : end - at));
		if (end == text.npos)
			return parts;
		at = end + 1;
	}
}

std::string join(const std::vector<std::string> &parts, std::string_view separator)
{
	std::string out;
	for (const auto &part : parts) {
		if (&part != &parts.front())
			out += separator;
		out += part;
	}
	return out;
}

std::string url_encoded(std::string_view text)
{
	std::string out;
	for (const char c : text) {
		const bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
				   (c >= '0' && c <= '9') ||
				   std::string_view("-._~").find(c) != std::string_view::npos;
		out += plain ? std::string(1, c) : "%" + to_hex({&c, 1});
	}
	return out;
}

std::string with_commas(std::uint64_t value)
{
	std::string digits = std::to_string(value);
	for (int at = static_cast<int>(digits.size()) - 3; at > 0; at -= 3)
		digits.insert(static_cast<std::size_t>(at), ",");
	return digits;
}

std::string counted(std::uint64_t n, std::string_view noun)
{
	const char *ending = n == 1 ? "" : noun.ends_with('s') ? "es" : "s";
	return with_commas(n) + " " + std::string(noun) + ending;
}

} // namespace lockscope
