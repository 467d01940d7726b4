// SPDX-License-Identifier: GPL-2.0
#include "lockscoped/options.h"

#include "config/config.h"

namespace lockscope {

std::unique_ptr<CLI::App> make_daemon_app(DaemonOptions &options)
{
	auto app = std::make_unique<CLI::App>("Drains the LockScope module into a store, for days");
	app->name("lockscoped");
	app->set_version_flag("--version", "lockscoped " LOCKSCOPE_VERSION);
	app->add_option("-o,--output", options.session.store,
			"store to write; an earlier one goes on")
		->capture_default_str();
	app->add_option("--device", options.session.device, "device to read")
		->capture_default_str();
	app->add_option("--symbols", options.session.symbol_dirs,
			"folder with modules that have debug information")
		->allow_extra_args(false);
	app->add_option("--interval", options.interval_ms,
			"milliseconds between two looks at the log")
		->check(CLI::Range(1, 60000))
		->capture_default_str();
	app->add_option("--metrics-file", options.metrics.file,
			"file for node_exporter, written every 15 seconds, such as "
			"/var/lib/prometheus/node-exporter/lockscope.prom");
	app->add_option("--metrics-listen", options.metrics.listen,
			"address and port where Prometheus finds /metrics, such as "
			"127.0.0.1:9464")
		->check(CLI::Validator(
			[](const std::string &text) {
				const auto address = parse_listen_address(text);
				return address ? std::string() : address.error().what;
			},
			""));
	app->add_flag(kCountOption, options.count_findings, "print findings as numbers")
		->group("")
		->configurable(false);
	options.config = add_config_option(*app);
	app->footer(
		"SIGTERM stores what is left and exits 0. The module may be unloaded and loaded "
		"again.\n"
		"Example:\n  lockscoped -o /var/lib/lockscope/lockscope.db");
	return app;
}

} // namespace lockscope
