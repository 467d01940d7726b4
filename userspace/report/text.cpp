// SPDX-License-Identifier: GPL-2.0
// The report as text.
#include "report/completeness.h"
#include "report/finding_text.h"
#include "report/printer.h"
#include "report/report.h"

#include "analysis/filters/annotations.h"
#include "analysis/filters/beliefs.h"
#include "analysis/orders/builds.h"
#include "model/counters.h"
#include "util/text.h"

#include <algorithm>
#include <map>
#include <set>

namespace lockscope {

namespace {

void print_header(const Model &model, const Analysis &analysis,
		  const std::vector<const Finding *> &shown, Printer &out)
{
	std::set<std::string> releases;
	for (const auto &run : model.runs)
		releases.insert(run.release);
	const auto accesses = model.counter(kAccessesCounter);
	out.wrap(0,
		 "LockScope: kernel " + join({releases.begin(), releases.end()}, ", ") + ", " +
			 counted(model.runs.size(), "run") + ", " +
			 with_commas(model.counter("acquisitions")) + " acquisitions" +
			 (accesses ? ", " + with_commas(accesses) + " accesses" : ""),
		 Tone::Bold);
	std::size_t count[3] = {};
	for (const auto *finding : shown)
		count[static_cast<int>(finding->severity)]++;
	std::string summary = counted(shown.size(), "finding") + " (" + counted(count[2], "error") +
			      ", " + counted(count[1], "warning") + ", " +
			      counted(count[0], "note") + ")";
	/* Hidden and not listed: by a suppression, by filters alone. */
	std::size_t suppressed = 0, hidden = 0;
	auto count_hidden = [&](const Finding &finding, std::size_t by) {
		if (finding.hidden())
			(finding.suppressed() ? suppressed : hidden) += by;
	};
	for (const auto &finding : analysis.findings)
		count_hidden(finding, 1);
	for (const auto *finding : shown)
		count_hidden(*finding, ~std::size_t{0});
	std::vector<std::string> left_out;
	if (hidden)
		left_out.push_back(std::to_string(hidden) + " hidden by filters");
	if (suppressed)
		left_out.push_back(std::to_string(suppressed) + " suppressed");
	if (!left_out.empty())
		summary += "; " + join(left_out, ", ") + ", --all shows them";
	const std::size_t rest = analysis.findings.size() - shown.size() - hidden - suppressed;
	if (rest)
		summary += "; " + std::to_string(rest) +
			   " more left out by --limit or --min-confidence";
	out.wrap(0, summary, Tone::Plain, 2);
}

void print_rules(const Model &model, Printer &out)
{
	const auto rules = lock_rules(model);
	if (!rules.empty()) {
		out.blank();
		out.wrap(0, "Orders that nested locks of one class keep:", Tone::Bold);
	}
	for (const auto &rule : rules)
		out.wrap(4,
			 model[rule.cls].name + ": " + rule.rule + ", " +
				 with_commas(rule.support) + " for it, " +
				 with_commas(rule.against) + " against",
			 Tone::Plain, 2);
	bool any = false;
	for (const auto &[cls, counts] : model.counts) {
		if (!semaphore_counts(model, cls))
			continue;
		if (!any) {
			out.blank();
			out.wrap(0, "How semaphores are used:", Tone::Bold);
		}
		any = true;
		out.wrap(4, model[cls].name + ": " + describe_semaphore(counts), Tone::Plain, 2);
	}
}

void print_suppressions(const SuppressionReport &report, Printer &out)
{
	if (!report.any())
		return;
	auto list = [](const std::vector<Suppression> &entries) {
		std::vector<std::string> parts;
		for (const auto &entry : entries)
			parts.push_back(describe(entry) + ", line " + std::to_string(entry.line));
		return join(parts, "; ");
	};
	std::string line = "Suppressions: " + std::to_string(report.used) + " used";
	if (!report.unused.empty())
		line += "; unused: " + list(report.unused);
	if (!report.expired.empty())
		line += "; expired: " + list(report.expired);
	out.wrap(0, line, report.expired.empty() ? Tone::Plain : Tone::Yellow, 2);
}

void print_footer(const Model &model, const Analysis &analysis, Printer &out)
{
	const auto losses = losses_of(model);
	out.blank();
	if (const auto missing = annotations::missing(model); !missing.empty())
		out.wrap(0, "Annotations: " + missing, Tone::Plain, 2);
	if (losses.empty())
		out.wrap(0, "Losses: none");
	else
		out.wrap(0, "Losses: " + join(losses, ", ") + ": findings may be missing",
			 Tone::Yellow, 2);
	std::size_t chains = 0;
	std::vector<std::string> levels;
	for (const auto &run : model.runs)
		chains += run.chains.empty() ? 0 : run.chains.size() - 1;
	for (const char *level : {LS_LEVEL_NAMES})
		if (model.counter(level))
			levels.push_back(level);
	out.wrap(0,
		 "Seen: " + counted(model.classes.size(), "lock class") + ", " +
			 counted(analysis.edges, "order edge") + ", " + counted(chains, "chain") +
			 (levels.empty() ? "" : "; contexts " + join(levels, ", ")),
		 Tone::Plain, 2);
	std::set<std::string> absent, failed;
	for (const auto &run : model.runs)
		for (const auto &primitive : run.primitives) {
			if (primitive.state == LS_PRIM_ABSENT)
				absent.insert(primitive.function);
			if (primitive.state == LS_PRIM_FAILED)
				failed.insert(primitive.function);
		}
	if (!failed.empty())
		out.wrap(0,
			 "Not watched, hooking failed: " +
				 join({failed.begin(), failed.end()}, ", "),
			 Tone::Yellow, 2);
	if (!absent.empty())
		out.wrap(0, "Not in this kernel: " + join({absent.begin(), absent.end()}, ", "),
			 Tone::Plain, 2);
	if (analysis.raw)
		out.wrap(0,
			 "Raw nesting: types of " + std::to_string(analysis.raw->known) + " of " +
				 counted(analysis.raw->spinlocks, "spinlock class") +
				 " known; the rest was left out",
			 Tone::Plain, 2);
	if (const auto apart = kept_apart(model); !apart.empty())
		out.wrap(
			0,
			"Not united: " + join(apart, ", ") +
				": several symbols share the name, and their numbers may be others "
				"in the next build",
			Tone::Plain, 2);
	out.wrap(0, "Not seen on any kernel: " + join(blind_spots(model), "; "), Tone::Plain, 2);
	if (has_bpf_run(model))
		out.wrap(0, "Not seen without the module: " + join(bpf_blind_spots(), "; "),
			 Tone::Plain, 2);
	print_suppressions(analysis.suppressions, out);
	for (const auto &note : analysis.self_check)
		out.wrap(0, "Self-check: " + note, Tone::Yellow, 2);
}

/* Findings with one cause are one entry: the cause, if it is listed. */
bool has_its_cause(const Finding &finding, const std::vector<const Finding *> &shown)
{
	return !finding.cause.empty() &&
	       std::any_of(shown.begin(), shown.end(),
			   [&](const Finding *other) { return other->id == finding.cause; });
}

void print_others(const Model &model, const Finding &cause,
		  const std::vector<const Finding *> &shown, Printer &out)
{
	std::map<std::string, std::vector<std::string>> ids; ///< by the shared lock or dependency
	for (const auto *finding : shown) {
		if (finding->cause != cause.id)
			continue;
		std::vector<std::string> names;
		for (ClassId cls : finding->through)
			names.push_back(short_name(model[cls]));
		ids[join(names, " -> ")].push_back(finding->id);
	}
	if (!ids.empty())
		out.blank();
	for (const auto &[through, list] : ids)
		out.wrap(4,
			 std::to_string(list.size()) + " more through " + through + ": " +
				 join(list, ", "),
			 Tone::Plain, 2);
}

} // namespace

std::string text_report(const Model &model, const Analysis &analysis, const ReportOptions &options,
			const TextStyle &style)
{
	Printer out(style);
	const auto shown = select_findings(analysis, options);
	for (const auto &why : incompleteness(model))
		out.wrap(0, "Incomplete: " + why.text, Tone::Yellow, 2);
	print_header(model, analysis, shown, out);
	for (std::size_t i = 0; i < shown.size(); i++) {
		if (has_its_cause(*shown[i], shown))
			continue;
		out.blank();
		print_finding(model, *shown[i], out, Detail::Short, i + 1);
		print_others(model, *shown[i], shown, out);
	}
	if (options.rules)
		print_rules(model, out);
	print_footer(model, analysis, out);
	return out.take();
}

std::string text_finding(const Model &model, const Finding &finding, const TextStyle &style)
{
	Printer out(style);
	print_finding(model, finding, out, Detail::Full, 0);
	return out.take();
}

} // namespace lockscope
