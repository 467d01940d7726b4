// SPDX-License-Identifier: GPL-2.0
// The lock-order graph: data for the script, and what makes findings as a table.
#include "report/html/parts.h"
#include "report/json_parts.h"

#include "analysis/evidence.h"
#include "analysis/orders/lockgraph.h"
#include "util/text.h"
#include "util/utf8.h"

#include <algorithm>
#include <map>
#include <set>
#include <unordered_map>

namespace lockscope::html {

namespace {

/// Observations shown of a dependency, the first of them; one where there is no room for more.
constexpr std::size_t kMostWitnesses = 3, kMostBadWitnesses = 6;

using EdgeEnds = std::pair<std::uint32_t, std::uint32_t>;
/// Ids of the findings that a dependency is part of.
using BadEdges = std::map<EdgeEnds, std::vector<std::string>>;

BadEdges bad_edges(const Analysis &analysis, const ReportOptions &options)
{
	BadEdges out;
	for (const auto *finding : select_findings(analysis, options))
		if (finding->about_order())
			for (const auto &edge : finding->edges)
				out[{index(edge.from), index(edge.to)}].push_back(finding->id);
	return out;
}

EdgeEnds ends_of(const Dependency &dependency)
{
	return {index(dependency.from), index(dependency.to)};
}

/// Strings of the data, each once.
class Strings {
public:
	std::size_t number(const std::string &text)
	{
		const std::string clean = plain_line(text);
		const auto [at, added] = numbers_.try_emplace(clean, list.size());
		if (added) {
			list.push_back(clean);
			/* With quotes and escapes; script_safe() makes six bytes of one. */
			bytes += Json(clean).dump().size() + 1 +
				 5 * static_cast<std::size_t>(
					     std::count(clean.begin(), clean.end(), '<'));
		}
		return at->second;
	}

