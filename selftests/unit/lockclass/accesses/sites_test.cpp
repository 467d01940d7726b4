// SPDX-License-Identifier: GPL-2.0
// Lists of access sites, as userspace gives them to the module.
#include <vector>

#include <gtest/gtest.h>

#include "core.h"

namespace lockscope::test {
namespace {

ls_site site(std::uint64_t ip)
{
	return {.ip = ip,
		.disp = 8,
		.base = 3,
		.index = LS_BASE_NONE,
		.scale = 1,
		.percpu = 0,
		.size = 8,
		.op = LS_ACC_READ,
		.error = 0,
		.pad = 0};
}

std::uint64_t number(const void *regs, std::uint32_t nr)
{
	return static_cast<const std::uint64_t *>(regs)[nr];
}

TEST(Sites, WhatDoesNotExistIsNoSite)
{
	const auto refused = [](auto change) {
		ls_site s = site(1);
		change(s);
		return !ls_site_valid(&s);
	};

	const ls_site good = site(1);
	EXPECT_TRUE(ls_site_valid(&good));
	EXPECT_TRUE(refused([](ls_site &s) { s.base = 16; }));
	EXPECT_TRUE(refused([](ls_site &s) { s.index = 16; }));
	EXPECT_TRUE(refused([](ls_site &s) { s.index = LS_BASE_RIP; }));
	EXPECT_TRUE(refused([](ls_site &s) { s.scale = 3; }));
	EXPECT_TRUE(refused([](ls_site &s) { s.percpu = 2; }));
	EXPECT_TRUE(refused([](ls_site &s) { s.size = 0; }));
	EXPECT_TRUE(refused([](ls_site &s) { s.size = LS_SITE_MAX_SIZE + 1; }));
	EXPECT_TRUE(refused([](ls_site &s) { s.op = LS_ACC_MARKED; }));
	EXPECT_TRUE(refused([](ls_site &s) { s.op |= LS_ACC_PROBE; }));
}

TEST(Sites, AnOperandsPartsAddUp)
{
	std::uint64_t regs[16];
	ls_site s = site(1);

	for (std::uint64_t i = 0; i < 16; i++)
		regs[i] = 1000 * (i + 1);
	EXPECT_EQ(ls_site_address(&s, number, regs, 7), 4008u);
	s.index = 15;
	s.scale = 4;
	EXPECT_EQ(ls_site_address(&s, number, regs, 7), 68008u);
	s.percpu = 1;
	EXPECT_EQ(ls_site_address(&s, number, regs, 7), 68015u);
	s.base = LS_BASE_RIP;
	s.index = LS_BASE_NONE;
	s.disp = -8;
	EXPECT_EQ(ls_site_address(&s, number, regs, 8), 0u);
}

TEST(Sites, WhatIsThereAlreadyStays)
{
	ls_site a = site(10), b = site(20), c = site(30), d = site(40);
	ls_site *old[] = {&a, &b, &c, &d};
	std::vector<ls_site> wanted{site(10), site(15), site(30), site(40), site(50)};
	ls_site *next[5] = {};

	c.error = -22; // it is requested again
	wanted[3].op = LS_ACC_WRITE;
	ls_sites_keep(next, wanted.data(), 5, old, 4);
	EXPECT_EQ(next[0], &a);
	EXPECT_EQ(old[0], nullptr);
	for (int i = 1; i < 5; i++)
		EXPECT_EQ(next[i], nullptr) << i;
	EXPECT_EQ(old[2], &c);
	EXPECT_EQ(old[3], &d);
}

TEST(Sites, TwoOfOneKindAreKeptOnceEach)
{
	ls_site a = site(10);
	ls_site *old[] = {&a};
	const std::vector<ls_site> wanted{site(10), site(10)};
	ls_site *next[2] = {};

	ls_sites_keep(next, wanted.data(), 2, old, 1);
	EXPECT_EQ(next[0], &a);
	EXPECT_EQ(next[1], nullptr);
}

} // namespace
} // namespace lockscope::test
