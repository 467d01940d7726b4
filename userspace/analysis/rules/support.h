// SPDX-License-Identifier: GPL-2.0
// Statistical support of the belief "this guard protects that variable" [RacerX 8.4, 8.5].
#pragma once

#include "analysis/rules/protection.h"
#include "model/model.h"

#include <cstddef>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <tuple>
#include <vector>

namespace lockscope {

/// Probability of being protected by chance.
inline constexpr double kByChance = 0.8;
/// (s/n - p0) / sqrt(p0 (1 - p0) / n): standard deviations above chance.
double z_test(std::size_t holds, std::size_t of, double by_chance = kByChance);

/// Code and its held locks: one piece of evidence, however often it ran.
struct AccessEvidence {
	CodeId at{};
	std::vector<Protection> held;	   ///< by term
	std::vector<std::size_t> accesses; ///< in Model::accesses, that show it
	bool alone = false;		   ///< all accesses were exclusive, see MemoryAccess

	const Protection *find(const std::string &term) const;
};

struct Support {
	std::size_t holds = 0, of = 0;
	double share() const
	{
		return of ? static_cast<double>(holds) / static_cast<double>(of) : 0;
	}
	double z() const { return z_test(holds, of); }
};

/// The critical section in which an observation holds the requested guard: the acquire sites
/// of its locks, or nullopt if it does not hold them.
using Section = std::vector<CodeId>;
using Holds = std::function<std::optional<Section>(const AccessEvidence &)>;

/// Each place in the code counts once, and so does each critical section: a loop adds nothing,
/// nor does a helper called from many of them. Observations without the guard count once per
/// function, and not at all while the memory was exclusive: an object needs no lock before it
/// is published [Eraser 2.2].
Support count_support(const Model &model, const std::vector<AccessEvidence> &all,
		      const Holds &holds);

/// The position of a variable in the critical sections of a lock.
struct Standing {
	std::size_t only = 0, first = 0, last = 0; ///< sections, by acquire site
	/// RacerX's Table 4.
	double points() const;
};

/// The data accessed in every observed critical section, in the order of first observation.
class Sections {
public:
	/// @variables: number of the variable of each access.
	Sections(const Model &model, const std::vector<std::size_t> &variables);
	Standing standing(std::size_t variable, const std::set<CodeId> &taken) const;

private:
	enum Place { Only, First, Last };
	std::map<std::pair<std::size_t, CodeId>, std::set<Place>> places_;
};

} // namespace lockscope
