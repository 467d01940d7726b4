// SPDX-License-Identifier: GPL-2.0
#include "cli/copies.h"

#include <algorithm>
#include <cstdio>

namespace lockscope::cli {

namespace {

using namespace std::chrono_literals;

/* A test that ends at once is not started more often than this. */
constexpr auto kLeastRun = 20ms;
/* By so many steps of its own time a copy falls behind the first one, at most by so long. */
constexpr std::size_t kPhases = 4;
constexpr auto kLongestPause = 1s;

} // namespace

void Copies::ended(Copy &copy, bool first, Clock::time_point now)
{
	const auto took = now - copy.begun;
	copy.next = std::max(copy.begun + kLeastRun, now);
	if (!first)
		copy.next += std::min<Clock::duration>(took, kLongestPause) *
			     static_cast<int>(copy.runs % kPhases) / static_cast<int>(kPhases);
	copy.runs++;
	if (copy.child->status() != 0 && !said_) {
		std::fprintf(stderr, "lockscope: the test ended with status %d%s\n",
			     copy.child->status(),
			     first ? ""
				   : ", as a copy beside another one (confirm --jobs 1 runs none)");
		said_ = true;
	}
	copy.child.reset();
}

Status Copies::tick()
{
	if (command_.empty())
		return success();
	for (Copy &copy : copies_) {
		const auto now = Clock::now();
		const bool first = &copy == &copies_.front();
		if (copy.child && copy.child->poll())
			ended(copy, first, now);
		if (copy.child || now < copy.next)
			continue;
		const Copy &leader = copies_.front();
		if (!first && leader.runs == 0 && now - leader.begun < kAlone)
			continue;
		auto started = Child::start(command_, Child::Group::Own);
		if (!started)
			return started.error();
		copy.child.emplace(std::move(*started));
		copy.begun = now;
	}
	return success();
}

void Copies::stop()
{
	for (Copy &copy : copies_)
		if (copy.child) {
			copy.child->stop();
			copy.child.reset();
		}
}

} // namespace lockscope::cli
