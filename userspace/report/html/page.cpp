// SPDX-License-Identifier: GPL-2.0
// The whole HTML file.
#include "report/completeness.h"
#include "report/html/parts.h"
#include "report/modules.h"
#include "report/text_parts.h"

#include "report/html_assets.h"
#include "util/text.h"

namespace lockscope {

namespace html {

namespace {

/// What a browser may do with the file: nothing but its own style and scripts, which are known
/// by their hashes. JSON is no script for it.
std::string policy()
{
	std::string scripts = std::string("'") + kScriptHash + "'";
	if (!kLibrary.empty())
		scripts += std::string(" '") + kLibraryHash + "'";
	return "default-src 'none'; script-src " + scripts + "; style-src '" + kStyleHash +
	       "'; base-uri 'none'; form-action 'none'";
}

/// Around the graph's data.
constexpr std::size_t kMarginBytes = 1000;

std::string head_of(const std::string &title)
{
	Fragment fragment;
	add(fragment.root(), "title", "", title);
	return "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">"
	       "<meta http-equiv=\"Content-Security-Policy\" content=\"" +
	       policy() +
	       "\"><meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">"
	       "<meta name=\"color-scheme\" content=\"light dark\">"
	       "<meta name=\"referrer\" content=\"no-referrer\">" +
	       fragment.text() +
	       /* cytoscape looks for this id, and would add a style of its own. */
	       "<style id=\"__________cytoscape_stylesheet\">" + std::string(kStyle) +
	       "</style></head>";
}

std::string header_of(const Model &model, const Analysis &analysis, const ReportOptions &options,
		      const GraphPart *part, bool modules)
{
	Fragment fragment;
	auto header = add(fragment.root(), "header");
	Printer lines({1000000, false});
	print_header(model, analysis, select_findings(analysis, options), options, lines);
	const auto summary = split(lines.take(), '\n');
	add(header, "h1", "", summary.front());
	const auto reasons = incompleteness(model);
	if (!reasons.empty()) {
		auto box = add(header, "div", "warn banner");
		set(box, "role", "alert");
		for (const auto &why : reasons)
			add(box, "p", "", "Incomplete: " + why.text);
		const auto losses = losses_of(model);
		if (!losses.empty())
			add(box, "p", "",
			    "Losses: " + join(losses, ", ") + ": findings may be missing");
		const auto spots = blind_spots(model);
		auto details = add(box, "details");
		add(details, "summary", "",
		    counted(spots.size(), "thing") + " never seen " + where_never_seen(model));
		auto list = add(details, "ul");
		for (const auto &spot : spots)
			add(list, "li", "", spot);
		set(add(add(box, "p"), "a", "", "All that is known of this record"), "href",
		    "#run");
	}
	if (part)
		add(header, "p", "summary", part->title);
	for (std::size_t i = 1; i < summary.size(); i++)
		if (!summary[i].empty())
			add(header, "p", "summary", summary[i]);
	auto menu = add(fragment.root(), "nav");
	for (const auto &[id, title] : {std::pair{"findings", "Findings"},
					{"graph", "Lock order"},
					{"rules", "Rules"},
					{"stat", "Statistics"},
					{"run", "Run"},
					{"modules", "Your module"}}) {
		if (!modules && id == std::string_view("modules"))
			continue;
		set(add(menu, "a", "", title), "href", std::string("#") + id);
	}
	return fragment.text();
}

} // namespace

} // namespace html

std::string html_policy()
{
	return html::policy();
}

std::string html_index(const std::string &folder, const std::vector<HtmlIndexRow> &rows,
		       std::size_t left_out)
{
	using namespace html;
	Fragment fragment;
	add(add(fragment.root(), "header"), "h1", "",
	    "LockScope: " + counted(rows.size() + left_out, "store") + " in " + folder);
	auto body = add(fragment.root(), "main");
	auto table = add_table(body, "", {"store", "#bytes", "changed", "as"});
	for (const auto &row : rows) {
		auto line = add(table, "tr");
		set(add(add(line, "td"), "a", "", row.name), "href", row.link);
		add(line, "td", "number", with_commas(row.bytes));
		add(line, "td", "", row.changed);
		auto more = add(line, "td");
		set(add(more, "a", "", "JSON"), "href", row.link + "report.json");
		say(more, ", ");
		set(add(more, "a", "", "metrics"), "href", row.link + "metrics");
	}
	if (left_out)
		add(body, "p", "", left_out_words(left_out, "store", "lockscope serve FILE"));
	return head_of("LockScope stores in " + folder) + "<body>" + fragment.text() +
	       "</body></html>\n";
}

std::string html_report(const Model &model, const Analysis &analysis, const ReportOptions &options,
			const StatReport &stat, const GraphPart *part)
{
	using namespace html;
	const bool incomplete = !incompleteness(model).empty();
	const LockGraph graph(model, Runs(model.runs.size(), true));
	const std::string run = run_section(model, analysis, incomplete);
	const std::string modules =
		modules_section(model, module_reports(model, analysis.selection));
	const std::string release = model.runs.empty() ? "" : model.runs.back().release;
	std::string out = head_of("LockScope report, " + system_name(release)) +
			  (part ? "<body data-view=\"graph\">" : "<body>") +
			  header_of(model, analysis, options, part, !modules.empty()) + "<main>";
	if (incomplete)
		out += run;
	out += findings_section(model, analysis, options) +
	       graph_section(model, graph, analysis, options) + rules_section(model) +
	       stat_section(stat);
	if (!incomplete)
		out += run;
	out += modules + "</main>";
	std::string scripts;
	if (!kLibrary.empty())
		scripts += "<script>" + std::string(kLibrary) + "</script>";
	scripts += "<script>" + std::string(kScript) + "</script></body></html>\n";
	const std::string data = "<script type=\"application/json\" id=\"graph-data\">";
	const std::size_t used = out.size() + scripts.size() + data.size() + kMarginBytes;
	out += data +
	       graph_json(model, graph, analysis, options,
			  used < kMostHtmlBytes ? kMostHtmlBytes - used : 0, part) +
	       "</script>";
	return out + scripts;
}

} // namespace lockscope
