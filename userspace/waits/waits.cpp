// SPDX-License-Identifier: GPL-2.0
#include "waits/waits.h"

#include "model/model.h"

#include <algorithm>
#include <chrono>
#include <cstring>
#include <map>
#include <set>
#include <thread>
#include <tuple>

namespace lockscope {

namespace {

/* Long enough for a task that was just woken to continue. */
constexpr auto kSecondLook = std::chrono::milliseconds(50);

std::string text_of(const char (&text)[LS_COMM_LEN])
{
	return std::string(text, strnlen(text, sizeof(text)));
}

} // namespace

std::vector<std::vector<std::size_t>> wait_rings(const std::vector<ls_wait_rec> &waits,
						 const std::vector<bool> &counts)
{
	std::map<std::uint32_t, std::size_t> by_pid;
	for (std::size_t i = 0; i < waits.size(); i++)
		by_pid[waits[i].pid] = i;
	/* Each task waits for one other: follow them, and check whether the path meets itself. */
	std::vector<std::size_t> visit(waits.size(), 0);
	std::vector<std::vector<std::size_t>> out;
	for (std::size_t start = 0; start < waits.size(); start++) {
		std::vector<std::size_t> way;
		std::size_t i = start;
		while (!visit[i]) {
			visit[i] = start + 1;
			way.push_back(i);
			auto next = by_pid.find(waits[i].owner_pid);
			if (!(waits[i].flags & LS_WAIT_OWNER) || counts[i] || next == by_pid.end())
				break;
			i = next->second;
		}
		/* It is on this path, and the path did not just end here. */
		auto at = std::find(way.begin(), way.end(), i);
		auto closes = [&] {
			const auto &last = waits[way.back()];
			auto next = by_pid.find(last.owner_pid);
			return (last.flags & LS_WAIT_OWNER) && !counts[way.back()] &&
			       next != by_pid.end() && next->second == *at;
		};
		if (at == way.end() || !closes())
			continue;
		std::vector<std::size_t> ring(at, way.end());
		std::rotate(ring.begin(), std::min_element(ring.begin(), ring.end()), ring.end());
		out.push_back(std::move(ring));
	}
	return out;
}

std::vector<std::vector<std::size_t>> WaitReader::rings(const std::vector<ls_wait_rec> &waits) const
{
	std::vector<bool> counts;
	for (const auto &wait : waits)
		counts.push_back(names_.kind(wait.val & LS_VAL_CLASS_MASK) == LS_KIND_SEMAPHORE);
	return wait_rings(waits, counts);
}

std::vector<std::string> WaitReader::places(const __u64 *ips, std::uint32_t nr)
{
	std::vector<std::string> out;
	for (std::uint32_t i = 0; i < nr && i < LS_STACK_FRAMES; i++)
		out.push_back(source_.place(ips[i]));
	return out;
}

Result<WaitSnapshot> WaitReader::read()
{
	auto first = source_.waits();
	if (!first)
		return first.error();
	std::vector<ls_wait_rec> waits = std::move(*first);
	if (waits.empty())
		return WaitSnapshot{};
	LS_TRY_STATUS(names_.update(source_));
	/* Identity of a wait: task, lock, start. */
	auto identity = [](const ls_wait_rec &w) { return std::tuple(w.pid, w.lock, w.since); };
	std::set<std::tuple<std::uint32_t, std::uint64_t, std::uint64_t>> before;
	if (!rings(waits).empty()) {
		for (const auto &wait : waits)
			before.insert(identity(wait));
		std::this_thread::sleep_for(kSecondLook);
		auto second = source_.waits();
		if (!second)
			return second.error();
		waits = std::move(*second);
	}
	std::stable_sort(waits.begin(), waits.end(),
			 [](const auto &a, const auto &b) { return a.waited > b.waited; });

	WaitSnapshot out;
	for (const auto &wait : waits) {
		const auto cls = names_.find(wait.val & LS_VAL_CLASS_MASK);
		WaitingTask task;
		task.pid = wait.pid;
		task.held = wait.nr_held;
		task.comm = text_of(wait.comm);
		task.lock = cls.name;
		task.kind = cls.kind;
		task.reader = read_of(wait.val) != LS_EXCLUSIVE;
		task.waited_ns = wait.waited;
		task.stack = places(wait.stack, wait.nr);
		if (wait.flags & LS_WAIT_OWNER) {
			task.owner.pid = wait.owner_pid;
			task.owner.comm = text_of(wait.owner_comm);
			task.owner.stack = places(wait.owner_stack, wait.owner_nr);
			if (wait.flags & LS_WAIT_OWNER_LOCK)
				task.owner.taken = places(&wait.owner_ip, 1).front();
		}
		out.tasks.push_back(std::move(task));
	}
	for (auto &ring : rings(waits))
		if (std::all_of(ring.begin(), ring.end(), [&](std::size_t i) {
			    return before.count(identity(waits[i])) != 0;
		    }))
			out.deadlocks.push_back(std::move(ring));
	return out;
}

} // namespace lockscope
