// SPDX-License-Identifier: GPL-2.0
// Event rings: writers of one CPU nest like interrupts do, one thread reads.
#include <atomic>
#include <deque>
#include <random>

#include <gtest/gtest.h>

#include "core.h"

namespace lockscope::test {
namespace {

constexpr std::uint32_t kBytes = 4096;

struct Ring {
	Ring() : data(kBytes) { ls_ring_init(&ring, &header, data.get(), kBytes, 3); }

	// Room for an event that carries @number, not yet committed.
	ls_event *reserve(std::uint64_t number, std::uint32_t len = 32)
	{
		ls_event *e = ls_ring_reserve(&ring, len);

		if (e)
			*number_of(e) = number;
		return e;
	}
	bool write(std::uint64_t number, std::uint32_t len = 32)
	{
		ls_event *e = reserve(number, len);

		if (e)
			ls_ring_commit(e);
		return e != nullptr;
	}
	// The number of the next event, which is consumed; 0 when there is none.
	std::uint64_t read()
	{
		ls_event *e = ls_ring_peek(&ring);

		if (!e)
			return 0;
		const std::uint64_t number = *number_of(e);

		ls_ring_consume(&ring, e);
		return number;
	}
	static std::uint64_t *number_of(ls_event *e)
	{
		return reinterpret_cast<std::uint64_t *>(e + 1);
	}

