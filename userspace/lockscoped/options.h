// SPDX-License-Identifier: GPL-2.0
// The command line of lockscoped.
#pragma once

#include "lockscoped/metrics.h"

#include "record/session.h"

#include "lockclass/abi.h"

#include <CLI/CLI.hpp>

#include <memory>
#include <string>

namespace lockscope {

inline constexpr const char *kStoreFolder = "/var/lib/lockscope";

struct DaemonOptions {
	/* An open device would block unloading the module. */
	SessionOptions session{
		kDevicePath, std::string(kStoreFolder) + "/lockscope.db", {}, Hold::Briefly};
	int interval_ms = 250;
	MetricsOptions metrics;
	bool count_findings = false;	     ///< see lockscoped/counter.h
	std::shared_ptr<std::string> config; ///< path of the configuration file
};

/// The application that parses the options; @options has to outlive it.
std::unique_ptr<CLI::App> make_daemon_app(DaemonOptions &options);

} // namespace lockscope
