// SPDX-License-Identifier: GPL-2.0
// A judge with memory of its own that writes down what it says.
#pragma once

#include <algorithm>
#include <cstring>

#include "core.h"

namespace lockscope::test {

// A lock as it is held or taken. The instance follows from the class unless given.
// Interrupts are off unless a test turns them on: most are about the order of locks.
struct Hold {
	std::uint32_t val;
	std::uint64_t lock;
};
using Holding = std::vector<Hold>;

inline Hold hold(std::uint32_t id, ls_read read, std::uint64_t lock)
{
	return {taken(id, read) | LS_VAL_IRQ_OFF, lock ? lock : 0x10000 + id * 0x100};
}
// Written, read (a waiting writer holds it up), read recursively.
inline Hold W(std::uint32_t id, std::uint64_t lock = 0)
{
	return hold(id, LS_EXCLUSIVE, lock);
}
inline Hold R(std::uint32_t id, std::uint64_t lock = 0)
{
	return hold(id, LS_SHARED, lock);
}
inline Hold RR(std::uint32_t id, std::uint64_t lock = 0)
{
	return hold(id, LS_RECURSIVE, lock);
}
inline Hold Try(Hold h)
{
	return {h.val | LS_VAL_TRY, h.lock};
}
inline Hold Ctx(Hold h)
{
	return {h.val | LS_VAL_CTX, h.lock};
}

// The classes of a cycle in order, the smallest first.
using Finding = std::vector<std::uint32_t>;
using Findings = std::vector<Finding>;

class Court {
public:
	struct Edge {
		std::uint32_t from, to, kinds;
		bool operator==(const Edge &) const = default;
	};

	explicit Court(std::uint32_t max_classes = 50, std::uint32_t max_edges = 2000)
		: memory_(ls_judge_bytes(max_classes, max_edges))
	{
		static const ls_judge_ops ops = {alloc, edge, cycle, on_gated};

		ls_judge_init(&judge, memory_.get(), max_classes, max_edges, &ops, this);
	}
	Court(const Court &) = delete;

	// A context that holds @held, oldest first, takes @next.
	void takes(const Holding &held, Hold next) { sees(held, next, LS_SIGHT_ACQUIRE); }
	// It waits for @completion.
	void waits(const Holding &held, Hold completion)
	{
		sees(held, {completion.val | LS_VAL_WAIT, completion.lock}, LS_SIGHT_ACQUIRE);
	}
	// It completes it; what it has only tried for it did not need.
	void completes(const Holding &held, Hold completion)
	{
		sees(held, completion, LS_SIGHT_COMPLETE);
	}
	// It does so before any task waits: it may be the waiter itself.
	void completes_early(const Holding &held, Hold completion)
	{
		sees(held, completion, LS_SIGHT_COMPLETE, LS_COMPLETE_OPEN);
	}
	// A waiter that holds @held finds that another context has completed it.
	void confirms(const Holding &held, Hold completion)
	{
		sees(held, completion, LS_SIGHT_COMPLETE, LS_COMPLETE_CONFIRMED);
	}
	// What is known by now is judged.
	const Findings &settled()
	{
		ls_judge_settle(&judge);
		return findings;
	}
	void sees(const Holding &held, Hold next, std::uint32_t what, std::uint32_t extra = 0)
	{
		const std::size_t bytes = sizeof(ls_rec_sight) + held.size() * sizeof(ls_held_rec);
		std::unique_ptr<std::uint64_t[]> room(new std::uint64_t[bytes / 8]());
		auto *s = reinterpret_cast<ls_rec_sight *>(room.get());

		s->hdr.len = static_cast<std::uint32_t>(bytes);
		s->hdr.type = LS_REC_SIGHT;
		s->what = what;
		s->extra = extra;
		s->val = next.val;
		s->lock = next.lock;
		s->nr_held = static_cast<std::uint16_t>(held.size());
		for (std::size_t i = 0; i < held.size(); i++) {
			s->held[i].val = held[i].val;
			s->held[i].lock = held[i].lock;
			if (ls_needed(held[i].val))
				s->new_mask |= std::uint64_t{1} << i;
		}
		sight(*s);
	}
	// A context gives @lock back, its context bits being those of now.
	void releases(Hold lock)
	{
		ls_rec_sight s{};

		s.hdr.len = sizeof(s);
		s.hdr.type = LS_REC_SIGHT;
		s.what = LS_SIGHT_RELEASE;
		s.val = lock.val;
		s.lock = lock.lock;
		sight(s);
	}
	void sight(const ls_rec_sight &s) { ls_judge_observe(&judge, &s, sights++); }

	ls_judge judge{};
	Findings findings; ///< cycles of locks alone
	std::vector<std::vector<ls_finding_edge>> reports;
	std::vector<std::uint32_t> kinds; ///< LS_FINDING_* of each
	std::vector<Edge> edges;
	std::vector<std::pair<std::uint32_t, std::uint32_t>> gated; ///< dependencies, each time
	std::uint32_t sights = 0;
	bool out_of_memory = false;

private:
	static void *alloc(void *cookie, ls_size bytes)
	{
		auto *self = static_cast<Court *>(cookie);

		if (self->out_of_memory)
			return nullptr;
		self->blocks_.emplace_back(bytes);
		return self->blocks_.back().get();
	}
	static void edge(void *cookie, ls_u32 from, ls_u32 to, ls_u32 kinds, ls_u32)
	{
		static_cast<Court *>(cookie)->edges.push_back({from, to, kinds});
	}
	static void on_gated(void *cookie, ls_u32 from, ls_u32 to)
	{
		static_cast<Court *>(cookie)->gated.emplace_back(from, to);
	}
	static void cycle(void *cookie, ls_u32 kind, const ls_finding_edge *edges, ls_u32 nr)
	{
		auto *self = static_cast<Court *>(cookie);

		self->kinds.push_back(kind);
		self->reports.emplace_back(edges, edges + nr);
		if (kind != LS_FINDING_ORDER_CYCLE)
			return;
		Finding classes;

		for (ls_u32 i = 0; i < nr; i++)
			classes.push_back(edges[i].from);
		std::rotate(classes.begin(), std::min_element(classes.begin(), classes.end()),
			    classes.end());
		self->findings.push_back(classes);
	}

	Zeroed memory_;
	std::vector<Zeroed> blocks_;
};

} // namespace lockscope::test
