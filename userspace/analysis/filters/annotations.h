// SPDX-License-Identifier: GPL-2.0
// Annotations of the acquires and functions of a model.
#pragma once

#include "model/annotations.h"
#include "model/model.h"

#include <optional>
#include <string>
#include <vector>

namespace lockscope::annotations {

/// Finds the tables of all releases in @model. A missing one is no error, a damaged one is.
Status load(Model &model);

/// What the author of an acquire said of it.
struct Acquire {
	bool known = false;	      ///< the table knows that code; else nothing can be said
	const Note *note = nullptr;   ///< null: nothing was said, which is subclass 0
	long subclass = 0;	      ///< kNotConstant: an expression, or a nest lock
};

/// Of the acquire whose stack is @stack, innermost first, in a run of that release.
Acquire acquire(const Model &model, const std::string &release, const std::vector<CodeId> &stack);

/// Locks that the functions of @stack assert to be held: "&x->lock in foo()".
std::vector<std::string> asserted(const Model &model, const std::string &release,
				  const std::vector<CodeId> &stack);

/// What keeps one interrupt away by its line in a function of @stack, null: nothing does.
const Note *masked_line(const Model &model, const std::string &release,
			const std::vector<CodeId> &stack);

/// What the report says of tables that are missing, empty if none is.
std::string missing(const Model &model);

} // namespace lockscope::annotations
