// SPDX-License-Identifier: GPL-2.0
/* Parameters of the module whose variables lie in lower layers. */
#include <linux/moduleparam.h>

#include "check/access/access.h"
#include "check/hang.h"
#include "core/prims.h"
#include "core/state.h"
#include "hook/hook.h"
#include "out/console/splat.h"
#include "out/out.h"
#include "out/races/accesses.h"

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
module_param_named(splat, ls_splat, bool, 0644);
MODULE_PARM_DESC(splat, "print each new finding on the console in lockdep's wording");
module_param_named(splat_unproven, ls_splat_unproven, bool, 0644);
MODULE_PARM_DESC(splat_unproven, "with splat: cycles of classes, too, whose instances were not seen to meet, as lockdep");
module_param_named(hang_report, ls_hang_report, bool, 0644);
MODULE_PARM_DESC(hang_report, "print an acquisition that cannot return before it waits, whatever splat is (default 1)");
module_param_named(last_words, ls_last_words, bool, 0644);
MODULE_PARM_DESC(last_words, "print the locks held on an oops, panic, hung task, lockup, RCU stall and sysrq-d (default 1)");
module_param_named(long_wait_ms, ls_long_wait_ms, uint, 0644);
MODULE_PARM_DESC(long_wait_ms, "report who waits for a lock longer than this, in milliseconds; 0: nobody");
module_param_named(shadow_mb, ls_shadow_mb, uint, 0400);
MODULE_PARM_DESC(shadow_mb, "most memory for the shadow of watched pages, in MiB (default 48)");
module_param_named(accesses, ls_accesses, charp, 0400);
MODULE_PARM_DESC(accesses, "memory accesses to judge: off, sampled (default) or all");
module_param_named(access_share, ls_access_share, uint, 0400);
MODULE_PARM_DESC(access_share, "sampled: one 32 KiB block of memory in so many is watched at a time, a power of two up to 4096 (default 16)");
module_param_named(access_epoch_ms, ls_access_epoch_ms, uint, 0400);
MODULE_PARM_DESC(access_epoch_ms, "sampled: for so many milliseconds (default 500)");
