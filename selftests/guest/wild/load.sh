# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=sh
# Sourced by loads, in the VM. A load is a list of steps; each is counted and leaves its
# output in /out/log when it fails. A load that could not do what it is for proves
# nothing, so scripts/wild fails for a step that failed, unless the load said `maybe`.
[ -n "$LOCKSCOPE_VM" ] || {
	echo "this loads kernel modules: run it with scripts/wild" >&2
	exit 2
}
w=/run/wild
mkdir -p $w
seconds=${WILD_SECONDS:-20}	# of what a load repeats
exec 3>&1

uptime_s() { cut -d . -f 1 /proc/uptime; }

say() { echo "$(uptime_s) $*" | tee -a /out/steps >&3; }

run_step() {
	step_word=$1 step_name=$2
	shift 2
	step_from=$(uptime_s)
	step_status=0
	"$@" > "$w/step.$$" 2>&1 || step_status=$?
	if [ $step_status = 0 ]; then
		say "ok $step_name ($(($(uptime_s) - step_from)) s)"
		return 0
	fi
	say "$step_word $step_name: status $step_status: $(tail -n 1 "$w/step.$$")"
	{ echo "== $step_name"; cat "$w/step.$$"; } >> /out/log
	return "$step_status"
}

# step NAME COMMAND...: has to succeed.
step() { run_step failed "$@"; }

# must NAME COMMAND...: the rest makes no sense without it.
must() { run_step failed "$@" || exit 1; }

# maybe NAME COMMAND...: is not there on every kernel or machine.
maybe() { run_step left-out "$@" || :; }

# need MODULE...: what the load is about. Without it the load is skipped.
need() {
	for need_module; do
		modprobe "$need_module" 2> "$w/need" || {
			say "skip: no module $need_module: $(tail -n 1 "$w/need")"
			exit 77
		}
	done
}

# memory MB: a tmpfs at $w for images of disks.
memory() {
	mount -t tmpfs -o "size=$1m" tmpfs $w
}

# disk NAME MB: a loop device of that size; prints its name.
disk() {
	truncate -s "$2M" "$w/$1.image"
	losetup -f --show "$w/$1.image"
}

# part COMMAND...: in the background, see join.
parts=
part() {
	"$@" > /dev/null 2>> /out/parts.log &
	parts="$parts $!"
}

# join: waits for all parts.
join() {
	for part_pid in $parts; do wait "$part_pid"; done
	parts=
}

# until_over COMMAND...: again and again, for $seconds.
until_over() {
	over=$(($(uptime_s) + seconds))
	while [ "$(uptime_s)" -lt "$over" ]; do "$@" || :; done
}

# files DIR [STRESSOR OPTION]...: what programs do to files in DIR, by stress-ng.
files() {
	files_dir=$1
	shift
	stress-ng --quiet --temp-path "$files_dir" --timeout "$seconds" --dir 1 --dir-dirs 64 \
		--dentry 1 --dentries 64 --rename 1 --link 1 --hdd 1 --hdd-bytes 4M "$@"
}

# trees DIR: directories and files come, are renamed into each other, and go.
trees() {
	for tree_round in 1 2 3; do
		mkdir -p "$1/t$tree_round/a/b" "$1/t$tree_round/c/d" || return
		for tree_file in 1 2 3 4 5 6 7 8; do
			echo "$tree_file" > "$1/t$tree_round/a/b/$tree_file"
		done
		mv "$1/t$tree_round/a/b" "$1/t$tree_round/c/d/b" &&
			mv "$1/t$tree_round/c/d/b/1" "$1/t$tree_round/a/" &&
			cp -r "$1/t$tree_round/c" "$1/t$tree_round/e" || return
	done
	find "$1" -type f -exec cat {} + > /dev/null
	mv "$1/t1" "$1/t2/t1" && rm -r "$1/t2" "$1/t3"
}

# reclaim: memory is short for a moment: caches go, what is dirty is written.
reclaim() {
	sync
	echo 3 > /proc/sys/vm/drop_caches
	echo 1 > /proc/sys/vm/compact_memory 2> /dev/null || :
}
