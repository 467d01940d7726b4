// SPDX-License-Identifier: GPL-2.0
// What kmod/check/ and the worker (findings.c, nesting.c, wanted.c in kmod/out/) do with the
// core, for one context at a time, and the log that comes of it.
#pragma once

#include "selftests/unit/lockclass/court.h"
#include "source/source.h"

extern "C" {
#include "lockclass/nest.h"
#include "lockclass/passed.h"
#include "lockclass/seen.h"
}

#include <array>
#include <map>
#include <set>
#include <string>
#include <vector>

namespace lockscope::oracle {

inline std::uint32_t class_of(std::uint32_t val)
{
	return val & LS_VAL_CLASS_MASK;
}

/// Is the lock at @lock static?
inline bool is_static(std::uint64_t lock)
{
	return lock >= 0xffffffff80000000u;
}

/// Code that runs: a task, or an interrupt on its own.
struct Runner {
	ls_level level = LS_TASK;
	std::uint32_t pid = 0;
	std::string function; ///< the one that takes the locks
	std::string caller;   ///< its caller; may be empty
};

class Module {
public:
	Module();

	struct ClassInfo {
		std::string name;
		ls_kind kind = LS_KIND_MUTEX;
		bool global = false;
		std::uint32_t offset = 0, object_size = 0; ///< bytes
	};
	/// Its id, as in LS_VAL_* words.
	std::uint32_t add_class(const ClassInfo &info);

	/// What follows is done by @runner, which holds nothing.
	void run(const Runner &runner);
	void interrupts(bool irq_off, bool bh_off) { irq_off_ = irq_off, bh_off_ = bh_off; }
	/// @place: number of the line of code. @read: the primitive is a reader's.
	void acquire(std::uint64_t lock, std::uint32_t id, bool read, bool tries,
		     std::uint32_t place);
	void release(std::uint64_t lock, std::uint32_t id, bool read, std::uint32_t place);
	/// A round of the worker that takes its time.
	void work();

	/// What the device offers in the end; nothing may follow.
	Image finish();
	/// The judge's findings and those of instances of one class, in order of the log.
	struct Told {
		std::uint32_t kind;
		std::vector<ls_finding_edge> edges;
	};
	std::vector<Told> told;
	std::uint64_t cut_searches() const { return court_.judge.cut_searches; }

private:
	struct News {
		std::uint64_t mask = 0;
		bool self = false, usage = false, gated = false;
		std::uint32_t looks = 0, flags = 0;
	};

	/* As in kmod/check/events.h. */
	static constexpr std::uint32_t kInversion = 1, kSame = 2, kPair = 4, kNested = 16;

	std::uint32_t where() const;
	bool slow_path(std::uint64_t lock, std::uint64_t ip, std::uint32_t val, std::uint64_t key);
	void find_news(std::uint32_t val, News &news) const;
	bool use_is_new(std::uint32_t id, std::uint32_t use, std::uint32_t gates) const;
	bool usage_is_new(std::uint32_t val, std::uint32_t own) const;
	void mark_use(std::uint32_t id, std::uint32_t use, std::uint32_t gates);
	void mark_usage(std::uint32_t val, std::uint32_t own);
	void look_at_nesting(std::uint64_t lock, std::uint32_t val, News &news);
	std::uint64_t new_instances(std::uint64_t lock, std::uint32_t val, News &news) const;
	void instances_seen(std::uint64_t lock, std::uint32_t val, std::uint64_t mask);
	void count_chain(std::uint64_t key);
	std::uint32_t signature() const;
	bool has_instances(std::uint64_t lock) const;
	std::vector<std::uint16_t> gate_tags(std::uint32_t except) const;
	std::uint64_t new_gates(std::uint64_t lock, std::uint32_t val, News &news) const;
	void gates_seen(std::uint64_t lock, std::uint32_t val, std::uint64_t mask);
	bool ask_for_gates(std::uint32_t prev, std::uint32_t next);
	struct Past {
		ls_past past;
		std::vector<ls_u16> tags; ///< of facts, then of the locks held
		std::uint32_t facts;
		/// Without entry @i.
		std::vector<ls_u16> but(std::uint32_t i) const;
	};
	Past past(std::uint64_t lock) const;
	bool past_is_known(std::uint32_t i, std::uint32_t val);
	std::uint64_t new_past(std::uint64_t lock, std::uint32_t val, News &news);
	void past_seen(std::uint64_t lock, std::uint32_t val, std::uint64_t mask);
	void take_past();
	bool take_claims();

	void event(std::uint32_t what, std::uint64_t lock, std::uint64_t ip, std::uint32_t val,
		   std::uint64_t mask, std::uint32_t chain, std::uint32_t flags);
	void take_nesting(const ls_rec_sight &s, std::uint32_t flags, std::uint32_t ordinal);
	void take_pair(const ls_rec_sight &s, std::uint32_t ordinal);
	void recursion(const ls_rec_sight &s, std::uint32_t ordinal, std::uint32_t first,
		       bool same);
	void finding(std::uint32_t kind, const std::vector<ls_finding_edge> &edges);
	std::uint32_t stack(std::uint64_t ip);
	std::uint64_t ip(const std::string &function, std::uint32_t offset);
	template <typename Raw>
	void put(Raw record, ls_rec_type type, const void *tail, std::size_t bytes);

	using Dependency = std::pair<std::uint32_t, std::uint32_t>;
	static constexpr std::uint32_t kClasses = 4096, kChains = 1u << 14;

	test::Court court_;
	test::Zeroed chain_slots_, edge_memory_, pair_memory_, seen_memory_, gates_memory_;
	std::vector<test::Zeroed> segments_;
	ls_chains chains_{};
	ls_edges edges_{};
	ls_pairs pairs_{};
	ls_seen seen_{};
	ls_gates gates_{};
	std::vector<ls_class> classes_;
	ls_ctx ctx_{};
	ls_past past_{}; ///< of the next observation
	bool past_unknown_ = false;
	std::uint32_t sample_ = 64;

	Runner runner_;
	bool irq_off_ = false, bh_off_ = false;

	Image image_;
	std::size_t reports_ = 0;
	std::uint32_t sights_ = 0, stacks_ = 0, findings_ = 0;
	std::map<std::uint64_t, std::uint32_t> stack_ids_;
	std::map<std::pair<std::string, std::uint32_t>, std::uint64_t> ips_;
	std::map<std::string, std::uint64_t> functions_;
	std::map<std::pair<std::uint64_t, std::uint64_t>, std::uint32_t>
		nested_; ///< first observation
	test::Zeroed ring_memory_;
	ls_nest rings_{}; ///< instances of classes that nest in themselves
	std::map<std::uint64_t, std::uint32_t> ring_nodes_;
	std::vector<test::Holding> holdings_; ///< of each observation
	std::set<std::pair<std::uint32_t, bool>> recursions_;
	std::set<std::uint64_t> faults_;	      ///< places
	std::set<Dependency> wanted_, fresh_, gated_; ///< of a cycle; gates speak against one
	struct Claims {
		std::vector<ls_held_rec> held;
		std::array<ls_u16, LS_PAST_MORE> more;
		std::uint32_t to;
	};
	std::vector<Claims> claims_; ///< of all observations
	ls_claims facts_{};
};

} // namespace lockscope::oracle
