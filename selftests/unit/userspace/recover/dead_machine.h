// SPDX-License-Identifier: GPL-2.0
// The memory of a machine that died with lockscope.ko loaded, made by hand.
#pragma once

#include "lockclass/abi.h"
#include "recover/memory.h"

extern "C" {
#include "lockclass/classes.h"
#include "lockclass/held.h"
#include "lockclass/ring.h"
}

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace lockscope::test {

/// Physical memory with a page table of 4 levels. What is put there is mapped at
/// kDirect + its physical address.
class DeadMachine {
public:
	static constexpr std::uint64_t kDirect = 0xffff888000000000u, kPage = 4096;
	/// Of struct ls_cpu, as this machine's module has it.
	struct Cpu {
		std::uint64_t current = 0, context = 0, levels = 0, ring = 0;
		std::uint64_t acquisitions[LS_NR_LEVELS] = {}, releases = 0, unknown = 0;
		std::uint64_t losses[LS_NR_LOSSES] = {};
	};
	/// Of struct task_struct.
	struct Task {
		std::uint32_t pid = 0, tgid = 0, flags = 0, pad = 0;
		char comm[LS_COMM_LEN] = {};
	};

	/// @cpus with an empty ring each; the log, chains and classes are empty.
	explicit DeadMachine(std::uint32_t cpus = 1);

	/// Room for @bytes in whole pages; its address.
	std::uint64_t room(std::size_t bytes);
	std::uint64_t put(const void *from, std::size_t bytes);
	template <typename T> std::uint64_t put(const T &value)
	{
		return put(&value, sizeof(value));
	}
	void write(std::uint64_t at, const void *from, std::size_t bytes);
	template <typename T> void write(std::uint64_t at, const T &value)
	{
		write(at, &value, sizeof(value));
	}
	template <typename T> T read(std::uint64_t at) const
	{
		T out;
		__builtin_memcpy(&out, &bytes_[at - kDirect], sizeof(out));
		return out;
	}

	/// Replaces the log.
	void log(const std::vector<std::byte> &bytes);
	void chains(const std::vector<ls_chain> &chains);
	/// An event of @cpu, with its header, committed or not.
	void event(std::uint32_t cpu, const std::vector<std::byte> &record,
		   ls_event_state state = LS_EVENT_READY);
	/// An observation as hooks write it; @flags: LS_EV_*
	static std::vector<std::byte> observation(ls_rec_sight sight,
						  const std::vector<ls_held_rec> &held,
						  const std::vector<std::uint64_t> &frames,
						  std::uint16_t flags = 0);
	/// A context with these locks, of a task; its address.
	std::uint64_t context(const std::vector<ls_held> &held, std::uint64_t task);
	std::uint64_t task(const std::string &comm, std::uint32_t pid);
	/// @task runs on @cpu with @context.
	void runs(std::uint32_t cpu, std::uint64_t task, std::uint64_t context);
	/// What the kernel says of itself, replaced.
	void describe(const std::string &text);

	ls_anchor anchor{};
	/// Write the anchor; the memory as a file would have it.
	std::string bytes();
	std::unique_ptr<recover::PhysicalMemory> memory() { return recover::memory_in(bytes()); }
	std::uint64_t anchor_at() const { return anchor_at_; } ///< physical

private:
	std::string bytes_;
	std::uint64_t anchor_at_ = 0;
	std::vector<std::uint64_t> cpus_; ///< addresses of Cpu
};

} // namespace lockscope::test
