// SPDX-License-Identifier: GPL-2.0
// Memory that was freed: only what was, until it is allocated again.
#include <random>
#include <unordered_map>
#include <vector>

#include <gtest/gtest.h>

#include "core.h"
#include "lockclass/freed.h"

namespace lockscope::test {
namespace {

constexpr std::uint64_t kBase = 0xffff888000000000ull, kCode = 0xffffffffc0001234ull;

struct Freed {
	std::vector<ls_freed> tab = std::vector<ls_freed>(1u << LS_FREED_BITS);
	std::uint64_t code = 0;

	std::uint32_t find(std::uint64_t object)
	{
		return ls_freed_find(tab.data(), object, &code);
	}
};

TEST(FreedMemory, HasTheSitesOfItsLastLife)
{
	Freed freed;
	EXPECT_EQ(freed.find(kBase), 0u);
	EXPECT_EQ(freed.find(0), 0u);
	ls_freed_note(freed.tab.data(), kBase, 7, kCode);
	EXPECT_EQ(freed.find(kBase), 7u);
	EXPECT_EQ(freed.code, kCode);
	EXPECT_EQ(freed.find(kBase + 8), 0u);
	ls_freed_note(freed.tab.data(), kBase, 8, kCode + 1);
	EXPECT_EQ(freed.find(kBase), 8u);
	EXPECT_EQ(freed.code, kCode + 1);
	ls_freed_forget(freed.tab.data(), kBase + 8);
	EXPECT_EQ(freed.find(kBase), 8u);
	ls_freed_forget(freed.tab.data(), kBase);
	EXPECT_EQ(freed.find(kBase), 0u);
}

/* What is found is right, however many objects there are; the last one is always found. */
TEST(FreedMemory, ALaterFreeTakesThePlaceOfAnEarlierOne)
{
	Freed freed;
	std::unordered_map<std::uint64_t, std::uint32_t> last;
	std::mt19937 random(1);
	std::size_t found = 0;
	for (int i = 0; i < 100000; i++) {
		const std::uint64_t object = kBase + random() % 20000 * 64;
		if (random() % 4 == 0) {
			ls_freed_forget(freed.tab.data(), object);
			last.erase(object);
			continue;
		}
		const auto site = static_cast<std::uint32_t>(random() % 8192 + 1);
		ls_freed_note(freed.tab.data(), object, site, kCode + site);
		last[object] = site;
		ASSERT_EQ(freed.find(object), site);
	}
	for (std::uint64_t object = kBase; object < kBase + 20000 * 64; object += 64)
		if (const auto site = freed.find(object)) {
			found++;
			ASSERT_EQ(last.count(object), 1u);
			ASSERT_EQ(site, last[object]);
			ASSERT_EQ(freed.code, kCode + site);
		}
	/* Of 4,096 places; a fourth of the steps empties one. */
	EXPECT_GT(found, 2000u);
}

} // namespace
} // namespace lockscope::test
