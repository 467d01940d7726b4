// SPDX-License-Identifier: GPL-2.0
// Locking rules: which variable is accessed under which lock.
#include "report/html/parts.h"
#include "report/text_parts.h"

#include "analysis/rules/guards.h"
#include "util/text.h"

#include <cstdio>

namespace lockscope::html {

namespace {

/// Accesses shown that break a rule; lockscope rules has all.
constexpr std::size_t kShownBreaks = 5;

std::string evidence_of(const Rule &rule)
{
	if (!rule.believed() && rule.verdict != RuleVerdict::Unclear)
		return std::to_string(rule.support.of);
	return std::to_string(rule.support.holds) + " of " + std::to_string(rule.support.of);
}

void add_breaks(pugi::xml_node parent, const Model &model, const Rule &rule)
{
	const auto &breaks = rule.counterexamples;
	if (breaks.empty())
		return;
	auto details = add(parent, "details");
	add(details, "summary", "", counted(breaks.size(), "counterexample"));
	for (std::size_t i = 0; i < breaks.size() && i < kShownBreaks; i++) {
		const auto &access = model.accesses[breaks[i]];
		const auto locks = lockset_of(access);
		add(details, "p", "words",
		    std::string(level_name(access.where)) + " " + access.comm + "-" +
			    std::to_string(access.pid) +
			    (locks.empty() ? ", nothing held" : ", holding " + join(locks, ", ")));
		add_stack_of(details, model, access.stack, "=>");
	}
	if (breaks.size() > kShownBreaks)
		add(details, "p", "words",
		    std::to_string(breaks.size() - kShownBreaks) +
			    " more: lockscope rules --format json has all");
}

std::string rule_row(const Model &model, const Rule &rule)
{
	Fragment fragment;
	auto row = add(fragment.root(), "tr");
	const auto *guard = rule.believed();
	add(add(row, "td"), "code", "",
	    rule.of_type() && !rule.member.empty() ? rule.type + "." + rule.member
						   : rule.variable.brief);
	add(row, "td", "", name(rule.kind));
	add(add(row, "td"), "code", "", guard ? guard->guard() : "-");
	add(row, "td", "number", evidence_of(rule));
	char z[32] = "-";
	if (guard)
		std::snprintf(z, sizeof(z), "%.2f", rule.support.z());
	add(row, "td", "number", z);
	auto verdict = add(row, "td", "", name(rule.verdict));
	if (!rule.why.empty())
		say(verdict, ": " + rule.why);
	add_breaks(verdict, model, rule);
	return fragment.text();
}

} // namespace

std::string rules_section(const Model &model)
{
	Fragment fragment;
	auto section = fragment.root();
	add(section, "h2", "", "Rules");
	Printer orders({1000000, false});
	print_rules(model, orders);
	for (const auto &line : split(orders.take(), '\n'))
		if (!line.empty())
			add(section, "p", line.front() == ' ' ? "words" : "subtitle", line);
	const auto rules = infer_rules(model);
	std::string rows;
	std::size_t few = 0;
	Room room(kRuleBytes);
	for (const auto &rule : rules) {
		if (rule.verdict == RuleVerdict::TooFew) {
			few++;
			continue;
		}
		if (!room.open())
			continue;
		if (const std::string row = rule_row(model, rule); room.take(row.size()))
			rows += row;
	}
	if (rules.empty())
		add(section, "p", "words",
		    "No access to memory was recorded, so there is no rule for variables: see "
		    "lockscope record --accesses and docs/locking-rules.md.");
	if (!rows.empty())
		add(section, "p", "words",
		    "Evidence is how much of what was seen of the variable held the guard; z says "
		    "by how many standard deviations that is above the four in five that chance "
		    "would give, and is negative below.");
	if (few)
		add(section, "p", "words",
		    counted(few, "rule") + " with too few accesses left out: lockscope rules "
					   "--type STRUCT lists them.");
	if (room.left_out())
		add(section, "p", "warn",
		    left_out_words(room.left_out(), "rule", "lockscope rules"));
	const std::string head = fragment.text();
	std::string table;
	if (!rows.empty()) {
		Fragment shape;
		auto body =
			add_table(shape.root(), "rules",
				  {"variable", "access", "guard", "#evidence", "#z", "verdict"});
		(void)body;
		table = shape.text();
		table.insert(table.find("</tbody>"), rows);
	}
	return "<section id=\"rules\" class=\"view\">" + head + table + "</section>";
}

} // namespace lockscope::html
