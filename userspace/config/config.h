// SPDX-License-Identifier: GPL-2.0
// The configuration file, lockscope.toml(5): a section for each command that takes it, whose
// keys are the command's long options.
#pragma once

#include "util/result.h"

#include <CLI/CLI.hpp>

#include <memory>
#include <string>

namespace lockscope {

inline constexpr const char *kConfigPath = "/etc/lockscope/lockscope.toml";

/// Add --config to @command. Its value is there once the command line is parsed.
std::shared_ptr<std::string> add_config_option(CLI::App &command);

/// Give options of @command that the command line did not set the values of @section in the
/// file @path; empty: the usual one, if it is there. The whole section is checked, by the
/// options' own checks; an error names file and line.
Status configure(CLI::App &command, const std::string &section, const std::string &path);

} // namespace lockscope
