// SPDX-License-Identifier: GPL-2.0
// Traces: from events to slices that nest, through a store, and as packets for Perfetto.
#include "support.h"

#include "model/counters.h"
#include "model/trace.h"
#include "report/perfetto.h"
#include "report/trace_slices.h"
#include "store/merge.h"
#include "store/schema.h"
#include "store/writer.h"
#include "util/utf8.h"

#include <protozero/pbf_reader.hpp>

#include <cstring>
#include <map>
#include <random>
#include <sstream>

using namespace lockscope;
using namespace lockscope::test;

namespace {

constexpr std::uint32_t kA = 1, kB = 2;
constexpr std::uint32_t kSoftirq = LS_SOFTIRQ << LS_VAL_LEVEL_SHIFT;

struct Made {
	std::uint64_t time;
	ls_trace_kind kind;
	std::uint32_t val = kA;
	std::uint64_t instance = 7, ns = 0;
	std::uint32_t task = 1;
	std::uint16_t cpu = 0;
};

/* Task 0 is idle; class N is that of index N - 1. */
LockTrace trace_of(const std::vector<Made> &events, std::uint64_t begin = 100,
		   std::uint64_t end = 9000)
{
	LockTrace out;
	out.tasks = {{0, 0, "swapper/0"}, {10, 10, "one"}, {21, 20, "two"}};
	out.spans = {{begin, end, 0, events.size()}};
	for (const auto &made : events) {
		TraceEvent event;
		event.time_ns = made.time;
		event.ns = made.ns;
		event.instance = made.instance;
		event.cls = ClassId{(made.val & LS_VAL_CLASS_MASK) - 1};
		event.val = made.val;
		event.task = made.task;
		event.cpu = made.cpu;
		event.kind = made.kind;
		out.events.push_back(event);
	}
	return out;
}

bool all_of_them(ClassId)
{
	return true;
}

/// "hold A 1000..1200 on 10" and the like, with the lane if it is not 0.
std::vector<std::string> drawn(const LockTrace &trace)
{
	const TraceSlices slices = slices_of(trace, all_of_them);
	std::vector<std::string> out;
	for (const auto &edge : slices.edges) {
		if (!edge.begins)
			continue;
		const LockSlice &slice = slices.slices[edge.slice];
		const LockTrack &track = slices.tracks[edge.track];
		const bool task = track.level == LS_TASK && trace.tasks[track.task].pid;
		std::ostringstream line;
		line << (slice.kind == SliceKind::Hold	 ? "hold "
			 : slice.kind == SliceKind::Wait ? "wait "
							 : "gave up ")
		     << static_cast<char>('A' + index(trace.events[slice.event].cls)) << ' '
		     << slice.begin_ns << ".." << slice.end_ns << " on "
		     << (task ? std::to_string(trace.tasks[track.task].pid)
			      : "CPU " + std::to_string(track.cpu) + ' ' +
					 level_name(track.level << LS_VAL_LEVEL_SHIFT));
		if (track.lane)
			line << '/' << track.lane;
		line << (slice.since_before ? " before" : "") << (slice.still_held ? " after" : "");
		out.push_back(line.str());
	}
	return out;
}

using Lines = std::vector<std::string>;

/* What trace_processor needs: see selftests/cli/lib/perfetto.py, which looks at the packets. */
void expect_nested(const TraceSlices &slices)
{
	std::map<std::uint32_t, std::vector<std::uint32_t>> open;
	std::uint64_t last = 0;
	for (const auto &edge : slices.edges) {
		EXPECT_GE(edge.time_ns, last);
		last = edge.time_ns;
		auto &stack = open[edge.track];
		if (edge.begins) {
			stack.push_back(edge.slice);
			continue;
		}
		ASSERT_FALSE(stack.empty());
		EXPECT_EQ(stack.back(), edge.slice);
		EXPECT_EQ(slices.slices[edge.slice].end_ns, edge.time_ns);
		stack.pop_back();
	}
	for (const auto &[track, stack] : open)
		EXPECT_TRUE(stack.empty());
	EXPECT_EQ(slices.edges.size(), 2 * (slices.slices.size() - slices.not_drawn));
}

} // namespace

