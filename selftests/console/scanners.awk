# SPDX-License-Identifier: GPL-2.0
# Reads a console log as the scanners of three testing services read it, one line
# for each report found, fields separated by tabs:
#
#   CASE   of the driver that it is about, - when it is about none
#   TRACE  lines from its first one to "Call Trace:", - when there is none
#   SYZKALLER  the title, or "corrupted (WHY): TITLE"
#   0DAY  the id under which the first telling line is kept, or -
#   LKFT  the name of the test that fails for it, or -
#
# What the services look for is told in public: syzkaller in pkg/report/linux.go
# and report.go, 0-day in lkp-tests' etc/oops-pattern and lib/dmesg.rb, LKFT in
# the log parser of SQUAD. Here stands, in words of our own, what of it concerns
# locks.

BEGIN {
	FUNC = "[A-Za-z0-9_]+[.+]"
	PC = "\\[<?(0x)?[0-9a-f]+>?\\]"
	AT = "at: +(" PC " +)?" FUNC
	STACK_START = "Call [Tt]race|Allocated:|Freed:|(^|[^k]) backtrace:|Backtrace:"

	# Syzkaller: any of these begins a report, and ends the one before.
	HEADS = "BUG:|WARNING:|INFO:|Unable to handle kernel|general protection fault|" \
		"stack segment|Kernel panic|[Kk]ernel BUG|divide error|invalid opcode:|UBSAN:"
	NO_HEADS = "DEBUG:|INFO: lockdep is turned off|INFO: NMI handler|took too long|" \
		"INFO: Stall ended|Unprivileged eBPF|workqueue cpumask"

	# Functions that are never the culprit: their caller is.
	BLAMELESS = "lockdep|lock_acquire|lock_release|lock_class|mark_lock|" \
		"spin_lock|spin_trylock|spin_unlock|raw_spin_rq|" \
		"read_lock|read_trylock|read_unlock|write_lock|write_trylock|write_unlock|" \
		"^down$|down_read|down_write|down_trylock|up_read|up_write|" \
		"^mutex_|^__mutex_|^rt_mutex_|osq_lock|osq_unlock|bh_enable|bh_disable|" \
		"kmem_cache|slab_|k?v?[mzc]alloc|krealloc|alloc_page|allocate_slab|^kv?free$|" \
		"copy_(to|from)_(user|iter)|(put|get)_user|might_(fault|sleep)|__might_resched|" \
		"flush_work|cancel_work_sync|__cancel_work_timer|queue_work|" \
		"(flush|drain|destroy)_workqueue|wait_for_completion|^complete$|finish_wait|" \
		"show_stack|dump_stack|panic|printk|mem(cpy|set|move)|str(cpy|len|cmp)|" \
		"list_(add|del)|kobject_|dput|lock_timer_base|del_timer"
	# A hung task is attributed to the function that needed something to wait for.
	WAITING = "sched|_lock|_slowlock|down|rwsem|completion|kthread|wait|synchronize|__switch_to"
	WORKQUEUE = "process_one_work|(flush|drain|destroy)_workqueue"

	# 0-day: any of these in a line tells of a fault.
	TELLING = "WARNING: .* detected$|WARNING: .* lock|WARNING: .*!$|WARNING: CPU: |" \
		"is trying to lock: .|is trying to release lock \\(.*\\) at|" \
		"is freeing memory .*, with a lock still held there!|" \
		"is leaving the kernel with locks still held!|" \
		"inconsistent [{].*[}] -> [{].*[}] usage|" \
		"INFO: task .* blocked for more than .* seconds|\\[ *[0-9.]+\\] BUG: |^BUG: "
}

{ sub(/\r$/, "") }

# The guest's script says which case comes next.
/ console-kinds: case / {
	finish()
	current = $NF
	next
}

# Lines without a time are none of the kernel's.
!/^(<[0-9]+>)?\[ *[0-9]+\.[0-9]+\] / { next }

{
	raw = $0
	text = substr($0, index($0, "] ") + 2)
	if (text ~ HEADS && text !~ NO_HEADS) {
		finish()
		open = 1
	}
	if (open) {
		line[++nr] = text
		if (text ~ /ls_selftest|lst[0-9]_/)
			seeded = 1
		if (zero_day == "" && raw ~ TELLING)
			zero_day = zero_day_id(text)
		if (lkft == "")
			lkft = lkft_name(raw)
	}
}

END { finish() }

function finish() {
	if (open)
		print (seeded ? current : "-") "\t" trace() "\t" syzkaller() "\t" \
			(zero_day == "" ? "-" : zero_day) "\t" (lkft == "" ? "-" : lkft)
	open = nr = seeded = 0
	zero_day = lkft = ""
}

function trace(    i) {
	for (i = 1; i <= nr; i++)
		if (line[i] ~ /^Call Trace:/)
			return i - 1
	return "-"
}

# Syzkaller.

# The line after @from that has @regex; 0 when there is none.
function find(from, regex,    i) {
	for (i = from + 1; i <= nr; i++)
		if (line[i] ~ regex)
			return i
	return 0
}

# The function that the part of line @i that fits @regex ends with.
function function_in(i, regex,    word) {
	match(line[i], regex)
	word = substr(line[i], RSTART, RLENGTH - 1)
	sub(/.*[^A-Za-z0-9_]/, "", word)
	return word
}

function blames(name, skip) { return name !~ (skip == "" ? BLAMELESS : BLAMELESS "|" skip) }

