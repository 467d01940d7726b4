// SPDX-License-Identifier: GPL-2.0
// How a machine died, by what it printed.
#pragma once

#include <string>

namespace lockscope {

/// The first line of @messages that says so, without its time: "Kernel panic - not syncing: ...",
/// "BUG: unable to handle ...", "list_del corruption. ..."; empty when there is none.
std::string cause_of_death(const std::string &messages);

} // namespace lockscope
