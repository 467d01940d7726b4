#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# What a test of a driver does: each function once, by processes of their own. Nothing hangs, and
# nothing fails.
set -e
for request in "add 1" "add 2" age "drop 2" age; do
	sh -c 'echo "$1" > /dev/routes' sh "$request"
done
