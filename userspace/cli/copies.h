// SPDX-License-Identifier: GPL-2.0
#pragma once

#include "cli/child.h"

#include <chrono>
#include <cstddef>
#include <deque>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace lockscope::cli {

/// Copies of a test that run beside each other, each started again when it has ended. There is one
/// at first, as the test may run its sides at the same time itself. The others come when it has
/// run once, or for kAlone: what a test does one after the other meets in another copy of it only.
class Copies {
public:
	static constexpr auto kAlone = std::chrono::seconds(5);

	/// @most: copies at a time, 1 or more. An empty @command never runs.
	Copies(std::vector<std::string> command, std::size_t most)
		: command_(std::move(command)), copies_(most)
	{
	}

	/// Start what is to run by now. Says once that a copy failed. An error when it cannot be
	/// executed.
	Status tick();
	/// End all, see Child::stop().
	void stop();

private:
	using Clock = std::chrono::steady_clock;
	struct Copy {
		std::optional<Child> child;
		Clock::time_point begun, next;
		std::size_t runs = 0;
	};
	void ended(Copy &copy, bool first, Clock::time_point now);

	std::vector<std::string> command_;
	std::deque<Copy> copies_;
	bool said_ = false;
};

} // namespace lockscope::cli
