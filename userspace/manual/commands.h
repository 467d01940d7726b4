// SPDX-License-Identifier: GPL-2.0
// Manual pages of programs and their subcommands.
#pragma once

#include "manual/page.h"
#include "manual/tree.h"

namespace lockscope::manual {

/// What a parameter is for, as a sentence.
std::string about_text(const Parameter &parameter);

/// The page of @command, whose program is @program: what the tree has. Sections that it does
/// not have come from texts.
Page command_page(const Command &command, const Command &program, const PageTitle &title);

} // namespace lockscope::manual
