#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# Process 1 of the guest. Its one job: lay a writable overlay over the host's
# root, run the command in there, hand back output, files and exit status.
# Talks to the host through files in /ctl (9p): stdout, stderr, state, status.
# It never leaves the initramfs, so that it works on when the root breaks.

export PATH=/bin
. /ls/config

mount -t proc proc /proc
mount -t sysfs sysfs /sys
mount -t devtmpfs devtmpfs /dev

power_off() {
	sync
	poweroff -f
	sleep 1
	echo o > /proc/sysrq-trigger
	while :; do sleep 10; done
}

# "failed TEXT" is read by the host: the guest could not be prepared.
failed() {
	echo "lockscope-vm: $*" > /dev/console
	echo "failed $*" > /ctl/status
	power_off
}

# Not empty from here on: an empty console means that nothing was started.
echo "lockscope-vm: started" > /dev/console

# kernel_says NAME: what it printed about a module, in one line; three lines of it at most.
kernel_says() {
	dmesg | awk -v name="$1" '
		{ sub(/^\[ *[0-9.]+\] /, "") }
		index($0, name ": ") == 1 && !/taints kernel|tainting kernel/ && !seen[$0]++ && n++ < 3 {
			printf "; %s", substr($0, length(name) + 3)
		}'
}

# load FILE [PARAMETER]...: sets $refused to why it did not work.
load() {
	refused=
	error=$(insmod "$@" 2>&1) && return
	name=${1##*/}
	name=$(echo "${name%.ko}" | awk '{ gsub("-", "_"); print }')
	refused="insmod ${1##*/}: ${error##*: }$(kernel_says "$name")"
	return 1
}

needed_refused=
while read -r module soft; do
	load "$module" || [ -n "$soft" ] || {
		echo "lockscope-vm: $refused" > /dev/console
		needed_refused="$needed_refused; $refused"
	}
done < /ls/boot-modules

# The boot is over: from here on everything is printed to the console.
dmesg -n 8

# load_modules: those of the list that are not loaded yet, until one fails.
loaded=0
load_modules() {
	at=0
	while read -r module arguments; do
		at=$((at + 1))
		[ "$at" -gt "$loaded" ] || continue
		load "/ls/modules/$module" $arguments || return
		loaded=$at
	done < /ls/modules.list
}

# First, so that the modules see allocations early. One that fails may have requested another
# module: it is loaded again when there is a modprobe, and failures are reported then.
load_modules

mkdir -p /ctl /lower /rw /new
mount -t 9p -o trans=virtio,version=9p2000.L,cache=none,msize=262144 ctl /ctl || {
	echo "lockscope-vm: no 9p over virtio" > /dev/console
	power_off
}
echo booted > /ctl/state
# The kernel requests modules by /sbin/modprobe in process 1's root, which is this one; modules
# and the tool are in the other root. Until that is mounted the call fails.
mkdir -p /sbin
printf '#!/bin/sh\nexec /bin/chroot /new /sbin/modprobe "$@"\n' > /sbin/modprobe
chmod 755 /sbin/modprobe
mount -t 9p -o trans=virtio,version=9p2000.L,ro,cache=loose,msize=262144 root /lower ||
	failed "cannot mount the host's root"
mount -t tmpfs -o size=75% tmpfs /rw
mkdir /rw/upper /rw/work
mount -t overlay -o lowerdir=/lower,upperdir=/rw/upper,workdir=/rw/work overlay /new ||
	failed "cannot lay an overlay over the host's root"

mount -t proc proc /new/proc
mount -t sysfs sysfs /new/sys
mount -t devtmpfs devtmpfs /new/dev
[ -z "$LS_MODULES_DIR" ] || [ -d "/new/lib/modules/$LS_RELEASE" ] || {
	mkdir -p "/new/lib/modules/$LS_RELEASE"
	mount --bind "/new$LS_MODULES_DIR" "/new/lib/modules/$LS_RELEASE"
	cp "/new$LS_BOOT_DIR/config-$LS_RELEASE" /new/boot/ 2> /dev/null
}
[ -z "$refused" ] || load_modules || failed "$refused$needed_refused"

# What a booted Debian has: links and nodes of /dev, then the file systems that systemd mounts.
ln -s /proc/self/fd /new/dev/fd
ln -s /proc/self/fd/0 /new/dev/stdin
ln -s /proc/self/fd/1 /new/dev/stdout
ln -s /proc/self/fd/2 /new/dev/stderr
ln -s /proc/kcore /new/dev/core
# A node's first open loads its module, as with kmod-static-nodes.service.
while read -r module node number; do
	type=${number%%[0-9]*} number=${number#[bc]}
	[ "$module" != '#' ] && [ -n "$type" ] && [ ! -e "/new/dev/$node" ] || continue
	case $node in
	*/*) mkdir -p "/new/dev/${node%/*}" ;;
	esac
	mknod -m 600 "/new/dev/$node" "$type" "${number%:*}" "${number#*:}"
done < "/new/lib/modules/$LS_RELEASE/modules.devname" 2> /dev/null
# 50-udev-default.rules: for everyone.
chmod 666 /new/dev/fuse /new/dev/net/tun 2> /dev/null

mkdir -p /new/dev/pts /new/dev/shm /new/dev/mqueue /new/dev/hugepages
mount -t devpts -o gid=5,mode=620,ptmxmode=666 devpts /new/dev/pts
mount -t tmpfs -o nosuid,nodev tmpfs /new/dev/shm
mount -t mqueue mqueue /new/dev/mqueue 2> /dev/null
mount -t hugetlbfs -o pagesize=2M hugetlbfs /new/dev/hugepages 2> /dev/null
mount -t tmpfs -o mode=755 tmpfs /new/run
mkdir -m 1777 /new/run/lock
mount -t securityfs securityfs /new/sys/kernel/security 2> /dev/null
mount -t cgroup2 -o nsdelegate,memory_recursiveprot cgroup2 /new/sys/fs/cgroup 2> /dev/null
mount -t pstore pstore /new/sys/fs/pstore 2> /dev/null
mount -t debugfs debugfs /new/sys/kernel/debug 2> /dev/null
# stress-ng clears it as it starts, and with it what DO_ONCE() remembers: two of its work items
# for one static key are a BUG() in lib/once.c.
mount --bind /dev/null /new/sys/kernel/debug/clear_warn_once 2> /dev/null
mount -t tracefs tracefs /new/sys/kernel/tracing 2> /dev/null
mount -t bpf bpf /new/sys/fs/bpf 2> /dev/null
# The mount point is made by its module, which systemd loads as well.
/sbin/modprobe -q configfs && mount -t configfs configfs /new/sys/kernel/config 2> /dev/null
mkdir -p /new/tmp /new/out /new/run/lockscope-vm
rm -rf /new/out/..?* /new/out/.[!.]* /new/out/* 2> /dev/null
chmod 1777 /new/tmp
# Files in /out/live appear in the result directory at once, also when the guest crashes.
# cache=mmap: SQLite shares memory through a file.
if [ "$LS_OUT" = 1 ]; then
	mkdir /new/out/live
	mount -t 9p -o trans=virtio,version=9p2000.L,cache=mmap,msize=262144 out /new/out/live ||
		failed "cannot mount the result directory"
fi
hostname lockscope-vm
ip link set lo up 2> /dev/null || ifconfig lo up 2> /dev/null

/bin/sh /ls/copies.sh || failed "cannot copy files into the guest"
cp /ls/command.sh /new/run/lockscope-vm/command.sh
# With their debug information, which lockscope record looks for there.
mkdir /new/run/lockscope-vm/modules
mount --bind /ls/modules /new/run/lockscope-vm/modules
# udevadm does nothing in a chroot unless this is set.
[ "$LS_UDEV" != 1 ] || SYSTEMD_IGNORE_CHROOT=1 chroot /new /bin/sh -c '
	/lib/systemd/systemd-udevd --daemon && udevadm trigger --type=all --action=add &&
	udevadm settle --timeout=120' > /dev/null 2>&1 ||
	failed "udev did not find the drivers of all devices; is the package udev installed?"
echo running > /ctl/state

hand_back() {
	echo leaving > /ctl/state
	if [ "$LS_OUT" = 1 ]; then
		# Move the mount out of the folder that is copied into it.
		mkdir -p /out
		mount --move /new/out/live /out || failed "cannot move the result directory"
		rmdir /new/out/live
		# Everything, dot files too; sockets and pipes cannot be copied.
		cp -R -P /new/out/. /out/ 2> /ctl/copy-errors ||
			echo "lockscope-vm: some of /out was not copied" > /dev/console
		umount /out
	fi
	echo "exit $1" > /ctl/status
	power_off
}

# A terminal on a line of its own: it ends with the session.
if [ "$LS_SHELL" = 1 ]; then
	setsid -c chroot /new /bin/sh /run/lockscope-vm/command.sh < /dev/ttyS1 > /dev/ttyS1 2>&1
	hand_back $?
fi

# Pipes, not the 9p files themselves: a command that opens /dev/stdout again must not truncate
# it.
mkfifo /stdout /stderr
cat < /stdout >> /ctl/stdout & out=$!
cat < /stderr >> /ctl/stderr & err=$!
# A shell of its own, so that its death by a signal is only a status here.
setsid chroot /new /bin/sh /run/lockscope-vm/command.sh < /dev/null > /stdout 2> /stderr
status=$?
# A daemon left behind may hold the pipes open for ever.
(sleep 2; kill "$out" "$err") 2> /dev/null & guard=$!
wait "$out" "$err"
kill "$guard" 2> /dev/null

hand_back "$status"
