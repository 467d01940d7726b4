// SPDX-License-Identifier: GPL-2.0
// The report as text.
#include "report/completeness.h"
#include "report/death.h"
#include "report/finding_text.h"
#include "report/groups.h"
#include "report/modules.h"
#include "report/printer.h"
#include "report/source_lines.h"
#include "report/stream.h"
#include "report/text_parts.h"

#include "analysis/filters/annotations.h"
#include "analysis/filters/beliefs.h"
#include "analysis/history.h"
#include "analysis/orders/builds.h"
#include "model/counters.h"
#include "util/text.h"

#include <algorithm>
#include <set>

namespace lockscope {

namespace {

/// "1 error, 0 warnings, 2 notes"; @count is by Severity.
std::string by_severity(const std::size_t (&count)[3])
{
	return counted(count[2], "error") + ", " + counted(count[1], "warning") + ", " +
	       counted(count[0], "note");
}

/* What is left out by choice is said each time, with its number. */
void print_selection(const Model &model, const Analysis &analysis, const Tally &counts,
		     Printer &out)
{
	if (!analysis.selection.any())
		return;
	const std::size_t n = counts.all_not_selected();
	std::string line = "Only " + analysis.selection.describe() + ": ";
	line += n ? counted(n, "other finding") + " left out (" + by_severity(counts.not_selected) +
				")"
		  : "no other finding left out";
	if (const auto none = unmatched(model, analysis.selection); !none.empty())
		line += "; nothing recorded matches " + join(none, ", ");
	if (analysis.selection.only_new && !analysis.new_since)
		line += "; there is no earlier run, so each one is new";
	out.wrap(0, line, n ? Tone::Yellow : Tone::Plain, 2);
}

/* Against the earlier runs of the same model. */
void print_news(const Model &model, const Analysis &analysis,
		const std::vector<const Finding *> &shown, Printer &out)
{
	if (!analysis.new_since)
		return;
	std::size_t count[3] = {}, all = 0;
	for (const auto *finding : shown)
		if (finding->fresh.value_or(false)) {
			count[static_cast<int>(finding->severity)]++;
			all++;
		}
	const std::uint32_t run = *analysis.new_since;
	out.wrap(0,
		 "New " + std::string(run == latest_run(model) ? "in run " : "since run ") +
			 std::to_string(run + 1) + " of " + std::to_string(model.runs.size()) +
			 ": " +
			 (all ? counted(all, "finding") + " (" + by_severity(count) + ")"
			      : "none of these"),
		 Tone::Plain, 2);
}

} // namespace

void print_header(const Model &model, const Analysis &analysis,
		  const std::vector<const Finding *> &shown, const ReportOptions &options,
		  Printer &out)
{
	const auto accesses = model.counter(kAccessesCounter);
	out.wrap(0,
		 "LockScope: " + systems_of(model) + ", " + counted(model.runs.size(), "run") +
			 ", " + with_commas(model.counter("acquisitions")) + " acquisitions" +
			 (accesses ? ", " + with_commas(accesses) + " accesses" : ""),
		 Tone::Bold);
	std::size_t count[3] = {};
	for (const auto *finding : shown)
		count[static_cast<int>(finding->severity)]++;
	std::string summary = counted(shown.size(), "finding") + " (" + by_severity(count) + ")";
	const Tally counts = tally(analysis, options);
	std::vector<std::string> left_out;
	if (counts.hidden)
		left_out.push_back(std::to_string(counts.hidden) + " hidden by filters");
	if (counts.suppressed)
		left_out.push_back(std::to_string(counts.suppressed) + " suppressed");
	if (!left_out.empty())
		summary += "; " + join(left_out, ", ") + ", --all shows them";
	if (const std::size_t rest = counts.uncertain + counts.beyond_limit)
		summary += "; " + std::to_string(rest) +
			   " more left out by --limit or --min-confidence";
	out.wrap(0, summary, Tone::Plain, 2);
	print_selection(model, analysis, counts, out);
	print_news(model, analysis, shown, out);
	print_deaths(model, shown, out);
}

std::vector<std::string> neighbours_once(const std::vector<std::string> &parts)
{
	std::vector<std::string> out;
	for (std::size_t i = 0, end = 0; i < parts.size(); i = end) {
		for (end = i + 1; end < parts.size() && parts[end] == parts[i];)
			end++;
		out.push_back(parts[i] +
			      (end - i > 1 ? " (" + std::to_string(end - i) + " times)" : ""));
	}
	return out;
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

namespace {

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

/* Functions by the state of their hooks, in any run. */
std::set<std::string> functions_that_are(const Model &model, ls_prim_state state)
{
	std::set<std::string> out;
	for (const auto &run : model.runs)
		for (const auto &primitive : run.primitives)
			if (primitive.state == state)
				out.insert(primitive.function);
	return out;
}

/* The same in every report of a kernel: in full only where it was asked for. */
void print_blind_spots(const Model &model, bool in_full, Printer &out)
{
	const auto spots = blind_spots(model);
	const auto absent = functions_that_are(model, LS_PRIM_ABSENT);
	const std::size_t bpf = has_bpf_run(model) ? bpf_blind_spots().size() : 0;
	if (!in_full) {
		out.wrap(0,
			 "Not seen: " + counted(spots.size(), "thing") + " " +
				 where_never_seen(model) +
				 (bpf ? ", " + std::to_string(bpf) + " without the module" : "") +
				 (absent.empty() ? ""
						 : ", " + counted(absent.size(), "function") +
							   " that this kernel lacks") +
				 "; --all lists them",
			 Tone::Plain, 2);
		return;
	}
	if (!absent.empty())
		out.wrap(0,
			 "Lock functions that this kernel lacks: " +
				 join({absent.begin(), absent.end()}, ", "),
			 Tone::Plain, 2);
	out.wrap(0, std::string("Not seen ") + where_never_seen(model) + ": " + join(spots, "; "),
		 Tone::Plain, 2);
	if (bpf)
		out.wrap(0, "Not seen without the module: " + join(bpf_blind_spots(), "; "),
			 Tone::Plain, 2);
}

} // namespace

void print_footer(const Model &model, const Analysis &analysis, bool in_full, Printer &out)
{
	const auto losses = losses_of(model);
	out.blank();
	if (const auto missing = annotations::missing(model); !missing.empty())
		out.wrap(0, "Annotations: " + missing, Tone::Plain, 2);
	if (const auto none = without_source_lines(model);
	    !none.empty() && !analysis.findings.empty())
		out.wrap(0, "Source lines: " + none, Tone::Plain, 2);
	if (losses.empty())
		out.wrap(0, "Losses: none");
	else
		out.wrap(0, "Losses: " + join(losses, ", ") + ": findings may be missing",
			 Tone::Yellow, 2);
	if (const auto lost = trace_losses_of(model); !lost.empty())
		out.wrap(0, "Not in the trace: " + join(lost, ", "), Tone::Yellow, 2);
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
	const auto failed = functions_that_are(model, LS_PRIM_FAILED);
	if (!failed.empty())
		out.wrap(0,
			 "Not watched, hooking failed: " +
				 join({failed.begin(), failed.end()}, ", "),
			 Tone::Yellow, 2);
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
	print_blind_spots(model, in_full, out);
	print_suppressions(analysis.suppressions, out);
	for (const auto &note : analysis.self_check.missing)
		out.wrap(0, "Self-check: " + note + ": findings may be missing", Tone::Yellow, 2);
	if (const auto &more = analysis.self_check.only_here; in_full && !more.empty())
		out.wrap(0,
			 "Self-check: findings about these are above, and the module itself, whose "
			 "reports are on the console, has none: " +
				 join(more, ", "),
			 Tone::Yellow, 2);
}

namespace {

void print_others(const Group &group, Printer &out)
{
	if (!group.more.empty())
		out.blank();
	for (const auto &[through, list] : group.more) {
		std::vector<std::string> ids;
		for (const auto &other : list)
			ids.push_back(other.finding->id);
		out.wrap(4,
			 std::to_string(list.size()) +
				 (!through.empty()		   ? " more through " + through
				  : list.front().finding->single() ? " that follow from it"
								   : " more in this structure") +
				 ": " + join(ids, ", "),
			 Tone::Plain, 2);
	}
}

} // namespace

void text_report(const Model &model, const Analysis &analysis, const ReportOptions &options,
		 const TextStyle &style, const Sink &sink)
{
	Printer out(style);
	const auto shown = select_findings(analysis, options);
	for (const auto &why : incompleteness(model))
		out.wrap(0, "Incomplete: " + why.text, Tone::Yellow, 2);
	print_header(model, analysis, shown, options, out);
	for (const auto &group : groups_of(model, shown)) {
		out.blank();
		print_finding(model, *group.first.finding, out, Detail::Short, group.first.number);
		print_others(group, out);
		sink(out.take());
	}
	if (options.rules)
		print_rules(model, out);
	print_modules(model, module_reports(model, analysis.selection),
		      options.all || options.rules, out);
	print_footer(model, analysis, options.all || options.rules, out);
	sink(out.take());
}

std::string text_report(const Model &model, const Analysis &analysis, const ReportOptions &options,
			const TextStyle &style)
{
	std::string out;
	text_report(model, analysis, options, style, [&](std::string_view part) { out += part; });
	return out;
}

std::string text_finding(const Model &model, const Finding &finding, const TextStyle &style)
{
	Printer out(style);
	print_finding(model, finding, out, Detail::Full, 0);
	return out.take();
}

} // namespace lockscope
