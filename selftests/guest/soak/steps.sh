# SPDX-License-Identifier: GPL-2.0
# Sourced by selftests/guest/soak/soak: what is done to the module and its recorder. Each
# step leaves the module loaded and the recorder running; its status says whether the
# kernel had what it needs.

store=/run/store/lockscope.db
ordinary="btrfs xfs nfs cifs fuse isofs squashfs nbd zram raid1 dm-crypt dummy bonding
	vxlan macvlan tun 8021q sctp wireguard nf_tables snd-dummy null_blk scsi_debug"
stressors="--pipe --sock --fork --futex --mmap --dentry --hdd --rename --timer --poll
	--sem --shm --epoll --eventfd --kill --switch --clone --sockpair --dir --fstat"

uptime_s() { cut -d . -f 1 /proc/uptime; }

# Reading waits: everything recorded so far has been judged.
settled() { cat $state/findings_total; }

# A module that sleeps in a hook may have to be unloaded again, but never crash.
unload() {
	unload_tries=0
	until rmmod "$1" 2> /out/rmmod.stderr; do
		unload_tries=$((unload_tries + 1))
		[ $unload_tries -lt 300 ] || {
			fail "rmmod $1: $(cat /out/rmmod.stderr)"
			return 1
		}
		sleep 0.1
	done
}

load_module() {
	# shellcheck disable=SC2086
	insmod "$LS_KMOD/lockscope.ko" ${1:-} 2> /out/insmod.stderr ||
		fail "insmod lockscope.ko ${1:-}: $(cat /out/insmod.stderr)"
	loaded=$((${loaded:-0} + 1))
	findings_before=0
}

daemon_start() {
	"$LS_BIN/lockscoped" -o $store --interval 200 2>> /out/daemon.stderr &
	daemon=$!
}

daemon_kill() {
	kill -KILL "$daemon" 2> /dev/null
	wait "$daemon" 2> /dev/null
}

load_change() {
	[ -z "$load" ] || load_stop
	load_options=
	for stressor in 1 2; do
		# shellcheck disable=SC2086
		set -- $stressors
		draw $#
		shift "$drawn"
		load_options="$load_options $1 1"
	done
	# In groups of their own, so that they can be frozen and run out of memory alone.
	# shellcheck disable=SC2086
	sh -c 'echo $$ > /run/cg/load/cgroup.procs; shift; exec nice -n 19 stress-ng --quiet "$@"' sh - \
		--temp-path /run/load --hdd-bytes 8M --mmap-bytes 16M --shm-bytes 4M --dentries 500 \
		$load_options -t 3600 > /dev/null 2>&1 &
	load=$!
}

# Killed tasks are soon gone, unless something keeps them: then the kernel log shows it.
load_stop() {
	echo 1 > /run/cg/load/cgroup.kill
	stop_tries=0
	while grep -q 'populated 1' /run/cg/load/cgroup.events; do
		stop_tries=$((stop_tries + 1))
		if [ $stop_tries = 600 ]; then
			echo 8 > /proc/sys/kernel/printk
			echo w > /proc/sysrq-trigger
			echo l > /proc/sysrq-trigger
			fail "the load does not go: $(head -n 3 /run/cg/load/cgroup.procs | tr '\n' ' ')"
			return
		fi
		sleep 0.1
	done
	wait "$load" 2> /dev/null
	load=
	# A killed load leaves files, whose inodes use memory.
	rm -rf /run/load/*
}

# The host's files are far away: recorders look through all modules for debug information.
# Of these only what is used here stays, in memory.
few_modules() {
	modules=/lib/modules/$(uname -r)
	mkdir -p "/run/few$modules" /run/none
	cp "$modules"/modules.* "/run/few$modules/"
	# shellcheck disable=SC2086
	for name in loop ext4 $ordinary; do
		/sbin/modprobe --show-depends "$name" 2> /dev/null | sed -n 's/^insmod //p'
	done | sed 's/ .*//' | sort -u | while read -r file; do
		mkdir -p "/run/few${file%/*}"
		cp "$file" "/run/few$file"
	done
	mount --bind "/run/few$modules" "$modules"
	[ ! -d /usr/lib/debug ] || mount --bind /run/none /usr/lib/debug
}