TEST(TraceSlices, LocksNestOrGetATrackOfTheirOwn)
{
	EXPECT_EQ(drawn(trace_of({{1000, LS_TRACE_ACQUIRED},
				  {1100, LS_TRACE_ACQUIRED, kB, 8},
				  {1200, LS_TRACE_RELEASED, kB, 8, 100},
				  {1300, LS_TRACE_RELEASED, kA, 7, 300}})),
		  (Lines{"hold A 1000..1300 on 10", "hold B 1100..1200 on 10"}));
	EXPECT_EQ(drawn(trace_of({{1000, LS_TRACE_ACQUIRED},
				  {1100, LS_TRACE_ACQUIRED, kB, 8},
				  {1200, LS_TRACE_RELEASED, kA, 7, 200},
				  {1300, LS_TRACE_RELEASED, kB, 8, 200},
				  {1300, LS_TRACE_ACQUIRED},
				  {1300, LS_TRACE_RELEASED}})),
		  (Lines{"hold A 1000..1200 on 10", "hold B 1100..1300 on 10/1",
			 "hold A 1300..1300 on 10"}));
}

TEST(TraceSlices, AWaitComesBeforeItsHold)
{
	/* spin_lock() cannot fail: it is acquired, and then waited for. */
	EXPECT_EQ(drawn(trace_of({{1000, LS_TRACE_ACQUIRED},
				  {1500, LS_TRACE_WAITED, kA, 7, 520},
				  {1600, LS_TRACE_RELEASED, kA, 7, 100}})),
		  (Lines{"wait A 1000..1500 on 10", "hold A 1500..1600 on 10"}));
	/* The spinlock inside a mutex is held when the wait ends. */
	EXPECT_EQ(drawn(trace_of({{1000, LS_TRACE_ACQUIRED},
				  {1480, LS_TRACE_ACQUIRED, kB, 8},
				  {1500, LS_TRACE_WAITED, kA, 7, 450},
				  {1510, LS_TRACE_RELEASED, kB, 8, 30},
				  {1600, LS_TRACE_RELEASED, kA, 7, 100}})),
		  (Lines{"wait A 1050..1500 on 10", "hold B 1480..1510 on 10/1",
			 "hold A 1500..1600 on 10"}));
	EXPECT_EQ(drawn(trace_of({{1500, LS_TRACE_GAVE_UP, kA, 7, 50},
				  {1600, LS_TRACE_WAITED, kA, 7, 60},
				  {1600, LS_TRACE_ACQUIRED},
				  {1700, LS_TRACE_RELEASED, kA, 7, 100}})),
		  (Lines{"gave up A 1450..1500 on 10", "wait A 1540..1600 on 10",
			 "hold A 1600..1700 on 10"}));
}

TEST(TraceSlices, InterruptsAndIdleTasksAreOfTheirProcessor)
{
	EXPECT_EQ(drawn(trace_of({{1000, LS_TRACE_ACQUIRED, kA, 7, 0, 1, 3},
				  {1010, LS_TRACE_ACQUIRED, kB | kSoftirq, 8, 0, 1, 3},
				  {1020, LS_TRACE_RELEASED, kB | kSoftirq, 8, 10, 1, 3},
				  {1030, LS_TRACE_RELEASED, kA, 7, 30, 1, 2},
				  {1040, LS_TRACE_ACQUIRED, kA, 7, 0, 0, 2},
				  {1050, LS_TRACE_RELEASED, kA, 7, 10, 0, 2}})),
		  (Lines{"hold A 1000..1030 on 10", "hold B 1010..1020 on CPU 3 softirq",
			 "hold A 1040..1050 on CPU 2 task"}));
}

