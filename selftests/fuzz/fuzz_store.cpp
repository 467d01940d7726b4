// SPDX-License-Identifier: GPL-2.0
// Damaged stores: any bytes as a file, and a sound store with any values in its
// columns. Either it is refused with an error or it is read; never a crash.
#include "scratch.h"

#include "log_builder.h"
#include "record/recorder.h"
#include "report/perfetto.h"
#include "report/report.h"
#include "report/stat.h"
#include "stat/stat.h"
#include "store/load.h"
#include "store/schema.h"

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <fstream>
#include <iterator>

using namespace lockscope;

namespace {

const fuzz::Scratch g_scratch("store");

/* A store with a cycle, chains, an inversion, a kernel finding, a lock taken in
 * an interrupt, faults, accesses that race, statistics, and a trace. */
std::string sound_store()
{
	StatReport stat;
	stat.losses["events_missed"] = 1;
	stat.classes.push_back({.name = "cache+0x8", .kind = LS_KIND_MUTEX});
	stat.classes[0].acquired[LS_TASK] = 2;
	stat.classes[0].holds.count = stat.classes[0].holds.buckets[3] = 2;
	stat.classes[0].sites.push_back({"f+0x1", 2, 0, 0, 16});
	test::LogBuilder log;
	const auto a = log.add_class("cache+0x8", LS_KIND_MUTEX, LS_ORIGIN_SLAB, 8, 64),
		   b = log.add_class("b");
	log.acquire({.pid = 1, .stack = {"f", "g"}}, {{.cls = a}}, {.cls = b});
	log.acquire({.pid = 2, .stack = {"h"}}, {{.cls = b}}, {.cls = a});
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
	log.side(write, {.pid = 4, .cpu = LS_CPU_UNKNOWN}, LS_SIDE_TASK, {16});
	log.side(read, {.pid = 5, .stack = {"h"}}, LS_SIDE_SECOND, {}, true);
	const auto both = log.access(
		{.pid = 3}, {.data = count, .op = LS_ACC_READ | LS_ACC_WRITE, .function = "count"});
	log.race(both, both, 0, {{both, 0x8001, 1, 0}});
	log.history(write, LS_VIRGIN, LS_EXCLUSIVE_TO);
	log.history(read, LS_EXCLUSIVE_TO, LS_SHARED_READ, 1, {{.cls = a}});
	log.prims().push_back({});
	TraceBatch trace;
	trace.begin_ns = 1000;
	trace.end_ns = 2000;
	trace.tasks = {{7, 7, {'t'}}};
	trace.events.push_back({{.time_ns = 1100, .lock = 1, .val = a, .pid = 7, .tgid = 7}, 0});
	trace.events.push_back({{.time_ns = 1200,
				 .lock = 1,
				 .ns = 100,
				 .val = a,
				 .kind = LS_TRACE_RELEASED,
				 .pid = 7,
				 .tgid = 7},
				1});
	g_scratch.clear();
	auto source = image_source(log.image());
	{
		auto store = StoreWriter::open(g_scratch.path());
		NoSymbols symbols;
		Recorder recorder(*source, *store, symbols, {});
		if (!recorder.attach("image", "boot", "") || !recorder.drain() ||
		    !recorder.snapshot() || !recorder.put_stat(stat) ||
		    !recorder.put_trace(trace, 1 << 20))
			std::abort();
	}
	std::ifstream file(g_scratch.path(), std::ios::binary);
	return {std::istreambuf_iterator<char>(file), {}};
}

void write_file(std::string_view bytes)
{
	g_scratch.clear();
	std::ofstream(g_scratch.path(), std::ios::binary)
		.write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
}

/* Columns worth spoiling; the value is bound as text, blob or number. */
constexpr const char *kUpdates[] = {
	"UPDATE class SET kind = ?",
	"UPDATE class SET origin = ?",
	"UPDATE class SET canonical = ?",
	"UPDATE class SET name = ?",
	"UPDATE class SET field = ?",
	"UPDATE class SET object_size = ?",
	"UPDATE code SET function = ?",
	"UPDATE code SET offset = ?",
	"UPDATE code SET module = ?",
	"UPDATE stack SET frames = ?",
	"UPDATE sight SET held = ?",
	"UPDATE sight SET val = ?",
	"UPDATE sight SET stack = ?",
	"UPDATE sight SET comm = ?",
	"UPDATE sight SET code = ?",
	"UPDATE sight SET lock = ?",
	"UPDATE sight SET task_flags = ?",
	"UPDATE sight SET what = ?",
	"UPDATE sight SET new_mask = ?",
	"UPDATE chain SET parent = ?",
	"UPDATE chain SET val = ?",
	"UPDATE chain SET count = ?",
	"UPDATE kernel_finding SET edges = ?",
	"UPDATE kernel_finding SET kind = ?",
	"UPDATE inversion SET first = ?",
	"UPDATE primitive SET state = ?",
	"UPDATE primitive SET kind = ?",
	"UPDATE counter SET value = ?",
	"UPDATE run SET started = ?",
	"UPDATE run SET release = ?",
	"UPDATE data SET kind = ?",
	"UPDATE data SET name = ?",
	"UPDATE data SET type = ?",
	"UPDATE member SET path = ?",
	"UPDATE access SET data = ?",
	"UPDATE access SET offset = ?",
	"UPDATE access SET size = ?",
	"UPDATE access SET op = ?",
	"UPDATE access SET place = ?",
	"UPDATE access SET guards = ?",
	"UPDATE access SET count = ?",
	"UPDATE race SET first = ?",
	"UPDATE race SET flags = ?",
	"UPDATE race SET first_pid = ?",
	"UPDATE race SET history = ?",
	"UPDATE side SET second = ?",
	"UPDATE side SET time = ?",
	"UPDATE side SET access = ?",
	"UPDATE side SET stack = ?",
	"UPDATE side SET cpu = ?",
	"UPDATE side SET locks = ?",
	"UPDATE history SET before = ?",
	"UPDATE history SET locks = ?",
	"UPDATE history SET candidates = ?",
	"UPDATE stat SET kind = ?",
	"UPDATE stat SET acquired = ?",
	"UPDATE stat SET waits = ?",
	"UPDATE stat SET holds = ?",
	"UPDATE stat_site SET place = ?",
	"UPDATE stat_site SET acquired = ?",
	"UPDATE stat_total SET name = ?",
	"UPDATE stat_total SET value = ?",
	"UPDATE trace SET events = ?",
	"UPDATE trace SET tasks = ?",
	"UPDATE trace SET begin_ns = ?",
	"UPDATE trace SET end_ns = ?",
	"UPDATE trace SET real_ns = ?",
};

void spoil_columns(const std::uint8_t *data, std::size_t size)
{
	auto db = open_store(g_scratch.path(), Access::Write);
	if (!db)
		std::abort();
	/* Each change: which column, how to bind, length, value. */
	while (size >= 3) {
		auto update = db->prepare(kUpdates[data[0] % std::size(kUpdates)]);
		if (!update)
			std::abort();
		const std::size_t length = std::min<std::size_t>(data[2], size - 3);
		const std::string_view value(reinterpret_cast<const char *>(data + 3), length);
		std::int64_t number = 0;
		std::memcpy(&number, value.data(), std::min(length, sizeof(number)));
		if (data[1] % 3 == 0)
			update->bind(0, value);
		else if (data[1] % 3 == 1)
			update->bind_blob(0, value);
		else
			update->bind(0, number);
		fuzz::check_error(update->run());
		data += 3 + length;
		size -= 3 + length;
	}
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t *data, std::size_t size)
{
	static const std::string sound = sound_store();
	if (size == 0)
		return 0;
	const std::uint8_t how = data[0] % 3;
	data++;
	size--;
	if (how == 0) {
		write_file({reinterpret_cast<const char *>(data), size});
	} else if (how == 1) {
		/* Bytes here and there: two for the place, one for the value. */
		std::string bytes = sound;
		for (; size >= 3; data += 3, size -= 3)
			bytes[(data[0] | data[1] << 8) % bytes.size()] = static_cast<char>(data[2]);
		write_file(bytes);
	} else {
		write_file(sound);
		spoil_columns(data, size);
	}
	Model model;
	auto loaded = load_store(g_scratch.path(), model, Damage::Refuse, Traces::Load);
	fuzz::check_error(loaded);
	if (!loaded)
		return 0;
	const Analysis analysis = analyse(model);
	text_report(model, analysis, {}, {80, false});
	json_report(model, analysis, {});
	StatReport stat = stat_of(model);
	arrange(stat, "wait", "");
	text_stat(stat, {.sites = 3, .details = true}, {80, false});
	json_stat(stat);
	for (const auto &run : model.runs)
		if (run.trace)
			perfetto_trace(
				model, run, [](ClassId) { return true; }, [](std::string_view) {});
	return 0;
}
