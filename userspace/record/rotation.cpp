// SPDX-License-Identifier: GPL-2.0
#include "record/rotation.h"

#include <algorithm>
#include <tuple>

namespace lockscope {

namespace {

/* Spreads neighbouring sites, so that every turn has some of every function. */
std::uint64_t scattered(std::uint64_t ip)
{
	return ip * 0x9e3779b97f4a7c15ull;
}

} // namespace

Rotation::Rotation(std::vector<ls_site> sites, RotationLimits limits) : limits_(limits)
{
	std::stable_sort(sites.begin(), sites.end(),
			 [](const ls_site &a, const ls_site &b) { return a.ip < b.ip; });
	for (const auto &site : sites)
		if (sites_.empty() || sites_.back().probe.ip != site.ip)
			sites_.push_back({.probe = site});
}

void Rotation::begin_turn(std::size_t most)
{
	std::vector<Site *> oldest, order;
	double rate = 0;
	for (auto &site : sites_)
		(site.live ? oldest : order).push_back(&site);
	std::stable_sort(oldest.begin(), oldest.end(),
			 [](const Site *a, const Site *b) { return a->since < b->since; });
	const auto waiting = static_cast<std::size_t>(std::count_if(
		order.begin(), order.end(), [](const Site *site) { return !site->probe.error; }));
	const std::size_t leaving = std::min({most, waiting, oldest.size()});
	for (std::size_t i = 0; i < oldest.size(); i++) {
		oldest[i]->live = i >= leaving;
		if (oldest[i]->live)
			rate += oldest[i]->rate;
		else
			order.push_back(oldest[i]);
	}
	auto key = [](const Site *site) {
		return std::tuple(site->turns, site->hits, scattered(site->probe.ip));
	};
	std::sort(order.begin(), order.end(),
		  [&](const Site *a, const Site *b) { return key(a) < key(b); });

	std::size_t live = oldest.size() - leaving;
	turn_++;
	for (Site *site : order) {
		if (live >= limits_.live)
			break;
		if (site->probe.error)
			continue;
		if (limits_.hits_per_second > 0 && rate + site->rate > limits_.hits_per_second) {
			/* Its load may be over: it is tried again later. */
			site->rate /= 2;
			site->held_back = true;
			continue;
		}
		site->live = true;
		site->turns++;
		site->since = turn_;
		rate += site->rate;
		live++;
	}
}

std::vector<ls_site> Rotation::live() const
{
	std::vector<ls_site> out;
	for (const auto &site : sites_)
		if (site.live)
			out.push_back(site.probe);
	return out;
}

void Rotation::armed(std::span<const ls_site> probes)
{
	std::size_t at = 0, live = 0;
	for (auto &site : sites_) {
		const bool had_one = site.armed;
		site.armed = false;
		if (!site.live || at == probes.size())
			continue;
		site.probe.error = probes[at].error;
		site.live = site.armed = site.probe.error == 0;
		site.slot = at++;
		/* A new probe counts from 0. */
		if (!had_one)
			site.counter = 0;
		live += site.live;
	}
	most_live_ = std::max(most_live_, live);
}

bool Rotation::measure(std::span<const std::uint32_t> hits, double seconds)
{
	double total = 0;
	std::vector<Site *> live;
	for (auto &site : sites_) {
		if (!site.live || site.slot >= hits.size())
			continue;
		const std::uint32_t counter = hits[site.slot], more = counter - site.counter;
		site.counter = counter;
		site.hits += more;
		hits_ += more;
		site.rate = seconds > 0 ? more / seconds : 0;
		total += site.rate;
		live.push_back(&site);
	}
	if (limits_.hits_per_second <= 0 || total <= limits_.hits_per_second)
		return false;
	std::sort(live.begin(), live.end(),
		  [](const Site *a, const Site *b) { return a->rate > b->rate; });
	for (Site *site : live) {
		if (total <= limits_.hits_per_second)
			break;
		total -= site->rate;
		site->live = false;
		site->held_back = true;
	}
	return true;
}

bool Rotation::is_complete() const
{
	return std::all_of(sites_.begin(), sites_.end(),
			   [](const Site &site) { return site.live || site.probe.error; });
}

std::size_t Rotation::turned() const
{
	return static_cast<std::size_t>(
		std::count_if(sites_.begin(), sites_.end(), [](const Site &site) {
			return site.turns > 0 && !site.probe.error;
		}));
}

std::size_t Rotation::held_back() const
{
	return static_cast<std::size_t>(std::count_if(
		sites_.begin(), sites_.end(), [](const Site &site) { return site.held_back; }));
}

std::map<int, std::size_t> Rotation::refused() const
{
	std::map<int, std::size_t> out;
	for (const auto &site : sites_)
		if (site.probe.error)
			out[-site.probe.error]++;
	return out;
}

} // namespace lockscope
