# SPDX-License-Identifier: GPL-2.0
# Sourced by scenarios on the host and by the soak in its guest.
# shellcheck disable=SC2034

# Words that a kernel has when something went badly wrong; ours are other words.
trouble='BUG: |WARNING: (CPU|[^ ]+:[0-9]+ at )|Oops|general protection fault|unable to handle|Kernel panic|rcu.*(detected stalls|self-detected stall|expedited stalls|starved)|soft lockup|hard LOCKUP|blocked for more than|refcount_t:|stack guard page|scheduling while atomic|list_(add|del) corruption|kernel stack overflow|Bad page|corrupted( [^P]|[^ ]|$)|were not given back'
# UBI counts "corrupted PEBs" whenever it attaches a device.
# What of it our own console says: stock kernels have neither lockdep nor KCSAN, and
# theirs of sleeping functions and blocked tasks reads otherwise.
own='BUG: sleeping function called from invalid context at ([A-Za-z0-9_.]+\+0x|\(unloaded code\))|\[ BUG: Invalid wait context \]|BUG: KCSAN: data-race in |INFO: task .* blocked for more than [0-9]+ seconds on a lock\.'
# Headlines of console reports, ours and the kernel's, that a suite takes for a fault: each of finding_kinds.h is
# among them (cli/dmesg, 12-console-kinds).
faults="WARNING: |BUG: |INFO: (trying to register|.*(blocked for more than|detected))|possible .* dependency|$trouble"

# report_of_ours FILE: there is a fault on this console, and none is the kernel's.
report_of_ours() {
	[ -s "$1" ] && grep -aqE "$faults" "$1" && ! grep -aE "$trouble" "$1" | grep -aqvE "$own"
}
