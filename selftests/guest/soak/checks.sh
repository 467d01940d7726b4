# SPDX-License-Identifier: GPL-2.0
# Sourced by selftests/guest/soak/soak: what has to hold after every step.

fail() {
	echo "step ${number:-0} ${step:-start}: $*" >> /out/failures
	echo "FAILED step ${number:-0} ${step:-start}: $*"
}

# Written from the module's figures, in its words.
stat_of() { sed -n "s/^$1  *\([0-9]*\).*/\1/p" $state/stats; }

# All that may be used: tables, the log's and the shadow's bounds. KiB.
most_module=$((224 * 1024))
most_daemon=$((192 * 1024))

check_all() {
	check_counters
	check_kernel
	check_findings
	check_memory
	check_recorder
	{
		echo "step $number $1 at $(uptime_s) s, $(($(uptime_s) - started)) s: findings $total," \
			"records $records, log $(stat_of 'log bytes') B, module $memory KiB," \
			"recorder $rss KiB, unreclaimable $(awk '/^SUnreclaim:/ { print $2 }' /proc/meminfo) KiB," \
			"available $(awk '/^MemAvailable:/ { print $2 }' /proc/meminfo) KiB, load$load_options"
		awk '/^lost/ && $NF != 0 { print "  lost " $2 " " $NF }' $state/stats
	} | tee -a /out/soak.log
	# The store is looked at less often: that takes long here.
	[ $((number % 8)) != 0 ] || check_store
}

. selftests/scenarios/lib/trouble.sh
check_kernel() {
	grep -aE "$trouble" /run/kmsg | grep -avE "$own" > /run/trouble.now
	[ "$(wc -l < /run/trouble.now)" -le "${trouble_known:-0}" ] ||
		fail "the kernel says: $(tail -n "+$((${trouble_known:-0} + 1))" /run/trouble.now | head -n 1)"
	trouble_known=$(wc -l < /run/trouble.now)
}

# Of one load: never fewer than before.
check_findings() {
	case $total in
	'' | *[!0-9]*) fail "findings_total says \"$total\"" && total=0 ;;
	esac
	[ "$total" -ge "${findings_before:-0}" ] || fail "findings: $findings_before before, $total now"
	findings_before=$total
}

# Every event of the hooks was taken, and everything to be recorded is in the log or counted as
# lost. A few loads lose nothing: those with the smallest rings may.
check_counters() {
	grep -q '^active  *1' $state/stats || fail "the module does not record"
	before_told=$(sed -n 's/^events .* of \([0-9]*\) taken/\1/p' $state/stats)
	total=$(settled)
	cp $state/stats /run/stats
	now_taken=$(sed -n 's/^events  *\([0-9]*\) of .*/\1/p' /run/stats)
	[ "$now_taken" -ge "$before_told" ] || fail "$before_told events were told, $now_taken are taken"
	# shellcheck disable=SC2046
	set -- $(sed -n 's/^records  *\([0-9]*\) of \([0-9]*\) written/\1 \2/p' /run/stats)
	records=$1 lost_records=$(stat_of 'lost records')
	[ $(($2 - $1)) -le "$lost_records" ] || fail "$2 records, $1 written, $lost_records lost"
	[ "$lost_records" -gt 0 ] || [ "$1" = "$2" ] || fail "$1 of $2 records, and none lost"
}

check_memory() {
	memory=$(stat_of memory)
	rss=$(awk '/^VmRSS:/ { print $2 }' "/proc/$daemon/status" 2> /dev/null)
	rss=${rss:-0}
	[ "${memory:-0}" -gt 0 ] || fail "the module does not say what memory it has"
	[ "$memory" -le $most_module ] || fail "the module has $memory KiB"
	[ "$rss" -le $most_daemon ] || fail "the recorder has $rss KiB"
}

# sql QUERY: in the recorder's store.
sql() { sqlite3 $store "$1" 2> /run/sql.stderr; }

