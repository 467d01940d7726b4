// SPDX-License-Identifier: GPL-2.0
#include "verdict.h"

#include <algorithm>
#include <optional>
#include <set>
#include <string>

namespace lockscope::oracle {

namespace {

/// Nested in itself, and nothing else.
bool one_class(const std::vector<Dependency> &dependencies)
{
	return std::all_of(dependencies.begin(), dependencies.end(), [&](const Dependency &d) {
		return d.from == d.to && d.from == dependencies.front().from;
	});
}

/// The dependencies between classes, and what nests in itself.
std::vector<Dependency> parts(const std::vector<Dependency> &dependencies)
{
	return one_class(dependencies) ? std::vector{dependencies.front()} : dependencies;
}

bool any_of(const auto &all, auto &&test)
{
	return std::any_of(all.begin(), all.end(), test);
}

/// A deadlock with an interrupt may be shown by one of fewer of its classes: what is
/// behind another lock that the interrupt takes, or finds held, is left out, and a softirq
/// where a hardirq does (analysis/orders/interrupts.h).
bool shorter_with_interrupt(const Said &said, const std::vector<Dependency> &needed)
{
	std::set<int> classes;
	for (const auto &d : needed) {
		classes.insert(d.from);
		if (d.from == kSoftirq)
			classes.insert(kHardirq);
	}
	return said.dependencies.front().from < 0 &&
	       classes.contains(kHardirq) + classes.contains(kSoftirq) &&
	       std::all_of(said.dependencies.begin(), said.dependencies.end(),
			   [&](const Dependency &d) { return classes.contains(d.from); });
}

/// An error from the lock that the interrupt takes to the one that is held while it comes: one
/// way between them is shown, the shortest one if that is an error.
bool same_ends(const Said &said, const std::vector<Dependency> &needed)
{
	auto ends = [](const std::vector<Dependency> &all) {
		std::set<Dependency> out;
		for (const auto &d : all)
			if (d.from < 0 || d.to < 0)
				out.insert(d);
		return out;
	};
	const auto of = ends(needed);
	return !of.empty() && said.severity == Severity::Error && ends(said.dependencies) == of;
}

std::size_t contexts_of(const Deadlock &deadlock)
{
	std::set<int> contexts;
	for (const Side &side : deadlock.sides)
		contexts.insert(side.context);
	return contexts.size();
}

/// All orders of a deadlock ran, and two contexts can have it: is it no visible error, nor each of
/// its dependencies in one? Then the filters of what is @exact, or else @shows it.
std::optional<std::string> no_error(const Outcome &outcome, const std::set<Dependency> &needed,
				    const auto &exact, const auto &shows)
{
	std::set<Dependency> errors;
	std::string why, other;
	for (const Said &s : outcome.report) {
		const bool error = !s.hidden && s.severity == Severity::Error;
		if (error && shows(s))
			return std::nullopt;
		if (error)
			errors.insert(s.dependencies.begin(), s.dependencies.end());
		if (exact(s))
			why = (s.hidden ? "hidden " : "") + s.filters;
		else if (shows(s))
			other = "(other) " + s.filters;
	}
	if (std::includes(errors.begin(), errors.end(), needed.begin(), needed.end()))
		return std::nullopt;
	return why.empty() ? other : why;
}

} // namespace

std::vector<Disagreement> compare(const Program &program, const Answer &answer,
				  const Outcome &outcome, bool strict)
{
	std::vector<Disagreement> out;
	for (const Deadlock &deadlock : answer.can) {
		const auto needed = parts(deadlock.dependencies);
		const std::string nesting =
			one_class(needed) && needed.front().from >= 0 ? "-nesting" : "";
		auto add = [&](const std::string &rule) {
			out.push_back({rule + nesting, needed, text(program, deadlock)});
		};
		if (!any_of(outcome.judge, [&](const Said &s) {
			    return s.touches(needed) || shorter_with_interrupt(s, needed);
		    }))
			add("judge-misses");
		const std::set<Dependency> sorted(needed.begin(), needed.end());
		auto exact = [&](const Said &s) { return s.dependencies == needed; };
		auto shows = [&](const Said &s) {
			return !s.hidden &&
			       (s.within(needed) || shorter_with_interrupt(s, needed) ||
				same_ends(s, needed));
		};
		if (strict && contexts_of(deadlock) > 1)
			if (const auto why = no_error(outcome, sorted, exact, shows))
				add("no-error: " + *why);
		if (any_of(outcome.report, shows))
			continue;
		/* Each of its dependencies is shown, in other rings. */
		std::set<Dependency> shown;
		for (const Said &s : outcome.report)
			if (!s.hidden)
				shown.insert(s.dependencies.begin(), s.dependencies.end());
		if (std::includes(shown.begin(), shown.end(), sorted.begin(), sorted.end()))
			continue;
		/* It is no error, and longer ones that are none are not shown. */
		if (contexts_of(deadlock) == 1 && any_of(outcome.report, [&](const Said &s) {
			    return !s.hidden && s.touches(needed);
		    }))
			continue;
		if (any_of(outcome.report, exact))
			add("report-hides");
		else if (any_of(outcome.report,
				[&](const Said &s) { return !s.hidden && s.touches(needed); }))
			add("report-shows-another");
		else
			add("report-misses");
	}
	for (const Said &said : outcome.report) {
		auto is_it = [&](const std::vector<Dependency> &dependencies) {
			return parts(dependencies) == said.dependencies;
		};
		/*
		 * Each program is small enough for all of it to be seen. What one context alone
		 * does is a warning in any case.
		 */
		if (said.filters == "passed-before" && any_of(answer.can, [&](const Deadlock &d) {
			    return is_it(d.dependencies) && contexts_of(d) > 1;
		    }))
			out.push_back({"passed-before: " + std::string(name(said.kind)),
				       said.dependencies, said.text});
		if (said.severity != Severity::Error || said.hidden ||
		    any_of(answer.can, [&](const Deadlock &d) { return is_it(d.dependencies); }) ||
		    any_of(answer.unseen, is_it))
			continue;
		const auto passed =
			std::find_if(answer.unreachable.begin(), answer.unreachable.end(),
				     [&](const auto &ring) { return is_it(ring.first); });
		const bool fits = passed != answer.unreachable.end();
		/* Its sides do block each other, on another one's lock. */
		if (fits && passed->second)
			continue;
		out.push_back({std::string("false-error: ") + name(said.kind), said.dependencies,
			       said.text, fits ? kReleasedHolds : ""});
	}
	for (std::size_t cls = 0; cls < program.classes.size(); cls++) {
		bool wrong = false;
		for (int c : program.load)
			for (const Op &op : program.contexts[static_cast<std::size_t>(c)].ops)
				wrong |= op.what == Do::Again &&
					 program.locks[static_cast<std::size_t>(op.lock)] ==
						 static_cast<int>(cls);
		if (wrong != outcome.unlocks[cls])
			out.push_back({"double-unlock",
				       {},
				       std::string("class ") + static_cast<char>('a' + cls)});
	}
	return out;
}

} // namespace lockscope::oracle
