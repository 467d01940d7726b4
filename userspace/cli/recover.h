// SPDX-License-Identifier: GPL-2.0
// From the memory of a dead machine into a store.
#pragma once

#include "util/result.h"

#include <string>
#include <vector>

namespace lockscope::cli {

struct RecoverOptions {
	std::string image; ///< file with the machine's memory
	std::string store; ///< a run of that load of the module in it is completed
	std::vector<std::string> symbol_dirs;
	std::string cause; ///< how it died, where its messages do not say so
};

/// What was found, for people.
struct Recovered {
	std::string cause;
	std::size_t contexts = 0;  ///< that held locks, or waited for one
	std::uint32_t pending = 0; ///< observations that were still on their way to the log
	std::uint64_t classes = 0, observations = 0;
	bool continued = false; ///< the store had the begin of the run
	std::vector<std::string> missing;
};

/// Read the image, and write the store.
Result<Recovered> recover_into(const RecoverOptions &options);

} // namespace lockscope::cli
