// SPDX-License-Identifier: GPL-2.0
// Rings of instances of one class: which observations of them can be there at once.
#include <algorithm>
#include <random>

#include <gtest/gtest.h>

#include "core.h"

extern "C" {
#include "lockclass/nest.h"
}

namespace lockscope::test {
namespace {

using Path = std::vector<std::uint32_t>;

class Nest {
public:
	explicit Nest(std::uint32_t nodes = 64, std::uint32_t edges = 512)
		: memory_(ls_nest_bytes(nodes, edges))
	{
		ls_nest_init(&nest_, memory_.get(), nodes, edges);
	}

	// Instance @to acquired with @from held, and @gates exclusively. The observations of the
	// ring, none if there is none.
	Path takes(std::uint32_t from, std::uint32_t to, std::vector<int> gates = {},
		   std::uint32_t kind = LS_DEP_EN)
	{
		std::uint32_t path[LS_CYCLE_MAX], nr = 0;

		gates_.push_back(std::move(gates));
		result = ls_nest_add(&nest_, from, to, kind,
				     static_cast<std::uint32_t>(gates_.size() - 1), apart, this,
				     path, &nr);
		EXPECT_EQ(nr > 0, result == LS_NEST_RING);
		return {path, path + nr};
	}
	void clear() { ls_nest_clear(&nest_); }

	ls_nest_result result = LS_NEST_NONE;
	std::size_t asked = 0;

private:
	static bool apart(void *cookie, ls_u32 a, ls_u32 b)
	{
		auto *self = static_cast<Nest *>(cookie);
		const auto &other = self->gates_[b];

		self->asked++;
		return std::any_of(self->gates_[a].begin(), self->gates_[a].end(), [&](int gate) {
			return std::find(other.begin(), other.end(), gate) != other.end();
		});
	}

