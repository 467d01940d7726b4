// SPDX-License-Identifier: GPL-2.0
// lockclass/ as C++ sees it, and the few things every test of it needs.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <thread>
#include <vector>

#include "lockclass/abi.h"

extern "C" {
#include "lockclass/addrmap.h"
#include "lockclass/arrays.h"
#include "lockclass/chains.h"
#include "lockclass/classes.h"
#include "lockclass/doubts.h"
#include "lockclass/edges.h"
#include "lockclass/gates.h"
#include "lockclass/graph.h"
#include "lockclass/hash.h"
#include "lockclass/held.h"
#include "lockclass/judge.h"
#include "lockclass/lockset.h"
#include "lockclass/meeting.h"
#include "lockclass/namesakes.h"
#include "lockclass/operand.h"
#include "lockclass/order.h"
#include "lockclass/orphans.h"
#include "lockclass/pairs.h"
#include "lockclass/races.h"
#include "lockclass/ranges.h"
#include "lockclass/ring.h"
#include "lockclass/same.h"
#include "lockclass/sample.h"
#include "lockclass/shadow.h"
#include "lockclass/sites.h"
#include "lockclass/tagtab.h"
#include "lockclass/unsharing.h"
}

namespace lockscope::test {

// Zeroed memory of exactly the requested size: the sanitizer sees the first byte beyond it.
// Large blocks cost nothing before they are used.
class Zeroed {
public:
	explicit Zeroed(std::size_t bytes) : memory_(std::calloc(1, bytes)) {}
	void *get() const { return memory_.get(); }

private:
	struct Free {
		void operator()(void *memory) const { std::free(memory); }
	};
	std::unique_ptr<void, Free> memory_;
};

// The word of a lock of class @id taken as @read in a task.
constexpr std::uint32_t taken(std::uint32_t id, ls_read read = LS_EXCLUSIVE,
			      ls_level level = LS_TASK)
{
	return id | std::uint32_t{read} << LS_VAL_READ_SHIFT |
	       std::uint32_t{level} << LS_VAL_LEVEL_SHIFT;
}

// Lets @count threads begin @work(index) together; returns when all are done.
template <class Work> void together(unsigned count, Work work)
{
	bool go = false;
	std::vector<std::thread> threads;

	for (unsigned i = 0; i < count; i++)
		threads.emplace_back([&, i] {
			while (!ls_load_acquire(&go))
				std::this_thread::yield();
			work(i);
		});
	ls_store_release(&go, true);
	for (std::thread &thread : threads)
		thread.join();
}

} // namespace lockscope::test
