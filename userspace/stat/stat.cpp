// SPDX-License-Identifier: GPL-2.0
#include "stat/stat.h"

#include "analysis/selection.h"
#include "model/model.h"
#include "util/text.h"

#include <algorithm>
#include <map>
#include <tuple>
#include <utility>

namespace lockscope {

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

namespace {

/// "mod" of "mod:lock", and of the place "function+0x12 [mod]".
bool is_of_module(const StatClass &cls, const std::string &module)
{
	const auto colon = cls.name.find(':');
	if (colon != cls.name.npos && module_matches(module, cls.name.substr(0, colon)))
		return true;
	return std::any_of(cls.sites.begin(), cls.sites.end(), [&](const StatSite &site) {
		const auto open = site.place.rfind(" [");
		const bool named = open != site.place.npos && site.place.ends_with(']');
		return module_matches(
			module, named ? site.place.substr(open + 2, site.place.size() - open - 3)
				      : std::string());
	});
}

} // namespace

void arrange(StatReport &report, const std::string &order, const std::string &pattern,
	     const std::string &module)
{
	const auto &orders = stat_orders();
	auto by = std::find_if(orders.begin(), orders.end(),
			       [&](const StatOrder &o) { return order == o.name; });
	if (by == orders.end())
		by = orders.begin();
	if (!pattern.empty())
		std::erase_if(report.classes,
			      [&](const StatClass &c) { return !glob_matches(pattern, c.name); });
	if (!module.empty())
		std::erase_if(report.classes,
			      [&](const StatClass &c) { return !is_of_module(c, module); });
	std::sort(report.classes.begin(), report.classes.end(),
		  [&](const StatClass &a, const StatClass &b) {
			  /* Descending: b's values on the left. */
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

/// From the chains, whose counts are sampled.
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
			if (chain.val & LS_VAL_TRY && model[chain.cls].kind != LS_KIND_WORK)
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
