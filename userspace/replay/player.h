// SPDX-License-Identifier: GPL-2.0
// Plays the events of a trace on the core (lockclass/), as kmod/check/ does with those of the
// running kernel, and makes the records that the module would have logged.
//
// Each lock is a class of its own, so what the module has for several instances of one class is
// not needed here: pairs, rings and gates of instances. Threads are tasks.
#pragma once

#include "replay/event.h"
#include "replay/tables.h"
#include "source/source.h"

extern "C" {
#include "lockclass/chains.h"
#include "lockclass/edges.h"
#include "lockclass/shadow.h"
}

#include <memory>
#include <unordered_map>
#include <vector>

namespace lockscope::replay {

/// How many of each are followed; what is beyond counts as lost.
struct Limits {
	std::uint32_t threads = 4096; ///< at most 32767, which shadow entries can tell apart
	std::uint32_t locks = 1u << 18, variables = 1u << 19, places = 1u << 18;
	std::uint32_t chains = 1u << 18, edges = 1u << 18, sights = 1u << 20;
	std::uint32_t sites = LS_SHADOW_MAX_SITE, races = 1u << 16;
	std::size_t log_bytes = 256u << 20;
};

class Player {
public:
	explicit Player(const Limits &limits = {});

	void play(const Event &event);

	/// What a device would offer, and the places in the code by number: place i has the
	/// address place_address(i). Nothing may follow.
	Image finish(const std::string &release);
	std::vector<Location> take_places() { return std::move(places_); }

	static std::uint64_t place_address(std::size_t index)
	{
		return 0xffffffff81000000u + index * 16;
	}

private:
	struct Thread {
		std::string comm;
		std::uint32_t pid = 0, tgid = 0;
		ls_ctx ctx{};
		/// Locks that it acquired again while it had them, and how often.
		std::unordered_map<std::uint64_t, std::uint32_t> again;
		/// Advances whenever others may learn of what it did: at forks and joins.
		std::uint32_t stamp = 1;
		/// What it did before it went on is known to this thread: stamps by thread.
		std::vector<std::uint32_t> known;
		bool live = true;
	};
	/// An acquisition.
	struct Taken {
		std::uint32_t thread = 0;
		std::uint64_t lock = 0, ip = 0, key = 0, time_ns = 0;
		std::uint32_t val = 0, stack = 0;
		std::uint16_t cpu = 0;
	};
	struct Deferred {
		Taken taken;
		std::vector<ls_held> held;
	};
	struct Site {
		std::uint32_t variable = 0;
		std::uint32_t stack = 0;
	};

	std::uint32_t thread(std::string_view name, const Event &event, bool forked = false);
	std::uint32_t lock(const Event &event);
	std::uint64_t place(const Location &location);
	std::uint32_t stack(const Event &event, std::uint64_t &ip);
	void acquire(const Event &event, std::uint32_t thread);
	void release(const Event &event, std::uint32_t thread);
	void fork(std::uint32_t parent, std::uint32_t child);
	void join(std::uint32_t parent, std::uint32_t child);
	void pass(std::uint32_t from, std::uint32_t to);
	void not_alone();
	void look(const ls_ctx &ctx, const Taken &taken);
	void sight(const ls_ctx &ctx, const Taken &taken, std::uint64_t mask);

	void access(const Event &event, std::uint32_t thread);
	std::uint32_t variable(const Event &event);
	std::uint32_t lockset(const ls_ctx &ctx);
	std::uint32_t site(const Event &event, std::uint32_t thread, std::uint32_t variable);
	void race(const ls_shadow_access &now, const Event &event, const ls_shadow_side &other);
	void side(std::uint32_t race, const Event &event, std::uint32_t access,
		  std::uint32_t context, std::uint32_t stack, bool second);

	Thread &at(std::uint32_t thread) { return *threads_[thread - 1]; }
	static std::uint64_t lock_address(std::uint32_t number) { return number * 64ull; }

	Limits limits_;
	Records log_;
	ls_info info_{};
	ls_access_info accesses_{};
	std::uint64_t events_ = 0;

	Numbers thread_numbers_, lock_numbers_, variables_, place_numbers_;
	std::unordered_map<std::string, std::uint32_t> locks_of_name_;
	std::vector<std::unique_ptr<Thread>> threads_;
	std::uint32_t live_ = 0;
	std::vector<Location> places_;

	Zeroed chain_slots_, edge_memory_;
	std::vector<Zeroed> segments_;
	std::unique_ptr<ls_chains> chains_;
	ls_edges edges_{};
	Keys stacks_, seen_, by_thread_;
	std::unordered_map<std::uint64_t, std::uint32_t> seen_by_; ///< of a dependency: threads
	std::vector<Deferred> deferred_;
	std::uint32_t sights_ = 0;

	Zeroed set_memory_, element_memory_, set_ids_, set_meets_;
	ls_locksets sets_{};
	std::vector<ls_granule> granules_; ///< by variable
	Keys sites_, races_;
	std::vector<Site> site_of_; ///< by site
	std::vector<ls_u8> ops_;    ///< by site
	std::vector<__u32> counts_; ///< of accesses, by site
	std::uint32_t findings_ = 0;
};

} // namespace lockscope::replay
