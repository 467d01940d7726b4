// SPDX-License-Identifier: GPL-2.0
#include "confirm/judgement.h"

#include "util/text.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <optional>
#include <span>

namespace lockscope {

namespace {

using Json = nlohmann::json;

/* Opportunities to meet without a meeting, before a finding is refuted. */
constexpr std::uint64_t kOpportunities = 20;
constexpr std::uint64_t kStrangers = 20;
/* Arrivals that were to be expected during waits: none by chance is one case in 20,000. */
constexpr double kExpected = 10;

std::span<const ls_confirm_arrival> arrivals(const ls_confirm_side &side)
{
	return {side.arrivals, std::min<std::size_t>(side.lasts, LS_CONFIRM_ARRIVALS)};
}

/*
 * Arrivals with the first lock held, about: where an interrupt closes the side, the task may not
 * have had it.
 */
std::uint64_t closings(const ls_confirm_side &side)
{
	const auto kept = arrivals(side);
	const auto closing = std::count_if(
		kept.begin(), kept.end(), [](const ls_confirm_arrival &a) { return a.first != 0; });
	return kept.empty() ? 0 : side.lasts * static_cast<std::uint64_t>(closing) / kept.size();
}

std::span<const ls_held_rec> held(const ls_confirm_arrival &arrival)
{
	return {arrival.held, std::min<std::size_t>(arrival.nr_held, LS_CONFIRM_HELD)};
}

/* The locks that were held before the first one of the cycle: those can be gates. */
std::span<const ls_held_rec> outer(const ls_confirm_arrival &arrival)
{
	const auto all = held(arrival);
	const auto own = std::find_if(all.begin(), all.end(), [&](const ls_held_rec &h) {
		return h.lock == arrival.first;
	});
	return all.first(static_cast<std::size_t>(own - all.begin()));
}

/* Could two executions deadlock, or race, by their instances? */
bool match(const ls_confirm_arrival &a, const ls_confirm_arrival &b, bool accesses)
{
	return accesses ? a.first / 8 == b.first / 8 && a.pid != b.pid
			: a.first == b.last && b.first == a.last;
}

/* A lock that both hold, not both as readers; its class, 0: none. */
std::uint32_t common_lock(const ls_confirm_arrival &a, const ls_confirm_arrival &b)
{
	for (const auto &x : outer(a))
		for (const auto &y : outer(b))
			if (x.lock == y.lock &&
			    !((x.val & LS_VAL_READ_MASK) && (y.val & LS_VAL_READ_MASK)))
				return x.val & LS_VAL_CLASS_MASK;
	return 0;
}

/* Pairs of executions of two sides that match. */
struct Pairs {
	std::size_t matching = 0, gated = 0;
	std::uint32_t gate = 0; ///< class
};

Pairs compare(const ls_confirm_side &a, const ls_confirm_side &b, bool accesses)
{
	Pairs out;
	for (const auto &x : arrivals(a))
		for (const auto &y : arrivals(b)) {
			if (&x == &y || !match(x, y, accesses))
				continue;
			out.matching++;
			if (const auto gate = common_lock(x, y)) {
				out.gated++;
				out.gate = gate;
			}
		}
	return out;
}

std::string side_name(const PlannedFinding &finding, std::size_t i)
{
	const PlannedSide &side = finding.sides[i];
	return side.first.front().function +
	       (side.interrupt.empty() ? "" : " (interrupted by a " + side.interrupt + ")");
}

Json context_json(const ls_confirm_context &c, const PlannedSide &side, const ConfirmNames &names)
{
	Json out;
	const std::string comm(c.comm, strnlen(c.comm, sizeof(c.comm)));
	static constexpr const char *kLevels[] = {LS_LEVEL_NAMES};

	out["task"] = comm + "-" + std::to_string(c.at.pid);
	out["cpu"] = c.cpu;
	out["context"] = c.level < LS_NR_LEVELS ? kLevels[c.level] : "?";
	if (side.access()) {
		out["accesses"] = side.accesses;
		out["value"] = c.at.last;
	} else {
		out["holds"] = side.holds;
		out["acquires"] = side.acquires;
	}
	out["waited"] = c.waited != 0;
	out["held"] = Json::array();
	for (const auto &h : held(c.at))
		out["held"].push_back(names.lock_class(h.val & LS_VAL_CLASS_MASK) + " at " +
				      names.place(h.ip));
	out["stack"] = Json::array();
	for (std::uint32_t i = 0; i < c.nr_stack && i < LS_STACK_FRAMES; i++)
		out["stack"].push_back(names.place(c.stack[i]));
	return out;
}

Json counts_json(const PlannedFinding &finding, const ls_confirm_state &state)
{
	Json out = Json::array();
	for (std::size_t i = 0; i < finding.sides.size(); i++) {
		const ls_confirm_side &side = state.sides[i];
		out.push_back({{"side", side_name(finding, i)},
			       {"began", side.firsts},
			       {"completed", side.lasts},
			       {"waited", side.waits},
			       {"waited_ms", side.waited_ns / 1000000},
			       {"others", side.strangers},
			       {"met", side.met},
			       {"parted", side.parted},
			       {"confirmed", side.confirmed}});
	}
	return out;
}

std::string evidence(const PlannedFinding &finding, const ls_confirm_state &state, double seconds,
		     const ConfirmNames &names)
{
	Json out;
	if (!finding.sides.front().access()) {
		out["directions"] = std::popcount(state.confirmed);
		out["of"] = finding.sides.size();
	}
	out["seconds"] = std::round(seconds * 1000) / 1000;
	out["counts"] = counts_json(finding, state);
	out["sides"] = Json::array();
	if (!state.confirmed)
		return out.dump(-1, ' ', false, Json::error_handler_t::replace);
	/* One that meets itself. */
	const bool once = finding.sides.size() == 1 && finding.sides[0].interrupt.empty();
	for (std::size_t i = 0; i < finding.sides.size() + (once ? 1 : 0); i++)
		out["sides"].push_back(
			context_json(state.contexts[i], finding.sides[once ? 0 : i], names));
	for (const auto &side : finding.sides)
		if (!side.interrupt.empty())
			out["sides"].push_back(context_json(state.interrupt, side, names));
	return out.dump(-1, ' ', false, Json::error_handler_t::replace);
}

/* Waits of all sides, and how often others can be expected to have come meanwhile. */
struct Chances {
	std::uint64_t waits = 0, strangers = 0, met = 0, parted = 0, atomic = 0;
	double expected = 0;
	double unhindered = 0; ///< of these, while it had neither a lock nor the CPU
};

Chances chances(const PlannedFinding &finding, const ls_confirm_state &state, double seconds)
{
	Chances out;
	const std::size_t n = finding.sides.size();
	for (std::size_t i = 0; i < n; i++) {
		const ls_confirm_side &side = state.sides[i];
		const ls_confirm_side &other = state.sides[(i + n - 1) % n];
		out.waits += side.waits;
		out.strangers += side.strangers;
		out.met += side.met;
		out.parted += side.parted;
		out.atomic += side.too_atomic;
		if (seconds <= 0)
			continue;
		const double rate = static_cast<double>(closings(other)) / seconds;
		out.expected += rate * static_cast<double>(side.waited_ns) / 1e9;
		out.unhindered += rate *
				  static_cast<double>(side.waited_ns -
						      std::min(side.waited_ns, side.kept_ns)) /
				  1e9;
	}
	return out;
}

/* Does a run walk a list? Then the arrivals that are kept are the end of one run. */
bool walks(const ls_confirm_side &side)
{
	return side.lasts > LS_CONFIRM_ARRIVALS && side.lasts > 2 * side.firsts;
}

/* Why it cannot happen, if that is shown. */
std::optional<Verdict> refuted(const PlannedFinding &finding, const ls_confirm_state &state,
			       const Chances &c, const ConfirmNames &names)
{
	const std::size_t n = finding.sides.size();
	Verdict out;
	out.result = VerdictResult::Refuted;
	if (c.met > c.parted || n > 2)
		return std::nullopt;
	/* Of a side that an interrupt closes, only what its task holds is known. */
	const bool interrupts =
		std::any_of(finding.sides.begin(), finding.sides.end(),
			    [](const PlannedSide &s) { return !s.interrupt.empty(); });
	if (interrupts && n == 1)
		return std::nullopt;
	const Pairs pairs =
		compare(state.sides[0], state.sides[n - 1], finding.sides.front().access());
	const auto least = std::min(closings(state.sides[0]), closings(state.sides[n - 1]));
	if (!interrupts && pairs.matching == 0 && c.strangers + c.parted >= kStrangers &&
	    !walks(state.sides[0]) && !walks(state.sides[n - 1])) {
		out.reason = "instances";
		out.why = "the sides met " + with_commas(c.strangers + c.parted) +
			  " times, and never " +
			  (finding.sides.front().access() ? "at the same memory"
							  : "with the same locks");
		return out;
	}
	/* An access that waits may be what would have started the other side, a timer's say. */
	if (finding.sides.front().access())
		return std::nullopt;
	/* Both say that no side came while the other waited. */
	if (least < kOpportunities || c.expected < kExpected || c.strangers || c.met)
		return std::nullopt;
	if (pairs.matching > 0 && pairs.gated == pairs.matching) {
		out.reason = "gate";
		out.why = "both sides hold " + names.lock_class(pairs.gate) +
			  " before: one never came while the other waited";
		return out;
	}
	/* What orders them without a lock may be the test, which runs one after the other. */
	return std::nullopt;
}

std::string in_seconds(double seconds)
{
	char text[32];
	std::snprintf(text, sizeof(text), "%.3g s", seconds);
	return text;
}

/* What a test of sides that came, and did not meet, can do about it. */
std::string advice(const PlannedFinding &finding, const ls_confirm_state &state, const Chances &c)
{
	const std::size_t n = finding.sides.size();
	const bool interrupts =
		std::any_of(finding.sides.begin(), finding.sides.end(),
			    [](const PlannedSide &s) { return !s.interrupt.empty(); });
	if (n <= 2 && !interrupts &&
	    compare(state.sides[0], state.sides[n - 1], finding.sides.front().access()).matching ==
		    0)
		return finding.sides.front().access()
			       ? "each accessed other memory: run both on the same object"
			       : "each had other instances of the locks: run both on the same objects";
	if (c.expected < kExpected)
		return "too seldom, as the other one was to be expected " +
		       counted(static_cast<std::uint64_t>(c.expected), "time") +
		       " in that time: run several copies of the test at once, or let it run longer";
	if (c.unhindered < kExpected)
		return "the one that waits holds another lock or its CPU, and may keep the other "
		       "one away by that";
	return "the test may run one after the other: run two copies of it at once (confirm "
	       "--jobs), or each in a task of its own";
}

std::string not_reached(const PlannedFinding &finding, const ls_confirm_state &state,
			const Chances &c, double seconds)
{
	const std::size_t last = finding.sides.size() - 1;
	std::uint64_t waited_ns = 0;
	for (std::size_t i = 0; i <= last; i++) {
		const ls_confirm_side &side = state.sides[i];
		if (!side.firsts && !side.lasts)
			return side_name(finding, i) + " never ran in " + in_seconds(seconds) +
			       " while gates were set: run a test that reaches it";
		if (!side.lasts)
			return side_name(finding, i) + " acquired " + finding.sides[i].holds + " " +
			       counted(side.firsts, "time") + ", but never " +
			       finding.sides[i].acquires + " with it held";
		waited_ns += side.waited_ns;
	}
	if (!c.waits)
		return "no side could be held: none begins in a task";
	if (c.met)
		return "the sides met " + counted(c.met, "time") +
		       ", but the one that waited then acquired another lock";
	if (c.atomic == c.waits)
		return "the sides can be held for microseconds only, and did not meet";
	std::string seen = side_name(finding, 0) + " came " + counted(state.sides[0].lasts, "time");
	if (last > 0)
		seen += " and " + side_name(finding, last) + " " +
			counted(state.sides[last].lasts, "time");
	seen += " in " + in_seconds(seconds) + ", ";
	seen += c.strangers ? "while the other one waited " + counted(c.strangers, "time") +
				      ", but not with its locks"
			    : "never while the other one waited";
	seen += " (" + in_seconds(static_cast<double>(waited_ns) / 1e9) +
		" in all): " + advice(finding, state, c);
	if (finding.may_be_deadly && !finding.deadly)
		seen += "; --deadly, in a guest, lets each side wait with its first lock held";
	return seen;
}

void add_arrivals(ls_confirm_side &sum, const ls_confirm_side &more)
{
	for (const auto &arrival : arrivals(more)) {
		sum.arrivals[sum.lasts % LS_CONFIRM_ARRIVALS] = arrival;
		sum.lasts++;
	}
	if (more.lasts > LS_CONFIRM_ARRIVALS)
		sum.lasts += more.lasts - LS_CONFIRM_ARRIVALS;
}

} // namespace

void add_state(ls_confirm_state &sum, const ls_confirm_state &more)
{
	sum.nr_sides = more.nr_sides;
	if (!sum.confirmed && more.confirmed) {
		std::copy(std::begin(more.contexts), std::end(more.contexts), sum.contexts);
		sum.interrupt = more.interrupt;
	}
	sum.confirmed |= more.confirmed;
	for (std::size_t i = 0; i < LS_CONFIRM_SIDES; i++) {
		ls_confirm_side &to = sum.sides[i];
		const ls_confirm_side &from = more.sides[i];
		to.firsts += from.firsts;
		to.waits += from.waits;
		to.waited_ns += from.waited_ns;
		to.kept_ns += from.kept_ns;
		to.too_atomic += from.too_atomic;
		to.strangers += from.strangers;
		to.met += from.met;
		to.parted += from.parted;
		to.confirmed += from.confirmed;
		add_arrivals(to, from);
	}
}

bool fully_confirmed(const PlannedFinding &finding, const ls_confirm_state &state)
{
	/* Of a race it makes no difference which side waited. */
	const bool race = !finding.sides.empty() && finding.sides.front().access();
	return race ? state.confirmed != 0
		    : std::popcount(state.confirmed) == static_cast<int>(finding.sides.size());
}

Verdict judge(const PlannedFinding &finding, const ls_confirm_state &state, double seconds,
	      const ConfirmNames &names)
{
	const Chances c = chances(finding, state, seconds);
	Verdict out;

	if (state.confirmed) {
		const auto directions = std::popcount(state.confirmed);
		out.result = VerdictResult::Confirmed;
		if (finding.deadly)
			out.why =
				"it is a deadlock: each side waits for the lock that the next one holds";
		else if (finding.sides.front().access())
			out.why = "both sides were about to access the same bytes at the same time";
		else if (!finding.sides.back().interrupt.empty())
			out.why = "the " + finding.sides.back().interrupt +
				  " came for the same lock just before it was acquired";
		else if (finding.sides.size() == 1)
			out.why = "two tasks met with the same two locks in opposite orders";
		else
			out.why =
				"the sides met with the same locks" +
				std::string(directions > 1 ? ", each as the one that waited" : "");
	} else if (auto no = refuted(finding, state, c, names)) {
		out = std::move(*no);
	} else {
		out.result = VerdictResult::NotReached;
		out.why = not_reached(finding, state, c, seconds);
	}
	out.evidence = evidence(finding, state, seconds, names);
	out.finding = finding.id;
	out.tries = c.waits;
	return out;
}

} // namespace lockscope
