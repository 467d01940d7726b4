// SPDX-License-Identifier: GPL-2.0
// The slow and obvious way: every acquisition with its whole held list, every
// cycle by trying all walks.
#pragma once

#include <functional>
#include <map>
#include <set>
#include <utility>

#include "court.h"

namespace lockscope::test {

class Reference {
public:
	struct Edge {
		std::uint32_t kinds = 0;
		// What was held at every observation; true: exclusively each time.
		std::map<std::uint64_t, bool> gates;
		bool operator==(const Edge &) const = default;
	};
	using Ordered = std::pair<std::uint32_t, std::uint32_t>;

	// A context that holds @held acquires @next; @news for each edge that gets a kind or
	// loses a gate by that, at the time it does.
	void takes(const Holding &held, Hold next, const std::function<void(Ordered)> &news = {});
	// All shortest strong cycles of at most kLongest edges through @edge.
	static constexpr std::size_t kLongest = 8;
	Findings shortest(Ordered edge) const;
	// Is this a strong cycle? A class that follows itself is one that nests in itself.
	bool strong(const Finding &cycle) const;
	// Do no two of its edges exclude each other, too?
	bool possible(const Finding &cycle) const;
	// Edges and their kinds.
	std::map<Ordered, std::uint32_t> kinds() const;
	// Was some pair of instances of class @id taken in both orders?
	bool inverted(std::uint32_t id) const;

	std::map<Ordered, Edge> edges;

private:
	// How a strong walk may go on: per sort of its first holder (exclusive, shared),
	// a mask of what it may end in: 1 anything but a recursive reader, 2 such a one.
	struct Ends {
		std::uint32_t after[2];
	};
	static Ends begin(std::uint32_t kinds);
	static Ends extend(Ends ends, std::uint32_t kinds);
	static bool closes(Ends ends);
	void walk(Finding &path, Ends ends, std::size_t length, Findings &found) const;
	const Edge *find(std::uint32_t from, std::uint32_t to) const;
	std::uint32_t kinds_of(std::uint32_t from, std::uint32_t to) const;

	std::map<std::uint32_t, std::set<std::pair<std::uint64_t, std::uint64_t>>> orders_;
	// Of a class to itself: exclusively from one instance to another. No walk follows them.
	std::map<Ordered, Edge> nestings_;
};

inline Finding rotated(Finding cycle)
{
	std::rotate(cycle.begin(), std::min_element(cycle.begin(), cycle.end()), cycle.end());
	return cycle;
}

} // namespace lockscope::test
