# SPDX-License-Identifier: GPL-2.0
# Sourced by scenarios, on the host. scripts/check sets LS_BIN, LS_KMOD, LS_OUT
# and LS_RELEASE.
: "${LS_BIN:?start me with scripts/check}" "${LS_KMOD:?}" "${LS_OUT:?}"

scenarios=selftests/scenarios
judge=$scenarios/lib/judge
failed=0

ok() { echo "ok $1"; }
not_ok() {
	echo "not ok $1 - $2"
	failed=1
}

# check NAME WHY COMMAND...: one result line by the command's status.
check() {
	check_name=$1 check_why=$2
	shift 2
	if "$@"; then ok "$check_name"; else not_ok "$check_name" "$check_why"; fi
}

# boot NAME [OPTION]... -- SCRIPT [ARGUMENT]...: runs selftests/guest/SCRIPT in a VM with
# the driver of seeded cases loaded; results come to $LS_OUT/NAME. Returns the
# script's status. Modules given as options are loaded early, in order.
boot() {
	boot_name=$1
	shift
	boot_options=
	boot_timeout=300
	while [ "$1" != -- ]; do
		if [ "$1" = --timeout ]; then
			boot_timeout=$2
			shift
		else
			boot_options="$boot_options $(quote "$1")"
		fi
		shift
	done
	shift
	boot_script=$1
	shift
	rm -rf "${LS_OUT:?}/$boot_name"
	eval "\"\$LS_BIN/lockscope\" vm run -o \"\$LS_OUT/\$boot_name\" $boot_options \
		--timeout $((boot_timeout * ${SLOW:-1})) -- env \
		LS_BIN=\"\$LS_BIN\" LS_KMOD=\"\$LS_KMOD\" LS_RELEASE=\"\${LS_RELEASE:-}\" \
		sh \"selftests/guest/\$boot_script\" \"\$@\"" \
		> "$LS_OUT/$boot_name.stdout" 2> "$LS_OUT/$boot_name.stderr"
	boot_status=$?
	report_stores "$LS_OUT/$boot_name" ||
		not_ok "$boot_name" "no report of a store: $(tail -n 1 "$LS_OUT/$boot_name.stderr")"
	console_clean "$boot_name"
	if [ $boot_status != 0 ]; then
		not_ok "$boot_name" "the guest's script ended with status $boot_status: $(tail -n 1 "$LS_OUT/$boot_name.stderr")"
	fi
	return $boot_status
}

# report_stores FOLDER: both reports of the stores that a guest has listed, beside them. What a run
# is too incomplete for (3) stands in them.
report_stores() {
	[ -e "$1/stores" ] || return 0
	while read -r store; do
		store=$1/${store#/out/}
		for kind in "" .all; do
			"$LS_BIN/lockscope" report ${kind:+--all} --format json -o "${store%.db}$kind.json" \
				"$store" < /dev/null || reported $? || return
		done
		"$LS_BIN/lockscope" report --all "$store" < /dev/null > "${store%.db}.txt" || reported $? ||
			return
	done < "$1/stores" 2>> "$1.stderr"
}

# merged_alike NAME STORE COPIES: a store merged with copies of itself, as if other boots had seen the
# same, has the same findings, as sure and as severe.
merged_alike() {
	alike=${2%.db}.alike
	mkdir -p "$alike" && rm -f "$alike"/*.db
	set -- "$1" "$2" "$3" "$2"
	while [ $(($# - 3)) -lt "$3" ]; do
		"$LS_BIN/lockscope" merge -o "$alike/$#.db" "$2" 2>> "$alike/stderr" &&
			sqlite3 "$alike/$#.db" \
				"UPDATE run SET instance = instance || '-$#', boot = boot || '-$#'" || break
		set -- "$@" "$alike/$#.db"
	done
	alike_name=$1
	shift 3
	"$LS_BIN/lockscope" merge -o "$alike/merged.db" "$@" 2>> "$alike/stderr"
	runs_and_findings "$1" > "$alike/one"
	runs_and_findings "$alike/merged.db" > "$alike/merged"
	check "$alike_name: $# boots that saw the same, as one" \
		"$(diff "$alike/one" "$alike/merged" | grep -m 3 '^[<>]' | tr '\n' ' ')" \
		alike $# "$alike/one" "$alike/merged"
}

# runs_and_findings STORE: the number of runs, and a line for each finding. Those about semaphores
# are left out: what share of them was handed over is more certain after ten boots.
runs_and_findings() {
	"$LS_BIN/lockscope" report --all --format json "$1" < /dev/null 2>> "$alike/stderr" |
		jq -c '(.runs | length), ([.findings[] | select(all(.classes[]; .kind != "semaphore"))
			| [.id, .severity, .confidence, [.filters[].name]]] | sort | .[])'
}

# alike COPIES ONE MERGED: is it a list of as many runs, with the same findings?
alike() {
	[ "$(head -n 1 "$3")" = "$1" ] && [ "$(sed 1d "$2")" = "$(sed 1d "$3")" ] &&
		[ "$(wc -l < "$2")" -gt 1 ]
}

# Is status $1 that of a report which was written?
reported() { [ "$1" = 1 ] || [ "$1" = 3 ] || return "$1"; }

quote() { printf "'%s'" "$(printf %s "$1" | sed "s/'/'\\\\''/g")"; }

. selftests/scenarios/lib/trouble.sh

console_clean() {
	if [ ! -s "$LS_OUT/$1/console.log" ]; then
		not_ok "$1: console" "no console.log"
	elif grep -aE "$trouble" "$LS_OUT/$1/console.log" | grep -avE "$own" > "$LS_OUT/$1.trouble"; then
		# With its place, in case only this line is read.
		not_ok "$1: console clean" "$(head -n 1 "$LS_OUT/$1.trouble" | tr -d '\r') $(
			grep -aoE 'RIP: 0010:[^ ]+| [a-z_0-9.]+\+0x[^ ]+ \[lockscope\]' "$LS_OUT/$1/console.log" |
				head -n 6 | tr '\r\n' '  ')"
		# And all of it, in case the machine is gone with its files.
		grep -aE -m 1 -A 45 'cut here|BUG:|Oops|WARNING:|general protection|invalid opcode' \
			"$LS_OUT/$1/console.log" | tr -d '\r' | sed 's/^/# /'
	else
		ok "$1: console clean"
	fi
}

# no_losses NAME REPORT.json
no_losses() {
	losses=$(jq -r '.losses | to_entries | map(select(.value != 0) | "\(.key) \(.value)") | join(", ")' "$2") || losses="no report"
	check "$1: no losses" "$losses" [ -z "$losses" ]
	# Without the module a run is never complete.
	cut_short=$(jq -r '[.incomplete[] | select(.reason != "no-module") | .text] | join("; ")' "$2") ||
		cut_short="no report"
	check "$1: complete" "$cut_short" [ -z "$cut_short" ]
}

# explained NAME REPORT.json: each finding has a section in docs/triage.md,
# "## ID ...", and it has to say what the finding is. The list of them is left in
# $LS_OUT/findings.
explained() {
	jq -r '.findings[] | select(any(.filters[]?; .hidden) | not) | "\(.id)\t\(.title)"' "$2" > "$LS_OUT/findings"
	while IFS="$(printf '\t')" read -r id title; do
		if sed -n "/^## $id/,/^## /p" docs/triage.md 2> /dev/null | grep -qE '^(Real|False|Fixed):'; then
			ok "$1: finding $id is explained"
		else
			not_ok "$1: finding $id is explained" "not in docs/triage.md: $title"
		fi
	done < "$LS_OUT/findings"
}
