// SPDX-License-Identifier: GPL-2.0
// Any bytes as the lists of access sites that userspace gives to the module, one after the
// other, with what the kernel makes of each site: refused lists change nothing, no probe is
// lost or registered twice, and the remaining ones are those requested.
//
// A list begins with its length; each site is its bytes as they are, or, to get beyond
// the first check, made valid and put in order. A byte for each probe says how
// registering it ends.
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <set>
#include <vector>

#include "core.h"

namespace {

void check(bool good, const char *what)
{
	if (good)
		return;
	std::fprintf(stderr, "fuzz_sites: %s\n", what);
	std::abort();
}

struct Input {
	const std::uint8_t *data;
	std::size_t size;

	std::uint8_t byte()
	{
		if (!size)
			return 0;
		size--;
		return *data++;
	}
	void fill(void *to, std::size_t bytes)
	{
		const std::size_t n = std::min(bytes, size);

		std::memset(to, 0, bytes);
		std::memcpy(to, data, n);
		data += n;
		size -= n;
	}
};

std::uint64_t reg(const void *regs, std::uint32_t number)
{
	check(number < 16, "no such register");
	return static_cast<const std::uint64_t *>(regs)[number];
}

// Few values for each field, so that sites of two lists are the same now and then.
void make_valid(ls_site &s)
{
	s.ip &= 0xf;
	s.disp = s.disp & 1 ? s.disp : 0;
	s.base = s.base % 3 == 0 ? LS_BASE_RIP : s.base % 3 == 1 ? LS_BASE_NONE : s.base & 15;
	s.index = s.index & 1 ? LS_BASE_NONE : s.index & 15;
	s.scale = 1 << (s.scale & 3);
	s.percpu &= 1;
	s.size = 1 + s.size % LS_SITE_MAX_SIZE;
	s.op = (s.op & (LS_ACC_WRITE | LS_ACC_ATOMIC | LS_ACC_MARKED)) | LS_ACC_READ;
}

// What must hold for every valid site, whatever is in it.
void look_at(const ls_site &s)
{
	std::uint64_t regs[16], expected = s.disp, percpu = 0xffff888012345678ull;

	for (int i = 0; i < 16; i++)
		regs[i] = 0x0123456789abcdefull * (i + 1);
	if (s.base < 16)
		expected += regs[s.base];
	for (int i = 0; s.index < 16 && i < s.scale; i++)
		expected += regs[s.index];
	if (s.percpu)
		expected += percpu;
	check(ls_site_address(&s, reg, regs, percpu) == expected, "another address");
	check(s.size >= 1 && s.size <= 64, "size of a valid site");
	check(s.op & (LS_ACC_READ | LS_ACC_WRITE), "a valid site does nothing");
	check(ls_site_same(&s, &s), "a site differs from itself");
}

bool in_order(const std::vector<ls_site> &sites)
{
	return std::is_sorted(sites.begin(), sites.end(),
			      [](const auto &a, const auto &b) { return a.ip < b.ip; }) &&
	       std::adjacent_find(sites.begin(), sites.end(), [](const auto &a, const auto &b) {
		       return a.ip == b.ip;
	       }) == sites.end();
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t *data, std::size_t size)
{
	Input in{data, size};
	std::vector<ls_site *> probes;

	while (in.size) {
		const std::uint8_t head = in.byte();
		std::vector<ls_site> sites(head & 15);

		for (auto &s : sites) {
			in.fill(&s, sizeof(s));
			if (head & 0x80)
				make_valid(s);
		}
		if (head & 0x40)
			std::sort(sites.begin(), sites.end(),
				  [](const auto &a, const auto &b) { return a.ip < b.ip; });
		if (!std::all_of(sites.begin(), sites.end(),
				 [](const auto &s) { return ls_site_valid(&s); }))
			continue;
		for (const auto &s : sites)
			look_at(s);

		std::vector<ls_site> before;
		for (const auto *p : probes)
			before.push_back(*p);
		const std::set<ls_site *> all(probes.begin(), probes.end());
		std::vector<ls_site *> next(sites.size());
		ls_sites_keep(next.data(), sites.data(), sites.size(), probes.data(),
			      probes.size());

		std::set<ls_site *> there;
		std::size_t kept = 0;
		for (std::size_t i = 0; i < next.size(); i++) {
			if (!next[i])
				continue;
			check(all.contains(next[i]), "a probe from nowhere");
			check(there.insert(next[i]).second, "a probe kept twice");
			check(ls_site_same(next[i], &sites[i]) && !next[i]->error,
			      "not what was asked for");
			kept++;
		}
		for (auto *p : probes)
			if (p)
				check(there.insert(p).second, "kept and dropped");
		check(there.size() == all.size(), "a probe got lost");
		if (in_order(sites) && in_order(before)) {
			std::size_t common = 0;

			for (const auto &s : sites)
				common += std::any_of(
					before.begin(), before.end(), [&](const auto &b) {
						return !b.error && ls_site_same(&b, &s);
					});
			check(kept == common, "not all that could be kept");
		}
		for (auto *p : probes)
			delete p;
		for (std::size_t i = 0; i < next.size(); i++) {
			if (next[i])
				continue;
			next[i] = new ls_site(sites[i]);
			next[i]->error = in.byte() & 1 ? -22 : 0;
		}
		probes = next;
	}
	for (auto *p : probes)
		delete p;
	return 0;
}
