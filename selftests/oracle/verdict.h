// SPDX-License-Identifier: GPL-2.0
// Where the module or the report say something else of a program than the search.
#pragma once

#include "session.h"

#include <string>
#include <vector>

namespace lockscope::oracle {

struct Disagreement {
	std::string rule; ///< what is broken
	std::vector<Dependency> about;
	std::string text;
	/// A limit that docs/oracle.md lists explains it; empty: nothing does.
	std::string cause = {};
};

/// What the two say differs, with the causes that the program itself shows.
std::vector<Disagreement> compare(const Program &program, const Answer &answer,
				  const Outcome &outcome);

} // namespace lockscope::oracle
