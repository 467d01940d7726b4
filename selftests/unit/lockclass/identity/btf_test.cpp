// SPDX-License-Identifier: GPL-2.0
// Reading BTF: blobs made here, whole and damaged.
#include <cstring>
#include <random>
#include <string>
#include <vector>

#include <gtest/gtest.h>

extern "C" {
#include "lockclass/btf.h"
}

namespace lockscope::test {
namespace {

enum Kind : std::uint32_t {
	Int = 1,
	Pointer = 2,
	Array = 3,
	Struct = 4,
	Union = 5,
	Function = 12,
	Enum64 = 19
};

struct Member {
	const char *name;
	std::uint32_t type;
	std::uint32_t bits;
};

class Blob {
public:
	Blob() { strings_.push_back('\0'); }

	// Adds a type and what follows it; numbers begin with 1.
	std::uint32_t add(const char *name, Kind kind, std::uint32_t members = 0,
			  std::vector<std::uint32_t> rest = {}, bool flag = false,
			  std::uint32_t bytes = 0)
	{
		types_.push_back(string(name));
		types_.push_back(members | kind << 24 | (flag ? 1u << 31 : 0));
		types_.push_back(bytes);
		types_.insert(types_.end(), rest.begin(), rest.end());
		return ++nr_;
	}
	std::uint32_t add(const char *name, Kind kind, const std::vector<Member> &members,
			  bool flag = false)
	{
		std::vector<std::uint32_t> rest;

		for (const Member &m : members)
			rest.insert(rest.end(), {string(m.name), m.type, m.bits});
		return add(name, kind, static_cast<std::uint32_t>(members.size()), rest, flag);
	}
	// @extra: bytes that a later version of the header has more.
	std::vector<char> bytes(std::uint32_t extra = 0) const
	{
		const std::uint32_t type_len = static_cast<std::uint32_t>(types_.size() * 4);
		const std::uint32_t head[] = {
			0x0001eb9f, 24 + extra, 0,
			type_len,   type_len,	static_cast<std::uint32_t>(strings_.size())};
		std::vector<char> out(sizeof(head) + extra + type_len);

		std::memcpy(out.data(), head, sizeof(head));
		std::memcpy(out.data() + sizeof(head) + extra, types_.data(), type_len);
		out.insert(out.end(), strings_.begin(), strings_.end());
		return out;
	}

private:
	std::uint32_t string(const char *text)
	{
		if (!*text)
			return 0;
		auto at = static_cast<std::uint32_t>(strings_.size());
		strings_.insert(strings_.end(), text, text + std::strlen(text) + 1);
		return at;
	}

	std::vector<std::uint32_t> types_;
	std::vector<char> strings_;
	std::uint32_t nr_ = 0;
};

// Every kind of entry with something behind it stands before what is looked for.
Blob cache_like()
{
	Blob b;
	const auto number = b.add("int", Int, 0, {0});

	b.add("", Array, 0, {number, number, 4});
	b.add("many", Enum64, 2, {0, 1, 2, 0, 1, 2});
	const auto deepest = b.add("", Union, {{"deep", number, 0}, {"other", number, 0}});
	const auto inner = b.add("", Struct, {{"before", number, 0}, {"", deepest, 64}});
	b.add("kmem_cache", Function);
	b.add("kmem_cache", Struct, {{"flags", number, 0}, {"", inner, 32}, {"size", number, 192}});
	b.add("bits", Struct, {{"whole", number, 32}, {"three", number, 64 | 3u << 24}}, true);
	return b;
}

std::uint32_t offset(const std::vector<char> &blob, const char *type, const char *member)
{
	// A copy of exactly that size, so that one byte too far is noticed.
	std::vector<char> copy(blob.begin(), blob.end());
	copy.shrink_to_fit();
	return ls_btf_offset(copy.data(), copy.size(), type, member);
}

TEST(Btf, FindsMembers)
{
	const auto blob = cache_like().bytes();

	EXPECT_EQ(offset(blob, "kmem_cache", "flags"), 0u);
	EXPECT_EQ(offset(blob, "kmem_cache", "size"), 24u);
	EXPECT_EQ(offset(blob, "bits", "whole"), 4u);
}

TEST(Btf, FindsMembersOfUnnamedStructures)
{
	const auto blob = cache_like().bytes();

	EXPECT_EQ(offset(blob, "kmem_cache", "before"), 4u);
	EXPECT_EQ(offset(blob, "kmem_cache", "deep"), 12u);
	EXPECT_EQ(offset(blob, "kmem_cache", "other"), 12u);
}

TEST(Btf, SaysWhatIsNotThere)
{
	const auto blob = cache_like().bytes();

	EXPECT_EQ(offset(blob, "kmem_cache", "siz"), LS_BTF_NONE);
	EXPECT_EQ(offset(blob, "kmem_cache", "sizes"), LS_BTF_NONE);
	EXPECT_EQ(offset(blob, "kmem", "size"), LS_BTF_NONE);
	EXPECT_EQ(offset(blob, "bits", "three"), LS_BTF_NONE) << "a bit field has no offset";
	EXPECT_EQ(offset(blob, "int", "size"), LS_BTF_NONE);
}

TEST(Btf, FindsSizes)
{
	Blob b = cache_like();
	b.add("vmap_node", Struct, 1, {0, 1, 0}, false, 264);
	const auto blob = b.bytes();

	EXPECT_EQ(ls_btf_size(blob.data(), blob.size(), "vmap_node"), 264u);
	EXPECT_EQ(ls_btf_size(blob.data(), blob.size(), "vmap"), LS_BTF_NONE);
	EXPECT_EQ(ls_btf_size(blob.data(), 20, "vmap_node"), LS_BTF_NONE);
}

TEST(Btf, LongerHeader)
{
	EXPECT_EQ(offset(cache_like().bytes(8), "kmem_cache", "size"), 24u);
}

TEST(Btf, UnnamedStructureInItself)
{
	Blob b;
	b.add("loop", Struct, {{"", 1, 0}});
	EXPECT_EQ(offset(b.bytes(), "loop", "size"), LS_BTF_NONE);
}

TEST(Btf, CutShort)
{
	const auto blob = cache_like().bytes();

	for (std::size_t len = 0; len < blob.size(); len++)
		EXPECT_EQ(offset({blob.begin(), blob.begin() + static_cast<std::ptrdiff_t>(len)},
				 "kmem_cache", "size"),
			  LS_BTF_NONE);
}

// Whatever was damaged, nothing outside the blob is read: the sanitizer watches.
TEST(Btf, Damaged)
{
	const auto whole = cache_like().bytes();
	std::mt19937 random(1);
	std::size_t found = 0;

	for (int i = 0; i < 20000; i++) {
		auto blob = whole;

		for (unsigned n = 1 + random() % 3; n; n--)
			blob[random() % blob.size()] = static_cast<char>(random());
		found += offset(blob, "kmem_cache", "deep") == 12;
	}
	EXPECT_GT(found, 0u);
	EXPECT_LT(found, 20000u);
}

} // namespace
} // namespace lockscope::test
