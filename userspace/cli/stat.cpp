// SPDX-License-Identifier: GPL-2.0
// lockscope stat: acquisitions, contention, wait and hold times per lock class.
#include "cli/child.h"
#include "cli/cli.h"

#include "report/completeness.h"
#include "report/stat.h"
#include "source/module.h"
#include "stat/collector.h"
#include "stat/stat.h"
#include "store/load.h"
#include "store/schema.h"
#include "util/file.h"
#include "util/stop.h"
#include "util/text.h"

#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <memory>
#include <optional>
#include <thread>
#include <utility>

namespace lockscope::cli {

namespace {

using Clock = std::chrono::steady_clock;

constexpr auto kPollEvery = std::chrono::milliseconds(50);

struct StatArgs {
	std::vector<std::string> words; ///< FILE, or COMMAND
	std::string sort, pattern, module, out, kmod;
	StatOptions collect;
	StatText text;
	double duration = 0;
};

int print(StatReport &report, const StatArgs &options, const Globals &globals)
{
	arrange(report, options.sort, options.pattern, options.module);
	const bool to_file = !options.out.empty();
	StatText text = options.text;
	text.details |= globals.verbose > 0;
	return deliver(
		globals.json ? json_stat(report)
			     : text_stat(report, text,
					 {to_file ? 80 : terminal_width(STDOUT_FILENO),
					  use_color(globals.color, to_file ? -1 : STDOUT_FILENO)}),
		options.out);
}

int from_store(const StatArgs &options, const Globals &globals)
{
	auto model = load_stores(stores_or_default(options.words));
	if (!model)
		return fail(model.error());
	StatReport report = stat_of(*model);
	std::vector<std::string> reasons;
	for (const auto &why : incompleteness(*model))
		reasons.push_back(why.text);
	/* Chains and statistics are stored at the end of a run: one that died has none. */
	if (report.classes.empty())
		return fail(Error{0,
				  join(stores_or_default(options.words), ", ") + " has no counts" +
					  (reasons.empty() ? "" : ": " + join(reasons, "; ")),
				  "record again; with --stat they are stored every half minute",
				  Exit::Environment});
	for (const auto &why : reasons)
		std::fprintf(stderr, "lockscope: incomplete: %s\n", why.c_str());
	return print(report, options, globals);
}

/* A store is recognised by its content or name; anything else is a command. Without arguments
 * the running kernel is used if it can be observed, or if an option says so. */
bool wants_store(const StatArgs &options)
{
	if (!options.words.empty())
		return is_store(options.words.front()) || options.words.front().ends_with(".db");
	return options.duration == 0 && options.kmod.empty() && !module_loaded() &&
	       exists(kDefaultStore);
}

Result<int> live(const StatArgs &options, const Globals &globals)
{
	if (::geteuid() != 0)
		return Error{EPERM, "statistics of the running kernel need root",
			     "sudo lockscope stat ..., or give a store", Exit::Environment};
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
	std::optional<Child> child;
	if (!options.words.empty()) {
		auto started = Child::start(options.words);
		if (!started)
			return started.error();
		child.emplace(std::move(*started));
	}
	const auto start = Clock::now();
	while (!(child && child->poll()) && !stop_signal() &&
	       (options.duration <= 0 ||
		Clock::now() - start < std::chrono::duration<double>(options.duration)))
		std::this_thread::sleep_for(kPollEvery);
	/* The terminal sends Ctrl-C to the command as well. */
	if (child && !child->poll())
		child->stop();
	stat->end();
	LS_TRY_STATUS((*source)->control(LS_CTL_FLUSH));
	auto report = stat->read();
	if (!report)
		return report.error();
	stat.reset();
	source->reset();
	LS_TRY_STATUS(module->unload());
	if (const int status = print(*report, options, globals))
		return status;
	if (child)
		return child->status();
	/* Without a command and a duration Ctrl-C is the normal end. */
	return 0;
}

} // namespace

void add_stat_command(CLI::App &app, Globals &globals)
{
	auto *command = add_command(
		app, "stat",
		"print how often each lock class is taken, waited for, and how long it is held",
		"lockscope stat -- stress-ng --pipe 2 -t 10\n"
		"  lockscope stat --duration 10 --sort hold-max --class 'ext4*' -v\n"
		"  lockscope stat lockscope.db");
	auto options = std::make_shared<StatArgs>();
	auto file = std::make_shared<std::vector<std::string>>();
	command->add_option("FILE", *file,
			    "store to read (lockscope.db if it is here and no module is loaded), "
			    "or after --: command to run meanwhile");
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
	command->add_option("--module", options->module,
			    "only classes of a module whose name fits: its variables, and what it "
			    "acquires")
		->type_name("PATTERN");
	command->add_option("--limit", options->text.limit, "most classes listed, 0 for all")
		->check(kCount)
		->capture_default_str();
	command->add_option("--sites", options->text.sites, "call sites listed of each class")
		->check(kCount)
		->capture_default_str();
	command->add_flag("--details", options->text.details,
			  "contexts and histograms of each class; so does -v");
	command->add_option("--duration", options->duration, "seconds, 0 for no limit")
		->check(between(0, 1e9))
		->capture_default_str();
	command->add_option("--classes", options->collect.more_classes,
			    "room for classes that are new while counting")
		->check(CLI::Range(0, 524288))
		->capture_default_str();
	add_kmod_option(command, options->kmod);
	command->add_option("-o,--output", options->out, "write here instead of standard output");
	set_action(command, globals, [options, file, &globals] {
		options->words = *file;
		/* That is what the option named before. */
		if (options->kmod.empty() && options->module.ends_with(".ko"))
			options->kmod = std::exchange(options->module, {});
		if (wants_store(*options))
			return from_store(*options, globals);
		auto status = live(*options, globals);
		return status ? *status : fail(status.error());
	});
}

} // namespace lockscope::cli
