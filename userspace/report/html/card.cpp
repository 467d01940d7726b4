// SPDX-License-Identifier: GPL-2.0
// One finding as a card.
#include "report/html/parts.h"

#include "report/printer.h"
#include "report/race_text.h"
#include "report/sides.h"
#include "report/verdict_text.h"

#include "analysis/filters/beliefs.h"
#include "util/text.h"

#include <set>

namespace lockscope::html {

namespace {

/// Text that is made for terminals, on lines as they come.
constexpr TextStyle kWideStyle{100, false};

void add_modules(std::set<std::string> &out, const Model &model, const std::vector<CodeId> &stack)
{
	for (const CodeId at : stack)
		if (!model[at].module.empty())
			out.insert(model[at].module);
}

/// Modules of its locks, and of the code on its stacks, as --module selects them.
std::string modules_of(const Model &model, const Finding &finding)
{
	std::set<std::string> out;
	for (const ClassId cls : finding.locks())
		out.insert(model[cls].module.empty() ? "vmlinux" : model[cls].module);
	for (const auto &edge : finding.edges) {
		add_modules(out, model, edge.from_stack);
		add_modules(out, model, edge.to_stack);
	}
	for (const auto &stack : finding.stacks)
		add_modules(out, model, stack.stack);
	if (finding.race)
		for (const auto &side : finding.race->sides)
			add_modules(out, model, side.stack);
	if (finding.violation)
		for (const auto &side : finding.violation->sides)
			add_modules(out, model, side.stack);
	return join({out.begin(), out.end()}, "\t");
}

/// What the text says below it, from a printer; nothing if that is nothing.
void add_printed(pugi::xml_node parent, const char *tag, const char *cls,
		 const std::function<void(Printer &)> &print)
{
	Printer printer(kWideStyle);
	print(printer);
	std::string text = printer.take();
	const auto first = text.find_first_not_of(" \n");
	if (first == text.npos)
		return;
	text.erase(text.find_last_not_of(" \n") + 1);
	say(add(parent, tag, cls), text.substr(text.rfind('\n', first) + 1), true);
}

void add_head(pugi::xml_node card, const Finding &finding, std::size_t rank)
{
	auto title = add(card, "h3");
	set(add(title, "a", "rank", std::to_string(rank)), "href", "#f-" + finding.id);
	say(title, " ");
	add(title, "span", "title", finding.title);
	auto tags = add(card, "p", "tags");
	add(tags, "span", ("tag severity " + std::string(name(finding.severity))).c_str(),
	    name(finding.severity));
	add(tags, "span", "tag", name(finding.confidence));
	add(tags, "span", "tag", name(finding.kind));
	/* The confidence says that it is confirmed. */
	if (finding.verdict && finding.verdict->result != VerdictResult::Confirmed)
		add(tags, "span", "tag verdict",
		    std::string("confirm: ") + name(finding.verdict->result));
	if (finding.fresh.value_or(false))
		add(tags, "span", "tag new",
		    "new in run " + std::to_string(*finding.first_run + 1));
	say(add(tags, "span", "id", "id "), "");
	add(tags.last_child(), "code", "", finding.id);
	if (!finding.cause.empty())
		add(tags, "span", "id", "same cause as " + finding.cause);
}

void add_doubts(pugi::xml_node card, const Finding &finding)
{
	if (finding.verdict)
		add(card, "p", "words verdict", verdict_line(*finding.verdict));
	for (const auto &filter : finding.filters)
		if (filter.name != kRefuted) /* the verdict */
			add(card, "p", "words doubt",
			    std::string(filter.hidden ? "hidden: " : "doubt: ") + filter.why +
				    " (" + filter.name + ")");
	std::vector<std::string> reasons;
	for (const auto &feature : finding.features)
		if (feature.points > 0 && feature.name != "novelty")
			reasons.push_back(feature.why);
	if (!reasons.empty())
		add(card, "p", "words why", "ranks here because: " + join(reasons, "; "));
}

void add_locks(pugi::xml_node parent, const Model &model, const Finding &finding)
{
	const auto locks = finding.locks();
	if (locks.empty())
		return;
	auto list = add(parent, "ul", "locks");
	for (const ClassId cls : locks) {
		const auto &lock = model[cls];
		auto item = add(list, "li");
		add(item, "code", "lock", lock.name);
		std::string about = std::string(" ") + kind_name(lock.kind) +
				    (lock.global() ? ", global" : ", one per object");
		if (!lock.module.empty() && lock.module != "vmlinux")
			about += ", module " + lock.module;
		if (const auto *counts = semaphore_counts(model, cls))
			about += "; " + describe_semaphore(*counts);
		say(item, about);
	}
}

void add_variable(pugi::xml_node parent, const Finding &finding)
{
	if (finding.race)
		add_printed(parent, "p", "words",
			    [&](Printer &out) { print_variable(*finding.race, out); });
	if (!finding.violation)
		return;
	const auto &violation = *finding.violation;
	add(parent, "p", "words", "variable: " + violation.variable.name);
	add(parent, "p", "words",
	    "rule: " + std::to_string(violation.holds) + " of " + std::to_string(violation.of) +
		    " hold " + violation.guard +
		    (violation.exclusive ? ", exclusively to write" : ""));
}

void add_legend(pugi::xml_node parent, const Finding &finding)
{
	std::set<std::uint32_t> kinds;
	if (finding.about_order() && !finding.single())
		for (const auto &edge : finding.edges)
			kinds.insert(edge.kind);
	for (const auto kind : kinds)
		add(parent, "p", "words legend",
		    std::string(dependency_name(kind)) + ": " + dependency_words(kind));
}

void add_rank(pugi::xml_node parent, const Finding &finding)
{
	auto details = add(parent, "details", "score");
	add(details, "summary", "",
	    "Score " + std::to_string(static_cast<long>(finding.score)) + ", severity " +
		    name(finding.severity) + ", confidence " + name(finding.confidence));
	auto body = add_table(details, "features", {"#points", "feature", "why"});
	for (const auto &feature : finding.features) {
		auto row = add(body, "tr");
		add(row, "td", "number", std::to_string(static_cast<long>(feature.points)));
		add(row, "td", "", feature.name);
		add(row, "td", "", feature.why);
	}
	if (finding.filters.empty())
		add(details, "p", "words", "No filter applies.");
}

pugi::xml_node add_card(Fragment &fragment, const Model &model, const Finding &finding,
			std::size_t rank, const char *cls)
{
	auto card = add(fragment.root(), "article",
			(std::string(cls) + " " + name(finding.severity)).c_str());
	set(card, "id", "f-" + finding.id);
	set(card, "data-severity", name(finding.severity));
	set(card, "data-kind", name(finding.kind));
	set(card, "data-modules", modules_of(model, finding));
	add_head(card, finding, rank);
	return card;
}

} // namespace

std::string full_card(const Model &model, const Finding &finding, std::size_t rank, bool open)
{
	Fragment fragment;
	auto card = add_card(fragment, model, finding, rank, "finding");
	add_doubts(card, finding);
	auto details = add(card, "details", "body");
	if (open)
		set(details, "open", "open");
	add(details, "summary", "", "Sides, stacks and locks");
	add_locks(details, model, finding);
	add_variable(details, finding);
	if (finding.about_interrupt())
		add(details, "p", "words",
		    interrupt_words(finding, [&](ClassId cls) { return short_name(model[cls]); }));
	add_sides(details, model, finding);
	add_legend(details, finding);
	if (finding.race)
		add_printed(details, "pre", "", [&](Printer &printer) {
			print_histories(model, *finding.race, printer);
		});
	if (finding.verdict)
		add_printed(details, "pre", "evidence",
			    [&](Printer &printer) { print_evidence(*finding.verdict, printer); });
	add_rank(details, finding);
	return fragment.text();
}

std::string brief_card(const Model &model, const Finding &finding, std::size_t rank)
{
	Fragment fragment;
	auto card = add_card(fragment, model, finding, rank, "finding brief");
	auto words = add(card, "p", "words", "In full: ");
	add(words, "code", "", "lockscope show " + finding.id);
	return fragment.text();
}

} // namespace lockscope::html
