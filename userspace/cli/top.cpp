// SPDX-License-Identifier: GPL-2.0
// lockscope top: live statistics.
#include "cli/cli.h"

#include "report/stat.h"
#include "source/module.h"
#include "stat/collector.h"
#include "stat/stat.h"
#include "util/stop.h"
#include "util/text.h"

#define NCURSES_NOMACROS /* they would take std::move() for theirs */
#include <curses.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <map>
#include <memory>

namespace lockscope::cli {

namespace {

struct TopArgs {
	std::string sort, pattern, kmod;
	StatOptions collect;
	double interval = 2;
	std::size_t count = 0; ///< refreshes, 0 for no limit
	bool batch = false, total = false;
};

/// Changes since the last refresh, by class.
class Change {
public:
	StatReport since_last(const StatReport &now)
	{
		StatReport out = now;
		out.seconds = now.seconds - seconds_;
		std::erase_if(out.classes, [&](StatClass &c) {
			auto before = last_.find({c.name, c.kind});
			if (before != last_.end())
				c.subtract(before->second);
			c.sites.clear();
			return c.all_acquired() == 0 && c.all_contended() == 0;
		});
		last_.clear();
		for (const auto &c : now.classes)
			last_.emplace(std::pair(c.name, c.kind), c);
		seconds_ = now.seconds;
		return out;
	}

private:
	std::map<std::pair<std::string, ls_kind>, StatClass> last_;
	double seconds_ = 0;
};

/// Owns the terminal.
class Screen {
public:
	Screen()
	{
		initscr();
		cbreak();
		noecho();
		curs_set(0);
		keypad(stdscr, TRUE);
	}
	~Screen() { endwin(); }
	Screen(const Screen &) = delete;

	std::size_t rows() const { return static_cast<std::size_t>(getmaxy(stdscr)); }
	std::size_t columns() const { return static_cast<std::size_t>(getmaxx(stdscr)); }

	void show(const std::string &head, const std::string &text)
	{
		erase();
		attron(A_REVERSE);
		mvaddnstr(0, 0, head.c_str(), static_cast<int>(columns()));
		attroff(A_REVERSE);
		int row = 1;
		for (const auto &line : split(text, '\n'))
			if (row < static_cast<int>(rows()))
				mvaddnstr(row++, 0, line.c_str(), static_cast<int>(columns()));
		refresh();
	}
	/// The next key within @seconds, ERR after that or for a signal.
	int key(double seconds)
	{
		/* getch() restarts after a signal: wait in slices, like nap(). */
		using Clock = std::chrono::steady_clock;
		const auto end = Clock::now() + std::chrono::duration<double>(seconds);
		timeout(20);
		int key = ERR;
		while (key == ERR && !stop_signal() && Clock::now() < end)
			key = getch();
		return key;
	}
};

std::string headline(const StatReport &report, const TopArgs &options)
{
	std::uint64_t acquired = 0, contended = 0;
	for (const auto &c : report.classes) {
		acquired += c.all_acquired();
		contended += c.all_contended();
	}
	const double seconds = std::max(report.seconds, 1e-3);
	return with_commas(static_cast<std::uint64_t>(static_cast<double>(acquired) / seconds)) +
	       " acquisitions/s, " +
	       with_commas(static_cast<std::uint64_t>(static_cast<double>(contended) / seconds)) +
	       " contended/s, " + (options.total ? "since the start" : "since the last time") +
	       ", by " + options.sort;
}

/// The order after @sort.
std::string next_order(const std::string &sort)
{
	const auto &orders = stat_orders();
	for (std::size_t i = 0; i < orders.size(); i++)
		if (sort == orders[i].name)
			return orders[(i + 1) % orders.size()].name;
	return orders.front().name;
}

Result<StatReport> next(StatCollector &stat, Change &change, const TopArgs &options)
{
	auto report = stat.read();
	if (!report)
		return report;
	StatReport since = change.since_last(*report);
	StatReport &shown = options.total ? *report : since;
	arrange(shown, options.sort, options.pattern);
	return shown;
}

Status batch(StatCollector &stat, const TopArgs &options)
{
	Change change;
	for (std::size_t n = 0; !stop_signal() && (!options.count || n < options.count); n++) {
		nap(std::chrono::duration<double>(options.interval));
		if (stop_signal())
			break;
		auto report = next(stat, change, options);
		if (!report)
			return report.error();
		if (deliver(headline(*report, options) + "\n" +
				    text_stat(*report, {}, {120, false}),
			    ""))
			break;
	}
	return success();
}

Status interactive(StatCollector &stat, TopArgs options)
{
	Screen screen;
	Change change;
	for (std::size_t n = 0; !stop_signal() && (!options.count || n < options.count); n++) {
		auto report = next(stat, change, options);
		if (!report)
			return report.error();
		/* Head line, titles, and the two lines below the table. */
		StatText text;
		text.limit = screen.rows() > 6 ? screen.rows() - 5 : 1;
		screen.show(headline(*report, options) + "   q quit, s order, t since start",
			    text_stat(*report, text, {screen.columns(), false}));
		switch (screen.key(options.interval)) {
		case 'q':
			return success();
		case 's':
			options.sort = next_order(options.sort);
			break;
		case 't':
			options.total = !options.total;
			break;
		default:
			break;
		}
	}
	return success();
}

Status run(const TopArgs &options)
{
	if (::geteuid() != 0)
		return Error{EPERM, "statistics of the running kernel need root",
			     "sudo lockscope top", Exit::Environment};
	if (!options.batch && (!::isatty(STDIN_FILENO) || !::isatty(STDOUT_FILENO)))
		return usage_error("top needs a terminal", "use --batch");
	auto module = LoadedModule::ensure(options.kmod);
	if (!module)
		return module.error();
	auto source = open_source(kDevicePath);
	if (!source)
		return source.error();
	auto info = (*source)->info();
	if (!info)
		return info.error();
	LS_TRY_STATUS(check_abi(*info));
	LS_TRY_STATUS(start_if_stopped(**source, *info));
	auto begun = StatCollector::begin(**source, options.collect);
	if (!begun)
		return begun.error();
	std::unique_ptr<StatCollector> stat = std::move(*begun);
	catch_signals();
	auto done = options.batch ? batch(*stat, options) : interactive(*stat, options);
	stat.reset();
	source->reset();
	LS_TRY_STATUS(module->unload());
	return done;
}

} // namespace

void add_top_command(CLI::App &app, Globals &globals)
{
	auto *command = add_command(app, "top", "show lock statistics as they come",
				    "lockscope top --sort contended");
	auto options = std::make_shared<TopArgs>();
	std::vector<std::string> orders;
	for (const auto &order : stat_orders())
		orders.emplace_back(order.name);
	options->sort = orders.front();
	command->add_option("--sort", options->sort, "column to sort by, most first")
		->check(CLI::IsMember(orders))
		->capture_default_str();
	command->add_option("--class", options->pattern,
			    "only classes whose name fits, with * and ?")
		->type_name("PATTERN");
	command->add_option("--interval", options->interval, "seconds from one time to the next")
		->check(between(0.1, 3600))
		->capture_default_str();
	command->add_option("--count", options->count, "times, 0 for no limit")
		->check(kCount)
		->capture_default_str();
	command->add_flag("--batch", options->batch, "print tables one after the other");
	command->add_flag("--total", options->total,
			  "figures since the start, not since the last time");
	add_kmod_option(command, options->kmod);
	set_action(command, globals, [options] {
		auto done = run(*options);
		return done ? 0 : fail(done.error());
	});
}

} // namespace lockscope::cli
