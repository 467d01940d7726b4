// SPDX-License-Identifier: GPL-2.0
// Formats of a snapshot of waiting tasks.
#pragma once

#include "report/report.h"
#include "waits/waits.h"

namespace lockscope {

/// Deadlocks first, then every waiting task, with its stack and the owner's.
std::string text_waits(const WaitSnapshot &snapshot, const TextStyle &style);
/// The deadlocks only; empty when there is none.
std::string text_deadlocks(const WaitSnapshot &snapshot, const TextStyle &style);
/// "schema": "lockscope-waits/1"
std::string json_waits(const WaitSnapshot &snapshot);

} // namespace lockscope
