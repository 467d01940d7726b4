// SPDX-License-Identifier: GPL-2.0
#include "analysis/races/weights.h"

#include "util/text.h"

#include <charconv>
#include <cmath>
#include <set>

namespace lockscope {

namespace {

/*
 * RacerX's points [Table 4] times 20. Confidence and contexts have the same weights as for
 * locks (rank.cpp), so that both kinds of findings are comparable.
 */
constexpr RaceWeight kTable[] = {
	{"confidence", 1300, "per level: possible 0, observed 1, confirmed 2"},
	{"contexts", 960, "two contexts have to meet"},
	{"multithreaded", 100, "a side, or who called it, takes locks: it expects others"},
	{"plain-writes", 60, "both sides write, and neither says that it knows of others"},
	{"plain", 30, "neither side is marked"},
	{"write", 20, "the later access writes"},
	{"torn", 20, "sizes differ, or more than a machine word is written at once"},
	{"never-locked", 40, "a side never holds a lock here"},
	{"mostly-unlocked", 20, "a side holds a lock here in fewer ways than none"},
	{"interrupt-writes", 40, "an interrupt handler writes the variable"},
	{"interrupt-reads", 20, "an interrupt handler reads it"},
	{"many-writers", 40, "more than two entry points write it"},
	{"two-writers", 20, "two entry points write it"},
	{"only-in-sections", 80, "more than one critical section touches nothing else"},
	{"only-in-a-section", 40, "one critical section touches nothing else"},
	{"first-in-section", 20, "a critical section touches it first"},
	{"last-in-section", 20, "a critical section touches it last"},
	{"usually-locked", 40, "z > 2: all but a few accesses hold a lock"},
	{"rarely-locked", -40, "z < -2, and not one variable for all: nobody thinks it needs one"},
	{"careless-function", 40, "a side touches more than 4 variables without a lock"},
	{"relaxed-function", 20, "a side touches 2 to 4 variables without a lock"},
	{"candidate-lock", 60, "some lock was held by some of the accesses"},
	{"frequency", 10, "a million times or more, on the rarer side"},
	{"novelty", 5, "seen by the latest run only"},
	{"statistics-counter", -200, "only ever counted up or down"},
	{"doubt", -100, "for each filter that applies"},
	{"same-variable", -100, "for each race on the same variable that ranks higher, up to 8"},
};

std::string_view trim(std::string_view text)
{
	const auto first = text.find_first_not_of(" \t\r");
	if (first == text.npos)
		return {};
	return text.substr(first, text.find_last_not_of(" \t\r") - first + 1);
}

} // namespace

RaceWeights::RaceWeights()
{
	for (const auto &weight : kTable)
		points_[weight.name] = weight.points;
}

std::span<const RaceWeight> RaceWeights::table()
{
	return kTable;
}

double RaceWeights::operator[](std::string_view name) const
{
	auto at = points_.find(name);
	return at == points_.end() ? 0 : at->second;
}

Result<RaceWeights> RaceWeights::parse(std::string_view text, const std::string &name)
{
	RaceWeights out;
	std::set<std::string_view> given;
	std::size_t number = 0;
	for (const auto &raw : split(text, '\n')) {
		number++;
		std::string_view line = raw;
		line = trim(line.substr(0, line.find('#')));
		if (line.empty())
			continue;
		auto wrong = [&](const std::string &what) {
			return Error{0, name + ":" + std::to_string(number) + ": " + what,
				     "one \"feature = points\" a line; lockscope report "
				     "--list-weights prints the table",
				     Exit::Usage};
		};
		const auto equals = line.find('=');
		const auto key = trim(line.substr(0, equals));
		auto known = out.points_.find(key);
		if (known == out.points_.end())
			return wrong("unknown feature " + std::string(key));
		if (equals == line.npos)
			return wrong("no = behind " + std::string(key));
		if (!given.insert(known->first).second)
			return wrong(std::string(key) + " is given twice");
		const auto value = trim(line.substr(equals + 1));
		double points = 0;
		auto [end, error] =
			std::from_chars(value.data(), value.data() + value.size(), points);
		if (error != std::errc{} || end != value.data() + value.size() ||
		    !std::isfinite(points) || std::fabs(points) > 1e6)
			return wrong("\"" + std::string(value) + "\" is no number of points");
		known->second = points;
	}
	return out;
}

} // namespace lockscope
