// SPDX-License-Identifier: GPL-2.0
#include "model/stat.h"

#include <algorithm>
#include <numeric>
#include <utility>

namespace lockscope {

namespace {

std::uint64_t sum(const std::array<std::uint64_t, LS_NR_LEVELS> &values)
{
	return std::accumulate(values.begin(), values.end(), std::uint64_t{0});
}

} // namespace

void StatTimes::add(const StatTimes &other)
{
	count += other.count;
	sum += other.sum;
	max = std::max(max, other.max);
	for (std::size_t i = 0; i < buckets.size(); i++)
		buckets[i] += other.buckets[i];
}

void StatTimes::subtract(const StatTimes &before)
{
	count -= before.count;
	sum -= before.sum;
	for (std::size_t i = 0; i < buckets.size(); i++)
		buckets[i] -= before.buckets[i];
}

std::uint64_t StatClass::all_acquired() const
{
	return sum(acquired);
}

std::uint64_t StatClass::all_contended() const
{
	return sum(contended);
}

void StatClass::add(const StatClass &other)
{
	for (std::size_t i = 0; i < acquired.size(); i++) {
		acquired[i] += other.acquired[i];
		contended[i] += other.contended[i];
	}
	readers += other.readers;
	trylocks += other.trylocks;
	gave_up += other.gave_up;
	waits.add(other.waits);
	holds.add(other.holds);
	sites.insert(sites.end(), other.sites.begin(), other.sites.end());
}

void StatClass::subtract(const StatClass &before)
{
	for (std::size_t i = 0; i < acquired.size(); i++) {
		acquired[i] -= before.acquired[i];
		contended[i] -= before.contended[i];
	}
	readers -= before.readers;
	trylocks -= before.trylocks;
	gave_up -= before.gave_up;
	waits.subtract(before.waits);
	holds.subtract(before.holds);
}

void StatReport::add(const StatReport &other)
{
	release = other.release;
	seconds += other.seconds;
	left_out += other.left_out;
	for (const auto &[what, n] : other.losses)
		losses[what] += n;

	std::map<std::pair<std::string, ls_kind>, StatClass> all;
	for (const auto *report : {static_cast<const StatReport *>(this), &other})
		for (const auto &c : report->classes) {
			StatClass &sum = all[{c.name, c.kind}];
			sum.name = c.name;
			sum.kind = c.kind;
			sum.add(c);
		}
	classes.clear();
	for (auto &[key, c] : all) {
		std::map<std::string, StatSite> places;
		for (const auto &site : c.sites) {
			StatSite &sum = places[site.place];
			sum.place = site.place;
			sum.acquired += site.acquired;
			sum.contended += site.contended;
			sum.wait_ns += site.wait_ns;
			sum.hold_ns += site.hold_ns;
		}
		c.sites.clear();
		for (auto &[place, site] : places)
			c.sites.push_back(std::move(site));
		classes.push_back(std::move(c));
	}
}

} // namespace lockscope
