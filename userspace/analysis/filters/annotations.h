// SPDX-License-Identifier: GPL-2.0
// Annotations of the acquires and functions of a model.
#pragma once

#include "model/annotations.h"
#include "model/model.h"

#include <optional>
#include <string>
#include <vector>

namespace lockscope::annotations {

/// Find the tables of all releases in @model. A missing one is no error, a damaged one is.
Status load(Model &model);

/// The annotation of an acquire.
struct Acquire {
	bool known = false;	    ///< false: the table does not have that code
	const Note *note = nullptr; ///< null: no annotation, which is subclass 0
	long subclass = 0;	    ///< kNotConstant: an expression, or a nest lock
};

/// For the acquire with @stack, innermost first, in a run of that release.
Acquire acquire(const Model &model, const std::string &release, const std::vector<CodeId> &stack);

/// Locks that lockdep_assert_held() in the functions of @stack names: "&x->lock in foo()".
std::vector<std::string> asserted(const Model &model, const std::string &release,
				  const std::vector<CodeId> &stack);

/// What disables one interrupt line in a function of @stack, null: nothing does.
const Note *masked_line(const Model &model, const std::string &release,
			const std::vector<CodeId> &stack);

/// The report's text about missing tables, empty if none is missing.
std::string missing(const Model &model);

} // namespace lockscope::annotations
