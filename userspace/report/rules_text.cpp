// SPDX-License-Identifier: GPL-2.0
// Inferred rules as text.
#include "report/rules.h"

#include "model/counters.h"
#include "report/printer.h"
#include "util/text.h"

#include <algorithm>
#include <array>
#include <cstdio>

namespace lockscope {

namespace {

/* Frames shown of an access that breaks a rule, and such accesses per rule. */
constexpr std::size_t kFrames = 4, kShown = 5;

using Row = std::array<std::string, 5>;

std::string z_text(double z)
{
	char text[32];
	std::snprintf(text, sizeof(text), "%.2f", z);
	return text;
}

std::string support_text(const Support &support)
{
	return std::to_string(support.holds) + " of " + std::to_string(support.of);
}

std::string verdict_text(const Rule &rule)
{
	std::vector<std::string> parts;
	if (rule.believed()) {
		parts.push_back(rule.guard() ? name(rule.verdict)
					     : "held, of which object is not known");
		if (!rule.counterexamples.empty())
			parts.push_back(counted(rule.counterexamples.size(), "counterexample"));
	} else if (rule.verdict == RuleVerdict::NoLock) {
		parts.push_back("needs no lock: " + rule.why);
	} else {
		parts.push_back(rule.why);
	}
	if (rule.verdict == RuleVerdict::Unclear && !rule.hypotheses.empty()) {
		const auto &best = rule.hypotheses.front();
		parts.push_back("best " + best.guard() + " " + support_text(best.support));
	}
	if (rule.marked)
		parts.push_back(std::to_string(rule.marked) + " marked");
	return join(parts, "; ");
}

Row row_of(const Rule &rule)
{
	const Hypothesis *guard = rule.believed();
	const bool tells = guard || rule.verdict == RuleVerdict::Unclear;
	return {rule.of_type() && !rule.member.empty() ? rule.member : rule.variable.brief,
		name(rule.kind), guard ? guard->guard() : "-",
		tells ? support_text(rule.support) : std::to_string(rule.support.of),
		guard ? z_text(rule.support.z()) : "-"};
}

void print_access(const Model &model, const MemoryAccess &access, Printer &out)
{
	const auto locks = lockset_of(access);
	std::string head = "without it: " + std::string(level_name(access.where)) + " " +
			   access.comm + "-" + std::to_string(access.pid);
	head += locks.empty() ? ", nothing held" : ", holding " + join(locks, ", ");
	out.wrap(6, head, Tone::Yellow, 2);
	for (std::size_t i = 0; i < access.stack.size() && i < kFrames; i++) {
		const Code &code = model[access.stack[i]];
		std::string line = (i ? "   " : "=> ") + place_name(code);
		for (const auto &source : code.lines)
			if (!source.inlined && !source.file.empty())
				line += "  " + source.file + ":" + std::to_string(source.line);
		out.line(std::string(8, ' ') + line);
	}
}

void print_group(const Model &model, const std::vector<const Rule *> &rules, Printer &out)
{
	std::vector<Row> rows{{"member", "access", "guard", "evidence", "z"}};
	for (const auto *rule : rules)
		rows.push_back(row_of(*rule));
	std::array<std::size_t, std::tuple_size_v<Row>> width{};
	for (const auto &row : rows)
		for (std::size_t i = 0; i < row.size(); i++)
			width[i] = std::max(width[i], row[i].size());
	for (std::size_t n = 0; n < rows.size(); n++) {
		std::string line = "   ";
		for (std::size_t i = 0; i < rows[n].size(); i++) {
			const std::string gap(width[i] - rows[n][i].size(), ' ');
			/* Numbers are right-aligned. */
			line += " " + (i == 4 ? gap + rows[n][i] : rows[n][i] + gap) + " ";
		}
		line += n ? " " + verdict_text(*rules[n - 1]) : " verdict";
		line.erase(line.find_last_not_of(' ') + 1);
		out.line(n ? line : out.tone(line, Tone::Dim));
		if (n == 0)
			continue;
		const auto &breaks = rules[n - 1]->counterexamples;
		for (std::size_t i = 0; i < breaks.size() && i < kShown; i++)
			print_access(model, model.accesses[breaks[i]], out);
		if (breaks.size() > kShown)
			out.wrap(6, std::to_string(breaks.size() - kShown) +
					    " more, --format json has all");
	}
}

} // namespace

std::string text_rules(const Model &model, const std::vector<Rule> &rules, const TextStyle &style,
		       bool few)
{
	Printer out(style);
	std::size_t left_out = 0, count[kVerdicts] = {};
	std::vector<std::vector<const Rule *>> groups;
	for (const auto &rule : rules) {
		count[static_cast<int>(rule.verdict)]++;
		if (rule.verdict == RuleVerdict::TooFew && !few) {
			left_out++;
			continue;
		}
		/* Variables that are not members form one group. */
		if (groups.empty() || rule.of_type() != groups.back()[0]->of_type() ||
		    (rule.of_type() && groups.back()[0]->type != rule.type))
			groups.emplace_back();
		groups.back().push_back(&rule);
	}
	out.wrap(0,
		 "LockScope rules: " + systems_of(model) + ", " +
			 counted(model.runs.size(), "run") + ", " +
			 with_commas(model.counter(kAccessesCounter)) + " accesses in " +
			 counted(model.accesses.size(), "way"),
		 Tone::Bold);
	auto number = [&](RuleVerdict v) { return std::to_string(count[static_cast<int>(v)]); };
	out.wrap(0,
		 number(RuleVerdict::Guarded) + " guarded, " +
			 (count[static_cast<int>(RuleVerdict::ByClass)]
				  ? number(RuleVerdict::ByClass) + " by some lock of a class, "
				  : "") +
			 number(RuleVerdict::NoLock) + " need no lock, " +
			 number(RuleVerdict::Unclear) + " unclear, " + number(RuleVerdict::TooFew) +
			 " with too few accesses to tell" +
			 (left_out ? ", listed with --type" : ""),
		 Tone::Plain, 2);
	for (const auto &group : groups) {
		const Rule &first = *group.front();
		out.blank();
		out.line(out.tone(first.of_type() ? first.type : "variables", Tone::Bold));
		print_group(model, group, out);
	}
	return out.take();
}

} // namespace lockscope
