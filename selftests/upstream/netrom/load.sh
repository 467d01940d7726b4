# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=sh disable=SC2034
# Sourced in the guest, see selftests/guest/confirm/upstream. An AX.25 device over an Ethernet
# device that leads nowhere.
module=netrom
locks="nr_node_list_lock|@ nr_add_node"
limit=20

# prepare stock|FILE
prepare() {
	ip link add upstream0 type veth peer name upstream1
	modprobe bpqether
	ip link set upstream0 up
	ip link set bpq0 up
	if [ "$1" = stock ]; then modprobe netrom; else insmod "$1"; fi
}

leave() {
	rmmod netrom bpqether
	ip link del upstream0
}

once() { "$1" bpq0 once; }
# What confirm ends before its plan is this process, not one that it has started.
again() { exec "$1" bpq0 2; }
