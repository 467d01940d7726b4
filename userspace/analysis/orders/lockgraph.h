// SPDX-License-Identifier: GPL-2.0
// The lock-order graph of a model, with the evidence for every edge.
#pragma once

#include "analysis/orders/cycles.h"
#include "model/model.h"

#include <cstdint>
#include <map>
#include <set>
#include <span>
#include <unordered_map>
#include <vector>

namespace lockscope {

/// Observation number @observation had @held[position] held while acquiring, or completing. A
/// dependency with an interrupt has one lock only: that one, or kOwnLock.
struct Evidence {
	std::size_t observation; ///< in Model::observations
	std::uint32_t position;	 ///< in Observation::held
	std::uint32_t kind;	 ///< one LS_DEP_* bit
};

struct Dependency {
	ClassId from, to;
	std::uint32_t kinds = 0; ///< LS_DEP_* mask
	bool need = false;	 ///< from a completion to a lock held at all completions
	std::span<const Evidence> evidence = {}; ///< the graph's
};

/// Runs to include, by number.
using Runs = std::vector<bool>;

/// Is entry @i of @observation's held locks another instance of the acquired class, and in an
/// order with it?
bool nests(const Observation &observation, std::uint32_t i);

class LockGraph {
public:
	/// From the observations of @runs.
	LockGraph(const Model &model, const Runs &runs);
	LockGraph(LockGraph &&) = default;
	LockGraph &operator=(LockGraph &&) = default;

	/// Edge i is dependencies()[i - 1]: first the order of locks and completions, size()
	/// of them, then edges to and from interrupts, then classes that nest in themselves: of
	/// two instances. cycles() and further_cycles() do without the latter.
	const std::vector<Dependency> &dependencies() const { return dependencies_; }
	const Dependency &dependency(std::uint32_t edge) const { return dependencies_[edge - 1]; }
	/// The edge between two classes, or a class and an interrupt; 0 when there is none.
	std::uint32_t find(ClassId from, ClassId to) const;
	/// Cycles of locks only; see interrupts.h for the others.
	std::vector<Cycle> cycles() const;
	/// Further ones, a few for each edge that has a cycle and is not in @without.
	std::vector<Cycle> further_cycles(const std::set<std::uint32_t> &without) const;
	std::size_t size() const { return orders_; }

private:
	Graph orders_graph() const;
	std::size_t slot_of(ClassId from, ClassId to) const;
	std::uint32_t add_dependency(ClassId from, ClassId to);
	void add_evidence(std::uint32_t edge, Evidence evidence);
	void add(ClassId from, ClassId to, Evidence evidence);
	void sort_evidence();
	void add_orders(const Model &model, const Runs &runs);
	void add_needs(const Model &model, const Runs &runs);
	void add_usage(const Model &model, const Runs &runs);
	void add_nestings(const Model &model, const Runs &runs);

	std::size_t nodes_, orders_ = 0;
	std::vector<Dependency> dependencies_;
	/// Edges by hash of their ends, 0: free. There are millions of look-ups, and a node for
	/// each edge would take as much memory again.
	std::vector<std::uint32_t> slots_;
	std::vector<Evidence> evidence_;     ///< of all dependencies, in their order
	std::vector<std::uint32_t> edge_of_; ///< of each evidence, while it is collected
};

/// Information from chains about one dependency.
struct ChainFacts {
	/// From chains that show it as one kind.
	struct Kind {
		bool any = false; ///< there is such a chain
		/// Classes held in every such chain, other than the two; true: always
		/// exclusively.
		std::map<ClassId, bool> held;
	};

	std::uint64_t count = 0; ///< acquisitions of `to` under `from`
	Kind kinds[4];		 ///< per LS_DEP_* bit

	/// From all chains that show it as one of @mask.
	Kind of(std::uint32_t mask) const;
};

/// Facts about each of @edges, from one pass over all chains of @runs.
std::unordered_map<std::uint32_t, ChainFacts> chain_facts(const Model &model, const Runs &runs,
							  const LockGraph &graph,
							  const std::set<std::uint32_t> &edges);

/// Intersection; exclusive only if exclusive in both.
std::map<ClassId, bool> held_in_both(const std::map<ClassId, bool> &a,
				     const std::map<ClassId, bool> &b);

/// LS_DEP_* bit of a held and an acquired lock.
std::uint32_t dependency_kind(std::uint32_t held_val, std::uint32_t acquired_val);

} // namespace lockscope
