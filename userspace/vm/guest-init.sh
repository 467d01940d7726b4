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

while read -r module; do
	insmod "$module" || echo "lockscope-vm: insmod $module failed" > /dev/console
done < /ls/boot-modules

# The boot is over: from here on everything is printed to the console.
dmesg -n 8

# First, so that the modules see allocations early; failures are reported when there is a
# channel for them.
module_failure=
while read -r module arguments; do
	[ -n "$module_failure" ] ||
		error=$(insmod "/ls/modules/$module" $arguments 2>&1) ||
		module_failure="insmod $module $arguments: ${error##*: }"
done < /ls/modules.list

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
[ -z "$module_failure" ] || failed "$module_failure"
mount -t 9p -o trans=virtio,version=9p2000.L,ro,cache=loose,msize=262144 root /lower ||
	failed "cannot mount the host's root"
mount -t tmpfs -o size=75% tmpfs /rw
mkdir /rw/upper /rw/work
mount -t overlay -o lowerdir=/lower,upperdir=/rw/upper,workdir=/rw/work overlay /new ||
	failed "cannot lay an overlay over the host's root"

mount -t proc proc /new/proc
mount -t sysfs sysfs /new/sys
mount -t devtmpfs devtmpfs /new/dev
mkdir -p /new/dev/pts /new/dev/shm
mount -t devpts -o gid=5,mode=620,ptmxmode=666 devpts /new/dev/pts
mount -t tmpfs tmpfs /new/dev/shm
mount -t tmpfs tmpfs /new/run
mount -t debugfs debugfs /new/sys/kernel/debug 2> /dev/null
# stress-ng clears it as it starts, and with it what DO_ONCE() remembers: two of its work items
# for one static key are a BUG() in lib/once.c.
mount --bind /dev/null /new/sys/kernel/debug/clear_warn_once 2> /dev/null
mount -t tracefs tracefs /new/sys/kernel/tracing 2> /dev/null
mount -t bpf bpf /new/sys/fs/bpf 2> /dev/null
[ -z "$LS_MODULES_DIR" ] || [ -d "/new/lib/modules/$LS_RELEASE" ] || {
	mkdir -p "/new/lib/modules/$LS_RELEASE"
	mount --bind "/new$LS_MODULES_DIR" "/new/lib/modules/$LS_RELEASE"
	cp "/new$LS_BOOT_DIR/config-$LS_RELEASE" /new/boot/ 2> /dev/null
}
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
# udevadm does nothing in a chroot unless this is set.
[ "$LS_UDEV" != 1 ] || SYSTEMD_IGNORE_CHROOT=1 chroot /new /bin/sh -c '
	/lib/systemd/systemd-udevd --daemon && udevadm trigger --type=all --action=add &&
	udevadm settle --timeout=120' > /dev/null 2>&1 ||
	failed "udev did not find the drivers of all devices; is the package udev installed?"
echo running > /ctl/state

hand_back() {
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
