// SPDX-License-Identifier: GPL-2.0
#include "analysis/selection.h"

#include "analysis/findings.h"
#include "analysis/history.h"
#include "model/variable.h"
#include "util/date.h"
#include "util/text.h"

#include <algorithm>
#include <charconv>

namespace lockscope {

namespace {

constexpr const char *kKernel = "vmlinux";

std::string with_underscores(std::string module)
{
	std::replace(module.begin(), module.end(), '-', '_');
	return module;
}

/// The data that a finding about memory is about.
std::optional<DataId> data_of(const Model &model, const Finding &finding)
{
	const AccessSide *side = finding.race	     ? &finding.race->sides[0]
				 : finding.violation ? &finding.violation->sides.front()
						     : nullptr;
	if (!side || model.accesses[side->access].data == kNoData)
		return std::nullopt;
	return model.accesses[side->access].data;
}

/// Is a function of @glob on one of the stacks?
bool runs_through(const Model &model, const Finding &finding, const std::string &glob)
{
	const auto on = [&](const std::vector<CodeId> &stack) {
		return std::any_of(stack.begin(), stack.end(), [&](CodeId at) {
			const auto &module = model[at].module;
			return !module.empty() && module != kKernel && module_matches(glob, module);
		});
	};
	const auto side = [&](const AccessSide &access) { return on(access.stack); };
	return std::any_of(finding.edges.begin(), finding.edges.end(),
			   [&](const FindingEdge &edge) {
				   return on(edge.from_stack) || on(edge.to_stack);
			   }) ||
	       (finding.race && (side(finding.race->sides[0]) || side(finding.race->sides[1]))) ||
	       (finding.violation && std::any_of(finding.violation->sides.begin(),
						 finding.violation->sides.end(), side));
}

template <typename Match>
bool matches_one(const std::vector<std::string> &globs, const Match &match)
{
	return globs.empty() || std::any_of(globs.begin(), globs.end(), match);
}

bool wanted(const Model &model, const Finding &finding, const Selection &selection,
	    const std::vector<std::uint32_t> &places)
{
	const auto &kinds = selection.kinds;
	if (!kinds.empty() && std::find(kinds.begin(), kinds.end(), finding.kind) == kinds.end())
		return false;
	if (selection.since && finding.last_run &&
	    places[*finding.last_run] < places[*selection.since])
		return false;
	/* Of a single run everything is new. */
	if (selection.only_new && !finding.fresh.value_or(model.runs.size() < 2))
		return false;
	return matches_one(selection.modules,
			   [&](const auto &glob) { return is_of_module(model, finding, glob); }) &&
	       matches_one(selection.classes,
			   [&](const auto &glob) { return is_about(model, finding, glob); });
}

} // namespace

bool module_matches(const std::string &glob, const std::string &module)
{
	return glob_matches(with_underscores(glob),
			    module.empty() ? kKernel : with_underscores(module));
}

std::string Selection::describe() const
{
	std::string out;
	for (const auto &module : modules)
		out += " --module " + module;
	for (const auto kind : kinds)
		out += std::string(" --kind ") + name(kind);
	for (const auto &cls : classes)
		out += " --class '" + cls + "'";
	if (since)
		out += " --since " + std::to_string(*since + 1);
	if (only_new)
		out += " --new";
	return out.empty() ? out : out.substr(1);
}

Result<std::uint32_t> parse_run(const Model &model, const std::string &text)
{
	const auto runs = static_cast<std::uint32_t>(model.runs.size());
	const std::string hint = "it takes the number of a run, 1 to " + std::to_string(runs) +
				 ", last, or a day in UTC, YYYY-MM-DD";
	if (text == "last" && runs)
		return latest_run(model);
	if (is_date(text)) {
		const auto places = places_in_time(model);
		std::optional<std::uint32_t> first;
		for (std::uint32_t run = 0; run < runs; run++)
			if (day_of(model.runs[run].started) >= text &&
			    (!first || places[run] < places[*first]))
				first = run;
		return first ? Result<std::uint32_t>(*first)
			     : usage_error("--since: no run was recorded on " + text + " or later",
					   hint);
	}
	std::uint32_t number = 0;
	const char *const end = text.data() + text.size();
	const auto parsed = std::from_chars(text.data(), end, number);
	if (parsed.ec != std::errc() || parsed.ptr != end || number < 1 || number > runs)
		return usage_error("--since: there is no run " + text, hint);
	return number - 1;
}

bool is_about(const Model &model, const Finding &finding, const std::string &glob)
{
	return (finding.race && glob_matches(glob, finding.race->variable.name)) ||
	       (finding.violation && glob_matches(glob, finding.violation->variable.name)) ||
	       std::any_of(finding.classes.begin(), finding.classes.end(),
			   [&](ClassId cls) { return glob_matches(glob, model[cls].name); });
}

bool is_of_module(const Model &model, const Finding &finding, const std::string &glob)
{
	const auto locks = finding.locks();
	const auto data = data_of(model, finding);
	return std::any_of(locks.begin(), locks.end(),
			   [&](ClassId cls) { return module_matches(glob, model[cls].module); }) ||
	       (data && module_matches(glob, model[*data].module)) ||
	       runs_through(model, finding, glob);
}

void apply_selection(const Model &model, Analysis &analysis, const Selection &selection)
{
	const auto places = places_in_time(model);
	analysis.selection = selection;
	if (model.runs.size() > 1)
		analysis.new_since = selection.since.value_or(latest_run(model));
	for (auto &finding : analysis.findings) {
		if (analysis.new_since && finding.first_run)
			finding.fresh = places[*finding.first_run] >= places[*analysis.new_since];
		finding.left_out = !wanted(model, finding, selection, places);
	}
}

std::vector<std::string> unmatched(const Model &model, const Selection &selection)
{
	std::vector<std::string> out;
	const auto of_module = [&](const std::string &glob) {
		const auto match = [&](const auto &item) {
			return module_matches(glob, item.module);
		};
		return std::any_of(model.classes.begin(), model.classes.end(), match) ||
		       std::any_of(model.code.begin(), model.code.end(), match) ||
		       std::any_of(model.data.begin(), model.data.end(), match);
	};
	const auto named = [&](const std::string &glob) {
		return std::any_of(model.classes.begin(), model.classes.end(),
				   [&](const auto &cls) { return glob_matches(glob, cls.name); }) ||
		       std::any_of(model.accesses.begin(), model.accesses.end(),
				   [&](const auto &access) {
					   return glob_matches(glob,
							       variable_of(model, access).name);
				   });
	};
	for (const auto &glob : selection.modules)
		if (!of_module(glob))
			out.push_back("--module " + glob);
	for (const auto &glob : selection.classes)
		if (!named(glob))
			out.push_back("--class '" + glob + "'");
	return out;
}

} // namespace lockscope
