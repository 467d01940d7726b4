// SPDX-License-Identifier: GPL-2.0
// lockscope record: drain the module into a store while a command runs.
#include "cli/child.h"
#include "cli/cli.h"
#include "cli/live_proof.h"
#include "cli/watch.h"

#include "record/probes.h"
#include "record/session.h"
#include "source/module.h"
#include "stat/collector.h"
#include "stat/tracer.h"
#include "util/modules.h"
#include "util/stop.h"
#include "util/text.h"

#include <unistd.h>

#include <chrono>
#include <csignal>
#include <cstdio>
#include <memory>
#include <optional>
#include <thread>

namespace lockscope::cli {

namespace {

using Clock = std::chrono::steady_clock;

constexpr auto kInterval = std::chrono::milliseconds(50);
/* Drain once in so many intervals; the command is polled in each. */
constexpr int kIntervalsPerDrain = 4;
/* Store statistics this often, in case the recorder is killed: there are many. */
constexpr auto kStatEvery = std::chrono::seconds(30);

struct RecordArgs {
	std::string out = kDefaultStore, backend = "auto", kmod, device = kDevicePath;
	WatchOptions watch;
	ProbeOptions probes;
	std::vector<std::string> symbol_dirs, modules, command;
	/* A module that was just loaded has hardly any classes. */
	StatOptions collect{.more_classes = 4096};
	bool stat = false, confirm = false, trace = false, sites = false;
	std::uint64_t trace_size = 64; ///< MiB
	double duration = 0;
};

class ProgressLine {
public:
	explicit ProgressLine(const Globals &globals)
		: on_(globals.verbose >= 0 && ::isatty(STDERR_FILENO))
	{
	}
	ProgressLine(const ProgressLine &) = delete;
	~ProgressLine() { clear(); }

