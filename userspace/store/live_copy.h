// SPDX-License-Identifier: GPL-2.0
// A store that a guest is writing is read from a copy. The guest's locks are not seen on this side
// of 9p: SQLite would take the reader for the only user, make the shared index anew, and remove the
// write-ahead log at the end, both below the guest's recorder.
#pragma once

#include "util/result.h"

#include <memory>
#include <string>

namespace lockscope {

/// Removed with its owner.
class LiveCopy {
public:
	/// A consistent copy of the store at @path and its write-ahead log, in $TMPDIR. When the log
	/// begins anew in between, it is copied again, five times at most.
	static Result<std::unique_ptr<LiveCopy>> make(const std::string &path);
	~LiveCopy();
	LiveCopy(const LiveCopy &) = delete;

	std::string path() const { return folder_ + "/store.db"; }

private:
	explicit LiveCopy(std::string folder) : folder_(std::move(folder)) {}

	std::string folder_;
};

} // namespace lockscope
