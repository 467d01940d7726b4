// SPDX-License-Identifier: GPL-2.0
#include "report/death.h"

#include "report/sides.h"

#include "analysis/evidence.h"
#include "util/text.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <string_view>

namespace lockscope {

namespace {

/// Most contexts in a text, those with most locks first; JSON has all.
constexpr std::size_t kMostDeadContexts = 12, kMostDeadFindings = 5;

/// What a corrupted object shows itself as, often far from the code that did it.
constexpr std::array<std::string_view, 7> kCorruption = {
	"list_add corruption",
	"list_del corruption",
	"general protection fault",
	"BUG: unable to handle",
	"BUG: kernel NULL pointer",
	"kernel BUG at",
	"Oops:",
};

bool begins_with_any(const std::string &text, const auto &marks)
{
	return std::any_of(marks.begin(), marks.end(),
			   [&](std::string_view mark) { return text.starts_with(mark); });
}

/// "function" and "module" of "... function+0x12/0x34 [module]"; no module: the kernel's.
std::pair<std::string, std::string> place_in(std::string_view line)
{
	const auto plus = line.find("+0x");
	if (plus == line.npos)
		return {};
	std::size_t begin = plus;
	const auto of_name = [](unsigned char c) {
		return std::isalnum(c) || c == '_' || c == '.';
	};
	while (begin > 0 && of_name(static_cast<unsigned char>(line[begin - 1])))
		begin--;
	std::string module;
	if (const auto open = line.find(" [", plus); open != line.npos)
		if (const auto close = line.find(']', open); close != line.npos)
			module = line.substr(open + 2, close - open - 2);
	return {std::string(line.substr(begin, plus - begin)), module};
}

/// What ran: the function at RIP, and the innermost module of the first call trace.
void find_place(const Death &death, DeathStory &out)
{
	bool trace = false;
	std::size_t at = death.messages.find(death.cause);
	if (at == death.messages.npos)
		return;
	for (const auto &line : split(std::string_view(death.messages).substr(at), '\n')) {
		const bool rip = line.find("RIP: 0010:") != line.npos;
		if (line.find("Call Trace:") != line.npos)
			trace = true;
		if (!rip && !trace)
			continue;
		const auto [function, module] = place_in(line);
		if (function.empty() || line.find(" ? ") != line.npos)
			continue;
		if (rip && out.function.empty())
			out.function = function;
		if (!module.empty()) {
			if (out.module.empty())
				out.module = module;
			return;
		}
	}
}

bool concerns(const Finding &finding, ClassId cls)
{
	return std::find(finding.classes.begin(), finding.classes.end(), cls) !=
	       finding.classes.end();
}

bool concerns(const Finding &finding, const Death &death)
{
	for (const auto &context : death.contexts) {
		for (const auto &lock : context.held)
			if (lock.cls != kNoClass && concerns(finding, lock.cls))
				return true;
		if (context.waits && context.waits->cls != kNoClass &&
		    concerns(finding, context.waits->cls))
			return true;
	}
	return false;
}

void advise(const Run &run, DeathStory &out)
{
	if (!out.findings.empty())
		out.next.push_back(
			"Read " +
			std::string(out.findings.size() == 1 ? "that finding" : "those findings") +
			" first: lockscope show " + out.findings.front()->id);
	if (!begins_with_any(out.death->cause, kCorruption))
		return;
	const auto accesses = run.counters.find("accesses");
	const bool watched = accesses != run.counters.end() && accesses->second;
	if (!out.module.empty())
		out.next.push_back(
			"An object of " + out.module +
			" was damaged or freed while it was used; which accesses of it were "
			"without a lock, an instrumented build shows: lockscope instrument "
			"DIR, with the folder of its source, then run this again with --accesses all" +
			(watched ? "" : "; no access was watched in this run"));
	else if (!watched)
		out.next.push_back(
			"No access was watched in this run: --accesses sampled, or "
			"lockscope instrument for a module of one's own, shows those that "
			"no lock protects");
}

} // namespace

std::vector<DeathStory> death_stories(const Model &model, const std::vector<const Finding *> &shown)
{
	std::vector<DeathStory> out;
	for (std::uint32_t i = 0; i < model.runs.size(); i++) {
		const Run &run = model.runs[i];
		if (!run.death)
			continue;
		DeathStory story;
		story.death = run.death.get();
		story.run = i;
		for (const auto *finding : shown)
			if (concerns(*finding, *story.death))
				story.findings.push_back(finding);
		find_place(*story.death, story);
		advise(run, story);
		out.push_back(std::move(story));
	}
	return out;
}

std::string lock_at_death(const Model &model, const Held &lock)
{
	return taken_words(model,
			   lock.cls == kNoClass ? "a lock"
						: std::string(kind_name(model[lock.cls].kind)) +
							  " " + held_name(model, lock),
			   lock.val, lock.at);
}

std::string context_at_death(const DeadContext &context)
{
	const std::string task = context.comm + "/" + std::to_string(context.pid);
	if (context.level != LS_TASK) {
		const char *const levels[] = {LS_LEVEL_NAMES};
		return std::string(levels[context.level]) + " on CPU " +
		       std::to_string(context.cpu.value_or(0)) + ", in " + task;
	}
	return task + (context.cpu ? ", on CPU " + std::to_string(*context.cpu) : ", asleep");
}

void print_deaths(const Model &model, const std::vector<const Finding *> &shown, Printer &out)
{
	for (const auto &story : death_stories(model, shown)) {
		const Death &death = *story.death;
		out.blank();
		out.wrap(0,
			 "The machine died" +
				 (model.runs.size() > 1 ? " in run " + std::to_string(story.run + 1)
							: std::string()) +
				 ": " + death.cause,
			 Tone::Red, 2);
		if (!story.function.empty() || !story.module.empty())
			out.wrap(4, "in " + (story.function.empty() ? "code" : story.function) +
					    (story.module.empty()
						     ? ""
						     : ", called by module " + story.module));
		std::vector<const DeadContext *> contexts;
		for (const auto &context : death.contexts)
			contexts.push_back(&context);
		std::stable_sort(contexts.begin(), contexts.end(),
				 [](const auto *a, const auto *b) {
					 return a->cpu.has_value() > b->cpu.has_value();
				 });
		if (contexts.empty())
			out.wrap(4, "no lock was held then");
		for (std::size_t i = 0; i < std::min(contexts.size(), kMostDeadContexts); i++) {
			const DeadContext &context = *contexts[i];
			out.wrap(4,
				 counted(context.held.size(), "lock") + " held by " +
					 context_at_death(context) + ":",
				 Tone::Plain, 2);
			std::size_t number = 0;
			for (const auto &lock : context.held)
				out.wrap(6,
					 "#" + std::to_string(number++) + ": " +
						 lock_at_death(model, lock),
					 Tone::Plain, 4);
			if (context.waits)
				out.wrap(6, "waits for " + lock_at_death(model, *context.waits),
					 Tone::Yellow, 4);
		}
		if (contexts.size() > kMostDeadContexts)
			out.wrap(4,
				 "... and " + std::to_string(contexts.size() - kMostDeadContexts) +
					 " more contexts: --format json has all",
				 Tone::Dim);
		for (std::size_t i = 0; i < std::min(story.findings.size(), kMostDeadFindings); i++)
			out.wrap(4,
				 "about a lock held then: " + story.findings[i]->id + " " +
					 story.findings[i]->title,
				 Tone::Plain, 2);
		for (const auto &what : death.missing)
			out.wrap(4, "not in the machine's memory: " + what, Tone::Yellow, 2);
		for (const auto &next : story.next)
			out.wrap(4, next, Tone::Cyan, 2);
	}
}

Json deaths_json(const Model &model, const std::vector<const Finding *> &shown)
{
	const auto lock_json = [&](const Held &lock) -> Json {
		static constexpr const char *modes[] = {"exclusive", "shared", "recursive"};
		const auto read = read_of(lock.val);
		return {{"class",
			 lock.cls == kNoClass ? Json(nullptr) : Json(model[lock.cls].name)},
			{"kind", lock.cls == kNoClass ? Json(nullptr)
						      : Json(kind_name(model[lock.cls].kind))},
			{"mode", modes[std::min<std::size_t>(read, 2)]},
			{"at", stack_json({lock.at})}};
	};
	Json out = Json::array();
	for (const auto &story : death_stories(model, shown)) {
		Json contexts = Json::array(), findings = Json::array();
		for (const auto &context : story.death->contexts) {
			const char *const levels[] = {LS_LEVEL_NAMES};
			Json held = Json::array();
			for (const auto &lock : context.held)
				held.push_back(lock_json(lock));
			contexts.push_back(
				{{"task", context.comm},
				 {"pid", context.pid},
				 {"cpu", context.cpu ? Json(*context.cpu) : Json(nullptr)},
				 {"context", levels[context.level]},
				 {"held", std::move(held)},
				 {"waits_for",
				  context.waits ? lock_json(*context.waits) : Json(nullptr)}});
		}
		for (const auto *finding : story.findings)
			findings.push_back(finding->id);
		out.push_back({{"run", story.run},
			       {"cause", story.death->cause},
			       {"function", story.function},
			       {"module", story.module},
			       {"contexts", std::move(contexts)},
			       {"findings", std::move(findings)},
			       {"missing", story.death->missing},
			       {"next", story.next},
			       {"messages", story.death->messages}});
	}
	return out;
}

} // namespace lockscope
