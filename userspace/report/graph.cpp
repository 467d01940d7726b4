// SPDX-License-Identifier: GPL-2.0
#include "report/graph.h"

#include "report/sides.h"

#include "analysis/orders/lockgraph.h"
#include "analysis/selection.h"
#include "util/text.h"
#include "util/utf8.h"

#include <algorithm>
#include <map>
#include <queue>
#include <set>
#include <span>

namespace lockscope {

namespace {

/// With more no layout is readable, and its time grows with the square.
constexpr std::size_t kMostNodes = 300;

Picture::Node lock_node(const Model &model, ClassId cls)
{
	const auto &lock = model[cls];
	if (is_interrupt(cls))
		return {interrupt_name(cls), "", lock.name, Picture::Shape::Interrupt, false};
	std::string about =
		std::string(kind_name(lock.kind)) + (lock.global() ? "" : ", one per object");
	if (!lock.module.empty() && lock.module != "vmlinux")
		about += ", " + lock.module;
	return {short_name(lock), about, lock.name,
		LS_SPINNING_KINDS >> lock.kind & 1 ? Picture::Shape::Spins : Picture::Shape::Sleeps,
		false};
}

/// A picture that grows, with one node for each class.
class Drawing {
public:
	explicit Drawing(const Model &model) : model_(model) {}

	std::size_t lock(ClassId cls)
	{
		const auto [at, added] = by_class_.try_emplace(index(cls), picture.nodes.size());
		if (added) {
			picture.nodes.push_back(lock_node(model_, cls));
			picture.locks.push_back(cls);
		}
		return at->second;
	}
	bool has(ClassId cls) const { return by_class_.count(index(cls)) != 0; }
	std::size_t node(Picture::Node node)
	{
		picture.nodes.push_back(std::move(node));
		return picture.nodes.size() - 1;
	}
	void arrow(std::size_t from, std::size_t to, const std::string &label,
		   const std::string &by, bool bad)
	{
		picture.arrows.push_back({from, to, label, by, bad});
	}

