// SPDX-License-Identifier: GPL-2.0
// make_image FILE [abi|broken|malformed|race|rules|clean|empty|lossy|large|kinds|hostile
// [INSTANCE]]: an image with one lock-order fault, with a data race or accesses beside it, or with
// none: nothing at all, records lost, more than a small disk has room for. kinds, hostile:
// other_kinds() and hostile_log() of report/logs.h. For tests that run the programs.
#include "log_builder.h"
#include "report/logs.h"

#include "util/file.h"

#include <cstdio>
#include <cstdlib>
#include <string>

using namespace lockscope;
using namespace lockscope::test;

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
							: how == "hostile" ? hostile_log().image()
									   : log.image()));
	if (!written)
		std::fprintf(stderr, "%s\n", written.error().what.c_str());
	return written ? 0 : 3;
}
