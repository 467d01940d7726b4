// SPDX-License-Identifier: GPL-2.0
// The part of load.cpp for memory accesses.
#pragma once

#include "model/model.h"
#include "store/database.h"
#include "store/numbers.h"

#include <cstdint>
#include <string>
#include <unordered_map>
#include <vector>

namespace lockscope {

/// The run whose accesses are loaded, and the objects that its rows refer to by number.
struct LoadedRun {
	std::string id;	   ///< run.id
	std::uint32_t run; ///< in Model::runs
	const Numbers<ClassId> &classes;
	const Numbers<CodeId> &code;
	const std::unordered_map<std::uint64_t, std::vector<CodeId>> &stacks;
};

/// Add data, accesses, races and histories of a run; none if the store has an older schema.
Status load_accesses(Database &db, Model &model, const LoadedRun &run);

} // namespace lockscope