# The first function to blame in the stack after line @from.
function top(from, skip,    i, name) {
	if (!from)
		return ""
	for (i = from + 1; i <= nr && line[i] !~ STACK_START; i++)
		if (line[i] ~ ("^ *(" PC " +)?" FUNC)) {
			name = function_in(i, "^ *(" PC " +)?" FUNC)
			if (blames(name, skip))
				return name
		}
	return ""
}

function top_of_trace(skip) { return top(find(0, "Call [Tt]race:|Backtrace:"), skip) }

# The function of the first "at:" after a line with @regex.
function at_after(regex,    i) {
	i = regex == "" ? 1 : find(1, regex)
	i = i ? find(i, AT) : 0
	return i ? function_in(i, AT) : ""
}

function named(prefix, name) {
	sub(/^(__x64_|__ia32_|____sys_|___sys_|__sys_|sys_)/, "", name)
	return name == "" ? "corrupted (no function): " prefix : prefix " " name
}

# A report without a stack is taken for a damaged one.
function whole(title,    i, from) {
	from = find(0, STACK_START)
	if (!from || nr - from < 3)
		return "corrupted (no stack): " title
	for (i = from + 1; i <= nr && i <= from + 15 && line[i] !~ STACK_START; i++)
		if (line[i] ~ ("^ *(" PC " +)?" FUNC))
			return title
	return "corrupted (no frames): " title
}

function syzkaller(    head, i, name) {
	head = line[1]
	if (head ~ /BUG: sleeping function called from invalid context at ./)
		return whole(named("BUG: sleeping function called from invalid context in", top_of_trace()))
	if (head ~ /BUG: Invalid wait context/)
		return whole(named("WARNING: locking bug in", top_of_trace("lock_sock|release_sock")))
	if (head ~ /WARNING: .*still has locks held!/)
		return whole(named("WARNING: still has locks held in", at_after()))
	if (head ~ /WARNING: Nested lock was not taken/)
		return whole(named("WARNING: nested lock was not taken in", top_of_trace()))
	if (head ~ /WARNING: lock held when returning to user space/)
		return named("WARNING: lock held when returning to user space in",
			     at_after("leaving the kernel with locks still held"))
	if (head ~ /WARNING: possible circular locking dependency detected/) {
		if (!find(1, "is trying to acquire lock"))
			return "corrupted (report does not fit): " head
		# Two places and the stack, whichever is to blame first.
		for (i = find(0, AT); i; i = 0) {
			name = function_in(i, AT)
			if (!blames(name, WORKQUEUE) && (i = find(i, AT))) {
				name = function_in(i, AT)
				if (!blames(name, WORKQUEUE))
					name = top(i, WORKQUEUE)
			}
		}
		return whole(named("possible deadlock in", name))
	}
	if (head ~ /WARNING: .*-safe -> .*-unsafe lock order detected/)
		return whole(named("possible deadlock in", top(find(0, "which became .* at:"))))
	if (head ~ /WARNING: possible recursive locking detected/)
		return whole(named("possible deadlock in", at_after("is trying to acquire lock")))
	if (head ~ /WARNING: inconsistent lock state/) {
		if (at_after("takes") == "")
			return "corrupted (report does not fit): " head
		return whole(named("inconsistent lock state in", top_of_trace()))
	}
	if (head ~ /WARNING: bad unlock balance detected!/) {
		i = find(0, PC " +" FUNC)
		name = i ? function_in(i, PC " +" FUNC) : ""
		if (i && !blames(name))
			name = top(find(i, "Call [Tt]race:"))
		return whole(named("WARNING: bad unlock balance in", name))
	}
	if (head ~ /WARNING: held lock freed!/)
		return whole(named("WARNING: held lock freed in", at_after()))
	if (head ~ /INFO: task .*blocked (in I\/O wait )?for more than [0-9]+ seconds/)
		return whole(named("INFO: task hung in", top_of_trace(WAITING)))
	if (head ~ /BUG: KCSAN: /)
		return substr(head, index(head, "KCSAN: "))
	# Whatever no rule is about is a title by itself.
	return substr(head, match(head, HEADS))
}

# 0-day.

# What is the same for every occurrence: neither numbers nor places in functions.
function zero_day_id(text) {
	sub(/^[^A-Za-z]+/, "", text)
	sub(/ \]$/, "", text)
	gsub(/[+\/]0x[0-9a-f]+/, "", text)
	gsub(/[0-9][0-9.]*/, "#", text)
	gsub(/ +/, " ", text)
	while (match(text, /[^A-Za-z0-9] | [^A-Za-z]/))
		text = substr(text, 1, RSTART - 1) \
			(substr(text, RSTART, 1) == " " ? substr(text, RSTART + 1, 1) : substr(text, RSTART, 1)) \
			substr(text, RSTART + 2)
	gsub(/ /, "_", text)
	sub(/[-_.,;:#!*[(]+$/, "", text)
	return text
}

# LKFT.

# Only what follows a time counts; the name ends where a place in a function begins.
function lkft_name(raw,    name) {
	if (raw !~ /.WARNING:|.BUG:/)
		return ""
	name = raw ~ /WARNING:/ ? substr(raw, index(raw, "WARNING:")) : substr(raw, index(raw, "BUG:"))
	sub(/\+.*/, "", name)
	gsub(/0x[0-9a-f]+|\[[0-9a-f]+\]|[0-9]+/, "", name)
	name = tolower(name)
	gsub(/[^a-z_ -]/, "", name)
	gsub(/[ -]+/, "-", name)
	sub(/^-/, "", name)
	sub(/-$/, "", name)
	return (raw ~ /WARNING:/ ? "warning-" : "bug-") name
}
