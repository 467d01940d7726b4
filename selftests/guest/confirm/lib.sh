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

# answered FILE: adds what `lockscope confirm` left there to /out/answers.
answered() {
	jq -r --arg name "$name" --arg verdict "$verdict" '.[] | select(.verdict) |
		[$name, $verdict, .id, .verdict.result, (.verdict.reason // "-"), .confirmed_runs,
		 ((.seconds | sort | .[length / 2 | floor]) // "-"), .verdict.tries] |
		map(tostring) | join(" ")' "$1" | tee -a /out/answers
}

# answers NAME VERDICT REPEAT SECONDS COMMAND...: lets `lockscope confirm` settle all findings in
# /out/NAME.db, hidden ones too, while COMMAND runs.
# One line a finding in /out/answers: NAME fault|twin ID RESULT REASON RUNS MEDIAN TRIES
answers() {
	name=$1 verdict=$2 repeat=$3 seconds=$4
	shift 4
	unhung "$name" $((repeat * (seconds + 2) + 15)) "$LS_BIN/lockscope" confirm -q --json --top 8 \
		--hidden --repeat "$repeat" --duration "$seconds" "/out/$name.db" -- "$@" > "/out/$name.json"
	answered "/out/$name.json"
}

# settle_finding NAME VERDICT REPEAT SECONDS ID COMMAND...: the same for one finding of
# /out/NAME.db.
settle_finding() {
	name=$1 verdict=$2 repeat=$3 seconds=$4 id=$5
	shift 5
	unhung "$name" $((repeat * (seconds + 10) + 60)) "$LS_BIN/lockscope" confirm -q --json \
		--repeat "$repeat" --duration "$seconds" "$id" "/out/$name.db" -- "$@" > "/out/$name.$id.json"
	answered "/out/$name.$id.json"
}

# settle NAME REPEAT SECONDS: records case NAME once, one side after the other; then its sides
# run in loops.
settle() {
	echo 1 > $state/reset
	rm -f "/out/$1.db"
	lockscope record -q -o "/out/$1.db" -- sh -c "echo $1 > $cases/run"
	answers "$1" "$(awk -v name="$1" '$1 == name { print $2 }' $cases/loops)" "$2" "$3" \
		sh -c "echo loops=2000 $1 > $cases/run"
}

# settle_race NAME REPEAT SECONDS: the same for a race.
settle_race() {
	echo 1 > $state/reset
	rm -f "/out/$1.db"
	lockscope record -q --accesses all -o "/out/$1.db" -- sh -c "echo turns=4 $1 > $cases/run"
	answers "$1" "$(awk -v name="$1" '$1 == name { print $2 }' $cases/list)" "$2" "$3" \
		sh -c "echo ms=1000 $1 > $cases/run"
}
