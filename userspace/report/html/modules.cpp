// SPDX-License-Identifier: GPL-2.0
// "Your module": the locks of the modules that a recording was about, and what was not reached.
#include "report/modules.h"
#include "report/html/parts.h"

#include "util/text.h"

namespace lockscope::html {

namespace {

void add_unreached(pugi::xml_node parent, const ModuleReport &report, Room &room)
{
	if (report.unreached.empty())
		return;
	std::vector<std::string> entries;
	for (const auto *site : report.unreached)
		if (room.open())
			if (std::string entry = site->primitive + "() at " + site_name(*site);
			    room.take(entry.size()))
				entries.push_back(std::move(entry));
	auto details = add(parent, "details");
	add(details, "summary", "", counted(report.unreached.size(), "call") + " not reached");
	auto list = add(details, "ul");
	for (const auto &entry : entries)
		add(list, "li", "", entry);
}

std::string lock_row(const Model &model, const ModuleLock &lock)
{
	Fragment fragment;
	auto row = add(fragment.root(), "tr");
	const auto number = [&](std::uint64_t value) {
		set(add(row, "td", "number", with_commas(value)), "data-value",
		    std::to_string(value));
	};
	auto cell = add(row, "td");
	add(cell, "code", "", model[lock.cls].name);
	say(cell, std::string(" ") + kind_name(model[lock.cls].kind));
	add(row, "td", "", lock.own ? "its own" : model[lock.cls].module);
	number(lock.acquisitions);
	add(row, "td", "", join(lock.contexts, ", "));
	number(lock.before);
	number(lock.after);
	return fragment.text();
}

std::string part_of(const Model &model, const ModuleReport &report, Room &room)
{
	Fragment fragment;
	add(fragment.root(), "h3", "", report.module.name);
	for (const auto &line : summary_lines(report))
		add(fragment.root(), "p", "words", line);
	add_unreached(fragment.root(), report, room);
	std::string rows;
	for (const auto &lock : report.locks)
		if (room.open())
			if (const std::string row = lock_row(model, lock); room.take(row.size()))
				rows += row;
	if (rows.empty())
		return fragment.text();
	Fragment shape;
	add_table(shape.root(), "sortable",
		  {"lock class", "owner", "#acquired, estimated", "contexts", "#held before it",
		   "#taken under it"});
	std::string table = shape.text();
	table.insert(table.find("</tbody>"), rows);
	return fragment.text() + table;
}

} // namespace

std::string modules_section(const Model &model, const std::vector<ModuleReport> &modules)
{
	if (modules.empty())
		return {};
	Fragment head;
	add(head.root(), "h2", "", modules.size() == 1 ? "Your module" : "Your modules");
	Room room(kModuleBytes);
	std::string parts;
	for (const auto &report : modules)
		parts += part_of(model, report, room);
	if (room.left_out())
		add(head.root(), "p", "warn",
		    left_out_words(room.left_out(), "lock or call", "lockscope report --all"));
	return "<section id=\"modules\" class=\"view\">" + head.text() + parts + "</section>";
}

} // namespace lockscope::html