	Zeroed memory_;
	ls_nest nest_{};
	std::vector<std::vector<int>> gates_;
};

TEST(Nest, TwoInstancesInBothOrdersAreARing)
{
	Nest n;

	EXPECT_TRUE(n.takes(1, 2).empty());
	EXPECT_EQ(n.takes(2, 1), (Path{1, 0}));
}

TEST(Nest, SeveralInstancesAreARing)
{
	Nest n;

	n.takes(1, 2);
	n.takes(1, 3);
	n.takes(2, 3);
	n.takes(3, 4);
	EXPECT_TRUE(n.takes(2, 4).empty());
	/* The shortest one: 4 -> 2 -> 4. */
	EXPECT_EQ(n.takes(4, 2), (Path{5, 4}));
	EXPECT_EQ(n.takes(4, 1).size(), 3u);
}

TEST(Nest, AnotherRingIsTriedWhenTheShortestHasAGate)
{
	Nest n;

	n.takes(1, 3, {7});
	n.takes(1, 2);
	n.takes(2, 3);
	EXPECT_EQ(n.takes(3, 1, {7}), (Path{3, 1, 2}));
}

TEST(Nest, OfEqualLengthTheOneWithoutAGateIsFound)
{
	Nest n;

	n.takes(1, 2, {7});
	n.takes(2, 4, {7});
	n.takes(1, 3);
	n.takes(3, 4, {7});
	EXPECT_EQ(n.takes(4, 1), (Path{4, 2, 3}));
}

TEST(Nest, AnEarlierObservationMayBeTheOneWithoutAGate)
{
	Nest n;

	n.takes(1, 2);
	n.takes(1, 2, {7});
	EXPECT_EQ(n.takes(2, 1, {7}), (Path{2, 0}));
}

TEST(Nest, AGateAroundAllIsNoRing)
{
	Nest n;

	n.takes(1, 2, {7});
	n.takes(2, 3, {7});
	EXPECT_TRUE(n.takes(3, 1, {7}).empty());
	EXPECT_EQ(n.result, LS_NEST_NONE);
}

TEST(Nest, ARecursiveReaderWaitsForNoReader)
{
	Nest n;

	n.takes(1, 2, {}, LS_DEP_ER);
	EXPECT_TRUE(n.takes(2, 1, {}, LS_DEP_SN).empty());
	EXPECT_FALSE(n.takes(2, 1, {}, LS_DEP_EN).empty());
	n.clear();
	EXPECT_TRUE(n.takes(2, 1, {}, LS_DEP_EN).empty());
}

TEST(Nest, WithoutARingNothingIsCompared)
{
	Nest n(64, 2100);

	for (std::uint32_t from = 1; from < 64; from++)
		for (std::uint32_t to = from + 1; to < 64; to++)
			EXPECT_TRUE(n.takes(from, to, {static_cast<int>(from)}).empty());
	EXPECT_EQ(n.asked, 0u);
}

TEST(Nest, TooManyToTryAreCounted)
{
	Nest n;

	/* All ways from 1 to 40 end under the gate of the last one. */
	for (std::uint32_t layer = 0; layer < 6; layer++)
		for (std::uint32_t i = 0; i < 6; i++)
			for (std::uint32_t k = 0; k < 6; k++)
				n.takes(1 + layer * 6 + i, 7 + layer * 6 + k);
	for (std::uint32_t i = 0; i < 6; i++)
		n.takes(37 + i, 50, {7});
	EXPECT_TRUE(n.takes(50, 1, {7}).empty());
	EXPECT_EQ(n.result, LS_NEST_CUT);
	EXPECT_LE(n.asked, LS_NEST_STEPS * LS_CYCLE_MAX);
}

TEST(Nest, WithoutRoomItSaysSo)
{
	Nest n(4, 1);

	n.takes(1, 2);
	n.takes(2, 3);
	EXPECT_EQ(n.result, LS_NEST_FULL);
	n.takes(1, 2);
	EXPECT_EQ(n.result, LS_NEST_NONE);
	n.takes(9, 1);
	EXPECT_EQ(n.result, LS_NEST_FULL);
}

TEST(Nest, ManyObservationsReplaceTheOldest)
{
	Nest n;

	for (int i = 0; i < 2 * LS_NEST_SIDES; i++)
		n.takes(1, 2, {i});
	for (int i = 0; i < LS_NEST_SIDES; i++)
		EXPECT_EQ(n.takes(2, 1, {}).size(), 2u);
}

/* All rings that random observations have, by trying all sequences of them. */
TEST(Nest, RandomRingsAreFoundAsByTryingAll)
{
	struct Seen {
		std::uint32_t from, to;
		int gate;
	};
	std::size_t rings = 0, none = 0;

	for (unsigned seed = 0; seed < 400; seed++) {
		std::mt19937 random(seed);
		std::vector<Seen> all;
		Nest n;
		auto closes = [&](auto &&self, std::vector<std::size_t> &path) -> bool {
			const Seen &first = all[path.front()], &last = all[path.back()];

			if (path.size() > 1 && last.to == first.from)
				return true;
			for (std::size_t i = 0; i < all.size(); i++) {
				if (all[i].from != last.to ||
				    std::any_of(path.begin(), path.end(), [&](std::size_t k) {
					    return all[k].to == all[i].to ||
						   all[k].gate == all[i].gate;
				    }))
					continue;
				path.push_back(i);
				if (self(self, path))
					return true;
				path.pop_back();
			}
			return false;
		};

		for (int step = 0; step < 12; step++) {
			const std::uint32_t from = 1 + random() % 5;
			const std::uint32_t to = 1 + (from + random() % 4) % 5;
			const int gate = static_cast<int>(random() % 6);

			/* Each order of two once, so that none is replaced. */
			if (from == to || std::any_of(all.begin(), all.end(), [&](const Seen &s) {
				    return s.from == from && s.to == to;
			    }))
				continue;
			all.push_back({from, to, gate});
			std::vector<std::size_t> path{all.size() - 1};
			const bool expected = closes(closes, path);

			EXPECT_EQ(!n.takes(from, to, {gate}).empty(), expected) << seed;
			EXPECT_NE(n.result, LS_NEST_CUT);
			(expected ? rings : none)++;
		}
	}
	EXPECT_GT(rings, 100u);
	EXPECT_GT(none, 100u);
}

} // namespace
} // namespace lockscope::test
