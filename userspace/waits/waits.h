// SPDX-License-Identifier: GPL-2.0
// A snapshot of tasks that wait for locks, and the locks' owners.
#pragma once

#include "record/class_names.h"
#include "source/source.h"

#include <cstdint>
#include <string>
#include <vector>

namespace lockscope {

struct LockOwner {
	std::uint32_t pid = 0; ///< 0: not known
	std::string comm;
	std::string taken;		///< acquire site; empty: not observed
	std::vector<std::string> stack; ///< where it sleeps; empty when it is running
};

struct WaitingTask {
	std::uint32_t pid = 0, held = 0; ///< number of locks that it holds
	std::string comm, lock;
	ls_kind kind = LS_KIND_NONE;
	bool reader = false;
	std::uint64_t waited_ns = 0;
	std::vector<std::string> stack; ///< "function+0x12 [module]", innermost first
	LockOwner owner;
};

struct WaitSnapshot {
	std::vector<WaitingTask> tasks; ///< longest wait first
	/// Deadlocked tasks: indices of tasks, each waiting for the next, the last one for the
	/// first.
	std::vector<std::vector<std::size_t>> deadlocks;
};

/// Rings of tasks in @waits, each waiting for the next one: indices of @waits, every ring
/// once, beginning with its smallest index. @counts: by index of @waits, locks that any
/// context may release (semaphores); those close no ring.
std::vector<std::vector<std::size_t>> wait_rings(const std::vector<ls_wait_rec> &waits,
						 const std::vector<bool> &counts);

/// Reads snapshots of the module behind a source.
class WaitReader {
public:
	/// @source has to outlive this.
	explicit WaitReader(Source &source) : source_(source) {}

	/// One snapshot. A ring of waits is a deadlock if the same waits still exist a moment
	/// later, so this takes some 50 ms longer when there is one.
	Result<WaitSnapshot> read();

private:
	std::vector<std::vector<std::size_t>> rings(const std::vector<ls_wait_rec> &waits) const;
	std::vector<std::string> places(const __u64 *ips, std::uint32_t nr);

	Source &source_;
	ClassNames names_;
};

} // namespace lockscope