	Zeroed data;
	ls_ring_header header{};
	ls_ring ring{};
};

TEST(Ring, GivesEventsBackInOrder)
{
	Ring r;

	EXPECT_EQ(r.read(), 0u);
	EXPECT_TRUE(r.write(1));
	EXPECT_TRUE(r.write(2));
	EXPECT_EQ(r.read(), 1u);
	EXPECT_EQ(r.read(), 2u);
	EXPECT_EQ(r.read(), 0u);
	EXPECT_EQ(r.header.events, 2u);
	EXPECT_EQ(r.header.cpu, 3u);
	EXPECT_EQ(r.header.data_bytes, kBytes);
}

TEST(Ring, LengthsAreRoundedUpSoThatEveryEventIsAligned)
{
	Ring r;
	ls_event *a = ls_ring_reserve(&r.ring, 17), *b = ls_ring_reserve(&r.ring, 16);

	EXPECT_EQ(a->len, 24u);
	EXPECT_EQ(reinterpret_cast<char *>(b) - reinterpret_cast<char *>(a), 24);
}

TEST(Ring, PeekingTwiceShowsTheSameEvent)
{
	Ring r;

	r.write(1);
	EXPECT_EQ(ls_ring_peek(&r.ring), ls_ring_peek(&r.ring));
	EXPECT_EQ(r.read(), 1u);
}

TEST(Ring, AnEventHalfWrittenStopsTheReader)
{
	Ring r;
	ls_event *half = r.reserve(1);

	r.write(2);
	EXPECT_EQ(r.read(), 0u);
	ls_ring_commit(half);
	EXPECT_EQ(r.read(), 1u);
	EXPECT_EQ(r.read(), 2u);
}

TEST(Ring, AnInterruptMayWriteWhileTheTaskBelowIsHalfWay)
{
	Ring r;
	ls_event *task = r.reserve(1);
	ls_event *softirq = r.reserve(2);
	ls_event *hardirq = r.reserve(3);

	ls_ring_commit(hardirq);
	ls_ring_commit(softirq);
	EXPECT_EQ(r.read(), 0u);
	ls_ring_commit(task);
	EXPECT_EQ(r.read(), 1u);
	EXPECT_EQ(r.read(), 2u);
	EXPECT_EQ(r.read(), 3u);
}

TEST(Ring, AReservationMayBeGivenUp)
{
	Ring r;
	ls_event *e = r.reserve(1);

	ls_store_release(&e->state, LS_EVENT_SKIP);
	r.write(2);
	EXPECT_EQ(r.read(), 2u);
	EXPECT_EQ(r.read(), 0u);
}

TEST(Ring, NoEventIsLargerThanAQuarter)
{
	Ring r;

	EXPECT_EQ(ls_ring_reserve(&r.ring, kBytes / 4 + 1), nullptr);
	EXPECT_NE(ls_ring_reserve(&r.ring, kBytes / 4), nullptr);
}

TEST(Ring, AFullRingCountsWhatItPutsOff)
{
	Ring r;

	for (std::uint64_t i = 1; i <= 4; i++)
		EXPECT_TRUE(r.write(i, kBytes / 4));
	EXPECT_EQ(r.header.deferred, 0u);
	EXPECT_FALSE(r.write(5, 16));
	EXPECT_FALSE(r.write(5, 16));
	EXPECT_EQ(r.header.deferred, 2u);
	EXPECT_EQ(r.header.events, 4u);
	EXPECT_EQ(r.read(), 1u);
	EXPECT_TRUE(r.write(5, kBytes / 4));
	for (std::uint64_t i = 2; i <= 5; i++)
		EXPECT_EQ(r.read(), i);
}

TEST(Ring, AnEventNeverWraps)
{
	Ring r;

	for (std::uint64_t i = 1; i <= 3; i++)
		r.write(i, 1000);
	EXPECT_EQ(r.read(), 1u);
	EXPECT_EQ(r.read(), 2u);
	// 1096 bytes are left at the end: the first event fits there, the second starts at the
	// begin.
	EXPECT_TRUE(r.write(4, 1000));
	ls_event *e = r.reserve(5, 200);
	ASSERT_NE(e, nullptr);
	EXPECT_EQ(reinterpret_cast<char *>(e), static_cast<char *>(r.data.get()));
	ls_ring_commit(e);
	EXPECT_EQ(r.read(), 3u);
	EXPECT_EQ(r.read(), 4u);
	EXPECT_EQ(r.read(), 5u);
	EXPECT_EQ(r.header.head, r.header.tail);
}

TEST(Ring, PaddingCountsAsRoomThatIsTaken)
{
	Ring r;

	for (std::uint64_t i = 1; i <= 4; i++)
		r.write(i, 1000);
	EXPECT_EQ(r.read(), 1u);
	// 96 bytes at the end and 1000 at the start: not 1096 in one piece.
	EXPECT_FALSE(r.write(5, 1008));
	EXPECT_TRUE(r.write(5, 1000));
}

TEST(Ring, RoomGivenBackIsZeroed)
{
	Ring r;
	const char *bytes = static_cast<const char *>(r.data.get());

	for (int round = 0; round < 50; round++) {
		ls_event *e = r.reserve(~0ull, 120);

		__builtin_memset(e + 1, 0xff, 112);
		ls_ring_commit(e);
		r.read();
	}
	for (std::uint32_t i = 0; i < kBytes; i++)
		ASSERT_EQ(bytes[i], 0) << "byte " << i;
}

// Writers that nest, simulated: reservations end in the reverse order, as
// interrupts do, while the reader comes at any time.
TEST(Ring, NestedWritersLoseNothingAndKeepTheirOrder)
{
	std::mt19937 random(4);

	for (int round = 0; round < 200; round++) {
		Ring r;
		std::vector<ls_event *> open;
		std::deque<std::uint64_t> expected;
		std::uint64_t next = 1, refused = 0;

		for (int step = 0; step < 400; step++) {
			const unsigned pick = random() % 4;

			if (pick < 2 && open.size() < 4) {
				ls_event *e = r.reserve(next, 16 + random() % 600);

				refused += !e;
				if (e) {
					open.push_back(e);
					expected.push_back(next++);
				}
			} else if (pick == 2 && !open.empty()) {
				ls_ring_commit(open.back());
				open.pop_back();
			} else if (const std::uint64_t number = r.read()) {
				ASSERT_FALSE(expected.empty());
				ASSERT_EQ(number, expected.front());
				expected.pop_front();
			} else {
				// Silence means that nothing is there or the oldest is
				// half-written.
				ASSERT_TRUE(expected.empty() || !open.empty());
			}
		}
		for (; !open.empty(); open.pop_back())
			ls_ring_commit(open.back());
		for (; !expected.empty(); expected.pop_front())
			ASSERT_EQ(r.read(), expected.front());
		ASSERT_EQ(r.read(), 0u);
		ASSERT_EQ(r.header.deferred, refused);
		ASSERT_EQ(r.header.events, next - 1);
	}
}

TEST(Ring, AReaderThreadGetsEveryEventOnceWhole)
{
	constexpr std::uint64_t kEvents = 60000;
	Ring r;
	std::atomic<std::uint64_t> torn{0}, misplaced{0};

	together(2, [&](unsigned self) {
		std::mt19937 random(self);

		if (self == 0) {
			for (std::uint64_t next = 1; next <= kEvents;) {
				ls_event *e = r.reserve(next, 24 + random() % 40 * 8);

				if (!e) {
					std::this_thread::yield();
					continue;
				}
				// The last word repeats the number.
				reinterpret_cast<std::uint64_t *>(e)[e->len / 8 - 1] = next++;
				ls_ring_commit(e);
			}
			return;
		}
		for (std::uint64_t next = 1; next <= kEvents;) {
			ls_event *e = ls_ring_peek(&r.ring);

			if (!e) {
				std::this_thread::yield();
				continue;
			}
			misplaced += *Ring::number_of(e) != next;
			torn += reinterpret_cast<std::uint64_t *>(e)[e->len / 8 - 1] != next;
			next++;
			ls_ring_consume(&r.ring, e);
		}
	});
	EXPECT_EQ(misplaced, 0u);
	EXPECT_EQ(torn, 0u);
	EXPECT_EQ(r.header.events, kEvents);
}

} // namespace
} // namespace lockscope::test
