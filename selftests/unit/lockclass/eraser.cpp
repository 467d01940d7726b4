// SPDX-License-Identifier: GPL-2.0
#include "eraser.h"

#include <algorithm>

namespace lockscope::test {
namespace {

bool writes(const Eraser::Access &a)
{
	return a.op & LS_ACC_WRITE;
}

bool marked(const Eraser::Access &a)
{
	return a.op & (LS_ACC_MARKED | LS_ACC_ATOMIC);
}

} // namespace

bool Eraser::conflict(const Access &a, const Access &b)
{
	return a.context != b.context && (a.bytes & b.bytes) && (writes(a) || writes(b)) &&
	       !(marked(a) && marked(b)) && !apart(a.held, b.held);
}

std::vector<Eraser::Access> Eraser::access(std::uint64_t where, Access a)
{
	Granule &g = granules_[where];
	std::vector<Access> races;

	// Figure 4.
	if (g.state == LS_VIRGIN) {
		g.state = LS_EXCLUSIVE_TO;
		g.owner = a.context;
	} else if (g.state == LS_EXCLUSIVE_TO && g.owner != a.context) {
		g.state = writes(a) ? LS_SHARED_MODIFIED : LS_SHARED_READ;
	} else if (g.state == LS_SHARED_READ && writes(a)) {
		g.state = LS_SHARED_MODIFIED;
	}
	if (g.state == LS_SHARED_READ || g.state == LS_SHARED_MODIFIED) {
		std::set<std::uint64_t> held;

		for (const auto &[lock, exclusively] : writes(a) ? exclusive_ones(a.held) : a.held)
			held.insert(lock);
		if (!g.candidates)
			g.candidates = held;
		std::erase_if(*g.candidates, [&](std::uint64_t l) { return !held.contains(l); });
		if (g.state == LS_SHARED_MODIFIED && g.candidates->empty())
			for (const Access &other : g.history)
				if (conflict(other, a) && !before(other, a.context))
					races.push_back(other);
	}
	a.initial = g.state == LS_EXCLUSIVE_TO;
	a.at = now_++;
	done_[a.context].insert(a.at);
	g.history.push_back(std::move(a));
	return races;
}

void Eraser::hand_over(std::uint32_t from, std::uint32_t to)
{
	known_[to].insert(done_[from].begin(), done_[from].end());
	known_[to].insert(known_[from].begin(), known_[from].end());
}

bool Eraser::before(const Access &a, std::uint32_t context) const
{
	const auto known = known_.find(context);

	return known != known_.end() && known->second.contains(a.at);
}

bool Eraser::all_before(std::uint64_t where, std::uint32_t context) const
{
	const auto g = granules_.find(where);

	return g == granules_.end() || std::ranges::all_of(g->second.history, [&](const Access &a) {
		       return a.context == context || before(a, context);
	       });
}

} // namespace lockscope::test