# stored: waits until everything that is in the log by now is in the store, for 90 s; fails
# when it is not, or at once when the recorder has ended.
stored() {
	settled > /dev/null
	cp $state/stats /run/stats.first
	wanted=$(sed -n 's/^log bytes  *//p' /run/stats.first)
	tries=0
	until [ "$(sql "SELECT log_offset FROM run WHERE id = (SELECT max(id) FROM run)")" -ge "$wanted" ] 2> /dev/null; do
		tries=$((tries + 1))
		[ $tries -lt 300 ] && recorder_lives || return 1
		sleep 0.3
	done
}

# Not as a process that has ended and waits for us.
recorder_lives() { grep -q '^VmRSS:' "/proc/$daemon/status" 2> /dev/null; }

check_recorder() { recorder_lives || fail "the recorder has ended: $(tail -n 1 /out/daemon.stderr)"; }

caught_up() {
	stored || {
		fail "the recorder does not come to byte $wanted of the log: $(tail -n 1 /out/daemon.stderr)"
		return 1
	}
}

# What the module has is in the store, each record once. Findings that a report ever had
# stay in it.
check_store() {
	caught_up || return
	for what in sights:sight stacks:stack; do
		set -- $(echo "$what" | tr : ' ')
		least=$(sed -n "s/^$1  *\([0-9]*\).*/\1/p" /run/stats.first)
		rows=$(sql "SELECT count(*) FROM $2 WHERE run = (SELECT max(id) FROM run)")
		most=$(stat_of "$1")
		[ "${rows:-0}" -ge "$least" ] && [ "$rows" -le "$most" ] ||
			fail "store: $rows $1, the module had $least to $most"
	done
	lockscope report --all --allow-incomplete --format json -o /run/report.json $store 2> /run/report.stderr ||
		[ $? = 1 ] || fail "report: $(tail -n 1 /run/report.stderr)"
	jq -r '.findings[].id' /run/report.json | sort -u > /run/ids.now
	touch /run/ids
	gone=$(comm -23 /run/ids /run/ids.now | tr '\n' ' ')
	[ -z "$gone" ] || fail "findings are gone from the store: $gone"
	mv /run/ids.now /run/ids
	echo "store $(wc -l < /run/ids) findings in $(sql 'SELECT count(*) FROM run') runs," \
		"$(($(stat -c %s $store) / 1024)) KiB" | tee -a /out/soak.log
	checked=$((${checked:-0} + 1))
}

# Nothing that the kernel does not have back when the module has gone. What the rest of
# the system keeps does not grow with time, but it is there.
check_trend() {
	for pair in orphans:0 vmalloc:1024 percpu:2048 sunreclaim:16384 kmalloc:8192; do
		what=${pair%:*}
		more=$(($(figure after "$what") - $(figure before "$what")))
		[ $more -le "${pair#*:}" ] || fail "$what: $more more than before" \
			"$([ $what != vmalloc ] || callers_grew)"
	done
}

summary() {
	echo "seed $seed, $minutes minutes, kernel $(uname -r), $(nproc) processors"
	echo "steps: $number, looks into the store: ${checked:-0}, loads of the module: $loaded"
	sort /out/injected | uniq -c | awk '{ printf "%6d  %s\n", $1, $2 }'
	[ ! -s /out/left-out ] || sort /out/left-out | uniq -c | awk '{ printf "%6d  not there: %s\n", $1, $2 }'
	echo "findings in the store: $(wc -l < /run/ids)"
	echo "vmalloc areas that grew: $(callers_grew)"
	# Highest of each.
	awk '/^step/ { for (i = 1; i < NF; i++) {
			if ($i == "module" && $(i+1) > m) m = $(i+1)
			if ($i == "recorder" && $(i+1) > r) r = $(i+1)
			if ($i == "records" && $(i+1) > n) n = $(i+1) } }
		END { print "most: module " m " KiB, recorder " r " KiB, " n " records in one load" }' /out/soak.log
	awk '/^  lost/ { if ($3 > most[$2]) most[$2] = $3 }
		END { for (what in most) print "lost in one load at most: " what " " most[what] }' /out/soak.log
	for what in memavailable sunreclaim vmallocused vmalloc percpu kmalloc orphans; do
		echo "$what before $(figure before $what), after $(figure after $what)"
	done
	if [ -s /out/failures ]; then
		echo "FAILED:"
		cat /out/failures
	else
		echo "all checks passed"
	fi
}