TEST(TraceSlices, BoundsOfTheTraceCutWhatIsNotKnown)
{
	EXPECT_EQ(drawn(trace_of({{1000, LS_TRACE_RELEASED, kA, 7, 5000},
				  {1100, LS_TRACE_RELEASED, kB, 8, 50},
				  {1200, LS_TRACE_ACQUIRED}})),
		  (Lines{"hold A 100..1000 on 10 before", "hold B 1050..1100 on 10",
			 "hold A 1200..9000 on 10 after"}));
	/* Each recorder has its own. */
	LockTrace two = trace_of({{1000, LS_TRACE_ACQUIRED}, {3000, LS_TRACE_ACQUIRED, kB, 8}});
	two.spans = {{900, 2000, 0, 1}, {2900, 4000, 0, 1}};
	EXPECT_EQ(drawn(two),
		  (Lines{"hold A 1000..2000 on 10 after", "hold B 3000..4000 on 10 after"}));
}

TEST(TraceSlices, AfterALossAReleaseSaysWhatIsKnown)
{
	EXPECT_EQ(drawn(trace_of({{1000, LS_TRACE_ACQUIRED},
				  {1050, LS_TRACE_ACQUIRED, kB, 8},
				  {1100, LS_TRACE_LOST, 0, 0, 12},
				  {1200, LS_TRACE_RELEASED, kB, 8, 140}})),
		  (Lines{"hold B 1060..1200 on 10"}));
	/* Released by another context, and acquired again. */
	EXPECT_EQ(drawn(trace_of({{1000, LS_TRACE_ACQUIRED},
				  {1100, LS_TRACE_ACQUIRED},
				  {1200, LS_TRACE_RELEASED, kA, 7, 100}})),
		  (Lines{"hold A 1100..1200 on 10"}));
}

TEST(TraceSlices, AnyEventsNest)
{
	std::mt19937_64 random(1);
	for (int round = 0; round < 200; round++) {
		std::vector<Made> events;
		std::uint64_t time = 100;
		for (int i = 0; i < 300; i++) {
			time += random() % 5;
			events.push_back({time,
					  static_cast<ls_trace_kind>(random() % LS_TRACE_NR_STORED),
					  kA | (random() % 4 == 0 ? kSoftirq : 0), random() % 8,
					  random() % 3 ? random() % 100 : random(),
					  static_cast<std::uint32_t>(random() % 3),
					  static_cast<std::uint16_t>(random() % 2)});
		}
		expect_nested(slices_of(trace_of(events, 100, time), all_of_them));
	}
	/* More than a context can hold. */
	std::vector<Made> many;
	for (std::uint64_t i = 0; i < 1000; i++)
		many.push_back({2000 + i, LS_TRACE_RELEASED, kA, i, 1000});
	const TraceSlices slices = slices_of(trace_of(many), all_of_them);
	expect_nested(slices);
	EXPECT_EQ(slices.not_drawn, 1000u - LS_MAX_DEPTH);
}

namespace {

/* Recorders of one run, with batches of events. */
class TraceStoreTest : public testing::Test {
protected:
	void open(const std::string &file)
	{
		const LogBuilder log = locks();
		source_ = image_source(log.image());
		writer_.reset();
		auto writer = StoreWriter::open(dir / file);
		ASSERT_TRUE(writer.ok()) << writer.error().what;
		writer_.emplace(std::move(*writer));
		recorder_.emplace(*source_, *writer_, symbols_, FieldNamer{});
		ASSERT_TRUE(recorder_->attach("kmod", "boot-1", "").ok());
		ASSERT_TRUE(recorder_->drain().ok());
	}

	static LogBuilder locks()
	{
		LogBuilder log;
		const auto a = log.add_class("a_lock"), b = log.add_class("b\xff\n_lock");
		log.acquire({.pid = 1, .stack = {"f"}}, {{.cls = a}}, {.cls = b});
		return log;
	}

	static TracedEvent event(std::uint64_t time, ls_trace_kind kind, std::uint64_t ns = 0)
	{
		ls_trace_event out{};
		out.time_ns = time;
		out.kind = kind;
		out.val = kind == LS_TRACE_LOST ? 0 : kB;
		out.lock = 0xffff888000001000u;
		out.ip = 0xffffffff81000100u;
		out.ns = ns;
		out.pid = 31;
		out.tgid = 30;
		return {out, 1};
	}

