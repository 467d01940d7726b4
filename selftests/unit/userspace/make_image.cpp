// SPDX-License-Identifier: GPL-2.0
// make_image FILE [abi|broken|malformed|race|rules|clean|empty|lossy|large|edges|kinds|every|
// bare|hostile|script|names [INSTANCE]]: an image with one lock-order fault, with a data race or
// accesses beside it, or with none: nothing at all, records lost, more than a small disk has room
// for. edges: 10,000 orders, some of them both ways. kinds, every, bare, hostile: other_kinds(),
// every_kind(), bare_kinds() and hostile_log() of report/logs.h. script: names that a page would
// run. names: two faults in each function that standard input names. For tests that run the
// programs.
#include "log_builder.h"
#include "report/logs.h"

#include "util/file.h"

#include <cstdio>
#include <cstdlib>
#include <iostream>
#include <string>
#include <vector>

using namespace lockscope;
using namespace lockscope::test;

namespace {

/// Each lock before the next four; one in hundred before the last one, too.
void add_orders(LogBuilder &log)
{
	constexpr std::uint32_t kLocks = 2500, kNext = 4;
	std::vector<std::uint32_t> classes;
	for (std::uint32_t i = 0; i < kLocks + kNext; i++)
		classes.push_back(log.add_class("lock_" + std::to_string(i), LS_KIND_MUTEX));
	const auto order = [&](std::uint32_t from, std::uint32_t to) {
		const std::string function = "use_" + std::to_string(from);
		log.acquire({.pid = 100 + from % 50, .stack = {function, "__x64_sys_ioctl"}},
			    {{.cls = classes[from], .function = function}},
			    {.cls = classes[to], .function = "take_" + std::to_string(to)});
	};
	for (std::uint32_t i = 0; i < kLocks; i++) {
		for (std::uint32_t next = 1; next <= kNext; next++)
			order(i, i + next);
		if (i % 100 == 50)
			order(i, i - 1);
	}
}

/// Two orders of locks whose names set a flag where a page takes them for markup.
void add_scripts(LogBuilder &log)
{
	const std::string script = "</script><script>window.flag=1</script>",
			  image = "<img src=x onerror=window.flag=1>";
	const auto a = log.add_class(script, LS_KIND_MUTEX, LS_ORIGIN_STATIC, 0, 0, image);
	const auto b = log.add_class("--><svg onload=window.flag=1>\"'", LS_KIND_MUTEX);
	log.acquire({.pid = 31, .comm = "<b onclick=x>", .stack = {image}},
		    {{.cls = a, .function = script}}, {.cls = b, .function = image});
	log.acquire({.pid = 32, .comm = "</script>", .stack = {script}},
		    {{.cls = b, .function = image}}, {.cls = a, .function = script});
}

/// A sleeper and a task that waits for long, called by a function that is never to blame.
void add_functions(LogBuilder &log, std::istream &names)
{
	const auto cls = log.add_class("m", LS_KIND_MUTEX);
	for (std::string name; std::getline(names, name);) {
		const Task task = {.pid = 60, .stack = {"mutex_lock", "the_caller"}};
		log.fault(LS_FINDING_SLEEP_ATOMIC, task, {}, {.function = name});
		log.fault(LS_FINDING_LONG_HOLD, task, {}, {.cls = cls, .function = name}, 0,
			  2500000000);
	}
}

} // namespace

int main(int argc, char **argv)
{
	if (argc < 2)
		return 2;
	const std::string how = argc > 2 ? argv[2] : "";
	/* Images of one instance are one run. */
	LogBuilder log(argc > 3 ? std::strtoull(argv[3], nullptr, 10) : 1);
	const auto foo = log.add_class("foo_lock", LS_KIND_SPINLOCK);
	const auto bar =
		log.add_class("&dev->bar_mutex @ bar_probe", LS_KIND_MUTEX, LS_ORIGIN_INIT);
	log.acquire({.pid = 10,
		     .comm = "opener",
		     .stack = {"foo_open", "__x64_sys_openat", "do_syscall_64"}},
		    {{.cls = foo, .function = "foo_open"}}, {.cls = bar, .function = "bar_get"});
	const bool faultless = how == "clean" || how == "lossy" || how == "large";
	if (!faultless)
		log.acquire({.pid = 20,
			     .comm = "worker",
			     .stack = {"bar_ioctl", "__x64_sys_ioctl", "do_syscall_64"}},
			    {{.cls = bar, .function = "bar_ioctl"}},
			    {.cls = foo, .function = "foo_put"});
	if (how == "race") {
		const auto data = log.add_data("foo_count", LS_DATA_STATIC, 0, "foo");
		const auto write = log.access({.pid = 10, .comm = "opener", .stack = {"foo_open"}},
					      {.data = data, .function = "foo_add"});
		const auto read =
			log.access({.pid = 20, .comm = "worker", .stack = {"bar_ioctl"}},
				   {.data = data,
				    .op = LS_ACC_READ,
				    .function = "foo_show",
				    .guards = {{.lock = {.cls = foo, .function = "bar_ioctl"}}}});
		log.race(write, read, LS_RACE_CAUGHT, {{write, 10, 0xff, 1}});
		log.history(write, LS_VIRGIN, LS_EXCLUSIVE_TO);
		log.access_info().losses[LS_ALOSS_EVENTS] = 3;
	}
	if (how == "rules") {
		/* 14 writers hold the lock, one does not, and a counter needs none. */
		const auto data = log.add_data("foo_count", LS_DATA_STATIC, 0, "foo"),
			   limit = log.add_data("foo_limit", LS_DATA_STATIC, 0, "foo");
		for (std::uint32_t i = 0; i < 15; i++) {
			const std::string function =
				i == 7 ? "foo_reset" : "foo_add" + std::to_string(i);
			std::vector<GuardedBy> guards;
			if (i != 7)
				guards = {{.lock = {.cls = foo, .function = function}}};
			log.access({.pid = 10 + i, .comm = "adder", .stack = {"foo_ioctl"}},
				   {.data = data, .function = function, .guards = guards});
			log.access({.pid = 10 + i, .comm = "adder", .stack = {"foo_ioctl"}},
				   {.data = limit, .op = LS_ACC_READ, .function = function});
		}
	}
	if (how == "lossy")
		log.info().losses[LS_LOSS_RECORDS] = 10;
	if (how == "large")
		for (int i = 0; i < 40000; i++)
			log.add_class("lock_" + std::to_string(i));
	if (how == "script")
		add_scripts(log);
	if (how == "names")
		add_functions(log, std::cin);
	if (how == "edges")
		add_orders(log);
	if (how == "abi")
		log.info().abi_major = LS_ABI_MAJOR + 1;
	if (how == "malformed") {
		ls_rec_symbol record{};
		record.hdr = {sizeof(record), LS_REC_SYMBOL, 0};
		for (char &c : record.function)
			c = 'x';
		log.raw(&record, sizeof(record));
	}
	if (how == "broken") {
		const ls_rec record{12, LS_REC_CLASS, 0};
		log.raw(&record, sizeof(record));
	}
	auto written = write_file(argv[1], encode_image(how == "empty"	   ? LogBuilder().image()
							: how == "kinds"   ? other_kinds().image()
							: how == "every"   ? every_kind().image()
							: how == "bare"	   ? bare_kinds().image()
							: how == "hostile" ? hostile_log().image()
									   : log.image()));
	if (!written)
		std::fprintf(stderr, "%s\n", written.error().what.c_str());
	return written ? 0 : 3;
}
