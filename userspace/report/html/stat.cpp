// SPDX-License-Identifier: GPL-2.0
// Statistics of lock classes, with histograms.
#include "report/stat.h"
#include "report/html/parts.h"

#include "util/text.h"

#include <algorithm>

namespace lockscope::html {

namespace {

constexpr int kBarWidth = 10, kBarGap = 2, kBarHeight = 60;

/// Bars for the buckets that are in use; a bar's title has its numbers.
void add_histogram(pugi::xml_node parent, const std::string &what, const StatTimes &times)
{
	const auto &buckets = times.buckets;
	const auto most = *std::max_element(buckets.begin(), buckets.end());
	if (!most)
		return;
	std::size_t first = 0, last = buckets.size();
	while (!buckets[first])
		first++;
	while (!buckets[last - 1])
		last--;
	const auto from = [](std::size_t i) { return duration(i ? std::uint64_t{1} << i : 0); };
	auto figure = add(parent, "figure");
	auto picture = add(figure, "svg", "histogram");
	const auto width = std::to_string((kBarWidth + kBarGap) * static_cast<int>(last - first));
	set(picture, "width", width);
	set(picture, "height", std::to_string(kBarHeight));
	set(picture, "viewBox", "0 0 " + width + " " + std::to_string(kBarHeight));
	set(picture, "role", "img");
	set(picture, "aria-label", what + " from " + from(first) + " to " + from(last));
	for (std::size_t i = first; i < last; i++) {
		const int height =
			buckets[i] ? std::max(1, static_cast<int>(static_cast<double>(buckets[i]) /
								  static_cast<double>(most) *
								  kBarHeight))
				   : 0;
		auto bar = add(picture, "rect");
		set(bar, "x", std::to_string((kBarWidth + kBarGap) * static_cast<int>(i - first)));
		set(bar, "y", std::to_string(kBarHeight - height));
		set(bar, "width", std::to_string(kBarWidth));
		set(bar, "height", std::to_string(height));
		add(bar, "title", "", "from " + from(i) + ": " + with_commas(buckets[i]));
	}
	add(figure, "figcaption", "",
	    what + ", " + from(first) + " to " + from(last) + ", most " + with_commas(most));
}

std::string contexts(const std::array<std::uint64_t, LS_NR_LEVELS> &values)
{
	std::vector<std::string> parts;
	for (std::uint32_t level = 0; level < LS_NR_LEVELS; level++)
		if (values[level])
			parts.push_back(with_commas(values[level]) + " in " +
					level_name(level << LS_VAL_LEVEL_SHIFT));
	return join(parts, ", ");
}

void add_details(pugi::xml_node cell, const StatClass &c, bool exact)
{
	auto details = add(cell, "details");
	add(details, "summary", "", "contexts, times, places");
	add(details, "p", "words",
	    "acquired: " + contexts(c.acquired) +
		    (c.readers ? "; " + with_commas(c.readers) + " as readers" : "") +
		    (c.trylocks ? "; " + with_commas(c.trylocks) + " by trylock" : ""));
	if (c.all_contended())
		add(details, "p", "words",
		    "contended: " + contexts(c.contended) +
			    (c.gave_up ? "; " + with_commas(c.gave_up) + " gave up" : ""));
	if (exact) {
		add_histogram(details, "waits", c.waits);
		add_histogram(details, "holds", c.holds);
	}
	constexpr std::size_t kPlaces = 5;
	auto list = add(details, "ul");
	for (std::size_t i = 0; i < c.sites.size() && i < kPlaces; i++) {
		auto item = add(list, "li");
		add(item, "code", "", c.sites[i].place);
		say(item, " " + with_commas(c.sites[i].acquired));
	}
}

std::string stat_row(const StatClass &c, bool exact)
{
	Fragment fragment;
	auto row = add(fragment.root(), "tr");
	auto number = [&](std::uint64_t value, const std::string &text) {
		set(add(row, "td", "number", text), "data-value", std::to_string(value));
	};
	auto cell = add(row, "td");
	add(cell, "code", "", c.name);
	say(cell, std::string(" ") + kind_name(c.kind));
	add_details(cell, c, exact);
	number(c.all_acquired(), with_commas(c.all_acquired()));
	if (exact) {
		number(c.all_contended(), with_commas(c.all_contended()));
		for (const auto value :
		     {c.waits.sum, c.waits.max, c.waits.mean(), c.holds.mean(), c.holds.max})
			number(value, duration(value));
	}
	return fragment.text();
}

} // namespace

std::string stat_section(const StatReport &stat)
{
	Fragment fragment;
	auto section = fragment.root();
	add(section, "h2", "", "Statistics");
	std::string rows;
	Room room(kStatBytes);
	for (const auto &c : stat.classes) {
		if (!room.open())
			continue;
		if (const std::string row = stat_row(c, stat.exact); room.take(row.size()))
			rows += row;
	}
	if (stat.classes.empty())
		add(section, "p", "words", "Nothing was counted.");
	else if (!stat.exact)
		add(section, "p", "words",
		    "Estimated from a sample of the acquisitions; lockscope record --stat counts "
		    "exactly, and measures waiting and holding.");
	std::vector<std::string> lost;
	for (const auto &[what, n] : stat.losses)
		if (n)
			lost.push_back(what + " " + with_commas(n));
	if (!lost.empty())
		add(section, "p", "warn", "Losses: " + join(lost, ", "));
	if (stat.left_out)
		add(section, "p", "words",
		    counted(stat.left_out, "run") + " recorded without --stat left out.");
	if (room.left_out())
		add(section, "p", "warn",
		    left_out_words(room.left_out(), "lock class", "lockscope stat --limit 0"));
	const std::string head = fragment.text();
	std::string table;
	if (!rows.empty()) {
		Fragment shape;
		if (stat.exact)
			add_table(shape.root(), "stat sortable",
				  {"lock class", "#acquired", "#contended", "#total wait",
				   "#max wait", "#mean wait", "#mean hold", "#max hold"});
		else
			add_table(shape.root(), "stat sortable", {"lock class", "#acquired"});
		table = shape.text();
		table.insert(table.find("</tbody>"), rows);
	}
	return "<section id=\"stat\" class=\"view\">" + head + table + "</section>";
}

} // namespace lockscope::html
