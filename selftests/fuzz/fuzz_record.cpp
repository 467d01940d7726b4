// SPDX-License-Identifier: GPL-2.0
// Any bytes as log and chains of a device: recorded, loaded, analysed, reported.
#include "scratch.h"

#include "log_builder.h"
#include "record/recorder.h"
#include "report/report.h"
#include "store/load.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>

using namespace lockscope;

namespace {

/* A log and chains that make sense: two sides, an inversion, a finding, a lock
 * taken in an interrupt, faults, accesses that race. */
Image sound_image()
{
	test::LogBuilder log;
	const auto a = log.add_class("cache+0x8", LS_KIND_MUTEX, LS_ORIGIN_SLAB, 8, 64),
		   b = log.add_class("b");
	log.acquire({.pid = 1, .stack = {"f", "__x64_sys_read"}}, {{.cls = a}}, {.cls = b});
	log.acquire({.pid = 2, .stack = {"g", "call_timer_fn"}}, {{.cls = b}}, {.cls = a});
	const auto self =
		log.acquire({.pid = 3}, {{.cls = a, .address = 1}}, {.cls = a, .address = 2});
	log.inversion(a, false, self, self);
	log.finding({a, b});
	log.acquire({.level = LS_HARDIRQ, .stack = {"irq"}}, {}, {.cls = a});
	log.release({.pid = 4, .stack = {"f"}}, {{.cls = b}}, {.cls = a});
	log.fault(LS_FINDING_WAIT_CONTEXT, {.stack = {"f"}}, {{.cls = b}}, {.cls = a}, 1);
	log.fault(LS_FINDING_SLEEP_ATOMIC, {}, {{.cls = b}}, {}, 1);
	const auto data = log.add_data("cache", LS_DATA_SLAB, 64), count = log.add_data("count");
	const auto write = log.access(
		{.pid = 1, .stack = {"f"}},
		{.data = data,
		 .offset = 16,
		 .guards = {{.lock = {.cls = a}, .relation = LS_REL_SELF, .lock_offset = 8}}});
	const auto read =
		log.access({.pid = 2, .level = LS_SOFTIRQ, .stack = {"g", "call_timer_fn"}},
			   {.data = data, .offset = 16, .op = LS_ACC_READ, .function = "look"});
	log.race(write, read, LS_RACE_CAUGHT, {{write, 1, 0xff, 1}});
	const auto both = log.access(
		{.pid = 3}, {.data = count, .op = LS_ACC_READ | LS_ACC_WRITE, .function = "count"});
	log.race(both, both, 0, {{both, 0x8001, 1, 0}});
	log.history(write, LS_VIRGIN, LS_EXCLUSIVE_TO);
	log.history(read, LS_EXCLUSIVE_TO, LS_SHARED_READ, 1, {{.cls = a}});
	return log.image();
}

/* Odd first byte: changes to the sound image, two bytes for the place and one
 * for the value. Even: how many chains come first; the rest is the log. */
Image image_of(const std::uint8_t *data, std::size_t size)
{
	static const Image sound = sound_image();
	const std::uint8_t how = size ? data[0] : 0;
	if (size) {
		data++;
		size--;
	}
	if (how % 2) {
		Image image = sound;
		for (; size >= 3; data += 3, size -= 3) {
			const std::size_t chain_bytes = image.chains.size() * sizeof(ls_chain);
			const std::size_t at =
				(data[0] | data[1] << 8) % (chain_bytes + image.log.size());
			if (at < chain_bytes)
				reinterpret_cast<std::uint8_t *>(image.chains.data())[at] = data[2];
			else
				image.log[at - chain_bytes] = std::byte{data[2]};
		}
		return image;
	}
	Image image;
	image.info = sound.info;
	image.chains.resize(std::min<std::size_t>(how / 16, size / sizeof(ls_chain)));
	const std::size_t chain_bytes = image.chains.size() * sizeof(ls_chain);
	if (chain_bytes)
		std::memcpy(image.chains.data(), data, chain_bytes);
	const auto *log = reinterpret_cast<const std::byte *>(data);
	image.log.assign(log + chain_bytes, log + size);
	return image;
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t *data, std::size_t size)
{
	static const fuzz::Scratch scratch("record");
	scratch.clear();
	auto source = image_source(image_of(data, size));
	{
		auto store = StoreWriter::open(scratch.path());
		if (!store)
			std::abort();
		NoSymbols symbols;
		Recorder recorder(*source, *store, symbols, {});
		if (!recorder.attach("image", "boot", ""))
			std::abort();
		fuzz::check_error(recorder.drain());
		fuzz::check_error(recorder.snapshot());
	}
	/* Whatever came in: the store is one that can be read. */
	Model model;
	if (!load_store(scratch.path(), model))
		std::abort();
	const Analysis analysis = analyse(model);
	ReportOptions all;
	all.all = true;
	text_report(model, analysis, all, {80, true});
	json_report(model, analysis, all);
	return 0;
}
