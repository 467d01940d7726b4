// SPDX-License-Identifier: GPL-2.0
// Traces: what the records say of them.
#include "log/log.h"
#include "replay/trace.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace lockscope::replay {
namespace {

struct Played {
	std::vector<ObservationRecord> sights;
	std::vector<ClassRecord> classes;
	std::vector<RaceRecord> races;
	Image image;
	std::vector<Location> places;
};

Played play(const std::string &text, const Limits &limits = {})
{
	auto trace = play_trace(text, "t", limits);
	EXPECT_TRUE(trace) << (trace ? "" : trace.error().what);
	Played out;
	if (!trace)
		return out;
	LogDecoder decoder;
	std::vector<LogRecord> records;
	EXPECT_EQ(decoder.decode(trace->image.log, records), trace->image.log.size());
	EXPECT_EQ(decoder.malformed(), 0u) << decoder.problem();
	for (const auto &record : records) {
		if (const auto *sight = std::get_if<ObservationRecord>(&record))
			out.sights.push_back(*sight);
		if (const auto *cls = std::get_if<ClassRecord>(&record))
			out.classes.push_back(*cls);
		if (const auto *race = std::get_if<RaceRecord>(&record))
			out.races.push_back(*race);
	}
	out.image = std::move(trace->image);
	out.places = std::move(trace->places);
	return out;
}

std::string wrong(const std::string &text)
{
	auto trace = play_trace(text, "t");
	return trace ? "" : trace.error().what;
}

const std::string kBoth = "m|fork(T1)|1\nm|fork(T2)|2\n";

std::string order(const std::string &thread, const std::string &a, const std::string &b)
{
	return thread + "|acq(" + a + ")|3\n" + thread + "|acq(" + b + ")|4\n" + thread + "|rel(" +
	       b + ")|5\n" + thread + "|rel(" + a + ")|6\n";
}

TEST(Replay, BothOrdersAreRecordedWithTheirThreads)
{
	const auto played = play(kBoth + order("T1", "A", "B") + order("T2", "B", "A"));
	ASSERT_EQ(played.sights.size(), 2u);
	ASSERT_EQ(played.classes.size(), 2u);
	EXPECT_EQ(played.classes[0].name, "A");
	EXPECT_EQ(played.sights[0].comm, "T1");
	EXPECT_EQ(played.sights[1].comm, "T2");
	EXPECT_EQ(played.sights[0].held[0].lock, played.sights[1].lock);
	EXPECT_EQ(played.image.info.acquisitions, 4u);
	EXPECT_EQ(played.image.info.unknown_releases, 0u);
}

TEST(Replay, AnOrderIsRecordedOfEachThreadOnce)
{
	const auto once = order("T1", "A", "B");
	EXPECT_EQ(play(kBoth + once + once).sights.size(), 1u);
	EXPECT_EQ(play(kBoth + once + once + order("T2", "A", "B")).sights.size(), 2u);
}

TEST(Replay, AnOrderIsRecordedAgainWithoutItsGate)
{
	const auto gated = "T1|acq(G)|1\n" + order("T1", "A", "B") + "T1|rel(G)|2\n";
	EXPECT_EQ(play(kBoth + gated).sights.size(), 2u);
	const auto played = play(kBoth + gated + order("T1", "A", "B"));
	ASSERT_EQ(played.sights.size(), 3u);
	EXPECT_EQ(played.sights[2].held.size(), 1u);
}

TEST(Replay, AThreadThatIsAloneShowsNoOrder)
{
	EXPECT_EQ(play(order("m", "A", "B") + kBoth).sights.size(), 0u);
	EXPECT_EQ(play(kBoth + "m|join(T1)|1\nm|join(T2)|1\n" + order("m", "A", "B")).sights.size(),
		  0u);
	/* T has been there all the time. */
	EXPECT_EQ(play(order("m", "A", "B") + "T|acq(C)|1\n").sights.size(), 1u);
}

TEST(Replay, ALockIsHeldUntilItsLastRelease)
{
	const auto played = play(kBoth + "T1|acq(A)|1\nT1|acq(A)|2\nT1|rel(A)|3\nT1|acq(B)|4\n"
					 "T1|rel(A)|5\nT1|acq(C)|6\n");
	ASSERT_EQ(played.sights.size(), 2u);
	EXPECT_EQ(played.sights[0].held.size(), 1u);
	ASSERT_EQ(played.sights[1].held.size(), 1u);
	EXPECT_EQ(played.sights[1].held[0].lock, played.sights[0].lock);
}

TEST(Replay, RacesAreThoseWithoutACommonLockOrAnOrder)
{
	const auto racing = play("T1|w(x)|a:1\nT2|w(x)|b:2\n");
	ASSERT_EQ(racing.races.size(), 1u);
	EXPECT_EQ(racing.races[0].first, 1u);
	EXPECT_EQ(racing.places[1].function, "a:1");
	EXPECT_TRUE(play("T1|acq(L)|1\nT1|w(x)|2\nT1|rel(L)|3\nT2|acq(L)|4\nT2|w(x)|5\n")
			    .races.empty());
	EXPECT_TRUE(play("m|w(x)|1\nm|fork(T)|2\nT|fork(U)|3\nU|w(x)|4\n").races.empty());
	EXPECT_EQ(play("m|fork(T)|2\nm|w(x)|1\nT|w(x)|4\n").races.size(), 1u);
	EXPECT_TRUE(play("m|fork(T)|2\nT|w(x)|4\nm|join(T)|5\nm|w(x)|1\n").races.empty());
	EXPECT_TRUE(play("T1|r(x)|1\nT2|r(x)|2\n").races.empty());
}

TEST(Replay, PerfsEventsHaveTheirCallers)
{
	const auto played =
		play(" my task 7 [001] 1.000001: lock:lock_acquire: 0xff00 lock_a\n"
		     "\tffff01 mutex_lock+0x1 ([kernel.kallsyms])\n"
		     "\tffff02 take_a+0x2 ([drv])\n\n"
		     " my task 7 [001] 1.000002: lock:lock_acquire: 0xff10 try read lock_b\n\n"
		     " my task 7 [001] 1.000003: lock:lock_acquire: 0xff20 lock_a\n\n"
		     " other 8/9 [000] 1.000004: lock:lock_release: 0xff20 lock_a\n");
	ASSERT_EQ(played.classes.size(), 3u);
	EXPECT_EQ(played.classes[2].name, "lock_a#2");
	/* Nothing waits for a trylock. */
	ASSERT_EQ(played.sights.size(), 1u);
	EXPECT_EQ(played.sights[0].comm, "my task");
	EXPECT_EQ(played.sights[0].pid, 7u);
	EXPECT_EQ(played.sights[0].time_ns, 1000003000u);
	ASSERT_EQ(played.sights[0].held.size(), 2u);
	EXPECT_EQ(played.places[1].function, "take_a");
	EXPECT_EQ(played.places[1].offset, 2u);
	EXPECT_EQ(played.places[1].module, "drv");
	EXPECT_EQ(played.image.info.unknown_releases, 1u);
}

TEST(Replay, WhatIsWrongIsSaidWithItsLine)
{
	EXPECT_EQ(wrong("T|acq(A)|1\n\nT|lock(A)|1\n"), "t:3: unknown operation \"lock\"");
	EXPECT_EQ(wrong("T|acq(A)|1\nT|acq(A)"), "t:2: not three fields in \"T|acq(A)\"");
	EXPECT_EQ(wrong("T|acq()|1\n"), "t:1: no object of \"acq\" in parentheses");
	EXPECT_EQ(wrong("nothing\n"), "t:1: no trace of a known format");
	EXPECT_EQ(wrong("#\n"), "t has no events");
	EXPECT_EQ(wrong(std::string(70000, 'x')), "t:1: longer than 65536 bytes");
}

TEST(Replay, WhatHasNoRoomIsCounted)
{
	Limits limits;
	limits.threads = 3;
	limits.locks = 2;
	limits.variables = 1;
	limits.places = 2;
	limits.edges = 0;
	const auto played = play(kBoth + order("T1", "A", "B") +
					 "T1|acq(C)|3\nT3|acq(A)|4\n"
					 "T1|w(x)|9\nT1|w(y)|9\n",
				 limits);
	const auto &losses = played.image.info.losses;
	EXPECT_EQ(losses[LS_LOSS_CLASSES], 1u);
	EXPECT_EQ(losses[LS_LOSS_HELD_OVERFLOW], 1u);
	EXPECT_EQ(losses[LS_LOSS_EDGES], 1u);
	EXPECT_GT(losses[LS_LOSS_SITES], 0u);
	EXPECT_EQ(played.image.accesses->losses[LS_ALOSS_PAGES], 1u);
}

} // namespace
} // namespace lockscope::replay