	Picture picture;

private:
	const Model &model_;
	std::map<std::uint32_t, std::size_t> by_class_;
};

std::string function_at(const Model &model, CodeId at)
{
	return frames_of(model[at]).front().function;
}

/// Where both ends of a dependency were acquired: "foo_open, bar_get".
std::string functions_of(const Model &model, const FindingEdge &edge)
{
	const std::string to =
		edge.to_stack.empty() ? "" : function_at(model, edge.to_stack.front());
	const std::string from = edge.from_stack.empty() || from_interrupt(edge)
					 ? ""
					 : function_at(model, edge.from_stack.front());
	return from.empty() || from == to ? to : from + ", " + to;
}

void draw_order(const Model &model, const Finding &finding, Drawing &out)
{
	const auto sides = sides_of(model, finding);
	const std::size_t n = finding.edges.size();
	const std::size_t first = n && from_interrupt(finding.edges.back()) ? n - 1 : 0;
	for (std::size_t i = 0; i < n; i++) {
		const auto &edge = finding.edges[(first + i) % n];
		const auto from = out.lock(edge.from), to = out.lock(edge.to);
		out.arrow(from, to, functions_of(model, edge), sides[i].by, true);
	}
}

/// The locks held where a fault happened, and the lock it is about.
void draw_fault(const Model &model, const Finding &finding, Drawing &out)
{
	const auto sides = sides_of(model, finding);
	if (sides.empty() || sides.front().steps.empty())
		return;
	const auto &side = sides.front();
	const auto place = out.node({function_at(model, side.steps.back().at), side.by, side.does,
				     Picture::Shape::Place, true});
	for (const auto &held : own_locks(model.observations[side.observation]))
		if (held.cls != kNoClass && !(held.val & LS_VAL_QUIET))
			out.arrow(out.lock(held.cls), place,
				  "held, from " + function_at(model, held.at), "", false);
	for (const ClassId cls : finding.locks())
		out.arrow(place, out.lock(cls), name(finding.kind), "", true);
}

void draw_accesses(const Model &model, const Finding &finding, Drawing &out)
{
	const auto &variable = finding.race ? finding.race->variable : finding.violation->variable;
	const auto memory =
		out.node({variable.brief, variable.type == variable.brief ? "" : variable.type,
			  variable.name, Picture::Shape::Variable, true});
	const auto sides = sides_of(model, finding);
	const std::size_t bad = finding.race ? 2 : finding.violation->sides.size();
	for (std::size_t i = 0; i < sides.size(); i++) {
		if (sides[i].steps.empty())
			continue;
		const auto &last = sides[i].steps.back();
		const auto from = out.node({function_at(model, last.at), sides[i].does,
					    sides[i].does, Picture::Shape::Place, false});
		out.arrow(from, memory, last.does.substr(0, last.does.find(" of ")), "", i < bad);
	}
}

/// Dependencies between locks alone.
std::span<const Dependency> orders_of(const LockGraph &graph)
{
	return {graph.dependencies().data(), graph.size()};
}

using Ends = std::pair<std::uint32_t, std::uint32_t>;

std::set<Ends> bad_ends(const Analysis &analysis)
{
	std::set<Ends> out;
	for (const auto &finding : analysis.findings)
		if (!finding.hidden() && finding.about_order())
			for (const auto &edge : finding.edges)
				out.insert({index(edge.from), index(edge.to)});
	return out;
}

/// The classes up to @depth dependencies away from those in @out.
void grow(const LockGraph &graph, unsigned depth, Drawing &out, const std::vector<ClassId> &start)
{
	std::map<std::uint32_t, std::vector<ClassId>> beside;
	for (const auto &dependency : orders_of(graph)) {
		beside[index(dependency.from)].push_back(dependency.to);
		beside[index(dependency.to)].push_back(dependency.from);
	}
	std::set<std::uint32_t> left_out;
	std::queue<std::pair<ClassId, unsigned>> todo;
	auto reach = [&](ClassId cls, unsigned away) {
		if (out.has(cls))
			return;
		if (out.picture.nodes.size() == kMostNodes) {
			left_out.insert(index(cls));
			return;
		}
		out.picture.nodes[out.lock(cls)].marked = away == 0;
		todo.push({cls, away});
	};
	for (const ClassId cls : start)
		reach(cls, 0);
	for (; !todo.empty(); todo.pop()) {
		const auto [cls, away] = todo.front();
		if (away < depth)
			for (const ClassId next : beside[index(cls)])
				reach(next, away + 1);
	}
	out.picture.left_out = left_out.size();
}

/// @text for a label or a tooltip, where backslashes and entities have a meaning.
std::string escaped(const std::string &text)
{
	std::string out;
	for (const char c : plain_line(text)) {
		if (c == '"' || c == '\\')
			out += '\\';
		out += c == '&' ? "&amp;" : std::string(1, c);
	}
	return out;
}

/// Words of @text on lines of about @width bytes, none of more than twice that.
std::vector<std::string> wrapped(const std::string &text, std::size_t width)
{
	std::vector<std::string> lines(1);
	for (auto word : split(plain_line(text), ' ')) {
		if (word.size() > 2 * width) {
			std::size_t end = 2 * width;
			while (end > 0 && (static_cast<unsigned char>(word[end]) & 0xc0) == 0x80)
				end--;
			word = word.substr(0, end) + "...";
		}
		if (!lines.back().empty() && lines.back().size() + 1 + word.size() > width)
			lines.emplace_back();
		lines.back() += (lines.back().empty() ? "" : " ") + word;
	}
	return lines;
}

std::string label(const std::string &first, const std::string &second, std::size_t width)
{
	std::vector<std::string> lines;
	for (const auto *part : {&first, &second})
		if (!part->empty())
			for (const auto &line : wrapped(*part, width))
				lines.push_back(escaped(line));
	return "\"" + join(lines, "\\n") + "\"";
}

const char *style_of(Picture::Shape shape)
{
	switch (shape) {
	case Picture::Shape::Spins:
		return "shape=box, style=\"rounded,filled\", fillcolor=\"#fff3d6\"";
	case Picture::Shape::Sleeps:
		return "shape=box, style=\"rounded,filled\", fillcolor=\"#e3eefb\"";
	case Picture::Shape::Interrupt:
		return "shape=hexagon, style=filled, fillcolor=\"#fbe3e3\"";
	case Picture::Shape::Variable:
		return "shape=box, style=filled, fillcolor=\"#e6f4e6\"";
	case Picture::Shape::Place:
		break;
	}
	return "shape=box, style=filled, fillcolor=\"#f4f4f4\"";
}

} // namespace

Picture picture_of(const Model &model, const Finding &finding)
{
	Drawing out(model);
	if (finding.race || finding.violation)
		draw_accesses(model, finding, out);
	else if (finding.single())
		draw_fault(model, finding, out);
	else
		draw_order(model, finding, out);
	for (const ClassId cls : finding.classes)
		out.lock(cls);
	out.picture.title = finding.title;
	out.picture.status = std::string(name(finding.severity)) + ", " + name(finding.confidence) +
			     ", id " + finding.id;
	return std::move(out.picture);
}

Picture picture_of(const Model &model, const Analysis &analysis, const Neighbourhood &wanted)
{
	const LockGraph graph(model, Runs(model.runs.size(), true));
	Drawing out(model);
	std::vector<ClassId> start;
	for (std::uint32_t i = 0; i < model.classes.size(); i++) {
		const auto &cls = model.classes[i];
		if ((wanted.classes.empty() || glob_matches(wanted.classes, cls.name)) &&
		    (wanted.module.empty() || module_matches(wanted.module, cls.module)))
			start.push_back(ClassId{i});
	}
	grow(graph, wanted.depth, out, start);
	const auto bad = bad_ends(analysis);
	for (const auto &dependency : orders_of(graph)) {
		if (!out.has(dependency.from) || !out.has(dependency.to))
			continue;
		const auto from = out.lock(dependency.from), to = out.lock(dependency.to);
		/* Between neighbours at the rim only what makes a finding. */
		const bool here = bad.count({index(dependency.from), index(dependency.to)}) != 0;
		const auto &nodes = out.picture.nodes;
		if (!here && wanted.depth == 1 && !nodes[from].marked && !nodes[to].marked)
			continue;
		const auto &seen = model.observations[dependency.evidence.front().observation];
		out.arrow(from, to, function_at(model, seen.acquired.at), "", here);
	}
	out.picture.title = "Lock order" +
			    (wanted.classes.empty() ? "" : " around " + wanted.classes) +
			    (wanted.module.empty() ? "" : " of module " + wanted.module);
	return std::move(out.picture);
}

std::string dot_text(const Picture &picture)
{
	const std::string status = picture.left_out ? counted(picture.left_out, "more lock class") +
							      " around these left out"
						    : picture.status;
	std::string out = "digraph lockscope {\n"
			  "\tgraph [rankdir=LR, bgcolor=white, labelloc=t, fontname=\"Helvetica\", "
			  "fontsize=12, nodesep=0.5, ranksep=0.8,\n\t\tlabel=" +
			  label(picture.title, status, 90) +
			  "];\n"
			  "\tnode [fontname=\"Helvetica\", fontsize=11, margin=\"0.15,0.08\"];\n"
			  "\tedge [fontname=\"Helvetica\", fontsize=9, color=\"#666666\"];\n";
	for (std::size_t i = 0; i < picture.nodes.size(); i++) {
		const auto &node = picture.nodes[i];
		out += "\tn" + std::to_string(i) + " [label=" + label(node.name, node.about, 34) +
		       ", tooltip=\"" + escaped(node.full) + "\", " + style_of(node.shape) +
		       (node.marked ? ", penwidth=2" : "") + "];\n";
	}
	for (const auto &arrow : picture.arrows)
		out += "\tn" + std::to_string(arrow.from) + " -> n" + std::to_string(arrow.to) +
		       " [label=" + label(arrow.label, arrow.by, 34) +
		       (arrow.bad ? ", color=\"#c62828\", fontcolor=\"#8e1c1c\", penwidth=2" : "") +
		       "];\n";
	return out + "}\n";
}

} // namespace lockscope
