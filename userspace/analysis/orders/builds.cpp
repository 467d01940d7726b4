// SPDX-License-Identifier: GPL-2.0
#include "analysis/orders/builds.h"

#include "util/text.h"

#include <algorithm>
#include <map>
#include <set>
#include <tuple>
#include <utility>

namespace lockscope {

namespace {

/* Digits of a build id that the report shows to distinguish builds of one release. */
constexpr std::size_t kShownDigits = 8;

std::string part_of(const Model &model, const FindingEdge &edge)
{
	if (to_interrupt(edge))
		return short_name(model[edge.from]) + " with " + interrupt_name(edge.to) + "s on";
	if (from_interrupt(edge))
		return short_name(model[edge.to]) + " in " + interrupt_name(edge.from);
	return short_name(model[edge.from]) + " -> " + short_name(model[edge.to]);
}

bool shows(const Model &model, const Build &build, const FindingEdge &edge)
{
	return std::any_of(edge.witnesses.begin(), edge.witnesses.end(),
			   [&](const Witness &witness) {
				   return build.runs[model.observations[witness.observation].run];
			   });
}

} // namespace

std::vector<Build> builds_of(const Model &model)
{
	std::vector<Build> out;
	std::map<std::pair<std::string, std::string>, std::size_t> known;
	std::map<std::string, std::size_t> of_release;
	for (std::size_t run = 0; run < model.runs.size(); run++) {
		const Run &ran = model.runs[run];
		auto [at, added] = known.try_emplace({ran.release, ran.build_id}, out.size());
		if (added) {
			out.push_back({ran.release, Runs(model.runs.size())});
			of_release[ran.release]++;
		}
		out[at->second].runs[run] = true;
	}
	for (const auto &[build, at] : known)
		if (of_release[build.first] > 1)
			out[at].name +=
				build.second.empty()
					? " (build not known)"
					: " (build " + build.second.substr(0, kShownDigits) + ")";
	return out;
}

std::vector<std::string> kept_apart(const Model &model)
{
	std::map<std::tuple<std::string, ls_kind, std::string>, std::set<std::string>> known;
	for (const auto &cls : model.classes)
		if (numbered(cls.name))
			known[{cls.name, cls.kind, cls.module}].insert(cls.within);
	std::set<std::string> names;
	for (const auto &[cls, builds] : known)
		if (builds.size() > 1)
			names.insert(std::get<0>(cls));
	return {names.begin(), names.end()};
}

Filter different_kernels(const Model &model, const std::vector<Build> &builds,
			 const Finding &finding)
{
	std::vector<std::string> parts;
	for (const auto &edge : finding.edges) {
		std::vector<std::string> names;
		for (const auto &build : builds)
			if (shows(model, build, edge))
				names.push_back(build.name);
		std::string part = part_of(model, edge);
		if (!names.empty())
			part += " on " + names.front();
		if (names.size() > 1)
			part += " and " + counted(names.size() - 1, "other");
		parts.push_back(std::move(part));
	}
	return {"different-kernels", false, "no kernel has all of it: " + join(parts, ", "),
		Severity::Note};
}

} // namespace lockscope
