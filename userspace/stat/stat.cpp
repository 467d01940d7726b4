// SPDX-License-Identifier: GPL-2.0
#include "stat/stat.h"

#include "model/model.h"
#include "util/text.h"

#include <algorithm>
#include <numeric>
#include <tuple>

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

const std::vector<StatOrder> &stat_orders()
{
	static const std::vector<StatOrder> orders = {
		{"wait", [](const StatClass &c) { return c.waits.sum; }},
		{"wait-max", [](const StatClass &c) { return c.waits.max; }},
		{"wait-mean", [](const StatClass &c) { return c.waits.mean(); }},
		{"contended", [](const StatClass &c) { return c.all_contended(); }},
		{"acquired", [](const StatClass &c) { return c.all_acquired(); }},
		{"hold", [](const StatClass &c) { return c.holds.sum; }},
		{"hold-max", [](const StatClass &c) { return c.holds.max; }},
		{"hold-mean", [](const StatClass &c) { return c.holds.mean(); }},
	};
	return orders;
}

void arrange(StatReport &report, const std::string &order, const std::string &pattern)
{
	const auto &orders = stat_orders();
	auto by = std::find_if(orders.begin(), orders.end(),
			       [&](const StatOrder &o) { return order == o.name; });
	if (by == orders.end())
		by = orders.begin();
	if (!pattern.empty())
		std::erase_if(report.classes, [&](const StatClass &c) {
			return !glob_matches(pattern, c.name);
		});
	std::sort(report.classes.begin(), report.classes.end(),
		  [&](const StatClass &a, const StatClass &b) {
			  /* Most first: b's figures on the left. */
			  return std::tuple(by->key(b), b.all_acquired(), a.name) <
				 std::tuple(by->key(a), a.all_acquired(), b.name);
		  });
	for (auto &c : report.classes)
		std::sort(c.sites.begin(), c.sites.end(), [](const StatSite &a, const StatSite &b) {
			return std::tuple(b.acquired, b.contended, a.place) <
			       std::tuple(a.acquired, a.contended, b.place);
		});
}

namespace {

/// From the chains, whose counts are those of a sample.
StatReport estimates_of(const Model &model)
{
	StatReport report;
	report.exact = false;
	std::map<std::uint32_t, StatClass> classes;
	std::map<std::pair<std::uint32_t, std::uint32_t>, std::uint64_t> sites;
	for (const auto &run : model.runs) {
		report.release = run.release;
		for (const auto &chain : run.chains) {
			if (chain.cls == kNoClass || chain.count == 0)
				continue;
			StatClass &c = classes[index(chain.cls)];
			c.acquired[level_of(chain.val)] += chain.count;
			if (read_of(chain.val) != LS_EXCLUSIVE)
				c.readers += chain.count;
			if (chain.val & LS_VAL_TRY)
				c.trylocks += chain.count;
			sites[{index(chain.cls), index(chain.at)}] += chain.count;
		}
	}
	for (const auto &[key, count] : sites) {
		StatSite site;
		site.place = place_name(model.code[key.second]);
		site.acquired = count;
		classes[key.first].sites.push_back(std::move(site));
	}
	for (auto &[id, c] : classes) {
		c.name = model.classes[id].name;
		c.kind = model.classes[id].kind;
		report.classes.push_back(std::move(c));
	}
	return report;
}

} // namespace

StatReport stat_of(const Model &model)
{
	StatReport report;
	for (const auto &run : model.runs) {
		if (run.stat)
			report.add(*run.stat);
		else
			report.left_out++;
	}
	return report.left_out < model.runs.size() ? report : estimates_of(model);
}

} // namespace lockscope
