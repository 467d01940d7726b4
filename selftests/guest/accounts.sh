# SPDX-License-Identifier: GPL-2.0
# Sourced by scripts inside the VM: how much memory there is, and whose.

# What a module took by vmalloc(), as the kernel itself lists it.
module_kib() { awk '/\[lockscope\]/ { sum += $2 } END { print int(sum / 1024) }' /proc/vmallocinfo; }

# vmalloc areas of unloaded code: they will never be freed.
orphans() { awk '$3 ~ /^0x/ { n++; sum += $2 } END { print n + 0, int(sum / 1024) }' /proc/vmallocinfo; }

# settle: caches are emptied, what RCU and work items still have to free is freed.
settle() {
	sync
	echo 3 > /proc/sys/vm/drop_caches
	sleep 2
	echo 3 > /proc/sys/vm/drop_caches
	sleep 1
}

# account NAME: what memory is used for now goes to /out/account.NAME, one figure a
# line, in KiB or objects.
account() {
	settle
	{
		awk '/^(MemAvailable|SUnreclaim|KernelStack|VmallocUsed|Percpu|PageTables):/ {
			print tolower(substr($1, 1, length($1) - 1)), $2 }' /proc/meminfo
		orphans | { read -r n kib && echo "orphans $n" && echo "orphans_kib $kib"; }
		# Modules that were needed stay loaded; they are no loss.
		modules=$(awk '{ sum += $2 } END { print int(sum / 1024) }' /proc/modules)
		# The per-CPU allocator keeps its chunks, and the books of each; "percpu" counts them.
		books=$(awk '$3 ~ /^pcpu_(create|alloc)_chunk/ && match($0, /pages=[0-9]+/) {
			pages += substr($0, RSTART + 6, RLENGTH - 6) } END { print pages * 4 }' /proc/vmallocinfo)
		awk -v others=$((modules + books)) '/^VmallocUsed:/ { print "vmalloc", $2 - others }' /proc/meminfo
		# Objects in use of general caches, in KiB.
		awk '$1 ~ /^kmalloc-/ { sum += $2 * $4 } END { print "kmalloc", int(sum / 1024) }' /proc/slabinfo
	} > "/out/account.$1"
	# Callers of vmalloc() and their KiB.
	awk '{ sum[$3] += $2 } END { for (caller in sum) print caller, sum[caller] / 1024 }' \
		/proc/vmallocinfo | sort > "/out/vmallocinfo.$1"
	cp /proc/slabinfo "/out/slabinfo.$1"
	cp /proc/meminfo "/out/meminfo.$1"
}

# figure NAME WHAT: from account NAME
figure() { awk -v what="$2" '$1 == what { print $2 }' "/out/account.$1"; }

# callers_grew: whose vmalloc areas grew most from account before to account after.
callers_grew() {
	awk 'FNR == NR { before[$1] = $2; next } $2 > before[$1] { print $2 - before[$1], $1 }' \
		/out/vmallocinfo.before /out/vmallocinfo.after | sort -rn | head -n 4 |
		awk '{ printf "%s%s %d KiB", (NR > 1 ? ", " : ""), $2, $1 }'
}
