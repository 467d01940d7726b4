// SPDX-License-Identifier: GPL-2.0
// lockscoped: drains the module into a store continuously. The module may be unloaded and
// loaded again, and the daemon restarted.
#include "config/config.h"
#include "lockscoped/deadlocks.h"
#include "lockscoped/options.h"

#include "record/session.h"
#include "util/file.h"
#include "util/stop.h"

#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <memory>

using namespace lockscope;

namespace {

using Clock = std::chrono::steady_clock;
using std::chrono::milliseconds;

/* Chains and counters change all the time; storing them costs more than the log. */
constexpr auto kSnapshotEvery = std::chrono::minutes(5);
constexpr auto kWaitForModule = milliseconds(500);

int fail(const Error &error)
{
	std::fprintf(stderr, "lockscoped: %s\n", error.what.c_str());
	if (!error.hint.empty())
		std::fprintf(stderr, "HINT: %s\n", error.hint.c_str());
	return static_cast<int>(error.exit);
}

/// Wait for a device that does not exist, or whose module was unloaded, but not for a store
/// that cannot be opened.
bool worth_waiting(const Error &error, const std::string &device)
{
	return module_gone(error) || (error.code == ENOENT && !exists(device));
}

/// Record one load of the module until it is unloaded or a signal arrives.
Status follow(Session &session, const DaemonOptions &options, DaemonMetrics *metrics)
{
	auto last_snapshot = Clock::now();
	LS_TRY_STATUS(session.begin());
	for (;;) {
		auto status = session.drain();
		if (status && (stop_signal() || Clock::now() - last_snapshot >= kSnapshotEvery)) {
			status = session.finish();
			last_snapshot = Clock::now();
		}
		if (!status && worth_waiting(status.error(), options.session.device)) {
			LS_TRY_STATUS(session.close(RunEnd::ModuleGone));
			return session.end();
		}
		if (!status) {
			session.give_up(status.error());
			return status;
		}
		if (metrics)
			metrics->drained(session);
		if (stop_signal())
			return session.close();
		nap(milliseconds(options.interval_ms));
	}
}

int run(const DaemonOptions &options)
{
	bool waiting = false;
	std::unique_ptr<DaemonMetrics> metrics;
	if (options.metrics.wanted()) {
		auto opened = DaemonMetrics::open(options.metrics, options.session.store);
		if (!opened)
			return fail(opened.error());
		metrics = std::move(*opened);
	}
	DeadlockWatch watch(options.session.device);
	while (!stop_signal()) {
		auto session = Session::open(options.session);
		if (!session) {
			if (!worth_waiting(session.error(), options.session.device))
				return fail(session.error());
			if (!waiting)
				std::fprintf(stderr, "lockscoped: waiting for %s\n",
					     options.session.device.c_str());
			waiting = true;
			if (metrics)
				metrics->waiting();
			nap(kWaitForModule);
			continue;
		}
		waiting = false;
		std::fprintf(stderr, "lockscoped: %s in %s\n",
			     (*session)->recorder().resumed() ? "going on with a run" : "new run",
			     options.session.store.c_str());
		if (auto status = follow(**session, options, metrics.get()); !status)
			return fail(status.error());
	}
	return stop_signal() == SIGTERM ? 0 : static_cast<int>(Exit::Interrupted);
}

} // namespace

int main(int argc, char **argv)
{
	std::signal(SIGXFSZ, SIG_IGN);
	catch_signals();
	DaemonOptions options;
	auto app = make_daemon_app(options);
	try {
		app->parse(argc, argv);
	} catch (const CLI::Success &e) {
		return app->exit(e);
	} catch (const CLI::ParseError &e) {
		return fail(usage_error(e.what(), "see lockscoped --help"));
	}
	if (options.count_findings)
		return count_store(options.session.store);
	if (auto status = configure(*app, "lockscoped", *options.config); !status)
		return fail(status.error());
	/* The daemon creates its default folder, but not one given as an option. */
	if (app->get_option("--output")->count() == 0)
		if (auto made = make_folder(kStoreFolder); !made)
			return fail(made.error());
	return run(options);
}
