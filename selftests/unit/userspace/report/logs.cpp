// SPDX-License-Identifier: GPL-2.0
#include "report/logs.h"

#include "analysis/finding.h"

namespace lockscope::test {

namespace {

/// A number that a fault's record may have beside its lock.
constexpr std::uint64_t kMostExtra = ~std::uint64_t{0};

} // namespace

LogBuilder small_log()
{
	LogBuilder log;
	const auto foo =
		log.add_class("foo:foo_lock", LS_KIND_SPINLOCK, LS_ORIGIN_STATIC, 0, 0, "foo");
	const auto bar =
		log.add_class("&dev->bar_mutex @ bar_probe", LS_KIND_MUTEX, LS_ORIGIN_INIT);
	const auto x = log.add_class("cache+0x8", LS_KIND_RWSEM, LS_ORIGIN_SLAB, 8, 64);
	const auto gate = log.add_class("gate_lock", LS_KIND_MUTEX);
	log.acquire({.pid = 116,
		     .comm = "dmsetup",
		     .stack = {"bar_get", "foo_open", "do_dentry_open", "__x64_sys_openat",
			       "do_syscall_64", "entry_SYSCALL_64_after_hwframe"}},
		    {{.cls = foo, .function = "foo_open"}},
		    {.cls = bar, .function = "bar_lock_device"});
	log.acquire({.pid = 9,
		     .comm = "kworker/0:1",
		     .flags = LS_TASK_KTHREAD | LS_TASK_WORKER,
		     .stack = {"bar_work", "process_one_work", "worker_thread", "kthread",
			       "ret_from_fork"}},
		    {{.cls = bar, .function = "bar_work"}}, {.cls = foo, .function = "foo_notify"});
	/* One of several threads that may do the same. */
	const Task lonely = {.pid = 5,
			     .comm = "lonely/0",
			     .flags = LS_TASK_KTHREAD,
			     .stack = {"f", "lonely", "kthread"}};
	log.acquire(lonely, {{.cls = x, .read = LS_SHARED}}, {.cls = foo});
	log.acquire(lonely, {{.cls = foo}}, {.cls = x});
	log.acquire({.pid = 6, .stack = {"f", "__x64_sys_read"}}, {{.cls = gate}, {.cls = x}},
		    {.cls = bar});
	log.acquire({.pid = 7, .stack = {"f", "__x64_sys_write"}}, {{.cls = gate}, {.cls = bar}},
		    {.cls = x});
	log.info().losses[LS_LOSS_STACKS] = 12;
	ls_prim_info absent{};
	std::snprintf(absent.function, sizeof(absent.function), "ww_mutex_lock");
	absent.kind = LS_KIND_WW_MUTEX;
	log.prims().push_back(absent);
	return log;
}

LogBuilder other_kinds()
{
	LogBuilder log;
	const auto foo =
		log.add_class("foo:foo_lock", LS_KIND_SPINLOCK, LS_ORIGIN_STATIC, 0, 0, "foo");
	const auto dev = log.add_class("cache+0x8", LS_KIND_SPINLOCK, LS_ORIGIN_SLAB, 8, 64);
	const auto bar = log.add_class("bar_lock"), mutex = log.add_class("m", LS_KIND_MUTEX);
	const Task handler = {.comm = "swapper/0",
			      .level = LS_HARDIRQ,
			      .stack = {"foo_irq", "__handle_irq_event_percpu", "handle_irq"}};
	const Task timer = {.comm = "swapper/1",
			    .level = LS_SOFTIRQ,
			    .stack = {"dev_tick", "call_timer_fn", "__do_softirq"},
			    .irq_off = true};
	const Task reader = {.pid = 7,
			     .comm = "reader",
			     .stack = {"foo_read", "__x64_sys_read", "do_syscall_64"}};
	Task quiet = reader;
	quiet.pid = 8;
	quiet.irq_off = true;
	log.acquire(handler, {}, {.cls = foo, .function = "foo_irq_work"});
	log.acquire(quiet, {{.cls = foo, .function = "foo_read"}},
		    {.cls = bar, .function = "bar_get"});
	log.acquire(reader, {{.cls = bar, .function = "bar_begin"}},
		    {.cls = mutex, .function = "bar_slow"});
	log.acquire(timer, {}, {.cls = dev, .address = 0x108, .function = "dev_update"});
	log.acquire(reader, {}, {.cls = dev, .address = 0x208, .function = "dev_open"});
	log.fault(LS_FINDING_WAIT_CONTEXT, quiet, {{.cls = bar, .function = "foo_read"}},
		  {.cls = mutex, .function = "foo_wait"}, 1);
	log.fault(LS_FINDING_SLEEP_ATOMIC, handler, {}, {.function = "foo_irq_sleep"});
	log.fault(LS_FINDING_HELD_FREED, reader,
		  {{.cls = dev, .address = 0x208, .function = "foo_read"}},
		  {.cls = dev, .address = 0x208, .function = "dev_free"}, 1);
	log.fault(LS_FINDING_LONG_HOLD, reader, {}, {.cls = mutex, .function = "foo_wait"}, 0,
		  2500000000);
	return log;
}

LogBuilder every_kind()
{
	LogBuilder log = other_kinds();
	const auto queue = log.add_class("queue_lock", LS_KIND_MUTEX),
		   table = log.add_class("&t->lock @ table_make", LS_KIND_MUTEX, LS_ORIGIN_INIT),
		   spare = log.add_class("drv:spare_lock", LS_KIND_SPINLOCK, LS_ORIGIN_STATIC, 0, 0,
					 "drv");
	const auto task = [](std::uint32_t pid, const char *comm, const char *caller) {
		return Task{.pid = pid,
			    .comm = comm,
			    .stack = {caller, "__x64_sys_ioctl", "do_syscall_64"}};
	};
	const Lock held_queue{.cls = queue, .function = "queue_begin"},
		held_table{.cls = table, .function = "table_begin"};
	log.acquire(task(31, "filler", "queue_fill"), {held_queue},
		    {.cls = table, .function = "table_add"});
	log.acquire(task(32, "drainer", "table_drain"), {held_table},
		    {.cls = queue, .function = "queue_put"});
	const auto again =
		log.acquire(task(33, "twice", "table_again"),
			    {{.cls = table, .address = 0x300, .function = "table_begin"}},
			    {.cls = table, .address = 0x300, .function = "table_lookup"});
	log.inversion(table, true, again, again);
	log.fault(LS_FINDING_DEADLOCK, task(34, "left", "left_work"), {held_queue},
		  {.cls = table, .function = "left_wait"}, 1, 1);
	log.fault(LS_FINDING_DEADLOCK, task(35, "right", "right_work"), {held_table},
		  {.cls = queue, .function = "right_wait"}, 1, 1);
	const Task leaver = task(36, "leaver", "queue_ioctl");
	log.fault(LS_FINDING_BAD_UNLOCK, leaver, {}, {.cls = queue, .function = "queue_end"});
	log.fault(LS_FINDING_DOUBLE_UNLOCK, leaver, {}, {.cls = table, .function = "table_end"});
	log.fault(LS_FINDING_HELD_INIT, leaver, {held_table},
		  {.cls = table, .function = "table_make"}, 1);
	log.fault(LS_FINDING_HELD_EXIT, leaver, {held_queue}, {.cls = queue, .function = "do_exit"},
		  1);
	log.fault(LS_FINDING_HELD_USER, leaver, {held_table},
		  {.cls = table, .function = "exit_to_user_mode_prepare"}, 1);
	log.fault(LS_FINDING_NOT_HELD, leaver, {}, {.cls = queue, .function = "queue_nest"});
	log.fault(LS_FINDING_WW, leaver, {}, {.cls = table, .function = "table_ww"});
	log.fault(LS_FINDING_NOT_INIT, leaver, {}, {.cls = table, .function = "table_use"});
	log.fault(LS_FINDING_AT_END, leaver, {}, {.cls = queue, .function = "queue_left"}, 0,
		  LS_ATOMIC_RCU);
	log.fault(LS_FINDING_IN_FREED, leaver, {held_queue},
		  {.cls = queue, .function = "queue_late"}, 1);

	const auto count = log.add_data("drv_count", LS_DATA_STATIC, 0, "drv"),
		   limit = log.add_data("drv_limit", LS_DATA_STATIC, 0, "drv");
	const Lock guard{.cls = spare, .function = "drv_lock"};
	const auto write =
		log.access(task(40, "writer", "drv_ioctl"), {.data = count, .function = "drv_add"});
	const auto read = log.access(
		task(41, "reader", "drv_ioctl"),
		{.data = count, .op = LS_ACC_READ, .function = "drv_show", .guards = {{guard}}});
	log.race(write, read, LS_RACE_CAUGHT, {{write, 40, 0xff, 1}});
	log.history(write, LS_VIRGIN, LS_EXCLUSIVE_TO);
	for (std::uint32_t i = 0; i < 15; i++) {
		const std::string function = i == 7 ? "drv_reset" : "drv_raise" + std::to_string(i);
		std::vector<GuardedBy> guards;
		if (i != 7)
			guards = {{.lock = {.cls = spare, .function = function}}};
		log.access(task(50 + i, "adder", "drv_ioctl"),
			   {.data = limit, .function = function, .guards = guards});
	}
	log.module("drv", {"drv_idle", "drv_add", "drv_show"});
	log.acquire_again({}, {}, {.cls = spare, .function = "drv_idle"}, 1000);
	log.access_info().mode = LS_ACCESSES_ALL;
	return log;
}

LogBuilder bare_kinds()
{
	LogBuilder log = every_kind();
	for (const auto kind : finding_kinds()) {
		if (shown(kind) != LS_BY_SIGHT)
			continue;
		const auto number = static_cast<ls_finding_kind>(kind);
		const std::string function = "bare_" + std::to_string(number);
		log.fault(number, {.pid = 70}, {}, {.function = function});
		log.fault(number, {.pid = 71}, {{.function = function}}, {.function = ""}, 1);
		log.fault(number, {.pid = 72, .level = LS_SOFTIRQ}, {{}, {}}, {.function = ""}, 2,
			  kMostExtra);
	}
	log.fault(LS_FINDING_SLEEP_ATOMIC, {.pid = 77, .irq_off = true}, {},
		  {.cls = log.add_class("bare_mutex", LS_KIND_MUTEX), .function = "bare_sleep"});
	log.fault(LS_FINDING_DEADLOCK, {.pid = 73}, {}, {.function = ""}, 1, 9);
	log.fault(LS_FINDING_DEADLOCK, {.pid = 74}, {{}}, {.function = ""}, 1, 9);
	const auto write = log.access({.pid = 75}, {.function = "bare_write"}),
		   read = log.access({.pid = 76}, {.op = LS_ACC_READ,
						   .function = "bare_read",
						   .guards = {{.lock = {.function = ""}}}});
	log.race(write, read, 0, {}, 0xffff888000002000u);
	return log;
}

LogBuilder race_log()
{
	LogBuilder log;
	const auto lock = log.add_class("foo_cache+0x10 struct foo.lock", LS_KIND_SPINLOCK,
					LS_ORIGIN_SLAB, 0x10, 64);
	const auto data = log.add_data("foo_cache", LS_DATA_SLAB, 64);
	const Lock held{.cls = lock, .function = "foo_lock"};
	const auto write = log.access(
		{.pid = 7, .comm = "writer", .stack = {"foo_ioctl", "__x64_sys_ioctl"}},
		{.data = data,
		 .offset = 8,
		 .size = 4,
		 .function = "foo_add",
		 .guards = {{.lock = held, .relation = LS_REL_SELF, .lock_offset = 0x10}},
		 .count = 2000});
	const auto read =
		log.access({.pid = 8, .level = LS_SOFTIRQ, .stack = {"foo_timer", "call_timer_fn"}},
			   {.data = data,
			    .offset = 8,
			    .size = 4,
			    .op = LS_ACC_READ,
			    .function = "foo_show",
			    .count = 3000});
	log.race(write, read, LS_RACE_CAUGHT, {{write, 7, 0x0f, 1}});
	log.side(write,
		 {.pid = 7, .comm = "writer", .cpu = 1, .stack = {"foo_ioctl", "__x64_sys_ioctl"}},
		 LS_SIDE_TASK, {0xffff888000000010u}, true);
	log.side(read, {.pid = 8, .level = LS_SOFTIRQ, .stack = {"foo_timer", "call_timer_fn"}},
		 LS_SIDE_SECOND | LS_SIDE_TASK, {}, true);
	log.history(write, LS_VIRGIN, LS_EXCLUSIVE_TO);
	log.history(read, LS_EXCLUSIVE_TO, LS_SHARED_READ, 1, {held});
	log.history(write, LS_SHARED_READ, LS_SHARED_MODIFIED, 0);
	log.access_info().losses[LS_ALOSS_BUSY] = 5;
	return log;
}

LogBuilder hostile_log()
{
	LogBuilder log;
	const std::string names[] = {
		"\"quote\" 'tick' \\back $(id) `id`",
		"</script><b onclick=\"x\">&amp;&#0;]]><![CDATA[ -->",
		"\033[31mred\a\x01\x7f\xc2\x9b\r\nsecond line\tnot ok 1 # SKIP",
		"bytes \xff\xfe\xc0\x80 \xed\xa0\x80 \xf5",
		"[link](javascript:1) {0} %n%s }; a -> b [label=\"x\"]",
		"../../etc/passwd\\N\\l",
	};
	std::vector<std::uint32_t> classes;
	for (const auto &name : names)
		classes.push_back(log.add_class(name, LS_KIND_MUTEX));
	for (std::size_t i = 0; i < classes.size(); i++)
		log.acquire({.pid = static_cast<std::uint32_t>(100 + i),
			     .comm = names[i].substr(0, LS_COMM_LEN - 1),
			     .stack = {names[i].substr(0, 40), "__x64_sys_read"}},
			    {{.cls = classes[i], .function = names[i].substr(0, 40)}},
			    {.cls = classes[(i + 1) % classes.size()], .function = "take_it"});
	log.fault(LS_FINDING_SLEEP_ATOMIC, {.comm = names[1].substr(0, LS_COMM_LEN - 1)},
		  {{.cls = classes[2]}}, {.function = names[2].substr(0, 40)});
	return log;
}

} // namespace lockscope::test
