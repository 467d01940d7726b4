// SPDX-License-Identifier: GPL-2.0
#include "report/stat.h"

#include "report/printer.h"
#include "util/text.h"

#include <algorithm>
#include <cstdio>

namespace lockscope {

namespace {

constexpr std::size_t kBar = 40; ///< columns of the longest bar of a histogram

std::string right(const std::string &text, std::size_t width)
{
	return text.size() < width ? std::string(width - text.size(), ' ') + text : text;
}

std::string row(const std::vector<std::string> &cells)
{
	std::string out;
	for (const auto &cell : cells)
		out += right(cell, 11);
	return out;
}

std::string levels(const std::array<std::uint64_t, LS_NR_LEVELS> &values)
{
	std::vector<std::string> parts;
	for (std::uint32_t level = 0; level < LS_NR_LEVELS; level++)
		if (values[level])
			parts.push_back(with_commas(values[level]) + " in " +
					level_name(level << LS_VAL_LEVEL_SHIFT));
	return join(parts, ", ");
}

void histogram(Printer &out, const char *what, const StatTimes &times)
{
	if (!times.count)
		return;
	const auto &b = times.buckets;
	const auto most = *std::max_element(b.begin(), b.end());
	if (!most)
		return;
	std::size_t first = 0, last = b.size();
	while (!b[first])
		first++;
	while (!b[last - 1])
		last--;
	out.line("    " + std::string(what) + ", from           count");
	for (std::size_t i = first; i < last; i++)
		out.line("    " + right(duration(i ? std::uint64_t{1} << i : 0), 16) +
			 right(with_commas(b[i]), 14) + "  " +
			 std::string((b[i] * kBar + most - 1) / most, '#'));
}

void details(Printer &out, const StatClass &c)
{
	out.line("    acquired: " + levels(c.acquired) +
		 (c.readers ? "; " + with_commas(c.readers) + " as readers" : "") +
		 (c.trylocks ? "; " + with_commas(c.trylocks) + " by trylock" : ""));
	if (c.all_contended())
		out.line("    contended: " + levels(c.contended) +
			 (c.gave_up ? "; " + with_commas(c.gave_up) + " gave up" : ""));
	histogram(out, "waits", c.waits);
	histogram(out, "holds", c.holds);
}

} // namespace

std::string duration(std::uint64_t ns)
{
	static constexpr const char *units[] = {"ns", "us", "ms", "s"};
	double value = static_cast<double>(ns);
	std::size_t unit = 0;
	/* A value that would be rounded to 1000 uses the next unit. */
	while (value >= 999.5 && unit < 3) {
		value /= 1000;
		unit++;
	}
	char text[32];
	const int digits = unit == 0 || value >= 99.95 ? 0 : value >= 9.995 ? 1 : 2;
	std::snprintf(text, sizeof(text), "%.*f %s", digits, value, units[unit]);
	return text;
}

std::string text_stat(const StatReport &report, const StatText &options, const TextStyle &style)
{
	Printer out(style);
	std::vector<std::string> head = {"acquired"};
	if (report.exact)
		head = {"contended", "total wait", "max wait", "mean wait",
			"acquired",  "mean hold",  "max hold"};
	out.line(out.tone(row(head) + "  " + "kind        class", Tone::Bold));
	std::size_t shown = 0;
	for (const auto &c : report.classes) {
		if (options.limit && shown == options.limit)
			break;
		shown++;
		std::vector<std::string> cells = {with_commas(c.all_acquired())};
		if (report.exact)
			cells = {with_commas(c.all_contended()), duration(c.waits.sum),
				 duration(c.waits.max),		 duration(c.waits.mean()),
				 with_commas(c.all_acquired()),	 duration(c.holds.mean()),
				 duration(c.holds.max)};
		std::string kind = kind_name(c.kind);
		kind.resize(std::max<std::size_t>(kind.size(), 12), ' ');
		out.line(row(cells) + "  " + kind + c.name);
		if (options.details)
			details(out, c);
		for (std::size_t i = 0; i < c.sites.size() && i < options.sites; i++)
			out.line("    " + right(with_commas(c.sites[i].acquired), 14) + "  " +
				 c.sites[i].place +
				 (c.sites[i].contended
					  ? ", contended " + with_commas(c.sites[i].contended) +
						    ", waited " + duration(c.sites[i].wait_ns)
					  : ""));
	}
	out.blank();
	if (shown < report.classes.size())
		out.line(with_commas(report.classes.size() - shown) +
			 " more classes, --limit 0 shows them");
	if (!report.exact) {
		out.line("Estimated from a sample of the acquisitions; for exact figures, and for "
			 "waiting and");
		out.line("holding: lockscope stat -- COMMAND, or lockscope record --stat");
		return out.take();
	}
	std::string lost;
	for (const auto &[what, n] : report.losses)
		if (n)
			lost += (lost.empty() ? "" : ", ") + what + " " + with_commas(n);
	out.line("Losses: " + (lost.empty() ? "none" : lost));
	if (report.left_out)
		out.line("Left out: " + counted(report.left_out, "run") +
			 " recorded without --stat");
	return out.take();
}

} // namespace lockscope
