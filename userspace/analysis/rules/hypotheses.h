// SPDX-License-Identifier: GPL-2.0
// Hypotheses about the guard of a variable, and their support.
#pragma once

#include "analysis/rules/support.h"
#include "model/model.h"

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

namespace lockscope {

/// With less evidence there is no verdict.
inline constexpr std::size_t kLeastEvidence = 3;
/// Share of observations that a rule needs.
inline constexpr double kLeastShare = 0.9;
/// The hypothesis that some locks or contexts are held during accesses to a variable.
struct Hypothesis {
	std::vector<std::string> terms; ///< at most three, see Protection
	bool all = true;		///< every term is needed; else one is enough
	bool exclusive = false;		///< a lock held shared is not enough
	bool checked = true;		///< no term is a lock of an unknown object
	Support support;
	Standing standing;
	std::size_t excused = 0; ///< observations without it that were exclusive to one context
	bool shared = false;	 ///< an observation with it was not

	/// "self.i_lock", "global.inode_hash_lock & self.i_lock", "rcu | self.lock"
	std::string guard() const;
	double score() const { return support.z() + standing.points(); }
	/// Exclusive observations are no excuse unless the variable was seen to be shared.
	bool believed() const
	{
		return support.of >= kLeastEvidence && support.share() >= kLeastShare &&
		       (shared || !excused);
	}
	bool accepted() const { return checked && believed(); }
};

/// A lock or context held at some access, as a guard.
struct Single {
	Hypothesis h;
	bool lock = true;
	int distance = 0;	 ///< from the object: 0 its own
	std::size_t nesting = 0; ///< 0: the outermost
	std::vector<bool> where; ///< held by which observation
};

/// Weighs hypotheses about one kind of access to one variable.
class Scales {
public:
	/// @all has to outlive this.
	Scales(const Model &model, const Sections &sections, std::size_t variable,
	       const std::vector<AccessEvidence> &all)
		: model_(model), sections_(sections), variable_(variable), all_(all)
	{
	}

	/// Acquire sites of the locks of @h, nullopt if it is not held.
	std::optional<Section> section(const Hypothesis &h, const AccessEvidence &seen) const;
	/// Fill in support and standing.
	Hypothesis weighed(Hypothesis h) const;
	/// Every lock and context held anywhere, the likeliest guard first. For @writers,
	/// locks have to be held exclusively.
	std::vector<Single> singles(bool writers) const;
	/// The hypothesis that both are needed.
	Hypothesis both(const Hypothesis &a, const Hypothesis &b) const;
	/// Support for holding no lock at all.
	Support no_lock() const;

private:
	bool writes(const AccessEvidence &seen) const;

	const Model &model_;
	const Sections &sections_;
	std::size_t variable_;
	const std::vector<AccessEvidence> &all_;
};

} // namespace lockscope
