# SPDX-License-Identifier: GPL-2.0
# For tests that run the program on made-up images. $make_image makes them;
# the test is skipped where the unit tests, which build it, were not built.
make_image=out/build/sanitize/bin/make_image
if [ ! -x "$make_image" ]; then
	echo "skip $(basename "$0") - no make_image, which the unit tests build"
	exit 0
fi

# run ARGUMENT...: lockscope, its output in $LS_OUT, its status in $status.
run() {
	"$LS_BIN/lockscope" "$@" > "$LS_OUT/stdout" 2> "$LS_OUT/stderr"
	status=$?
}

# expect NAME STATUS PATTERN FILE: one result.
expect() {
	if [ "$status" != "$2" ]; then
		echo "not ok $1 - exit status $status, not $2: $(tail -n 1 "$LS_OUT/stderr")"
	elif ! grep -q -e "$3" "$4"; then
		echo "not ok $1 - no \"$3\" in $(basename "$4")"
	else
		echo "ok $1"
	fi
}
