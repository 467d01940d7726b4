// SPDX-License-Identifier: GPL-2.0
// What is known and unknown about the runs: completeness, losses, blind spots.
#include "report/completeness.h"
#include "report/html/parts.h"
#include "report/text_parts.h"

#include "model/counters.h"
#include "util/text.h"

namespace lockscope::html {

namespace {

constexpr std::size_t kOneLine = 1000000; ///< no statement is wrapped
constexpr std::size_t kMostRuns = 200;	  ///< rows

void add_list(pugi::xml_node parent, const std::string &title,
	      const std::vector<std::string> &entries)
{
	if (entries.empty())
		return;
	add(parent, "h3", "", title);
	auto list = add(parent, "ul");
	for (const auto &entry : entries)
		add(list, "li", "", entry);
}

void add_runs(pugi::xml_node parent, const Model &model)
{
	auto body =
		add_table(parent, "runs", {"#run", "kernel", "backend", "#acquisitions", "end"});
	static constexpr const char *ends[] = {"not finished", "finished", "failed", "module gone",
					       "crashed"};
	static_assert(std::size(ends) == static_cast<std::size_t>(RunEnd::Crashed) + 1);
	if (model.runs.size() > kMostRuns)
		add(parent, "p", "warn",
		    left_out_words(model.runs.size() - kMostRuns, "run", "the store"));
	for (std::size_t i = 0; i < model.runs.size() && i < kMostRuns; i++) {
		const auto &run = model.runs[i];
		const auto acquisitions = run.counters.find("acquisitions");
		auto row = add(body, "tr");
		add(row, "td", "number", std::to_string(i + 1));
		add(row, "td", "", run.release);
		add(row, "td", "", run.backend);
		add(row, "td", "number",
		    with_commas(acquisitions == run.counters.end() ? 0 : acquisitions->second));
		add(row, "td", "", ends[static_cast<int>(run.end)]);
	}
}

} // namespace

std::string run_section(const Model &model, const Analysis &analysis, bool first)
{
	Fragment fragment;
	auto section = add(fragment.root(), "section", first ? "view incomplete" : "view");
	set(section, "id", "run");
	add(section, "h2", "", first ? "This record is incomplete" : "Run");
	std::vector<std::string> reasons;
	for (const auto &why : incompleteness(model))
		reasons.push_back(why.text);
	add_list(section, "Incomplete", reasons);
	const auto losses = losses_of(model);
	add_list(section, "Losses", losses.empty() ? std::vector<std::string>{"none"} : losses);
	if (!losses.empty())
		add(section, "p", "words", "Findings may be missing.");
	add_list(section, std::string("Never seen ") + where_never_seen(model), blind_spots(model));
	if (has_bpf_run(model))
		add_list(section, "Not seen without the module", bpf_blind_spots());
	Printer footer({kOneLine, false});
	print_footer(model, analysis, false, footer);
	add(section, "h3", "", "What was seen");
	for (const auto &line : split(footer.take(), '\n'))
		if (!line.empty() && line.rfind("Losses: ", 0) != 0 &&
		    line.rfind("Not seen: ", 0) != 0)
			add(section, "p", "words", line);
	add_runs(section, model);
	return fragment.text();
}

} // namespace lockscope::html
