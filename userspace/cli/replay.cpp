// SPDX-License-Identifier: GPL-2.0
// lockscope replay: a trace that another program recorded into a store.
#include "cli/cli.h"

#include "record/recorder.h"
#include "replay/trace.h"
#include "util/text.h"

#include <cstdio>
#include <memory>

namespace lockscope::cli {

namespace {

struct ReplayArgs {
	std::string trace, out = kDefaultStore;
};

Status store_trace(const ReplayArgs &options, const Globals &globals)
{
	auto trace = replay::read_trace(options.trace);
	if (!trace)
		return trace.error();
	auto store = StoreWriter::open(options.out);
	if (!store)
		return store.error();
	const std::string instance = hex64(trace->image.info.instance);
	const auto source = image_source(std::move(trace->image));
	replay::TracePlaces places(std::move(trace->places));
	Recorder recorder(*source, *store, places, {});
	LS_TRY_STATUS(recorder.attach(kTraceBackend, kTraceBackend, instance));
	if (recorder.resumed()) {
		std::fprintf(stderr, "lockscope: %s has this trace already\n", options.out.c_str());
		return success();
	}
	LS_TRY_STATUS(recorder.set_finish(RunEnd::Open));
	auto recorded = recorder.drain();
	if (recorded)
		recorded = recorder.snapshot();
	if (!recorded) {
		(void)recorder.set_finish(RunEnd::Failed, recorded.error().what).ok();
		return recorded;
	}
	LS_TRY_STATUS(recorder.set_finish(RunEnd::Finished));
	LS_TRY_STATUS(recorder.end());
	if (globals.verbose < 0)
		return success();
	const Progress p = recorder.progress();
	std::fprintf(stderr, "lockscope: %s, %s, %s, %s in %s%s; see: lockscope report %s\n",
		     counted(trace->events, "event").c_str(), counted(p.classes, "lock").c_str(),
		     counted(p.edges, "edge").c_str(), counted(p.accesses, "access").c_str(),
		     options.out.c_str(),
		     p.losses ? (", " + with_commas(p.losses) + " losses").c_str() : "",
		     options.out.c_str());
	return success();
}

} // namespace

void add_replay_command(CLI::App &app, Globals &globals)
{
	auto *command =
		add_command(app, "replay", "read a trace of locks that was recorded elsewhere",
			    "lockscope replay trace.std.gz -o run.db && lockscope report run.db\n"
			    "  perf script | lockscope replay - -o run.db");
	auto options = std::make_shared<ReplayArgs>();
	command->add_option("TRACE", options->trace,
			    "the trace, plain or compressed by gzip: RAPID's STD format, or lock "
			    "events as perf script prints them; - for standard input")
		->required();
	command->add_option("-o,--output", options->out, "store to write; runs in it are kept")
		->capture_default_str();
	set_action(command, globals, [options, &globals] {
		auto status = store_trace(*options, globals);
		return status ? 0 : fail(status.error());
	});
}

} // namespace lockscope::cli
