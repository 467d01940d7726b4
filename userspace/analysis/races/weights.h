// SPDX-License-Identifier: GPL-2.0
// What each feature of a data race is worth [RacerX 8.1, Table 4].
// The table is in weights.cpp; a file may change it, one entry a line:
//
//   confidence = 1300
//   statistics-counter = -200   # comment
#pragma once

#include "util/result.h"

#include <map>
#include <span>
#include <string>
#include <string_view>

namespace lockscope {

struct RaceWeight {
	std::string_view name; ///< of the feature
	double points;
	std::string_view what; ///< when it counts
};

class RaceWeights {
public:
	/// The built-in table.
	RaceWeights();
	/// The same with the changes in @text. Unknown names, invalid numbers and duplicates
	/// are errors that begin with "@name:LINE: ".
	static Result<RaceWeights> parse(std::string_view text, const std::string &name);

	/// Points of a feature that is in the table.
	double operator[](std::string_view name) const;
	static std::span<const RaceWeight> table();

private:
	std::map<std::string_view, double> points_;
};

} // namespace lockscope
