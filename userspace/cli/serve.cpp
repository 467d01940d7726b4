// SPDX-License-Identifier: GPL-2.0
// lockscope serve: reports for a browser, of stores that may still be recorded to.
#include "cli/cli.h"
#include "cli/served.h"

#include "util/file.h"
#include "util/stop.h"

#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <memory>

namespace lockscope::cli {

namespace {

constexpr auto kTurn = std::chrono::milliseconds(200);

struct ServeArgs {
	std::string path = kDefaultStore, listen = "127.0.0.1:8765", min_confidence = "possible";
	ServedOptions served;
};

int run(const ServeArgs &options)
{
	auto address = parse_listen_address(options.listen);
	if (!address)
		return fail(address.error());
	if (!exists(options.path))
		return fail(os_error(errno, "cannot serve " + options.path,
				     "record first: lockscope record -- COMMAND"));
	/* Errors in the file are reported at once. */
	if (auto entries = suppressions_of(options.served.suppressions); !entries)
		return fail(entries.error());
	ServedOptions wanted = options.served;
	wanted.path = options.path;
	wanted.report.min_confidence = *parse_confidence(options.min_confidence);
	ServedStores stores(std::move(wanted));
	catch_signals();
	/* A reader that goes away is no reason to end. */
	std::signal(SIGPIPE, SIG_IGN);
	auto server = HttpServer::open(
		*address, [&](const HttpRequest &request) { return stores.answer(request); });
	if (!server)
		return fail(server.error());
	if (const auto warning = (*server)->warning(); !warning.empty())
		std::fprintf(stderr, "lockscope: warning: %s\n", warning.c_str());
	if (const int status = deliver(
		    "Serving " + options.path + " at " + (*server)->url() + ", until Ctrl-C\n", ""))
		return status;
	while (!stop_signal())
		(*server)->serve(kTurn);
	return static_cast<int>(Exit::Clean);
}

} // namespace

void add_serve_command(CLI::App &app, Globals &globals)
{
	auto *command = add_command(app, "serve",
				    "show reports in a browser, of stores that may be recorded to",
				    "lockscope serve /var/lib/lockscope/lockscope.db");
	auto options = std::make_shared<ServeArgs>();
	command->add_option("FILE", options->path, "a store, or a folder with stores, *.db")
		->capture_default_str();
	command->add_option("--listen", options->listen,
			    "address and port, 0 for any; beyond 127.0.0.1 it is open to all "
			    "that reach it")
		->capture_default_str();
	command->add_option("--min-confidence", options->min_confidence,
			    "leave out what is less certain")
		->check(CLI::IsMember({"possible", "observed", "confirmed"}))
		->capture_default_str();
	command->add_flag("--all", options->served.report.all,
			  "list findings hidden by filters, too");
	add_suppression_options(command, options->served.suppressions);
	set_action(command, globals, [options] { return run(*options); });
}

} // namespace lockscope::cli
