// SPDX-License-Identifier: GPL-2.0
// Builds what a device would offer: a log, counters, chains. Addresses are made
// up; names come from symbol records, as for modules that have gone.
#pragma once

#include "source/source.h"

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace lockscope::test {

/// A lock as an acquisition shows it.
struct Lock {
	std::uint32_t cls = 0;
	std::uint64_t address = 0; ///< 0: the same for the whole class
	ls_read read = LS_EXCLUSIVE;
	std::string function = "lock_it"; ///< where it is taken
	bool try_lock = false;
	bool wait = false;	  ///< waited for, not taken
	bool quiet = false;	  ///< not held: its net device does not transmit
	std::uint32_t passed = 0; ///< see ls_held_rec
};

struct Task {
	std::uint32_t pid = 100;
	std::string comm = "task";
	std::uint32_t flags = 0; ///< LS_TASK_*
	ls_level level = LS_TASK;
	std::uint16_t cpu = 0;
	/// Functions from the caller of the acquiring one outwards.
	std::vector<std::string> stack = {};
	bool irq_off = false, bh_off = false; ///< hardirq level: always off
};

/// A lock held during an access.
struct GuardedBy {
	Lock lock = {};
	ls_relation relation = LS_REL_STATIC;
	std::uint32_t lock_offset = 0;
	std::uint16_t via = 0;
};

/// A way of accessing memory, in Touch::function at Touch::at.
struct Touch {
	std::uint32_t data = 0, offset = 0;
	std::uint16_t size = 8, op = LS_ACC_WRITE;
	std::string function = "touch_it";
	std::uint32_t at = 48; ///< offset in the function
	std::vector<GuardedBy> guards = {};
	std::uint32_t where = 0; ///< LS_WHERE_*; level and interrupts come from the task
	std::uint32_t count = 1;
	bool alone = false; ///< no other context had accessed the memory
};

class LogBuilder {
public:
	explicit LogBuilder(std::uint64_t instance = 1);

	std::uint32_t add_class(const std::string &name, ls_kind kind = LS_KIND_SPINLOCK,
				ls_origin origin = LS_ORIGIN_STATIC, std::uint32_t offset = 0,
				std::uint32_t object_size = 0,
				const std::string &module = "vmlinux");
	/// @held oldest first, then @acquired is acquired. Adds the stack, the observation and
	/// the chains; returns the observation's ordinal.
	std::uint32_t acquire(const Task &task, const std::vector<Lock> &held,
			      const Lock &acquired);
	/// @released is released by Lock::function while @held is held.
	std::uint32_t release(const Task &task, const std::vector<Lock> &held,
			      const Lock &released);
	/// @completion is completed while @held is held, all of which was needed.
	/// @extra: LS_COMPLETE_*
	std::uint32_t complete(const Task &task, const std::vector<Lock> &held,
			       const Lock &completion, std::uint64_t extra = 0);
	/// A fault in function lock.function; bits of @marked name held locks.
	std::uint32_t fault(ls_finding_kind kind, const Task &task, const std::vector<Lock> &held,
			    const Lock &lock, std::uint64_t marked = 0, std::uint64_t extra = 0);
	/// The same without an observation: only chains.
	void acquire_again(const Task &task, const std::vector<Lock> &held, const Lock &acquired,
			   std::uint32_t count = 1);
	void inversion(std::uint32_t cls, bool same, std::uint32_t first, std::uint32_t second);
	void finding(const std::vector<std::uint32_t> &classes,
		     ls_finding_kind kind = LS_FINDING_ORDER_CYCLE);
	std::uint32_t add_data(const std::string &name, ls_data_kind kind = LS_DATA_STATIC,
			       std::uint32_t object_size = 0,
			       const std::string &module = "vmlinux");
	/// The functions lie in that module.
	void module(const std::string &name, const std::vector<std::string> &functions);
	/// Adds the stack as well; the access's id.
	std::uint32_t access(const Task &task, const Touch &touch);
	/// Of 8 bytes at @addr; every remembered access is one of the history.
	void race(std::uint32_t first, std::uint32_t second, std::uint32_t flags = 0,
		  const std::vector<ls_history_rec> &history = {},
		  std::uint64_t addr = 0xffff888000001000u, std::uint32_t first_pid = 0,
		  std::uint32_t second_pid = 0);
	/// A side of the last race as it raced: @task, with its stack from Touch::function of
	/// @access on where @own_stack, holding @locks in place of the guards, 0 not known.
	/// @flags: LS_SIDE_*
	void side(std::uint32_t access, const Task &task, std::uint32_t flags,
		  const std::vector<std::uint64_t> &locks = {}, bool own_stack = false);
	void history(std::uint32_t access, ls_shadow_state before, ls_shadow_state after,
		     std::uint32_t candidates = 0xffffffffu, std::vector<Lock> locks = {},
		     std::uint64_t addr = 0xffff888000001000u);
	void reset();
	/// What the module counted of a class.
	void count(const ls_class_counts &counts) { image_.counts.push_back(counts); }
	/// A semaphore: @unmatched of @releases by another context than the one that acquired
	/// it. In @instances of them, @handed of which another context released at some time.
	void count_semaphore(std::uint32_t cls, std::uint64_t releases, std::uint64_t unmatched,
			     __u16 instances = 0, __u16 handed = 0);
	/// Any bytes at all; the caller sees to their framing.
	void raw(const void *data, std::size_t size);

	/// The image so far, symbols at its end.
	Image image() const;
	const std::vector<std::byte> &log() const { return image_.log; }
	ls_info &info() { return image_.info; }
	std::vector<ls_prim_info> &prims() { return image_.prims; }
	/// As of a module that watches accesses; made by the first use.
	ls_access_info &access_info();

private:
	std::uint64_t ip(const std::string &function, std::uint32_t offset);
	std::uint32_t val(const Lock &lock, const Task &task) const;
	std::uint64_t address(const Lock &lock) const;
	std::uint32_t sight(const Task &task, const std::vector<Lock> &held, const Lock &lock,
			    ls_rec_sight record);
	std::uint32_t chain(const Task &task, const std::vector<Lock> &held, const Lock &acquired,
			    std::uint32_t count);
	template <typename Raw>
	void put(Raw record, ls_rec_type type, const std::vector<std::byte> &tail = {});

	Image image_;
	std::map<std::pair<std::string, std::uint32_t>, std::uint64_t> ips_;
	std::map<std::string, std::uint64_t> functions_;
	std::map<std::string, std::string> modules_; ///< of functions, else vmlinux
	std::map<std::pair<std::uint32_t, std::uint32_t>, std::uint32_t> chains_;
	std::uint32_t stack(const Task &task, std::uint64_t innermost);
	std::vector<std::uint64_t> access_ips_;
	std::uint32_t sights_ = 0, stacks_ = 0, classes_ = 0, findings_ = 0, data_ = 0;
};

} // namespace lockscope::test
