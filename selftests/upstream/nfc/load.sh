# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=sh disable=SC2034
# Sourced in the guest, see selftests/guest/confirm/upstream. Devices of nfcsim, a driver
# without hardware.
module=nfc
locks="rfkill_global_mutex|(nfc depth"
limit=40
simulator=$(modinfo -n nfcsim)

# prepare stock|FILE
prepare() {
	modprobe rfkill
	if [ "$1" = stock ]; then modprobe nfc; else insmod "$1"; fi
	modprobe nfc_digital
	insmod "$simulator"
}

leave() {
	[ ! -e /sys/module/nfcsim ] || rmmod nfcsim
	rmmod nfc_digital nfc
}

once() { "$1" "$simulator" once; }
# What confirm ends before its plan is this process, not one that it has started.
again() { exec "$1" "$simulator" 2; }
