// SPDX-License-Identifier: GPL-2.0
#include "reference.h"

namespace lockscope::test {
namespace {

std::uint32_t class_of(std::uint32_t val)
{
	return val & LS_VAL_CLASS_MASK;
}

bool exclusive(std::uint32_t val)
{
	return !(val & LS_VAL_READ_MASK);
}

std::map<std::uint64_t, bool> gates_of(const Holding &held)
{
	std::map<std::uint64_t, bool> gates;

	for (const Hold &h : held)
		gates[h.lock] = gates[h.lock] || exclusive(h.val);
	return gates;
}

bool exclude(const Reference::Edge &a, const Reference::Edge &b)
{
	for (const auto &[lock, exclusively] : a.gates) {
		const auto other = b.gates.find(lock);

		if (other != b.gates.end() && (exclusively || other->second))
			return true;
	}
	return false;
}

} // namespace

void Reference::takes(const Holding &held, Hold next, const std::function<void(Ordered)> &news)
{
	const bool recursive = (next.val & LS_VAL_READ_MASK) >> LS_VAL_READ_SHIFT == LS_RECURSIVE;

	if (next.val & LS_VAL_TRY)
		return;
	for (const Hold &h : held) {
		if (h.val & next.val & LS_VAL_CTX)
			continue;
		const Ordered at{class_of(h.val), class_of(next.val)};
		const bool nests = at.first == at.second;
		const std::uint32_t kind = exclusive(h.val) ? (recursive ? LS_DEP_ER : LS_DEP_EN)
							    : (recursive ? LS_DEP_SR : LS_DEP_SN);

		if (nests && h.lock != next.lock)
			orders_[at.first].insert({h.lock, next.lock});
		if (nests && (h.lock == next.lock || kind != LS_DEP_EN))
			continue;
		auto &known = nests ? nestings_ : edges;
		const bool first = !known.contains(at);
		Edge &edge = known[at];
		const Edge before = edge;
		const auto gates = gates_of(held);

		edge.kinds |= kind;
		if (first)
			edge.gates = gates;
		std::erase_if(edge.gates, [&](const auto &g) { return !gates.contains(g.first); });
		for (auto &[lock, exclusively] : edge.gates)
			exclusively = exclusively && gates.at(lock);
		if (news && !nests && (first || !(edge == before)))
			news(at);
	}
}

const Reference::Edge *Reference::find(std::uint32_t from, std::uint32_t to) const
{
	const auto &known = from == to ? nestings_ : edges;
	const auto found = known.find({from, to});

	return found == known.end() ? nullptr : &found->second;
}

std::uint32_t Reference::kinds_of(std::uint32_t from, std::uint32_t to) const
{
	const Edge *edge = find(from, to);

	return edge ? edge->kinds : 0;
}

Reference::Ends Reference::begin(std::uint32_t kinds)
{
	return {{(kinds & LS_DEP_EN ? 1u : 0u) | (kinds & LS_DEP_ER ? 2u : 0u),
		 (kinds & LS_DEP_SN ? 1u : 0u) | (kinds & LS_DEP_SR ? 2u : 0u)}};
}

Reference::Ends Reference::extend(Ends ends, std::uint32_t kinds)
{
	const Ends step = begin(kinds);
	Ends result{};

	for (int first : {0, 1}) {
		// An exclusive holder goes on from anything, a shared one only where the
		// walk does not end in a recursive reader.
		if (ends.after[first])
			result.after[first] |= step.after[0];
		if (ends.after[first] & 1)
			result.after[first] |= step.after[1];
	}
	return result;
}

// The same rule where the last edge meets the first.
bool Reference::closes(Ends ends)
{
	return ends.after[0] || (ends.after[1] & 1);
}

void Reference::walk(Finding &path, Ends ends, std::size_t length, Findings &found) const
{
	if (path.size() == length) {
		const std::uint32_t kinds = kinds_of(path.back(), path.front());

		if (kinds && closes(extend(ends, kinds)))
			found.push_back(rotated(path));
		return;
	}
	for (auto at = edges.lower_bound({path.back(), 0});
	     at != edges.end() && at->first.first == path.back(); ++at) {
		const std::uint32_t next = at->first.second;
		const Ends further = extend(ends, at->second.kinds);

		if (next == path.front() || (!further.after[0] && !further.after[1]))
			continue;
		path.push_back(next);
		walk(path, further, length, found);
		path.pop_back();
	}
}

Findings Reference::shortest(Ordered edge) const
{
	Findings found;

	for (std::size_t length = 2; found.empty() && length <= kLongest; length++) {
		Finding path{edge.first, edge.second};

		walk(path, begin(kinds_of(edge.first, edge.second)), length, found);
	}
	return found;
}

bool Reference::strong(const Finding &cycle) const
{
	const std::size_t nr = cycle.size();
	Ends ends{};

	for (std::size_t i = 0; i < nr; i++) {
		const std::uint32_t kinds = kinds_of(cycle[i], cycle[(i + 1) % nr]);

		if (!kinds)
			return false;
		ends = i ? extend(ends, kinds) : begin(kinds);
	}
	return closes(ends);
}

bool Reference::possible(const Finding &cycle) const
{
	const std::size_t nr = cycle.size();

	if (!strong(cycle))
		return false;
	for (std::size_t i = 0; i < nr; i++)
		for (std::size_t k = i + 1; k < nr; k++)
			if (exclude(*find(cycle[i], cycle[(i + 1) % nr]),
				    *find(cycle[k], cycle[(k + 1) % nr])))
				return false;
	return true;
}

std::map<Reference::Ordered, std::uint32_t> Reference::kinds() const
{
	std::map<Ordered, std::uint32_t> all;

	for (const auto &[at, edge] : edges)
		all[at] = edge.kinds;
	return all;
}

bool Reference::inverted(std::uint32_t id) const
{
	const auto pairs = orders_.find(id);

	if (pairs == orders_.end())
		return false;
	for (const auto &pair : pairs->second)
		if (pairs->second.contains({pair.second, pair.first}))
			return true;
	return false;
}

} // namespace lockscope::test
