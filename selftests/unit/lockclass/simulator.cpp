// SPDX-License-Identifier: GPL-2.0
#include "simulator.h"

namespace lockscope::test {
namespace {

enum Flags : std::uint16_t { kInversion = 1, kSame = 2 };

constexpr std::uint32_t kPairBits = 10;

std::uint32_t gates_of(const ls_ctx &ctx)
{
	std::uint32_t gates = 0;

	for (std::uint32_t i = 0; i < ctx.depth; i++)
		gates |= ls_gate_bits(ctx.held[i].lock, ctx.held[i].val);
	return gates;
}

bool reads(std::uint32_t val)
{
	return val & LS_VAL_READ_MASK;
}

} // namespace

Simulator::Simulator(const Sizes &sizes)
	: court(sizes.classes, sizes.edges), chain_slots_(ls_tagtab_bytes(sizes.chain_bits)),
	  edge_memory_(ls_edges_bytes(sizes.edge_bits)), pair_memory_(ls_pairs_bytes(kPairBits)),
	  classes_(sizes.classes + 1)
{
	ls_chains_init(&chains_, chain_slots_.get(), sizes.chain_bits, sizes.chains);
	ls_edges_init(&edges_, edge_memory_.get(), sizes.edge_bits, sizes.edges);
	ls_pairs_init(&pairs_, pair_memory_.get(), kPairBits);
	for (std::uint32_t i = 0; i < sizes.contexts; i++) {
		Cpu &cpu = *cpus_.emplace_back(std::make_unique<Cpu>(sizes.ring_bytes));

		ls_ring_init(&cpu.ring, &cpu.header, cpu.data.get(), sizes.ring_bytes, i);
	}
}

void Simulator::find_news(const ls_ctx &ctx, std::uint32_t val, News &news) const
{
	const std::uint32_t gates = gates_of(ctx);

	for (std::uint32_t i = 0; i < ctx.depth; i++) {
		if (!((ctx.held[i].val ^ val) & LS_VAL_CLASS_MASK))
			news.self = true;
		if (ls_orders(ctx.held[i].val, val) &&
		    ls_edges_peek(&edges_, ctx.held[i].val, val, gates) == LS_EDGE_NEW)
			news.mask |= 1ull << i;
	}
}

void Simulator::look_at_instances(const ls_ctx &ctx, Hold next, News &news)
{
	ls_class &c = classes_[next.val & LS_VAL_CLASS_MASK];

	for (std::uint32_t i = 0; i < ctx.depth; i++) {
		const ls_held &h = ctx.held[i];
		std::uint32_t gates[LS_MAX_DEPTH];
		std::uint32_t nr = 0;

		if (((h.val ^ next.val) & LS_VAL_CLASS_MASK) || !ls_orders(h.val, next.val))
			continue;
		if (h.lock == next.lock) {
			const bool passes =
				reads(h.val) &&
				(next.val & LS_VAL_READ_MASK) == LS_RECURSIVE << LS_VAL_READ_SHIFT;

			if (!passes && !(ls_load(&c.marks) & LS_CLASS_SAME)) {
				news.flags |= kSame;
				news.mask |= 1ull << i;
			}
			continue;
		}
		for (std::uint32_t k = 0; k < ctx.depth; k++)
			if (k != i)
				gates[nr++] = ls_pair_tag(ctx.held[k].lock, ctx.held[k].val);
		if (ls_pairs_see(&pairs_, h.lock, next.lock, 0, gates, nr,
				 ls_dep_kind(h.val, next.val)) == LS_PAIR_INVERTED &&
		    ls_load(&c.inversions) == 0) {
			news.flags |= kInversion;
			news.mask |= 1ull << i;
		}
	}
}

void Simulator::fill(ls_event *e, const ls_ctx &ctx, Hold next, std::uint32_t chain,
		     const News &news)
{
	auto *s = reinterpret_cast<ls_rec_sight *>(e + 1);

	s->hdr.flags = news.flags;
	s->new_mask = news.mask;
	s->lock = next.lock;
	s->val = next.val;
	s->chain = chain;
	s->nr_held = static_cast<std::uint16_t>(ctx.depth);
	for (std::uint32_t i = 0; i < ctx.depth; i++) {
		s->held[i].val = ctx.held[i].val;
		s->held[i].lock = ctx.held[i].lock;
	}
}

void Simulator::slow_path(Cpu &cpu, Hold next, std::uint64_t key)
{
	const ls_ctx &ctx = cpu.ctx;
	std::uint32_t chain = ls_tagtab_find(&chains_.tab, key);
	ls_event *e = nullptr;
	News news;

	if (chain && !(chain & LS_CHAIN_SLOW))
		return;
	// Held before, but never taken like this.
	if (chain & LS_CHAIN_DERIVED)
		chain = 0;
	if (!chain)
		find_news(ctx, next.val, news);
	else
		news.self = true;
	if (news.self)
		look_at_instances(ctx, next, news);
	if (chain && !news.flags)
		return;
	if (news.mask) {
		e = ls_ring_reserve(&cpu.ring,
				    static_cast<std::uint32_t>(sizeof(*e) + sizeof(ls_rec_sight) +
							       ctx.depth * sizeof(ls_held_rec)));
		if (!e)
			return;
	}
	const ls_chain_result r =
		chain ? LS_CHAIN_NEW
		      : ls_chains_add(&chains_, &ctx, key, next.val, 0, news.self, &chain);

	if (r == LS_CHAIN_FULL)
		ls_fetch_add(&lost_chains, 1);
	if (!e)
		return;
	if (r == LS_CHAIN_DEFER) {
		ls_store_release(&e->state, LS_EVENT_SKIP);
		ls_fetch_add(&cpu.header.deferred, 1);
		return;
	}
	const std::uint32_t gates = gates_of(ctx);

	for (std::uint32_t i = 0; i < ctx.depth; i++)
		if (news.mask & 1ull << i &&
		    ls_edges_mark(&edges_, ctx.held[i].val, next.val, gates) == LS_EDGE_FULL)
			ls_fetch_add(&lost_edges, 1);
	if (news.flags & kSame)
		ls_fetch_or(&classes_[next.val & LS_VAL_CLASS_MASK].marks, LS_CLASS_SAME);
	if (news.flags & kInversion)
		ls_fetch_add(&classes_[next.val & LS_VAL_CLASS_MASK].inversions, 1);
	fill(e, ctx, next, chain & LS_CHAIN_INDEX, news);
	ls_ring_commit(e);
}

bool Simulator::acquire(std::uint32_t context, Hold next)
{
	Cpu &cpu = *cpus_[context];
	const std::uint64_t key = ls_chain_mix(cpu.ctx.key, next.val);

	if (cpu.ctx.depth >= LS_MAX_DEPTH) {
		cpu.ctx.lost++;
		return false;
	}
	const std::uint64_t slot = ls_tagtab_first(&chains_.tab, key);

	if (!ls_tag_match(slot, key) || (slot & LS_CHAIN_SLOW))
		slow_path(cpu, next, key);
	ls_held_push(&cpu.ctx, next.lock, 0, next.val, key);
	return true;
}

void Simulator::release(std::uint32_t context, std::uint64_t lock)
{
	ls_ctx &ctx = cpus_[context]->ctx;

	if (ls_held_is_top(&ctx, lock)) {
		ls_held_pop_top(&ctx);
		return;
	}
	const int at = ls_held_find(&ctx, lock);

	if (at >= 0)
		ls_held_remove(&ctx, static_cast<std::uint32_t>(at));
	else if (ctx.lost)
		ctx.lost--;
}

void Simulator::downgrade(std::uint32_t context, std::uint64_t lock)
{
	ls_ctx &ctx = cpus_[context]->ctx;
	const int at = ls_held_find(&ctx, lock);

	if (at >= 0)
		ls_held_set_read(&ctx, static_cast<std::uint32_t>(at), LS_SHARED);
}

void Simulator::hand_over(std::uint32_t from, std::uint32_t first, std::uint32_t to)
{
	cpus_[to]->ctx.lost += ls_held_move(&cpus_[from]->ctx, first, &cpus_[to]->ctx);
}

void Simulator::provide()
{
	for (int seg; (seg = ls_chains_want(&chains_)) >= 0;) {
		segments_.emplace_back(LS_CHAIN_SEG * sizeof(ls_chain));
		ls_chains_provide(&chains_, seg, static_cast<ls_chain *>(segments_.back().get()));
	}
}

void Simulator::drain()
{
	for (auto &cpu : cpus_) {
		while (ls_event *e = ls_ring_peek(&cpu->ring)) {
			const auto &s = *reinterpret_cast<ls_rec_sight *>(e + 1);

			court.sight(s);
			if (s.hdr.flags & kSame)
				told.push_back({s.val & LS_VAL_CLASS_MASK, true});
			if (s.hdr.flags & kInversion)
				told.push_back({s.val & LS_VAL_CLASS_MASK, false});
			ls_ring_consume(&cpu->ring, e);
		}
	}
}

Holding Simulator::held(std::uint32_t context) const
{
	const ls_ctx &ctx = cpus_[context]->ctx;
	Holding all;

	for (std::uint32_t i = 0; i < ctx.depth; i++)
		all.push_back({ctx.held[i].val, ctx.held[i].lock});
	return all;
}

std::vector<std::uint32_t> Simulator::chain(std::uint32_t index)
{
	std::vector<std::uint32_t> found;

	for (const ls_chain *c; (c = ls_chains_get(&chains_, index)); index = c->parent)
		found.insert(found.begin(), c->val);
	return found;
}

std::uint64_t Simulator::deferred() const
{
	std::uint64_t sum = 0;

	for (const auto &cpu : cpus_)
		sum += cpu->header.deferred;
	return sum;
}

} // namespace lockscope::test
