# SPDX-License-Identifier: GPL-2.0
# Sourced by the scenarios' scripts inside the VM. What they leave in /out comes
# back to the host.
set -e
[ -n "$LOCKSCOPE_VM" ] || {
	echo "this loads kernel modules: run it in a VM" >&2
	exit 2
}
cases=/sys/kernel/debug/lockscope_selftest
state=/sys/kernel/debug/lockscope

lockscope() { "$LS_BIN/lockscope" "$@"; }

# Is status $1 that of a report which was written?
reported() { [ "$1" = 1 ] || [ "$1" = 3 ]; }

# The reports of a store beside it, made by the host when the guest has ended: without KVM they
# take twenty times as long here.
reports() { echo "$1" >> /out/stores; }
# The same for a script that reads them itself.
reports_now() { lockscope report --format json -o "${1%.db}.json" "$1" || reported $?; }

# list_cases GROUP...: the lines of the driver's list for cases of these groups.
list_cases() {
	for group in "$@"; do
		awk -v group="$group" '$3 == group' $cases/list
	done
}

# cases WORD...: runs seeded cases; the write returns when they are done.
run_cases() { echo "$*" > $cases/run; }

# Records into file $1 while the cases run.
record_cases() {
	store=$1
	shift
	lockscope record -o "$store" -- sh -c 'echo "$1" > "$2"' sh "$*" $cases/run
}