	Json list = Json::array();
	std::size_t bytes = 0;

private:
	std::unordered_map<std::string, std::size_t> numbers_;
};

std::string dependency_words_of(std::uint32_t kinds)
{
	std::vector<std::string> out;
	for (std::uint32_t bit = 1; bit <= kinds; bit <<= 1)
		if (kinds & bit)
			out.emplace_back(dependency_name(bit));
	return join(out, " ");
}

/// [run, context and task, where the first is held, where the second is acquired]
Json witness_json(const Model &model, const Evidence &evidence, Strings &strings)
{
	const auto &observation = model.observations[evidence.observation];
	const Witness witness = make_witness(model, evidence.observation, evidence.position);
	return {observation.run + 1,
		strings.number(witness.context.describe() + ", " + observation.comm + "-" +
			       std::to_string(observation.pid)),
		strings.number(place_name(model[observation.from(evidence.position).at])),
		strings.number(place_name(model[observation.to(evidence.position).at]))};
}

Json edge_data(const Model &model, const Dependency &dependency,
	       const std::vector<std::string> *findings, std::size_t usual, Strings &strings)
{
	Json witnesses = Json::array();
	const std::size_t most = findings ? kMostBadWitnesses : usual;
	for (std::size_t i = 0; i < dependency.evidence.size() && i < most; i++)
		witnesses.push_back(witness_json(model, dependency.evidence[i], strings));
	Json ids = Json::array();
	for (std::size_t i = 0; findings && i < findings->size() && i < kMostBadWitnesses; i++)
		ids.push_back((*findings)[i]);
	return {index(dependency.from),
		index(dependency.to),
		strings.number(dependency_words_of(dependency.kinds)),
		dependency.evidence.size(),
		std::move(witnesses),
		std::move(ids)};
}

/// Dependencies between locks, those of findings first.
std::vector<const Dependency *> sorted_orders(const LockGraph &graph, const BadEdges &bad)
{
	std::vector<const Dependency *> out;
	for (std::size_t i = 0; i < graph.size(); i++)
		out.push_back(&graph.dependencies()[i]);
	std::stable_partition(out.begin(), out.end(), [&](const Dependency *dependency) {
		return bad.count(ends_of(*dependency)) != 0;
	});
	return out;
}

std::string order_row(const Model &model, const Dependency &dependency,
		      const std::vector<std::string> &findings)
{
	const auto &evidence = dependency.evidence.front();
	const auto &observation = model.observations[evidence.observation];
	Fragment fragment;
	auto row = add(fragment.root(), "tr");
	add(add(row, "td"), "code", "", model[dependency.from].name);
	add(add(row, "td"), "code", "", model[dependency.to].name);
	add(row, "td", "", dependency_words_of(dependency.kinds));
	add(add(row, "td"), "code", "", place_name(model[observation.acquired.at]));
	auto cell = add(row, "td");
	for (std::size_t i = 0; i < findings.size() && i < 3; i++) {
		set(add(cell, "a", "", findings[i]), "href", "#f-" + findings[i]);
		say(cell, " ");
	}
	if (findings.size() > 3)
		say(cell, "and " + std::to_string(findings.size() - 3) + " more");
	return fragment.text();
}

/// The data, and how many orders have no room in it.
struct GraphData {
	std::string text;
	std::size_t left_out = 0;
};

GraphData graph_data(const Model &model, const LockGraph &graph, const BadEdges &bad,
		     std::size_t witnesses, std::size_t room, const GraphPart *part)
{
	Strings strings;
	Json classes = Json::array(), edges = Json::array();
	std::set<ClassId> known;
	std::size_t bytes = 100, left_out = 0;
	const auto add_class = [&](ClassId cls) {
		if (!known.insert(cls).second)
			return;
		const auto &lock = model[cls];
		classes.push_back({index(cls), strings.number(lock.name),
				   strings.number(short_name(lock)),
				   strings.number(kind_name(lock.kind)),
				   strings.number(lock.module.empty() ? "vmlinux" : lock.module),
				   (LS_SPINNING_KINDS >> lock.kind & 1) != 0, lock.global()});
		bytes += 60;
	};
	/* One that has no order is shown as well, if it is what was asked for. */
	if (part)
		for (const ClassId cls : part->locks)
			if (!is_interrupt(cls))
				add_class(cls);
	for (const auto *dependency : sorted_orders(graph, bad)) {
		if (part && !(part->locks.contains(dependency->from) &&
			      part->locks.contains(dependency->to)))
			continue;
		if (bytes + strings.bytes > room) {
			left_out++;
			continue;
		}
		const auto found = bad.find(ends_of(*dependency));
		const Json edge =
			edge_data(model, *dependency, found == bad.end() ? nullptr : &found->second,
				  witnesses, strings);
		const std::string text = edge.dump();
		bytes += text.size() + 1;
		edges.push_back(edge);
		add_class(dependency->from);
		add_class(dependency->to);
	}
	const Json out = {{"strings", std::move(strings.list)},
			  {"classes", std::move(classes)},
			  {"edges", std::move(edges)},
			  {"left_out", left_out}};
	return {script_safe(out.dump(-1, ' ', false, Json::error_handler_t::replace)), left_out};
}

} // namespace

std::string graph_json(const Model &model, const LockGraph &graph, const Analysis &analysis,
		       const ReportOptions &options, std::size_t room, const GraphPart *part)
{
	const BadEdges bad = bad_edges(analysis, options);
	/* The last one that is added may be longer than what is left. */
	constexpr std::size_t kLast = 20000;
	room -= std::min(room, kLast);
	GraphData data = graph_data(model, graph, bad, kMostWitnesses, room, part);
	if (data.left_out)
		data = graph_data(model, graph, bad, 1, room, part);
	return data.text;
}

std::string graph_section(const Model &model, const LockGraph &graph, const Analysis &analysis,
			  const ReportOptions &options)
{
	const BadEdges bad = bad_edges(analysis, options);
	std::string rows;
	Room room(kOrderBytes);
	for (const auto *dependency : sorted_orders(graph, bad)) {
		const auto found = bad.find(ends_of(*dependency));
		if (found == bad.end())
			break;
		if (!room.open())
			continue;
		if (const std::string row = order_row(model, *dependency, found->second);
		    room.take(row.size()))
			rows += row;
	}
	Fragment fragment;
	auto section = fragment.root();
	add(section, "h2", "", "Lock order");
	set(add(section, "div"), "id", "picture");
	add(section, "h3", "", "Orders that findings are made of");
	if (rows.empty())
		add(section, "p", "words",
		    "No finding listed here is about the order of locks; orders of two lock classes that "
		    "were seen: " +
			    with_commas(graph.size()) + ".");
	else
		add(section, "p", "words",
		    "Of " + with_commas(graph.size()) +
			    " orders of two lock classes. lockscope graph ID draws a finding.");
	if (room.left_out())
		add(section, "p", "warn",
		    left_out_words(room.left_out(), "order", "lockscope report --format json"));
	std::string table;
	if (!rows.empty()) {
		Fragment shape;
		add_table(shape.root(), "orders",
			  {"held", "acquired", "dependency", "acquired at", "findings"});
		table = shape.text();
		table.insert(table.find("</tbody>"), rows);
	}
	return "<section id=\"graph\" class=\"view\">" + fragment.text() + table + "</section>";
}

} // namespace lockscope::html
