// SPDX-License-Identifier: GPL-2.0
#include "report/groups.h"

#include "util/text.h"

#include <set>
#include <unordered_map>

namespace lockscope {

std::vector<Group> groups_of(const Model &model, const std::vector<const Finding *> &shown)
{
	std::set<std::string> listed;
	for (const auto *finding : shown)
		listed.insert(finding->id);
	const auto has_its_cause = [&](const Finding &finding) {
		return !finding.cause.empty() && listed.count(finding.cause) != 0;
	};
	std::vector<Group> out;
	std::unordered_map<std::string, std::size_t> by_id;
	for (std::size_t i = 0; i < shown.size(); i++)
		if (!has_its_cause(*shown[i])) {
			by_id.emplace(shown[i]->id, out.size());
			out.push_back({{shown[i], out.size() + 1}, {}});
		}
	for (std::size_t i = 0; i < shown.size(); i++) {
		if (!has_its_cause(*shown[i]))
			continue;
		const auto cause = by_id.find(shown[i]->cause);
		/* A cause has none itself; if it had, nothing would be lost. */
		if (cause == by_id.end()) {
			out.push_back({{shown[i], out.size() + 1}, {}});
			continue;
		}
		std::vector<std::string> names;
		for (const ClassId cls : shown[i]->through)
			names.push_back(short_name(model[cls]));
		out[cause->second].more[join(names, " -> ")].push_back({shown[i], 0});
	}
	/* A list that leaves these out has consecutive numbers as well. */
	std::size_t number = out.size();
	for (auto &group : out)
		for (auto &[through, list] : group.more)
			for (auto &entry : list)
				entry.number = ++number;
	return out;
}

} // namespace lockscope
