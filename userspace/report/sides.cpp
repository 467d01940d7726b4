// SPDX-License-Identifier: GPL-2.0
#include "report/sides.h"

#include "report/race_text.h"

#include "analysis/evidence.h"
#include "analysis/races/races.h"
#include "util/text.h"

#include <algorithm>

namespace lockscope {

namespace {

/// "spin_lock" and the like, inlined: redundant with the frame below.
bool lock_wrapper(const SourceLine &line)
{
	const auto slash = line.file.rfind('/');
	const std::string file = line.file.substr(slash == line.file.npos ? 0 : slash + 1);
	return file.ends_with(".h") &&
	       (file.starts_with("spinlock") || file.starts_with("rwlock") ||
		file.starts_with("mutex") || file.starts_with("rwsem"));
}

const char *takes(std::uint32_t val, bool waits = false)
{
	return waits || val & LS_VAL_WAIT     ? "waits for "
	       : read_of(val) == LS_EXCLUSIVE ? "takes "
					      : "reads ";
}

const char *completes_word(const LockClass &awaited)
{
	return awaited.kind == LS_KIND_WAITQUEUE ? "wakes " : "completes ";
}

void add_step(Side &side, CodeId at, const std::string &does, std::size_t depth)
{
	side.steps.push_back({at, does, depth});
}

/// The part of @stack, which is innermost first, from frame @outer to frame @inner.
void add_calls(Side &side, const std::vector<CodeId> &stack, std::size_t outer, std::size_t inner)
{
	for (std::size_t i = outer; i-- > inner;)
		add_step(side, stack[i], "", stack.size() - 1 - i);
}

/// A whole stack; @does at its innermost frame.
void add_stack(Side &side, const std::vector<CodeId> &stack, const std::string &does)
{
	if (stack.empty())
		return;
	add_calls(side, stack, stack.size(), 1);
	add_step(side, stack.front(), does, stack.size() - 1);
}

/// First @first at the acquire of from_stack, then @second at that of to_stack.
void add_both(Side &side, const FindingEdge &edge, const std::string &first,
	      const std::string &second)
{
	if (!on_one_stack(edge)) {
		add_stack(side, edge.from_stack, first);
		add_stack(side, edge.to_stack, second);
		return;
	}
	const auto &stack = edge.to_stack;
	add_calls(side, stack, stack.size(), *edge.depth + 1);
	add_step(side, edge.from_stack.front(), first, stack.size() - 1 - *edge.depth);
	/* The function of the first acquire is listed again, where it has come to. */
	add_calls(side, stack, *edge.depth + 1, 1);
	add_step(side, stack.front(), second, stack.size() - 1);
}

std::string by(const Model &model, const Witness &witness)
{
	const Observation &observation = model.observations[witness.observation];
	return witness.context.describe() + ", " + observation.comm + "-" +
	       std::to_string(observation.pid);
}

Side side_of(const Model &model, const FindingEdge &edge)
{
	const Witness &witness = edge.shown();
	const Observation &observation = model.observations[witness.observation];
	const auto name = [&](ClassId cls) { return short_name(model[cls]); };
	Side side;
	side.does = side_words(model, edge, name);
	side.by = by(model, witness);
	side.observation = witness.observation;
	const std::uint32_t held = observation.at(witness.position).val;
	const std::uint32_t acquired = observation.acquired.val;
	const bool waits = observation.deadlock();
	if (from_interrupt(edge))
		add_stack(side, edge.to_stack, takes(acquired) + name(edge.to));
	else if (to_interrupt(edge) && witness.position == kOwnLock)
		add_stack(side, edge.to_stack,
			  (observation.acquisition() ? takes(acquired) : "releases ") +
				  name(edge.from));
	else if (to_interrupt(edge))
		add_both(side, edge, takes(held) + name(edge.from),
			 std::string(interrupt_name(edge.to)) + "s are on here");
	else if (observation.completion())
		add_both(side, edge, takes(held) + name(edge.to),
			 completes_word(model[edge.from]) + name(edge.from));
	else
		add_both(side, edge, takes(held) + name(edge.from),
			 takes(acquired, waits) + name(edge.to));
	return side;
}

Side side_of(const Model &model, const Finding &finding, const ShownStack &shown)
{
	const auto &edge = finding.edges.front();
	const std::string lock = edge.from == kNoClass ? "a lock" : short_name(model[edge.from]);
	Side side;
	side.does = shown.role == "where"   ? std::string(about(finding.kind))
		    : shown.role == "taken" ? (finding.kind == FindingKind::LongHold
						       ? "who has " + lock + " took it here"
						       : lock + " was taken here")
		    : shown.role == "freed" ? "the memory of " + lock + " was freed here"
					    : lock + " was taken earlier";
	side.by = by(model, make_witness(model, shown.observation, edge.shown().position));
	side.observation = shown.observation;
	add_stack(side, shown.stack, shown.role == "where" ? finding.title : side.does);
	return side;
}

Side side_of(const Model &model, const AccessSide &shown, const std::string &lead = "")
{
	const auto &access = model.accesses[shown.access];
	Side side;
	side.does = lead + side_head(model, shown);
	add_stack(side, shown.stack,
		  std::string(op_name(access)) + " of " + counted(access.size, "byte"));
	return side;
}

} // namespace

std::vector<Frame> frames_of(const Code &code)
{
	std::vector<Frame> out;
	const SourceLine *outer = nullptr;
	const auto known = [](const SourceLine &line) {
		return line.file.empty() ? nullptr : &line;
	};
	for (const auto &line : code.lines) {
		if (!line.inlined)
			outer = known(line);
		else if (!lock_wrapper(line))
			out.push_back(
				{line.function.empty() ? "?" : line.function, known(line), true});
	}
	out.push_back({code.function.empty() ? "?" : code.function, outer, false});
	return out;
}

bool on_one_stack(const FindingEdge &edge)
{
	const auto &from = edge.from_stack, &to = edge.to_stack;
	return edge.depth && *edge.depth < to.size() && from.size() == to.size() - *edge.depth &&
	       std::equal(from.begin() + 1, from.end(),
			  to.begin() + static_cast<std::ptrdiff_t>(*edge.depth) + 1);
}

std::string side_words(const Model &model, const FindingEdge &edge,
		       const std::function<std::string(ClassId)> &name)
{
	const Witness &witness = edge.shown();
	const Observation &observation = model.observations[witness.observation];
	const Held &held = observation.at(witness.position);
	const std::string acquires = takes(observation.acquired.val, observation.deadlock());
	if (from_interrupt(edge))
		return acquires + name(edge.to) + " in " + interrupt_name(edge.from);
	const std::string holds = read_of(held.val) == LS_EXCLUSIVE ? "holds " : "holds (shared) ";
	if (observation.completion())
		return holds + name(edge.to) + ", " + completes_word(model[edge.from]) +
		       name(edge.from);
	if (!to_interrupt(edge))
		return holds + name(edge.from) + ", " + acquires + name(edge.to);
	const std::string on = std::string(" with ") + interrupt_name(edge.to) + "s on";
	if (witness.position != kOwnLock)
		return holds + name(edge.from) + on;
	return (observation.acquisition() ? acquires : "releases ") + name(edge.from) + on;
}

std::string interrupt_words(const Finding &finding, const std::function<std::string(ClassId)> &name)
{
	const auto locks = finding.locks();
	return "deadlock: a " + std::string(interrupt_name(finding.classes.back())) +
	       " comes to who holds " + name(locks.back()) + " and waits for " +
	       name(locks.front()) +
	       (locks.size() == 1 ? ", which cannot be given back"
				  : ", whose holder waits for " + name(locks.back()));
}

std::string source_place(const SourceLine &line)
{
	if (line.file.empty())
		return {};
	return line.file + ":" + std::to_string(line.line);
}

std::string taken_words(const Model &model, const std::string &lock, std::uint32_t val, CodeId at)
{
	std::string out = lock;
	if (read_of(val) != LS_EXCLUSIVE)
		out += " (shared)";
	out += ", taken at " + place_name(model[at]);
	for (const auto &source : model[at].lines)
		if (!source.inlined && !source.file.empty())
			out += " " + source_place(source);
	return out;
}

std::vector<Side> sides_of(const Model &model, const Finding &finding)
{
	std::vector<Side> out;
	if (finding.race) {
		for (const auto &side : finding.race->sides)
			out.push_back(side_of(model, side));
	} else if (finding.violation) {
		for (const auto &side : finding.violation->sides)
			out.push_back(side_of(model, side, "breaks the rule: "));
		if (finding.violation->example)
			out.push_back(side_of(model, *finding.violation->example, "keeps it: "));
	} else if (finding.single()) {
		for (const auto &stack : finding.stacks)
			out.push_back(side_of(model, finding, stack));
	} else {
		/* An interrupt comes first, as in the text. */
		const std::size_t n = finding.edges.size();
		const std::size_t first = n && from_interrupt(finding.edges.back()) ? n - 1 : 0;
		for (std::size_t i = 0; i < n; i++)
			out.push_back(side_of(model, finding.edges[(first + i) % n]));
	}
	return out;
}

} // namespace lockscope