soak_start() {
	mkdir -p /run/load /run/store /run/cg /run/bin
	cp "$LS_BIN"/* "$LS_KMOD"/lockscope.ko "$LS_KMOD"/ls_selftest.ko "$LS_KMOD"/ls_races.ko /run/bin/
	LS_BIN=/run/bin LS_KMOD=/run/bin
	few_modules
	: > /out/failures
	: > /out/injected
	: > /out/left-out
	mount -t tmpfs -o size=96m tmpfs /run/load
	/sbin/modprobe loop
	/sbin/modprobe ext4
	# What the recorder writes to is small: it can be full.
	truncate -s 64M /run/store.image
	/sbin/mke2fs -q -t ext4 -F /run/store.image
	mount -o loop /run/store.image /run/store
	mount -t cgroup2 none /run/cg
	echo "+memory" > /run/cg/cgroup.subtree_control
	mkdir /run/cg/load
	echo 200M > /run/cg/load/memory.max
	/bin/dmesg -n 1
	/bin/dmesg --follow > /run/kmsg 2> /dev/null &
	kmsg=$!
	# The kernel keeps the 2 MiB that it once gave to BPF programs.
	load_module
	"$LS_BIN/lockscope" stat -- true > /dev/null 2>&1
	unload lockscope
	account before
	load_module
	insmod "$LS_KMOD/ls_selftest.ko"
	awk '$3 == "order" { print $1 }' $cases/list > /run/cases
	daemon_start
}

soak_stop() {
	echo "no more steps after $number at $(uptime_s) s"
	load_stop
	echo "no more load at $(uptime_s) s"
	# While it runs: the log continues without a reader.
	check_store
	kill -TERM "$daemon"
	wait "$daemon" || fail "the recorder ended with status $?"
	echo "the recorder has ended at $(uptime_s) s"
	rmmod ls_selftest
	settled > /dev/null
	cp $state/stats /out/stats
	unload lockscope
	umount /run/cg
	account after
	kill $kmsg
	check_kernel
	check_trend
}

# The module, loaded again with other parameters.
step_reload() {
	draw 3
	set -- off sampled all
	shift "$drawn"
	reload_parameters="accesses=$1"
	draw 2
	reload_parameters="$reload_parameters splat=$drawn"
	draw 4
	reload_parameters="$reload_parameters ring_kb=$((64 << drawn))"
	draw 2
	reload_parameters="$reload_parameters waitqueues=$drawn"
	caught_up
	unload lockscope && load_module "$reload_parameters"
}

# A second recorder comes and goes while the first goes on.
step_record() {
	draw 2
	set -- sampled all
	shift "$drawn"
	draw 3
	rm -f /run/load/own.db
	"$LS_BIN/lockscope" record -q --accesses "$1" -o /run/load/own.db -- sleep "$drawn" 2> /out/record.stderr ||
		fail "record: $(tail -n 1 /out/record.stderr)"
	rm -f /run/load/own.db
}

# Statistics of every acquisition, and waits; one of two recorders is killed.
step_statistics() {
	draw 2
	if [ "$drawn" = 0 ]; then
		"$LS_BIN/lockscope" --json stat -o /run/load/stat.json -- sleep 1 2> /out/stat.stderr ||
			fail "stat: $(tail -n 1 /out/stat.stderr)"
	else
		"$LS_BIN/lockscope" stat -- sleep 60 > /dev/null 2>&1 &
		counter=$!
		draw 4
		sleep $((1 + drawn))
		kill -KILL $counter
		wait $counter 2> /dev/null
	fi
	"$LS_BIN/lockscope" --json waits > /run/load/waits.json 2> /out/waits.stderr || [ $? = 1 ] ||
		fail "waits: $(tail -n 1 /out/waits.stderr)"
	rm -f /run/load/stat.json /run/load/waits.json
}

step_kill() {
	draw 20
	sleep "0.$drawn"
	daemon_kill
	draw 2
	sleep "$drawn"
	daemon_start
}

# A few seeded cases; the driver's module is loaded again.
step_watched() {
	for time in 1 2 3; do
		draw "$(wc -l < /run/cases)"
		sed -n "$((drawn + 1))p" /run/cases > $cases/run || fail "seeded case $((drawn + 1)): not run"
	done
}

step_reload_watched() {
	rmmod ls_selftest && insmod "$LS_KMOD/ls_selftest.ko" || fail "the driver did not come again"
	step_watched
}

# Modules that are commonly loaded and unloaded.
step_ordinary() {
	# shellcheck disable=SC2086
	set -- $ordinary
	draw $#
	shift "$drawn"
	/sbin/modprobe "$1" 2> /dev/null && /sbin/modprobe -r "$1" 2> /dev/null
	return 0
}

# Instrumented code needs the module: neither is unloaded alone.
step_instrumented() {
	insmod "$LS_KMOD/ls_races.ko" || return 1
	echo "race/all" > /sys/kernel/debug/lockscope_races/run || fail "seeded races: not run"
	rmmod lockscope 2> /dev/null && fail "the module went while another needs it"
	rmmod ls_races || fail "ls_races did not go"
}

step_hotplug() {
	[ -w /sys/devices/system/cpu/cpu1/online ] || return 1
	for time in 1 2; do
		echo 0 > /sys/devices/system/cpu/cpu1/online || fail "processor 1 does not go off line"
		draw 2
		sleep "$drawn"
		echo 1 > /sys/devices/system/cpu/cpu1/online || fail "processor 1 does not come back"
	done
}

# Nearly all memory is taken, and the group's own share is used up.
step_pressure() {
	if [ -d /sys/kernel/debug/failslab ]; then
		inject_allocations
		return
	fi
	available=$(awk '/^MemAvailable:/ { print $2 }' /proc/meminfo)
	stress-ng --quiet --vm 1 --vm-bytes $((available * 8 / 10))K --vm-keep -t 4 > /dev/null 2>&1
	echo 1 > /proc/sys/vm/compact_memory
	echo 3 > /proc/sys/vm/drop_caches
	return 0
}

# Allocations that fail, where the kernel has that: one in a hundred, for the module too.
inject_allocations() {
	for kind in failslab fail_page_alloc; do
		[ -d /sys/kernel/debug/$kind ] || continue
		echo 1 > /sys/kernel/debug/$kind/probability
		echo 100 > /sys/kernel/debug/$kind/times
		echo N > /sys/kernel/debug/$kind/ignore-gfp-wait 2> /dev/null
	done
	sleep 3
	for kind in failslab fail_page_alloc; do
		[ ! -d /sys/kernel/debug/$kind ] || echo 0 > /sys/kernel/debug/$kind/probability
	done
}

# The load's group has too little, and the kernel kills in it.
step_squeeze() {
	echo 12M > /run/cg/load/memory.max
	sleep 2
	echo 200M > /run/cg/load/memory.max
}

# Tasks stop wherever they are, for a while; the recorder too.
step_freeze() {
	echo 1 > /run/cg/load/cgroup.freeze
	kill -STOP "$daemon"
	draw 3
	sleep "$drawn"
	step_watched
	kill -CONT "$daemon"
	echo 0 > /run/cg/load/cgroup.freeze
}

# All of them, as when the machine is about to sleep; this only pretends to.
step_suspend() {
	[ -w /sys/power/pm_test ] && grep -q freezer /sys/power/pm_test || return 1
	echo freezer > /sys/power/pm_test
	echo freeze > /sys/power/state || fail "tasks do not freeze"
	echo none > /sys/power/pm_test
}

# Tasks asleep in lock functions, some of them for longer than the module stays.
step_sleepers() {
	echo 1500 > $cases/sleep
	step_reload
	echo 300 > $cases/sleep
}

# No room left for the recorder. With room, it goes on where it was.
step_full() {
	settled > /dev/null
	dd if=/dev/zero of=/run/store/filler bs=64k > /dev/null 2>&1
	step_watched
	settled > /dev/null
	sleep 2
	rm -f /run/store/filler
	# It may be about to end: when all is stored it has gone on.
	stored
	if ! recorder_lives; then
		wait "$daemon"
		full_status=$?
		[ $full_status = 3 ] || fail "a full disk: the recorder ended with status $full_status"
		echo full-ended >> /out/injected
		daemon_start
	fi
	return 0
}

# Probes on unmodified code; their owner is killed.
step_probes() {
	rm -f /run/load/own.db
	"$LS_BIN/lockscope" record -q -o /run/load/own.db --watch 'pipe_*' --watch 'vfs_*' --probes 40 \
		-- sleep 60 2> /out/probes.stderr &
	recorder=$!
	for time in 1 2 3 4 5 6 7 8; do
		sleep 1
		! grep -q '^probes  *[1-9]' $state/stats || break
	done
	kill -KILL $recorder
	wait $recorder 2> /dev/null
	probes_left=$(sed -n 's/^probes  *//p' $state/stats)
	[ "$probes_left" = 0 ] || fail "a killed recorder left $probes_left probes"
	rm -f /run/load/own.db
}

step_parameters() {
	draw 2
	echo "$drawn" > /sys/module/lockscope/parameters/splat
}