	/// @n locks taken from @begin on, a thousand ns each.
	static TraceBatch batch(std::uint64_t begin, std::uint64_t n)
	{
		TraceBatch out;
		out.begin_ns = begin;
		out.end_ns = begin + n * 1000;
		out.real_ns = out.end_ns + 1000000000;
		out.tasks = {{31, 30, {'t', '\xff', '\x1b'}}};
		for (std::uint64_t i = 0; i < n; i++) {
			out.events.push_back(event(begin + i * 1000 + 100, LS_TRACE_ACQUIRED));
			out.events.push_back(event(begin + i * 1000 + 900, LS_TRACE_RELEASED, 800));
		}
		return out;
	}

	void put(const TraceBatch &batch, std::uint64_t most = 1 << 20)
	{
		auto done = recorder_->put_trace(batch, most);
		ASSERT_TRUE(done.ok()) << done.error().what;
	}

	Model load(const std::string &file)
	{
		recorder_.reset();
		writer_.reset();
		auto model = load_stores({dir / file}, Damage::Refuse, Traces::Load);
		EXPECT_TRUE(model.ok()) << (model ? "" : model.error().what);
		return model ? std::move(*model) : Model{};
	}

	TempDir dir;
	std::unique_ptr<Source> source_;
	NoSymbols symbols_;
	std::optional<StoreWriter> writer_;
	std::optional<Recorder> recorder_;
};

std::string perfetto_of(const Model &model)
{
	std::string out;
	perfetto_trace(model, model.runs.back(), all_of_them,
		       [&](std::string_view part) { out += part; });
	return out;
}

/// How many of each type there are among the events of a trace.
std::map<std::int32_t, int> event_types(const std::string &trace)
{
	std::map<std::int32_t, int> out;
	protozero::pbf_reader packets(trace);
	while (packets.next(1)) {
		auto packet = packets.get_message();
		while (packet.next(11)) {
			auto event = packet.get_message();
			while (event.next(9))
				out[event.get_enum()]++;
		}
	}
	return out;
}

} // namespace

TEST_F(TraceStoreTest, ComesBackAsItWas)
{
	open("1.db");
	put(batch(5000, 2));
	TraceBatch more = batch(7000, 1);
	more.events.push_back(event(7950, LS_TRACE_LOST, 3));
	more.losses[LS_TRACE_LOSS_OVERFLOW] = 3;
	put(more);
	const Model model = load("1.db");
	ASSERT_TRUE(model.runs[0].trace);
	const LockTrace &trace = *model.runs[0].trace;
	ASSERT_EQ(trace.events.size(), 7u);
	ASSERT_EQ(trace.spans.size(), 1u);
	EXPECT_EQ(trace.spans[0].begin_ns, 5000u);
	EXPECT_EQ(trace.spans[0].end_ns, 8000u);
	EXPECT_EQ(trace.spans[0].real_ns, 1000008000u);
	ASSERT_EQ(trace.tasks.size(), 1u);
	EXPECT_EQ(trace.tasks[0].comm, "t\xff\x1b");
	EXPECT_EQ(trace.tasks[0].tgid, 30u);
	const TraceEvent &first = trace.events[0];
	EXPECT_EQ(first.time_ns, 5100u);
	EXPECT_EQ(first.cpu, 1);
	EXPECT_EQ(model[first.cls].name, "b\xff?_lock");
	EXPECT_NE(first.instance, 0u);
	EXPECT_NE(first.instance, 0xffff888000001000u);
	EXPECT_EQ(trace.events[1].ns, 800u);
	EXPECT_EQ(trace.events[6].kind, LS_TRACE_LOST);
	EXPECT_EQ(model.counter("trace_overflow"), 3u);
	/* No address is in the file. */
	const std::string bytes = slurp(dir / "1.db");
	const std::uint64_t address = 0xffff888000001000u;
	EXPECT_EQ(bytes.find(std::string(reinterpret_cast<const char *>(&address), 8)), bytes.npos);
}

