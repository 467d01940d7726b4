// SPDX-License-Identifier: GPL-2.0
// Statistics as JSON: "lockscope-stat/1".
#include "report/json_parts.h"
#include "report/stat.h"

namespace lockscope {

namespace {

Json levels_json(const std::array<std::uint64_t, LS_NR_LEVELS> &values)
{
	Json out = Json::object();
	for (std::uint32_t level = 0; level < LS_NR_LEVELS; level++)
		out[level_name(level << LS_VAL_LEVEL_SHIFT)] = values[level];
	return out;
}

Json times_json(const StatTimes &times)
{
	return {{"count", times.count},
		{"total_ns", times.sum},
		{"max_ns", times.max},
		{"log2_ns", times.buckets}};
}

Json class_json(const StatClass &c, bool exact)
{
	Json out = {{"name", c.name},
		    {"kind", kind_name(c.kind)},
		    {"acquired", c.all_acquired()},
		    {"acquired_in", levels_json(c.acquired)},
		    {"readers", c.readers},
		    {"trylocks", c.trylocks}};
	if (exact) {
		out["contended"] = c.all_contended();
		out["contended_in"] = levels_json(c.contended);
		out["gave_up"] = c.gave_up;
		out["wait"] = times_json(c.waits);
		out["hold"] = times_json(c.holds);
	}
	out["sites"] = Json::array();
	for (const auto &site : c.sites) {
		Json s = {{"place", site.place}, {"acquired", site.acquired}};
		if (exact) {
			s["contended"] = site.contended;
			s["wait_ns"] = site.wait_ns;
			s["hold_ns"] = site.hold_ns;
		}
		out["sites"].push_back(std::move(s));
	}
	return out;
}

} // namespace

std::string json_stat(const StatReport &report)
{
	Json out = {{"schema", "lockscope-stat/1"}, {"kernel", {{"release", report.release}}},
		    {"exact", report.exact},	    {"seconds", report.seconds},
		    {"losses", report.losses},	    {"runs_left_out", report.left_out},
		    {"classes", Json::array()}};
	for (const auto &c : report.classes)
		out["classes"].push_back(class_json(c, report.exact));
	return dump(out);
}

} // namespace lockscope
