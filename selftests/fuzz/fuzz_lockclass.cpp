// SPDX-License-Identifier: GPL-2.0
// Fuzz target: bytes as what contexts do with locks, on the core put together as
// the hooks do it, against the slow and obvious way. Anything that the reference
// does not bear out aborts.
//
// The first byte picks the sizes of the tables; then one operation a byte pair.
#include <cstdio>

#include "reference.h"
#include "simulator.h"

namespace {

using namespace lockscope::test;

constexpr std::uint32_t kContexts = 4, kClasses = 6;

[[noreturn]] void wrong(const char *what)
{
	std::fprintf(stderr, "fuzz_lockclass: %s\n", what);
	std::abort();
}

// Held as the reference says, with keys as if nothing else had ever been taken.
void check_stack(const Simulator &sim, std::uint32_t context, const Holding &expected)
{
	const ls_ctx &ctx = sim.context(context);
	std::uint64_t key = 0;

	if (ctx.depth != expected.size())
		wrong("a stack of another depth");
	for (std::uint32_t i = 0; i < ctx.depth; i++) {
		if (ctx.held[i].lock != expected[i].lock || ctx.held[i].val != expected[i].val)
			wrong("another lock is held");
		if (ctx.held[i].below != key)
			wrong("a chain key remembers what is gone");
		key = ls_chain_mix(key, expected[i].val);
	}
	if (ctx.key != key)
		wrong("the chain key of the stack is wrong");
}

struct Model {
	std::size_t deepest = 0;
	Holding held[kContexts];
};

void release(Model &m, std::uint32_t c, std::uint64_t lock)
{
	Holding &held = m.held[c];

	for (std::size_t i = held.size(); i-- > 0;) {
		if (held[i].lock == lock) {
			held.erase(held.begin() + static_cast<long>(i));
			return;
		}
	}
}

void play(Simulator &sim, Reference &reference, Model &m, std::uint8_t op, std::uint8_t arg)
{
	const std::uint32_t c = op >> 6;
	Holding &held = m.held[c];
	const std::uint32_t id = 1 + arg % kClasses;
	const std::uint64_t lock = 0xffff888000000000ull + id * 0x1000 + (arg >> 7) * 0x40;

	switch (op & 7) {
	case 0:
	case 1:
	case 2:
	case 3: {
		Hold h{taken(id, ls_read(op >> 3 & 3 ? (op >> 3 & 3) - 1 : 0),
			     c == 3 ? LS_HARDIRQ : LS_TASK),
		       lock};

		h.val |= (op & 7) == 3 ? LS_VAL_TRY : (op & 7) == 2 ? LS_VAL_CTX : 0;
		if (held.size() == LS_MAX_DEPTH) {
			if (sim.acquire(c, h))
				wrong("a stack deeper than there is room for");
			return;
		}
		reference.takes(held, h);
		if (!sim.acquire(c, h))
			wrong("room for a lock was not used");
		m.deepest = std::max(m.deepest, held.size());
		held.push_back(h);
		return;
	}
	case 4:
		sim.release(c, lock);
		release(m, c, lock);
		return;
	case 5: {
		if (held.empty())
			return;
		Hold &h = held[arg % held.size()];
		const std::uint64_t which = h.lock;

		sim.downgrade(c, which);
		for (std::size_t i = held.size(); i-- > 0;) {
			if (held[i].lock == which) {
				held[i].val = (held[i].val & ~LS_VAL_READ_MASK) |
					      LS_SHARED << LS_VAL_READ_SHIFT;
				break;
			}
		}
		return;
	}
	case 6: {
		const std::uint32_t to = (c + 1 + arg % (kContexts - 1)) % kContexts;

		if (held.empty())
			return;
		const std::uint32_t first = (arg >> 3) % held.size();

		sim.hand_over(c, first, to);
		for (std::size_t i = first; i < held.size(); i++)
			if (m.held[to].size() < LS_MAX_DEPTH)
				m.held[to].push_back(held[i]);
		held.resize(first);
		check_stack(sim, to, m.held[to]);
		return;
	}
	default:
		if (arg & 1)
			sim.provide();
		else
			sim.drain();
	}
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t *data, std::size_t size)
{
	if (!size)
		return 0;
	// Small tables in every other run: what fills up must lose, never lie.
	const bool small = data[0] & 1;
	Simulator sim(
		small ? Simulator::Sizes{.chain_bits = 5,
					 .chains = 20,
					 .edge_bits = 4,
					 .edges = 8,
					 .ring_bytes = 1u << 13}
		      : Simulator::Sizes{.chain_bits = 12, .chains = 2000, .ring_bytes = 1u << 13});
	Reference reference;
	Model model;

	sim.provide();
	for (std::size_t i = 1; i + 1 < size && i < 1200; i += 2) {
		play(sim, reference, model, data[i], data[i + 1]);
		check_stack(sim, data[i] >> 6, model.held[data[i] >> 6]);
	}
	sim.drain();
	for (const Finding &f : sim.court.findings)
		// Of a deep stack the judge keeps only the oldest locks as gates.
		if (!(model.deepest > LS_JUDGE_GATES ? reference.strong(f) : reference.possible(f)))
			wrong("a cycle that cannot happen");
	for (const Court::Edge &e : sim.court.edges)
		if (e.kinds & ~reference.kinds()[{e.from, e.to}])
			wrong("a dependency that nobody made");
	for (const Simulator::Told &t : sim.told)
		if (!t.same_instance && !reference.inverted(t.id))
			wrong("an inversion that nobody made");
	return 0;
}
