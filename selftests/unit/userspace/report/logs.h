// SPDX-License-Identifier: GPL-2.0
// Logs that the tests of all formats print.
#pragma once

#include "log_builder.h"

namespace lockscope::test {

/// One error, one warning, one hidden finding, a loss and an absent primitive.
LogBuilder small_log();
/// A lock in two states, a path to an unsafe lock, faults with a lock and without.
LogBuilder other_kinds();
/// A finding of every kind, of two of them several. Images lack the function of the empty section,
/// which scripts/try-syzkaller adds to the store.
LogBuilder every_kind();
/// every_kind(), and beside it each fault that one observation shows with as little as a record
/// may have: without a class, a held lock and a name of the place, or with held locks that have no
/// class; a race of memory without a name.
LogBuilder bare_kinds();
/// A data race caught in the act, with its history.
LogBuilder race_log();
/// A cycle of six locks and a fault, with names that mean something to shells, terminals,
/// XML, JSON, graphviz or TAP, or are no UTF-8.
LogBuilder hostile_log();

} // namespace lockscope::test
