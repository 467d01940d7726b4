// SPDX-License-Identifier: GPL-2.0
// Any bytes as access sites, what the kernel says to each probe, and how often each
// was hit: whose turn it is stays within the limits, and hits add up.
#include "record/rotation.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <set>
#include <vector>

using namespace lockscope;

namespace {

void check(bool holds)
{
	if (!holds)
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
};

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t *data, std::size_t size)
{
	Input in{data, size};
	std::vector<ls_site> sites(in.byte() % 40);
	std::set<std::uint64_t> places;
	for (auto &site : sites) {
		site.ip = in.byte();
		places.insert(site.ip);
	}
	const std::size_t most = 1 + in.byte() % 20;
	const double limit = in.byte() * 1000.0;
	Rotation rotation(sites, {.live = most, .hits_per_second = limit});
	check(rotation.sites() == places.size());

	std::uint64_t before = 0;
	while (in.size) {
		const std::uint8_t give_way = in.byte();
		rotation.begin_turn(give_way == 255 ? SIZE_MAX : give_way);
		auto live = rotation.live();
		check(live.size() <= most);
		check(std::is_sorted(live.begin(), live.end(),
				     [](const auto &a, const auto &b) { return a.ip < b.ip; }));
		for (const auto &site : live)
			check(places.contains(site.ip) && site.error == 0);

		const std::uint8_t how = in.byte();
		for (auto &site : live)
			site.error = how & 1 ? -(in.byte() & 63) : 0;
		/* The kernel may know of fewer. */
		if (how & 2 && !live.empty())
			live.pop_back();
		rotation.armed(live);
		check(rotation.most_live() <= most);

		std::vector<std::uint32_t> hits(how & 4 ? live.size() / 2 : live.size());
		for (auto &hit : hits)
			hit = in.byte() * 0x01010101u;
		rotation.measure(hits, how & 8 ? 0 : 1 + in.byte() / 16.0);
		check(rotation.hits() >= before);
		before = rotation.hits();
		check(rotation.turned() <= places.size() && rotation.held_back() <= places.size());
		std::size_t refused = 0;
		for (const auto &[error, count] : rotation.refused()) {
			check(error > 0);
			refused += count;
		}
		check(refused <= places.size());
	}
	return 0;
}
