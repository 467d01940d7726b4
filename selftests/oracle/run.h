// SPDX-License-Identifier: GPL-2.0
// What the oracles have in common: their options, and a log through a store.
#pragma once

#include "model/model.h"
#include "source/source.h"
#include "util/result.h"

#include <cstdint>
#include <filesystem>
#include <string>

namespace lockscope::oracle {

struct Options {
	std::uint64_t seed = 0, programs = 1000, batch = 40, examples = 3;
	double seconds = 0; ///< 0: as many programs as requested
	bool show = false;
	bool list = false;   ///< a line for each listed difference
	std::string explain; ///< a listed difference to print like others
};

/// The command line; without a seed it is a new one. Exits 2 for what it does not know.
Options parse(int argc, char **argv);

[[noreturn]] void fail(const std::string &what, int status);

/// A folder in memory, where there is one, that goes with its owner.
class Folder {
public:
	Folder();
	~Folder();
	Folder(const Folder &) = delete;
	const std::string &path() const { return path_; }

private:
	std::string path_;
};

/// @image recorded into a new store in @folder, and loaded as for a report.
Result<Model> through_store(const Image &image, const std::string &folder);

} // namespace lockscope::oracle
