/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The lines of console reports, as formats of printf: what the module prints, and the report in
 * its format dmesg. Headlines and what a task does are in finding_kinds.h. Lines that are always
 * the same are lockdep's or KCSAN's; log scanners know them.
 */
#ifndef LOCKSCOPE_CONSOLE_WORDS_H
#define LOCKSCOPE_CONSOLE_WORDS_H

#define LS_SAY_RULER "======================================================"
#define LS_SAY_LINE "------------------------------------------------------"
#define LS_SAY_TRACE "Call Trace:"
#define LS_SAY_TASK " <TASK>"
#define LS_SAY_END_TASK " </TASK>"

/* A lock: before it, prefix, name, kind, where. */
#define LS_SAY_LOCK "%s(%s%s){%s}, at: %s"
#define LS_SAY_COMPLETION "(completion)"
#define LS_SAY_QUEUE "(waitqueue)"
/* COMM/PID and the words of the kind. */
#define LS_SAY_WHO "%s/%u %s"
#define LS_SAY_HELD "%u lock%s held by %s/%u:"

#define LS_SAY_HOLDING "but task is already holding lock:"
#define LS_SAY_DEPENDS "which lock already depends on the new lock."
#define LS_SAY_CHAIN "the existing dependency chain (in reverse order) is:"
#define LS_SAY_LINK "-> #%u (%s%s){%s}:"
#define LS_SAY_NEEDED "       held by who %s (%s%s)"
#define LS_SAY_OTHER_INFO "other info that might help us debug this:"
#define LS_SAY_CYCLE "lockscope: cycle of %u locks%s"
#define LS_SAY_OTHER_ORDER "the same two locks were taken in the other order, as in:"
#define LS_SAY_NESTING " May be due to missing lock nesting notation"

#define LS_SAY_SCENARIO " Possible unsafe locking scenario:"
#define LS_SAY_CHAIN_EXISTS "Chain exists of:"
#define LS_SAY_CPUS "       CPU0                    CPU1"
#define LS_SAY_CPUS_LINE "       ----                    ----"
#define LS_SAY_CPU "       CPU0"
#define LS_SAY_CPU_LINE "       ----"
#define LS_SAY_FIRST_CPU "  %s(%s);"
#define LS_SAY_SECOND_CPU "                               %s(%s);"
#define LS_SAY_NESTED_CALL "    %s(%s);"
#define LS_SAY_INTERRUPT "<Interrupt>"
#define LS_SAY_DEADLOCK " *** DEADLOCK ***"
#define LS_SAY_HAS "%s/%u %s %s has:"

#define LS_SAY_IRQ_ORDER "WARNING: %s-safe -> %s-unsafe %s"
#define LS_SAY_IRQ_HOLDING "and this task is already holding:"
#define LS_SAY_IRQ_SAFE "this dependency connects a %s-irq-safe lock:"
#define LS_SAY_IRQ_SAFE_AT "... which became %s-irq-safe at:"
#define LS_SAY_IRQ_UNSAFE "to a %s-irq-unsafe lock:"
#define LS_SAY_IRQ_UNSAFE_AT "... which became %s-irq-unsafe at:"
#define LS_SAY_IRQ_LINK "-> #%u (%s){%s} under (%s):"
#define LS_SAY_IRQ_SCENARIO " Possible interrupt unsafe locking scenario:"
#define LS_SAY_IRQ_USAGE "inconsistent {%s} -> {%s} usage."
#define LS_SAY_IRQ_REGISTERED "{%s} state was registered at:"

#define LS_SAY_SLEEP "in_atomic(): %d, irqs_disabled(): %d, non_block: 0, pid: %u, name: %s"
#define LS_SAY_RELEASE "%s/%u is trying to release lock (%s) at:"
#define LS_SAY_FREED "%s/%u %s (%s), with a lock still held there!"
#define LS_SAY_FREED_AT "its memory was freed at: %s"
#define LS_SAY_NOT_HOLDING "but this task is not holding: (%s){%s}"
#define LS_SAY_LONG "INFO: task %s:%u %s %llu seconds on a lock."
#define LS_SAY_OWNER "which its owner took: "

#define LS_SAY_RACE_RULER "=================================================================="
#define LS_SAY_ACCESS "%s of %u bytes by %s%s:"
#define LS_SAY_FIRST_SEEN " (callers as first seen here; those of this access are not kept)"
#define LS_SAY_GUARD " holding (%s){%s}"
#define LS_SAY_REPORTED "Reported by LockScope: no lock in common (finding %u)"

#endif /* LOCKSCOPE_CONSOLE_WORDS_H */
