// SPDX-License-Identifier: GPL-2.0
#include "report/verdict_text.h"

#include "analysis/verdicts.h"
#include "report/json_parts.h"
#include "report/text_parts.h"
#include "util/text.h"

#include <cstdint>
#include <cstdio>
#include <string>
#include <vector>

namespace lockscope {

namespace {

Tone verdict_tone(VerdictResult result)
{
	return result == VerdictResult::Confirmed ? Tone::Red
	       : result == VerdictResult::Refuted ? Tone::Yellow
						  : Tone::Plain;
}

std::string text_of(const Json &from, const char *member)
{
	const auto at = from.find(member);
	return at != from.end() && at->is_string() ? at->get<std::string>() : std::string();
}

std::vector<std::string> texts_of(const Json &from, const char *member)
{
	std::vector<std::string> out;
	if (const auto at = from.find(member); at != from.end() && at->is_array())
		for (const auto &item : *at)
			if (item.is_string())
				out.push_back(item.get<std::string>());
	return out;
}

bool is_number(const Json &from, const char *member)
{
	const auto at = from.find(member);
	return at != from.end() && at->is_number_unsigned();
}

/*
 * "side 1 as it met: holds a, acquires b, waited for the other side: task, dd-7, CPU 0", or
 * "accesses v, value 7, waited ..."
 */
std::string head_of(const Json &side, std::size_t number)
{
	std::vector<std::string> does;
	if (const auto holds = text_of(side, "holds"); !holds.empty())
		does.push_back("holds " + holds);
	if (const auto acquires = text_of(side, "acquires"); !acquires.empty())
		does.push_back("acquires " + acquires);
	if (const auto accesses = text_of(side, "accesses"); !accesses.empty())
		does.push_back("accesses " + accesses);
	if (is_number(side, "value"))
		does.push_back("value " + std::to_string(side["value"].get<std::uint64_t>()));
	if (const auto waited = side.find("waited"); waited != side.end() && waited->is_boolean())
		does.emplace_back(waited->get<bool>() ? "waited for the other side"
						      : "came while the other side waited");
	std::vector<std::string> where;
	for (const char *member : {"context", "task"})
		if (const auto text = text_of(side, member); !text.empty())
			where.push_back(text);
	if (is_number(side, "cpu"))
		where.push_back("CPU " + std::to_string(side["cpu"].get<std::uint64_t>()));
	std::string head = "side " + std::to_string(number) + " as it met";
	for (const auto &part : {join(does, ", "), join(where, ", ")})
		if (!part.empty())
			head += ": " + part;
	return head;
}

void print_side(const Json &side, std::size_t number, Printer &out)
{
	out.blank();
	out.wrap(4, head_of(side, number), Tone::Bold, 2);
	const auto stack = texts_of(side, "stack");
	/* In the columns of the other stacks, see finding_text.cpp. */
	for (std::size_t i = 0; i < stack.size(); i++)
		out.line(out.tone((i ? std::string(14, ' ') : std::string(11, ' ') + "=> ") +
					  stack[i],
				  i ? Tone::Plain : Tone::Cyan));
	const auto held = neighbours_once(texts_of(side, "held"));
	out.wrap(6, "held, oldest first: " + (held.empty() ? "nothing" : join(held, "; ")),
		 Tone::Plain, 2);
}

/* "met in 1 of 2 directions, after 0.5 s" */
std::string summary(const Json &evidence)
{
	std::vector<std::string> parts;
	if (is_number(evidence, "directions") && is_number(evidence, "of"))
		parts.push_back("met in " + evidence["directions"].dump() + " of " +
				evidence["of"].dump() + " directions");
	if (const auto at = evidence.find("seconds"); at != evidence.end() && at->is_number()) {
		char text[64];
		std::snprintf(text, sizeof(text), "within %.3g s", at->get<double>());
		parts.emplace_back(text);
	}
	return join(parts, ", ");
}

} // namespace

std::string verdict_line(const Verdict &verdict)
{
	std::string line = std::string("Verdict: ") + name(verdict.result);
	if (!verdict.reason.empty())
		line += " (" + verdict.reason + ")";
	if (const auto why = describe(verdict); !why.empty())
		line += ": " + why;
	return line;
}

void print_verdict(const Verdict &verdict, Printer &out)
{
	out.wrap(4, verdict_line(verdict), verdict_tone(verdict.result), 2);
}

void print_evidence(const Verdict &verdict, Printer &out)
{
	const Json evidence = Json::parse(verdict.evidence, nullptr, false);
	if (!evidence.is_object() || evidence.empty())
		return;
	if (const auto text = summary(evidence); !text.empty()) {
		out.blank();
		out.wrap(4, "evidence of the verdict: " + text, Tone::Plain, 2);
	}
	const auto sides = evidence.find("sides");
	if (sides == evidence.end() || !sides->is_array())
		return;
	for (std::size_t i = 0; i < sides->size(); i++)
		if ((*sides)[i].is_object())
			print_side((*sides)[i], i + 1, out);
}

} // namespace lockscope
