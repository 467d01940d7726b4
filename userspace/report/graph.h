// SPDX-License-Identifier: GPL-2.0
// The lock-order graph, or a part of it, as a picture in graphviz's language.
#pragma once

#include "analysis/findings.h"
#include "model/model.h"

#include <cstddef>
#include <string>
#include <vector>

namespace lockscope {

/// Boxes and arrows; texts are names as they come.
struct Picture {
	enum class Shape { Spins, Sleeps, Interrupt, Place, Variable };
	struct Node {
		std::string name, about; ///< first and second line
		std::string full;	 ///< shown by viewers on request
		Shape shape = Shape::Sleeps;
		bool marked = false; ///< what was asked for
	};
	struct Arrow {
		std::size_t from = 0, to = 0; ///< in nodes
		std::string label, by;	      ///< first and second line, may be empty
		bool bad = false;	      ///< part of a finding
	};
	std::string title, status; ///< first and second line
	std::vector<Node> nodes;
	std::vector<Arrow> arrows;
	std::vector<ClassId> locks; ///< those among the nodes
	std::size_t left_out = 0;   ///< lock classes that found no room
};

/// One finding: locks with the dependencies between them; the locks around a fault; the
/// accesses to a variable.
Picture picture_of(const Model &model, const Finding &finding);

/// Part of the lock-order graph.
struct Neighbourhood {
	std::string classes; ///< pattern with * and ?, empty: any
	std::string module;  ///< pattern, see module_matches(); empty: any
	unsigned depth = 1;  ///< dependencies away from those, in either direction
};

/// The locks that @wanted names and those around them, at most 300. Dependencies of findings
/// that are not hidden are marked; those with interrupts are left out, as most locks have them.
Picture picture_of(const Model &model, const Analysis &analysis, const Neighbourhood &wanted);

/// The picture as a digraph.
std::string dot_text(const Picture &picture);

} // namespace lockscope
