// SPDX-License-Identifier: GPL-2.0
/* Parameters of the module whose variables lie in lower layers. */
#include <linux/moduleparam.h>

#include "core/prims.h"
#include "core/state.h"
#include "lockscope.h"

module_param_named(hook, ls_hook_how, charp, 0444);
MODULE_PARM_DESC(hook, "how to hook: auto (direct calls, ftrace_ops where taken), direct, ftrace");
module_param_named(strict, ls_strict, bool, 0644);
MODULE_PARM_DESC(strict, "any nesting of a class in itself is a fault, as with lockdep");
module_param_named(waitqueues, ls_waitqueues, bool, 0444);
MODULE_PARM_DESC(waitqueues, "watch who waits on wait queues with locks held, and who wakes them");
