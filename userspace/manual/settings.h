// SPDX-License-Identifier: GPL-2.0
// The manual page of the configuration file, from the options that it may set.
#pragma once

#include "manual/page.h"
#include "manual/tree.h"

#include <vector>

namespace lockscope::manual {

/// lockscope.toml(5): a part for each of the commands, and those below them, that take
/// --config.
Page settings_page(const std::vector<const Command *> &programs, const PageTitle &title);

} // namespace lockscope::manual
