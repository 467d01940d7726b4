// SPDX-License-Identifier: GPL-2.0
// The sides of a finding, for every format that shows them: which context does what, step by
// step.
#pragma once

#include "analysis/finding.h"
#include "model/model.h"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace lockscope {

/// One function on a stack; those inlined into another have frames of their own.
struct Frame {
	std::string function;		  ///< "?" when unknown
	const SourceLine *line = nullptr; ///< nullptr: not known
	bool inlined = false;
};

/// The functions at @code, innermost first, without inlined spin_lock() and the like, which
/// say no more than the frame below them.
std::vector<Frame> frames_of(const Code &code);

/// One place on the way of a side.
struct Step {
	CodeId at{};
	std::string does;      ///< "takes foo_lock"; empty: only calls the next one
	std::size_t depth = 0; ///< calls below the entry point
};

struct Side {
	std::string does;	     ///< "holds foo_lock, takes bar_lock"
	std::string by;		     ///< "system call openat, dmsetup-116"; empty: said by does
	std::vector<Step> steps;     ///< in the order in which they ran, outermost first
	std::size_t observation = 0; ///< in Model::observations; of a side without accesses
};

/// All sides, the one that the finding is reported at first. A cycle has one for each
/// dependency, a fault one for each of its stacks, what accesses show one for each of them.
std::vector<Side> sides_of(const Model &model, const Finding &finding);

/// What the side of @edge does: "holds A, takes B". @name names its classes.
std::string side_words(const Model &model, const FindingEdge &edge,
		       const std::function<std::string(ClassId)> &name);

/// How an interrupt and the holder of a lock come to wait for each other.
std::string interrupt_words(const Finding &finding,
			    const std::function<std::string(ClassId)> &name);

/// "foo_lock (shared), taken at foo_open+0x10 foo.c:12"
std::string taken_words(const Model &model, const std::string &lock, std::uint32_t val, CodeId at);

/// "fs/open.c:12", empty when it is not known.
std::string source_place(const SourceLine &line);

/// Is the first acquire of @edge in a function that had not returned at the second one, so
/// that one stack has both?
bool on_one_stack(const FindingEdge &edge);

} // namespace lockscope
