// SPDX-License-Identifier: GPL-2.0
// What kmod/check/acquire.c and release.c do on an acquisition and on a release, and what the worker
// makes of it, with contexts that are plain objects. Each context stands for a
// CPU of its own, so that threads may drive one each.
#pragma once

#include <memory>
#include <vector>

#include "court.h"

namespace lockscope::test {

class Simulator {
public:
	struct Sizes {
		std::uint32_t contexts = 4;
		std::uint32_t classes = 40;
		std::uint32_t chain_bits = 14, chains = 8000;
		std::uint32_t edge_bits = 11, edges = 1600;
		std::uint32_t ring_bytes = 1u << 16;
	};
	// Two instances of a class taken in both orders, or one instance taken again.
	struct Told {
		std::uint32_t id;
		bool same_instance;
	};

	explicit Simulator(const Sizes &sizes);

	// Called by the driver of the context.
	bool acquire(std::uint32_t context, Hold next);
	void release(std::uint32_t context, std::uint64_t lock);
	void downgrade(std::uint32_t context, std::uint64_t lock);
	void hand_over(std::uint32_t from, std::uint32_t first, std::uint32_t to);

	// The worker, while no context is driven: memory for chains; every event.
	void provide();
	void drain();

	Holding held(std::uint32_t context) const;
	// The words of chain @index, oldest first, according to the tree.
	std::vector<std::uint32_t> chain(std::uint32_t index);
	// Index of the chain that @context holds, 0 when it is not known.
	std::uint32_t chain_of(std::uint32_t context) const
	{
		return ls_tagtab_find(&chains_.tab, cpus_[context]->ctx.key) & LS_CHAIN_INDEX;
	}
	std::uint64_t deferred() const;
	const ls_ctx &context(std::uint32_t i) const { return cpus_[i]->ctx; }

	Court court;
	std::vector<Told> told;
	std::uint32_t lost_chains = 0, lost_edges = 0;

private:
	struct Cpu {
		explicit Cpu(std::uint32_t bytes) : data(bytes) {}
		ls_ctx ctx{};
		Zeroed data;
		ls_ring_header header{};
		ls_ring ring{};
	};
	struct News {
		std::uint64_t mask = 0;
		bool self = false;
		std::uint16_t flags = 0;
	};

	void slow_path(Cpu &cpu, Hold next, std::uint64_t key);
	void find_news(const ls_ctx &ctx, std::uint32_t val, News &news) const;
	void look_at_instances(const ls_ctx &ctx, Hold next, News &news);
	void fill(ls_event *e, const ls_ctx &ctx, Hold next, std::uint32_t chain, const News &news);

	std::vector<std::unique_ptr<Cpu>> cpus_;
	Zeroed chain_slots_, edge_memory_, pair_memory_;
	std::vector<Zeroed> segments_;
	std::vector<ls_class> classes_;
	ls_chains chains_{};
	ls_edges edges_{};
	ls_pairs pairs_{};
};

} // namespace lockscope::test
