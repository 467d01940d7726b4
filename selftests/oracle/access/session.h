// SPDX-License-Identifier: GPL-2.0
// Programs as the module sees them, one after the other in one run, and what the report says.
#pragma once

#include "module.h"

#include "analysis/finding.h"
#include "util/result.h"

#include <string>
#include <vector>

namespace lockscope::access_oracle {

/// A race of two functions, the smaller number first, over a word.
struct Pair {
	int first, second, word;
	auto operator<=>(const Pair &) const = default;
};

Pair pair_of(const Program &program, int step, int other);

/// One finding of the report.
struct Said {
	Pair pair;
	Severity severity;
	bool hidden, doubted; ///< a filter says why it is no error
	std::string text;
};

struct Outcome {
	std::vector<Judged> judged;
	std::vector<Said> report;
	std::uint64_t losses = 0;
};

struct Job {
	Program program;
	std::uint64_t salt = 0; ///< where its memory lies
};

/// @folder: for the store, which is made anew each time.
Result<std::vector<Outcome>> run_session(const std::vector<Job> &jobs, const std::string &folder);

} // namespace lockscope::access_oracle
