#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# What a test of a driver does: each function once. Nothing hangs, and nothing fails.
set -e
for id in 1 2 3; do echo "add $id" > /dev/routes; done
echo age > /dev/routes
echo drop 2 > /dev/routes
echo age > /dev/routes
