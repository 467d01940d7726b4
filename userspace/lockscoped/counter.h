// SPDX-License-Identifier: GPL-2.0
// Counts the findings of the store that is recorded to. In a process of its own: memory of the
// search goes back to the system, recording goes on meanwhile, and closing the store a second
// time would drop SQLite's locks of this process.
#pragma once

#include "report/metrics.h"
#include "util/fd.h"
#include "util/result.h"

#include <sys/types.h>

#include <chrono>
#include <optional>
#include <string>
#include <string_view>

namespace lockscope {

class FindingCounter {
public:
	explicit FindingCounter(std::string store) : store_(std::move(store)) {}
	/// Ends the process.
	~FindingCounter();
	FindingCounter(const FindingCounter &) = delete;

	/// Start a count where one is due, or take its result; never waits. @records: how many
	/// were stored so far; without new ones nothing is counted.
	void turn(std::uint64_t records);
	const std::optional<FindingCounts> &latest() const { return latest_; }

private:
	using Clock = std::chrono::steady_clock;

	void start();
	void take();
	void end(const std::string &problem);

	std::string store_;
	std::optional<FindingCounts> latest_;
	pid_t child_ = -1;
	Fd pipe_;
	std::string output_;
	std::optional<std::uint64_t> counted_; ///< records then
	std::uint64_t counting_ = 0;
	Clock::time_point started_, due_;
	bool failed_ = false; ///< said so already
};

/// The option that makes lockscoped such a process, and what it does: one line for each sort of
/// findings on stdout. The exit status.
inline constexpr const char *kCountOption = "--count-findings";
int count_store(const std::string &store);

/// What it prints, and back; nullopt: it is not complete.
std::string encode_counts(const FindingCounts &counts);
std::optional<FindingCounts> decode_counts(std::string_view text);

} // namespace lockscope
