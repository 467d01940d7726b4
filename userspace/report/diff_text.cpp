// SPDX-License-Identifier: GPL-2.0
// lockscope diff as text.
#include "report/diff.h"

#include "report/printer.h"
#include "util/text.h"

#include <algorithm>

namespace lockscope {

namespace {

/* As many acquisitions less mean that the new run did other work. */
constexpr std::uint64_t kMuchLess = 2;

const char *headline(ChangeState state)
{
	switch (state) {
	case ChangeState::New:
		return "New:";
	case ChangeState::Worse:
		return "Worse:";
	case ChangeState::Gone:
		return "Gone:";
	case ChangeState::Better:
		return "Better:";
	case ChangeState::Unchanged:
		break;
	}
	return "Unchanged:";
}

Tone tone_of(const Change &change)
{
	const bool bad = change.state == ChangeState::New || change.state == ChangeState::Worse;
	return !bad					  ? Tone::Plain
	       : change.now.severity == Severity::Error	  ? Tone::Red
	       : change.now.severity == Severity::Warning ? Tone::Yellow
							  : Tone::Plain;
}

void print_listing(const std::string &which, const Listing &listing, Printer &out)
{
	out.wrap(2,
		 which + ": " + listing.form + " " + listing.file + ", kernel " +
			 (listing.release.empty() ? "?" : listing.release) + ", " +
			 counted(listing.runs, "run") + ", " + with_commas(listing.acquisitions) +
			 " acquisitions, " + counted(listing.shown(), "finding"),
		 Tone::Plain, 5);
}

/* What makes the comparison less than it looks. */
void print_doubts(const Listing &old, const Listing &now, Printer &out)
{
	for (const auto &why : old.incomplete)
		out.wrap(0, "Old is incomplete, new findings may be old ones: " + why, Tone::Yellow,
			 2);
	for (const auto &why : now.incomplete)
		out.wrap(0, "New is incomplete, what is gone may be there: " + why, Tone::Yellow,
			 2);
	if (old.left_out)
		out.wrap(0,
			 "Old was written without " + counted(old.left_out, "finding") +
				 " (--limit, --min-confidence or a selection): they count as new",
			 Tone::Yellow, 2);
	if (now.left_out)
		out.wrap(0,
			 "New was written without " + counted(now.left_out, "finding") +
				 " (--limit, --min-confidence or a selection): they count as gone",
			 Tone::Yellow, 2);
	if (now.acquisitions < old.acquisitions / kMuchLess)
		out.wrap(0,
			 "New saw less: " + with_commas(now.acquisitions) + " acquisitions, old " +
				 with_commas(old.acquisitions),
			 Tone::Yellow, 2);
}

std::string why_gone(const Change &change, const Listing &now)
{
	const std::string runs = now.runs == 1 ? "the new run" : "the new runs";
	std::string out = "not seen";
	if (!now.used)
		out = "not listed";
	if (change.used && change.names) {
		const auto &entry = change.now;
		const std::string of = entry.variable.empty() ? counted(change.names, "lock class")
				       : entry.locks.empty()  ? "1 variable"
							      : std::to_string(change.names) +
								       " locks and variables";
		out += *change.used ? "; " + std::to_string(*change.used) + " of " + of +
					      " used in " + runs
				    : "; none of " + of + " used in " + runs +
					      ", so its code did not run";
	}
	return now.incomplete.empty() ? out : out + ", which saw less than all";
}

void print_change(const Change &change, const Listing &now, Printer &out)
{
	out.wrap(2, change.now.title.empty() ? change.now.kind : change.now.title, tone_of(change),
		 2);
	out.wrap(6, std::string(name(change.now.severity)) + ", " + name(change.now.confidence) +
			    ", id " + change.now.id);
	if (change.state == ChangeState::Gone)
		out.wrap(6, why_gone(change, now), Tone::Plain, 2);
	else if (!change.what.empty())
		out.wrap(6, join(change.what, "; "), Tone::Plain, 2);
}

} // namespace

std::string text_diff(const Listing &old, const Listing &now, const Comparison &comparison,
		      bool all, const TextStyle &style)
{
	Printer out(style);
	print_doubts(old, now, out);
	out.line(out.tone("LockScope: two lists of findings compared", Tone::Bold));
	print_listing("old", old, out);
	print_listing("new", now, out);
	std::vector<std::string> counts;
	for (std::size_t i = 0; i < kChangeStates; i++)
		counts.push_back(std::to_string(comparison.count[i]) + " " +
				 name(static_cast<ChangeState>(i)));
	out.wrap(0, join(counts, ", "), Tone::Bold);
	std::optional<ChangeState> last;
	for (const auto &change : comparison.changes) {
		if (change.state == ChangeState::Unchanged && !all)
			continue;
		if (last != change.state) {
			out.blank();
			out.line(out.tone(headline(change.state), Tone::Bold));
		}
		last = change.state;
		print_change(change, now, out);
	}
	return out.take();
}

} // namespace lockscope
