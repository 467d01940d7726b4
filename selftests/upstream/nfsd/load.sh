# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=sh disable=SC2034
# Sourced in the guest, see selftests/guest/confirm/upstream. A server and two clients of it on
# this machine: one gets delegations, the other none, as no network leads to its callbacks. The export is
# what rpc.mountd would say when the kernel asks.
module=nfsd
locks="nfsd4_files|flc_lock"
limit=60
base=/run/upstream

# prepare stock|FILE
prepare() {
	ip link set lo up
	modprobe nfsv4
	if [ "$1" = stock ]; then
		modprobe nfsd
	else
		modprobe -a lockd grace auth_rpcgss nfs_acl
		insmod "$1"
	fi
	mkdir -p $base/export $base/delegated $base/locked /var/lib/nfs/v4recovery
	mount -t tmpfs tmpfs $base/export
	mountpoint -q /proc/fs/nfsd || mount -t nfsd nfsd /proc/fs/nfsd
	echo "-2 -3 +4 +4.1" > /proc/fs/nfsd/versions 2> /dev/null || :
	echo "tcp 2049" > /proc/fs/nfsd/portlist
	echo 8 > /proc/fs/nfsd/threads
	echo Y > /proc/fs/nfsd/v4_end_grace
	# insecure, async, no_subtree_check, fsid=0, as numbers
	echo "nfsd 127.0.0.1 2147483647 local" > /proc/net/rpc/auth.unix.ip/channel
	echo "local $base/export 2147483647 9234 65534 65534 0" > /proc/net/rpc/nfsd.export/channel
	printf "%s\n" "local 1 \\x00000000 2147483647 $base/export" > /proc/net/rpc/nfsd.fh/channel
	mount -i -t nfs4 -o vers=4.1,addr=127.0.0.1,clientaddr=127.0.0.1 127.0.0.1:/ $base/delegated
	mount -i -t nfs4 -o vers=4.0,addr=127.0.0.1,clientaddr=192.0.2.1 127.0.0.1:/ $base/locked
}

leave() {
	umount $base/delegated $base/locked
	echo 0 > /proc/fs/nfsd/threads
	date +%s > /proc/net/rpc/nfsd.fh/flush
	date +%s > /proc/net/rpc/nfsd.export/flush
	date +%s > /proc/net/rpc/auth.unix.ip/flush
	umount $base/export /proc/fs/nfsd
	rmmod nfsd
}

once() { "$1" $base once; }
# What confirm ends before its plan is this process, not one that it has started.
again() { exec "$1" $base 3; }
