// SPDX-License-Identifier: GPL-2.0
#include "analysis/faults/sections.h"

#include "analysis/rank.h"
#include "model/counters.h"
#include "util/text.h"

#include <algorithm>
#include <map>
#include <set>
#include <tuple>

namespace lockscope {

namespace {

/// Modules with call-outs, which report every access.
std::set<std::string> instrumented(const Model &model)
{
	std::set<std::string> out;
	for (const auto &access : model.accesses)
		if (const auto &module = model[access.at].module;
		    !(access.op & LS_ACC_PROBE) && !module.empty() && module != "vmlinux")
			out.insert(module);
	return out;
}

bool watched_all(const Run &run)
{
	auto at = run.counters.find(kAccessModeCounter);
	return at != run.counters.end() && at->second == LS_ACCESSES_ALL;
}

} // namespace

std::vector<Finding> empty_sections(const Model &model)
{
	const auto modules = instrumented(model);
	std::set<CodeId> touched;
	for (const auto &access : model.accesses)
		for (const auto &guard : access.guards)
			touched.insert(guard.at);

	struct Section {
		std::uint64_t count = 0;
		CodeId at{};
	};
	std::map<std::tuple<ClassId, std::string>, Section> empty;
	std::set<std::tuple<ClassId, std::string>> used;
	for (const auto &run : model.runs) {
		if (!watched_all(run))
			continue;
		for (const auto &chain : run.chains) {
			const Code &code = model[chain.at];
			if (chain.cls == kNoClass || !modules.count(code.module))
				continue;
			const std::tuple key(chain.cls, plain_function(code.function));
			if (touched.count(chain.at)) {
				used.insert(key);
				continue;
			}
			empty[key].count += chain.count;
			empty[key].at = chain.at;
		}
	}

	std::vector<Finding> out;
	for (const auto &[key, section] : empty) {
		const auto &[cls, function] = key;
		if (section.count < kMeasurable || used.count(key))
			continue;
		Finding finding;
		finding.kind = FindingKind::EmptyCriticalSection;
		finding.severity = usual_severity(finding.kind);
		finding.id = fault_id(model, finding.kind, cls, function);
		finding.classes = {cls};
		finding.title = std::string(title_words(finding.kind)) + ": " +
				short_name(model[cls]) + " (" + function + ")";
		finding.filters.push_back(
			{"self-check", true,
			 "taken about " + with_commas(section.count) + " times at " +
				 place_name(model[section.at]) +
				 ", and no access was seen with it held: either it guards nothing "
				 "there, or what it guards is touched by code without call-outs"});
		out.push_back(std::move(finding));
	}
	return out;
}

} // namespace lockscope