TEST_F(TraceStoreTest, OnlyWhoAsksGetsIt)
{
	open("1.db");
	put(batch(5000, 2));
	load("1.db");
	auto model = load_stores({dir / "1.db"});
	ASSERT_TRUE(model.ok());
	EXPECT_FALSE(model->runs[0].trace);
}

TEST_F(TraceStoreTest, TheLastEventsAreKeptAndTheRestIsCounted)
{
	constexpr std::uint64_t kMost = 1 << 20;
	open("1.db");
	for (std::uint64_t i = 0; i < 20; i++)
		put(batch(1000 + i * 10000000, 5000), kMost);
	const Model model = load("1.db");
	const LockTrace &trace = *model.runs[0].trace;
	EXPECT_LE(trace.events.size(), kMost / sizeof(TraceRow));
	EXPECT_GE(trace.events.size(), kMost / sizeof(TraceRow) - 2 * kMostTraceEvents);
	EXPECT_EQ(trace.events.back().time_ns, 1000u + 19 * 10000000u + 4999 * 1000u + 900u);
	EXPECT_EQ(model.counter("trace_size"), 20 * 10000 - trace.events.size());
	EXPECT_EQ(trace_losses(model), model.counter("trace_size"));
	expect_nested(slices_of(trace, all_of_them));
	EXPECT_EQ(event_types(perfetto_of(model))[3], 1 + static_cast<int>(trace.spans.size()) - 1);
}

TEST_F(TraceStoreTest, AnotherRecorderOfTheRunGoesOn)
{
	open("1.db");
	TraceBatch first = batch(5000, 2);
	first.losses[LS_TRACE_LOSS_MISSED] = 2;
	put(first);
	open("1.db");
	TraceBatch second = batch(20000, 2);
	second.losses[LS_TRACE_LOSS_MISSED] = 5;
	put(second);
	second = batch(22000, 1);
	second.losses[LS_TRACE_LOSS_MISSED] = 6;
	put(second);
	const Model model = load("1.db");
	EXPECT_EQ(model.runs[0].trace->spans.size(), 2u);
	EXPECT_EQ(model.runs[0].trace->events.size(), 10u);
	EXPECT_EQ(model.counter("trace_missed"), 8u);
}

TEST_F(TraceStoreTest, OlderStoresHaveNoneAndMergingCopiesIt)
{
	open("1.db");
	put(batch(5000, 2));
	load("1.db");
	ASSERT_TRUE(merge_stores({dir / "1.db"}, dir / "all.db").ok());
	EXPECT_EQ(load("all.db").runs[0].trace->events.size(), 4u);
	age_store(dir / "1.db", kTraceSchema - 1);
	EXPECT_FALSE(load("1.db").runs[0].trace);
	ASSERT_TRUE(merge_stores({dir / "1.db"}, dir / "old.db").ok());
	EXPECT_FALSE(load("old.db").runs[0].trace);
	open("1.db");
	put(batch(5000, 1));
	EXPECT_EQ(load("1.db").runs[0].trace->events.size(), 2u);
}

TEST_F(TraceStoreTest, PacketsHaveValidNamesAndBalance)
{
	open("1.db");
	TraceBatch some = batch(5000, 2);
	some.events.push_back(event(6950, LS_TRACE_ACQUIRED));
	put(some);
	const std::string trace = perfetto_of(load("1.db"));
	EXPECT_EQ(event_types(trace), (std::map<std::int32_t, int>{{1, 3}, {2, 3}}));
	EXPECT_NE(trace.find("b\xef\xbf\xbd?_lock"), trace.npos);
	EXPECT_NE(trace.find("t\xef\xbf\xbd?"), trace.npos);
	EXPECT_EQ(trace.find("b\xff"), trace.npos);
	EXPECT_NE(trace.find("still held at the end of the trace"), trace.npos);
}
