// SPDX-License-Identifier: GPL-2.0
// Whose code a finding is about.
#pragma once

#include "analysis/finding.h"

#include <set>
#include <span>
#include <string>
#include <vector>

namespace lockscope {

/// Code of a loaded module, other than LockScope's own?
bool of_module(const Code &code);

/// The modules that own one of @classes.
std::set<std::string> modules_of(const Model &model, const std::vector<ClassId> &classes);

/// The frames of @stack that run for @context: that of an interrupt goes on with the code that it
/// interrupted.
std::span<const CodeId> own_frames(const Model &model, const std::vector<CodeId> &stack,
				   const Context &context);

/// The frame that a maintainer owns, as an index of @frames, which are not empty: the innermost
/// one of a module @at_hand, else of any module, else of the kernel where it does more than
/// sleep, allocate or free on behalf of its callers.
std::size_t owner_frame(const Model &model, std::span<const CodeId> frames,
			const std::set<std::string> &at_hand);

/// The function that identifies what is done under @hold, however deep in its callees that was
/// noticed: the outermost one of a module that the function which acquired it has called, that
/// function itself where it has only called the kernel; in the kernel's own code its callee.
/// Empty where the function has returned and nothing else of its module runs.
std::string function_below(const Model &model, std::span<const CodeId> frames, const Held &hold);

/// The frame that @finding names: of its first edge, or of what it shows by itself.
CodeId owner_of(const Model &model, const Finding &finding);
/// The same for one edge.
CodeId owner_of(const Model &model, const Finding &finding, const FindingEdge &edge);
/// Its function, or the closest information.
std::string function_of(const Model &model, const Finding &finding, const FindingEdge &edge);

} // namespace lockscope