	void show(const Progress &p)
	{
		if (!on_)
			return;
		std::string line = with_commas(p.acquisitions) + " acquisitions, " +
				   with_commas(p.classes) + " classes, " + with_commas(p.edges) +
				   " edges, " +
				   (p.accesses ? with_commas(p.accesses) + " accesses, " : "") +
				   counted(p.findings, "finding") + ", " +
				   (p.losses ? with_commas(p.losses) + " losses" : "no losses");
		line.resize(std::min(line.size(), terminal_width(STDERR_FILENO) - 1));
		std::fprintf(stderr, "\r%s\033[K", line.c_str());
		std::fflush(stderr);
		shown_ = true;
	}
	void clear()
	{
		if (shown_)
			std::fputs("\r\033[K", stderr);
		shown_ = false;
	}

private:
	bool on_;
	bool shown_ = false;
};

Status check_options(const RecordArgs &options)
{
	if (options.backend == "bpf" && (options.watch.asked || !options.watch.variable.empty() ||
					 !options.probes.patterns.empty()))
		return usage_error(
			"the bpf backend sees no memory accesses",
			"leave --accesses, --watch and --log-variable out, or use --backend kmod");
	if (options.stat && (options.backend == "bpf" || options.device != kDevicePath))
		return usage_error("statistics are those of the running module",
				   "leave --stat out, or --backend bpf and --device");
	if (options.trace && (options.backend == "bpf" || options.device != kDevicePath))
		return usage_error("a trace is of the running module",
				   "leave --trace out, or --backend bpf and --device");
	if (options.confirm && (options.backend == "bpf" || options.device != kDevicePath))
		return usage_error("gates are in the running module",
				   "leave --confirm out, or --backend bpf and --device");
	if (options.device == kDevicePath && ::geteuid() != 0)
		return Error{EPERM, "recording needs root", "sudo lockscope record ...",
			     Exit::Environment};
	return success();
}

/* Summary at the end of a run. */
void summary(const RecordArgs &options, const Globals &globals, const Recorder &recorder,
	     const Probes *probes)
{
	if (!recorder.problem().empty())
		std::fprintf(stderr, "lockscope: some records were refused: %s\n",
			     recorder.problem().c_str());
	if (globals.verbose < 0)
		return;
	if (probes)
		std::fprintf(stderr, "lockscope: %s\n", probes->summary().c_str());
	if (const auto hint = probes ? probes->hint() : ""; !hint.empty())
		std::fprintf(stderr, "HINT: %s\n", hint.c_str());
	const Progress p = recorder.progress();
	std::fprintf(stderr,
		     "lockscope: %s classes, %s edges, %s in %s%s; see: lockscope report %s\n",
		     with_commas(p.classes).c_str(), with_commas(p.edges).c_str(),
		     counted(p.findings, "finding").c_str(), options.out.c_str(),
		     p.losses ? (", " + with_commas(p.losses) + " losses").c_str() : "",
		     options.out.c_str());
}

/* Drain until the run is over; @module is unloaded if it was loaded for this. */
Result<int> drain_run(const RecordArgs &options, const Globals &globals,
		      std::unique_ptr<Session> &session, std::optional<LoadedModule> &module,
		      bool bpf)
{
	auto watch = Watch::begin(session->source(), options.watch);
	if (!watch)
		return watch.error();
	std::unique_ptr<Probes> probes;
	if (!options.probes.patterns.empty()) {
		auto begun = Probes::begin(session->source(), options.probes);
		if (!begun)
			return begun.error();
		probes = std::move(*begun);
	}
	std::unique_ptr<StatCollector> stat;
	if (options.stat) {
		auto begun = StatCollector::begin(session->source(), options.collect);
		if (!begun)
			return begun.error();
		stat = std::move(*begun);
		stat->name_fields_by(session->fields());
	}
	std::unique_ptr<Tracer> tracer;
	if (options.trace) {
		auto begun = Tracer::begin();
		if (!begun)
			return begun.error();
		tracer = std::move(*begun);
	}
	std::optional<LiveProof> proof;
	bool proving = options.confirm;
	if (options.confirm)
		proof.emplace(*session);
	auto store_stat = [&]() -> Status {
		auto report = stat->read();
		return report ? session->recorder().put_stat(*report) : report.error();
	};
	auto store_trace = [&](bool last) -> Status {
		const TraceBatch batch = tracer->take();
		if (batch.events.empty() && !last)
			return success();
		return session->recorder().put_trace(batch, options.trace_size << 20);
	};
	LS_TRY_STATUS(session->begin());
	LS_TRY_STATUS(session->drain());

	catch_signals();
	std::optional<Child> child;
	if (!options.command.empty()) {
		auto started = Child::start(options.command);
		if (!started) {
			session->cancel();
			return started.error();
		}
		child.emplace(std::move(*started));
	}

	const auto start = Clock::now();
	auto over = [&] {
		if (child && child->poll())
			return true;
		if (options.duration > 0 &&
		    Clock::now() - start >= std::chrono::duration<double>(options.duration))
			return true;
		/* The terminal sends Ctrl-C to the command as well: wait for its end. */
		return stop_signal() != 0 && !(child && stop_signal() == SIGINT);
	};
	{
		ProgressLine line(globals);
		auto stored = start;
		for (int i = 1; !over(); i++) {
			std::this_thread::sleep_for(kInterval);
			if (tracer)
				LS_TRY_STATUS(store_trace(false));
			if (i % kIntervalsPerDrain != 0)
				continue;
			LS_TRY_STATUS(session->drain());
			/* What is recorded matters more than its proof. */
			if (auto proven = proving ? proof->tick() : success(); !proven) {
				line.clear();
				std::fprintf(stderr,
					     "lockscope: no more findings are confirmed: %s\n",
					     proven.error().what.c_str());
				proving = false;
				(void)proof->end().ok();
			}
			if (probes)
				LS_TRY_STATUS(probes->tick());
			if (stat && Clock::now() - stored >= kStatEvery) {
				LS_TRY_STATUS(store_stat());
				stored = Clock::now();
			}
			line.show(session->recorder().progress());
		}
	}
	if (proving)
		LS_TRY_STATUS(proof->end());
	if (child && !child->poll())
		child->stop();
	if (probes)
		LS_TRY_STATUS(probes->end());
	if (stat)
		stat->end();
	if (tracer) {
		tracer->end();
		LS_TRY_STATUS(store_trace(true));
	}
	LS_TRY_STATUS(session->finish());
	if (stat)
		LS_TRY_STATUS(store_stat());
	if (proof) {
		auto confirmed = proof->store_verdicts();
		if (!confirmed)
			return confirmed.error();
		if (globals.verbose >= 0)
			std::fprintf(stderr, "lockscope: %zu of %s confirmed\n", *confirmed,
				     counted(proof->planned(), "finding").c_str());
	}
	LS_TRY_STATUS(watch->end());
	LS_TRY_STATUS(session->close());
	summary(options, globals, session->recorder(), probes.get());
	/* The run cannot continue after this. */
	if (bpf || (module && module->ours()))
		LS_TRY_STATUS(session->recorder().end());
	if (module && module->ours()) {
		proof.reset();
		probes.reset();
		stat.reset();
		tracer.reset();
		session.reset();
		LS_TRY_STATUS(module->unload());
	}
	if (child && !(stop_signal() && stop_signal() != SIGINT))
		return child->status();
	return stop_signal() ? static_cast<int>(Exit::Interrupted) : 0;
}

/* --module had the path of lockscope.ko. */
void take_kmod(RecordArgs &options)
{
	for (auto at = options.modules.begin(); at != options.modules.end(); ++at)
		if (module_name(*at) == "lockscope") {
			options.kmod = *at;
			options.modules.erase(at);
			return;
		}
}

Result<int> record(const RecordArgs &options, const Globals &globals)
{
	LS_TRY_STATUS(check_options(options));
	std::optional<LoadedModule> module;
	bool bpf = options.backend == "bpf";
	if (options.device == kDevicePath && !bpf) {
		auto loaded = LoadedModule::ensure(options.kmod);
		if (loaded) {
			module.emplace(std::move(*loaded));
		} else {
			/* Locked down, or signed modules only. */
			if (options.backend != "auto" || options.stat || options.trace ||
			    options.confirm ||
			    (loaded.error().code != EPERM && loaded.error().code != EKEYREJECTED))
				return loaded.error();
			std::fprintf(stderr,
				     "lockscope: %s: recording sleeping locks only, by BPF\n",
				     loaded.error().what.c_str());
			bpf = true;
		}
	}
	auto opened = Session::open({options.device, options.out, options.symbol_dirs, Hold::Always,
				     bpf, options.modules, options.sites});
	if (!opened)
		return opened.error();
	std::unique_ptr<Session> session = std::move(*opened);
	auto status = drain_run(options, globals, session, module, bpf);
	if (!status && session)
		session->give_up(status.error());
	return status;
}

} // namespace

void add_record_command(CLI::App &app, Globals &globals)
{
	auto *command = add_command(
		app, "record", "record lock order and memory accesses while COMMAND runs",
		"lockscope record -o run.db -- stress-ng --pipe 2 -t 10\n"
		"  lockscope record --accesses all --log-variable my_driver:stats+8:4 -- "
		"./my-test\n"
		"  lockscope record --watch 'ext4:ext4_mb_*' --watch 'struct inode' -- ./my-test");
	auto options = std::make_shared<RecordArgs>();
	command->add_option(
		       "-o,--output", options->out,
		       "store to write; runs already in it are kept, an interrupted one goes on")
		->capture_default_str();
	command->add_option("--backend", options->backend, "auto, kmod or bpf")
		->check(CLI::IsMember({"auto", "kmod", "bpf"}))
		->capture_default_str();
	auto *accesses = command->add_option("--accesses", options->watch.accesses,
					     "memory accesses to judge: off, sampled or all");
	accesses->check(CLI::IsMember({"off", "sampled", "all"}))->capture_default_str();
	command->add_option("--log-variable", options->watch.variable,
			    "[MODULE:]SYMBOL[+offset][:bytes] whose every change of state is "
			    "recorded; lockscope show prints it");
	command->add_option("--watch", options->probes.patterns,
			    "functions of unmodified code whose accesses are probed: FUNCTION, "
			    "MODULE:FUNCTION, \"struct TYPE\" with * and ?, or @FILE with one a "
			    "line; may be given again. Means --accesses all")
		->type_name("PATTERN")
		->allow_extra_args(false);
	command->add_option("--probes", options->probes.live,
			    "instructions probed at a time; all others get their turn")
		->check(CLI::Range(1, 65536))
		->capture_default_str();
	command->add_option("--budget", options->probes.budget,
			    "per cent of the processors' time that probes may take")
		->check(between(0.01, 100))
		->capture_default_str();
	command->add_flag(
		"--confirm", options->confirm,
		"make the sides of the first findings meet at once, see lockscope confirm");
	command->add_flag(
		"--stat", options->stat,
		"count every acquisition, wait and hold as well, for lockscope stat FILE");
	command->add_option("--stat-classes", options->collect.more_classes,
			    "room for classes that are new while counting")
		->check(CLI::Range(0, 524288))
		->capture_default_str();
	command->add_flag("--trace", options->trace,
			  "keep every acquisition, wait and release with its time as well, for "
			  "lockscope export --format perfetto");
	command->add_option("--trace-size", options->trace_size,
			    "MiB that the trace may take in the store; the last events are kept")
		->check(CLI::Range(1, 1 << 20))
		->capture_default_str();
	command->add_option("--duration", options->duration, "seconds, 0 for no limit")
		->check(between(0, 1e9))
		->capture_default_str();
	command->add_option("--kmod", options->kmod,
			    "lockscope.ko to load (default: the one of this kernel)");
	command->add_option("--module", options->modules,
			    "your module, by its name or its file: the report says which locks it "
			    "took, and which of its calls were not reached; may be given again "
			    "(default: those that vm run gave the guest)")
		->allow_extra_args(false);
	command->add_flag("--sites", options->sites,
			  "watch each call of a lock function in your modules by a kprobe until it "
			  "is hit, so that the report knows which were not reached");
	command->add_option("--symbols", options->symbol_dirs,
			    "folder with modules that have debug information")
		->allow_extra_args(false);
	command->add_option("--device", options->device, "device, or a saved image of one")
		->capture_default_str();
	command->add_option("COMMAND", options->command, "command and arguments, after --");
	set_configured_action(command, globals, [options, accesses, &globals] {
		options->watch.asked = accesses->count() > 0;
		/* Probes are a sample already. */
		if (!options->probes.patterns.empty() && !options->watch.asked) {
			options->watch.asked = true;
			options->watch.accesses = "all";
		}
		take_kmod(*options);
		auto status = record(*options, globals);
		return status ? *status : fail(status.error());
	});
}

} // namespace lockscope::cli
