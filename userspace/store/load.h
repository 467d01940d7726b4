// SPDX-License-Identifier: GPL-2.0
#pragma once

#include "model/model.h"
#include "util/result.h"

#include <string>
#include <vector>

namespace lockscope {

/// Add everything in the store at @path to @model. A run that is already there
/// (same load of the module) is taken once, the longer recording winning.
/// Errors as for open_store(), and rows that make no sense.
/// Damage::Salvage: of a damaged store what can be read, see Model::damaged.
enum class Damage { Refuse, Salvage };
Status load_store(const std::string &path, Model &model, Damage damage = Damage::Refuse);

/// Unite several stores.
Result<Model> load_stores(const std::vector<std::string> &paths,
			  Damage damage = Damage::Refuse);

} // namespace lockscope
