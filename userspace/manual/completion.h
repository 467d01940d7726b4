// SPDX-License-Identifier: GPL-2.0
// Completion of a program's command line, for three shells.
#pragma once

#include "manual/tree.h"

#include <string>

namespace lockscope::manual {

std::string bash_completion(const Command &program);
std::string zsh_completion(const Command &program);
std::string fish_completion(const Command &program);

/// What may stand for a value or a positional argument.
enum class Fill { None, Choices, Files, Commands, Subcommands };
Fill fill_of(const Parameter &parameter);

/// The words after the program's name: "" for the program, "vm run".
std::string words_of(const Command &command);

} // namespace lockscope::manual
