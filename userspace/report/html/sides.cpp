// SPDX-License-Identifier: GPL-2.0
// The sides of a finding beside each other.
#include "report/html/parts.h"

#include "report/race_text.h"
#include "report/sides.h"

#include "analysis/evidence.h"
#include "analysis/filters/annotations.h"
#include "analysis/rank.h"
#include "util/text.h"

namespace lockscope::html {

namespace {

/// One function, and those inlined into it; @what happens there.
void add_frames(pugi::xml_node list, const Model &model, CodeId at, const std::string &what)
{
	bool first = true;
	for (const auto &frame : frames_of(model[at])) {
		auto item = add(list, "li", first && !what.empty() ? "at" : "");
		if (first && !what.empty()) {
			add(item, "b", "", what);
			say(item, " ");
		}
		first = false;
		add(item, "code", "",
		    frame.inlined ? frame.function + " (inlined)" : place_name(model[at]));
		if (frame.line)
			if (const auto place = source_place(*frame.line); !place.empty()) {
				say(item, " ");
				add(item, "span", "source", place);
			}
	}
}

void add_note(pugi::xml_node list, const std::string &note)
{
	if (!note.empty())
		add(list, "li", "note", note);
}

/// Steps of a side as a stack trace: the last one is the innermost.
void add_steps(pugi::xml_node side, const Model &model, const Side &shown, const std::string &note)
{
	if (shown.steps.empty()) {
		add(side, "p", "words", "no stack was recorded");
		return;
	}
	auto list = add(side, "ol", "stack");
	/* Callers that are those of another acquisition, or of another access: the note stands
	 * above them, below the last place where something happens. */
	std::size_t above = 0;
	for (std::size_t i = shown.steps.size(); i-- > 0;)
		if (!shown.steps[i].does.empty())
			above = i;
	for (std::size_t i = shown.steps.size(); i-- > 0;) {
		add_frames(list, model, shown.steps[i].at, shown.steps[i].does);
		if (i == above && i > 0)
			add_note(list, note);
	}
}

void add_held(pugi::xml_node parent, const Model &model, const std::vector<Held> &held)
{
	if (held.empty()) {
		add(parent, "p", "words", "no lock held before");
		return;
	}
	add(parent, "p", "words", "held, oldest first:");
	auto list = add(parent, "ul", "held");
	const auto same = [](const Held &a, const Held &b) {
		return a.cls == b.cls && a.val == b.val && a.at == b.at;
	};
	for (std::size_t i = 0, end = 0; i < held.size(); i = end) {
		for (end = i + 1; end < held.size() && same(held[i], held[end]);)
			end++;
		const auto &entry = held[i];
		const std::string lock = entry.cls == kNoClass
						 ? "a lock"
						 : std::string(kind_name(model[entry.cls].kind)) +
							   " " + model[entry.cls].name;
		if (entry.val & LS_VAL_QUIET) {
			add(list, "li", "", held_name(model, entry));
			continue;
		}
		add(list, "li", "",
		    taken_words(model, lock, entry.val, entry.at) +
			    (end - i > 1 ? " (" + std::to_string(end - i) + " times)" : ""));
	}
}

pugi::xml_node add_side_head(pugi::xml_node parent, const std::string &title, const Side &side)
{
	auto box = add(parent, "section", "side");
	add(box, "h4", "", title);
	if (!side.by.empty())
		add(box, "p", "by", side.by);
	return box;
}

void add_run_of(pugi::xml_node side, const Model &model, std::uint32_t run)
{
	if (model.runs.size() > 1)
		add(side, "p", "words",
		    "seen in run " + std::to_string(run + 1) + ", " +
			    system_name(model.runs[run].release));
}

std::string another_time_words(const Model &model, std::size_t observation)
{
	const auto &other = model.observations[observation];
	return "callers as another time it was taken there, by " + other.comm + "-" +
	       std::to_string(other.pid) + ":";
}

void add_order_sides(pugi::xml_node box, const Model &model, const Finding &finding,
		     const std::vector<Side> &sides)
{
	const std::size_t n = finding.edges.size();
	const std::size_t first = n && from_interrupt(finding.edges.back()) ? n - 1 : 0;
	for (std::size_t i = 0; i < sides.size(); i++) {
		const auto &edge = finding.edges[(first + i) % n];
		const auto &observation = model.observations[edge.shown().observation];
		auto side = add_side_head(
			box, "Side " + std::to_string(i + 1) + " " + sides[i].does, sides[i]);
		if (edge.count >= kMeasurable)
			add(side, "p", "words", "about " + with_commas(edge.count) + " times");
		add_run_of(side, model, observation.run);
		add_steps(side, model, sides[i],
			  edge.borrowed ? another_time_words(model, *edge.borrowed) : "");
		add_held(side, model, observation.held);
		add(side, "p", "words", std::string("dependency ") + dependency_name(edge.kind));
	}
}

void add_fault_sides(pugi::xml_node box, const Model &model, const Finding &finding,
		     const std::vector<Side> &sides)
{
	const auto &edge = finding.edges.front();
	for (std::size_t i = 0; i < sides.size(); i++) {
		const auto &shown = finding.stacks[i];
		const auto &observation = model.observations[shown.observation];
		const bool where = shown.role == "where";
		const std::string times =
			!where ? ""
			: edge.count > 1
				? "seen in " + counted(edge.count, "way") + ", one of them: "
				: "first seen: ";
		auto side = add_side_head(box, times + sides[i].does, sides[i]);
		add_run_of(side, model, observation.run);
		add_steps(side, model, sides[i],
			  shown.role == "taken" && edge.borrowed
				  ? another_time_words(model, *edge.borrowed)
				  : "");
		if (where)
			add_held(side, model, own_locks(observation));
	}
}

void add_access_side(pugi::xml_node box, const Model &model, const AccessSide &access,
		     const Side &shown, const AccessSide *other)
{
	const auto &site = model.accesses[access.access];
	auto side = add_side_head(box, shown.does, shown);
	add_run_of(side, model, site.run);
	/* Its own place is certain; callers may be those of the first access there. */
	auto note = stack_origin(model, access);
	if (!note.empty() && !shown.steps.empty())
		add(side, "p", "words", note);
	add_steps(side, model, shown, "");
	auto list = add(side, "ul", "held");
	for (std::size_t i = 0; i < site.guards.size(); i++) {
		const auto &guard = site.guards[i];
		add(list, "li", "",
		    "holds " + taken_words(model, guard.name, guard.val, guard.at) +
			    (other ? instance_note(model, access, i, *other) : ""));
	}
	for (const auto &lock :
	     annotations::asserted(model, model.runs[site.run].release, known_part(access)))
		add(list, "li", "", "the code asserts " + lock);
	if (list.first_child().empty())
		add(list, "li", "", "holds no lock");
}

void add_access_sides(pugi::xml_node box, const Model &model, const Finding &finding,
		      const std::vector<Side> &sides)
{
	if (finding.race) {
		const auto &both = finding.race->sides;
		for (std::size_t i = 0; i < sides.size(); i++)
			add_access_side(box, model, both[i], sides[i], &both[1 - i]);
		return;
	}
	const auto &violation = *finding.violation;
	for (std::size_t i = 0; i < sides.size(); i++)
		add_access_side(box, model,
				i < violation.sides.size() ? violation.sides[i]
							   : *violation.example,
				sides[i], nullptr);
}

} // namespace

void add_stack_of(pugi::xml_node parent, const Model &model, const std::vector<CodeId> &stack,
		  const std::string &what)
{
	auto list = add(parent, "ol", "stack");
	for (std::size_t i = 0; i < stack.size(); i++)
		add_frames(list, model, stack[i], i ? "" : what);
}

void add_sides(pugi::xml_node parent, const Model &model, const Finding &finding)
{
	const auto sides = sides_of(model, finding);
	auto box = add(parent, "div", "sides");
	if (finding.race || finding.violation)
		add_access_sides(box, model, finding, sides);
	else if (finding.single())
		add_fault_sides(box, model, finding, sides);
	else
		add_order_sides(box, model, finding, sides);
}

} // namespace lockscope::html
