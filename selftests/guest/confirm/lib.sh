# SPDX-License-Identifier: GPL-2.0
# Sourced by the scripts beside it, after lib.sh.

# unhung NAME SECONDS COMMAND...: runs it. One that does not end is a test in its deadlock: its
# name is in /out/hung then, and nothing goes on.
unhung() {
	hung_name=$1 hung_seconds=$2
	shift 2
	status=0
	timeout -k 5 "$hung_seconds" "$@" 2> /out/stderr || status=$?
	cat /out/stderr >&2
	if [ $status = 124 ] || [ $status = 137 ] || grep -q 'left behind' /out/stderr; then
		echo "$hung_name" > /out/hung
		exit 1
	fi
	[ $status = 0 ] || reported $status
}

# settle NAME REPEAT SECONDS: records case NAME once, one side after the other; then lets
# `lockscope confirm` settle all its findings, hidden ones too, while its sides run in loops.
# One line a finding in /out/answers: NAME fault|twin ID RESULT REASON RUNS MEDIAN TRIES
settle() {
	echo 1 > $state/reset
	store=/out/$1.db
	rm -f "$store"
	lockscope record -q -o "$store" -- sh -c "echo $1 > $cases/run"
	unhung "$1" $(($2 * ($3 + 2) + 15)) "$LS_BIN/lockscope" confirm -q --json --top 8 --hidden \
		--repeat "$2" --duration "$3" "$store" -- sh -c "echo loops=2000 $1 > $cases/run" \
		> "/out/$1.json"
	verdict=$(awk -v name="$1" '$1 == name { print $2 }' $cases/loops)
	jq -r --arg name "$1" --arg verdict "$verdict" '.[] | select(.verdict) |
		[$name, $verdict, .id, .verdict.result, (.verdict.reason // "-"), .confirmed_runs,
		 ((.seconds | sort | .[length / 2 | floor]) // "-"), .verdict.tries] |
		map(tostring) | join(" ")' "/out/$1.json" | tee -a /out/answers
}
