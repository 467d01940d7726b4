// SPDX-License-Identifier: GPL-2.0
// Programs as the module sees them, one after the other in one run, and what the judge and
// the report say of each.
#pragma once

#include "module.h"
#include "search.h"

#include "analysis/finding.h"
#include "util/result.h"

#include <optional>
#include <string>
#include <vector>

namespace lockscope::oracle {

/// A cycle, or a nesting of a class in itself, as one of the two reports it.
struct Said {
	FindingKind kind;
	std::vector<Dependency> dependencies; ///< canonical()
	Severity severity = Severity::Error;
	bool hidden = false;
	std::string text = {};	  ///< title and filters
	std::string filters = {}; ///< their names

	bool touches(const std::vector<Dependency> &others) const;
	/// All of its dependencies are among @others.
	bool within(const std::vector<Dependency> &others) const;
};

struct Outcome {
	std::vector<Said> judge, report;
	std::vector<bool> unlocks; ///< classes of which a double unlock was reported
	bool cut = false;	   ///< the judge left a search, and counted it
};

struct Job {
	Program program;
	std::uint64_t salt = 0; ///< where its locks lie: signatures are made of addresses
};

/// @folder: for the store, which is created each time.
Result<std::vector<Outcome>> run_session(const std::vector<Job> &jobs, const std::string &folder);

} // namespace lockscope::oracle
