// SPDX-License-Identifier: GPL-2.0
/* Parameters of the module whose variables lie in lower layers. */
#include <linux/moduleparam.h>

#include "check/access/access.h"
#include "core/prims.h"
#include "core/state.h"
#include "hook/hook.h"

module_param_named(hook, ls_hook_how, charp, 0444);
MODULE_PARM_DESC(hook, "how to hook: auto (direct calls, ftrace_ops where taken), direct, ftrace");
module_param_named(strict, ls_strict, bool, 0644);
MODULE_PARM_DESC(strict, "any nesting of a class in itself is a fault, as with lockdep");
module_param_named(waitqueues, ls_waitqueues, bool, 0444);
MODULE_PARM_DESC(waitqueues, "watch who waits on wait queues with locks held, and who wakes them");
module_param_named(watchpoints, ls_watchpoints, bool, 0400);
MODULE_PARM_DESC(watchpoints, "try to catch races in the act: accessors may wait for half a millisecond (default 1)");
module_param_named(max_probes, ls_max_probes, uint, 0400);
MODULE_PARM_DESC(max_probes, "most instructions of unmodified code watched at a time (default 4096)");
