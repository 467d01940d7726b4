// SPDX-License-Identifier: GPL-2.0
// Rotation of probes over many access sites. All get a turn, those with the fewest turns first
// [LiteRace 3: unknown races are in code that runs rarely], and sites with too many hits for
// the budget have to wait.
//
//   Rotation rotation(sites, {.live = 400, .hits_per_second = 30000});
//   rotation.begin_turn();
//   auto probes = rotation.live();      arm them; the kernel fills in errors
//   rotation.armed(probes);
//   if (rotation.measure(hits, 1.0))    some were too hot: arm live() anew
#pragma once

#include "lockclass/abi.h"

#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <vector>

namespace lockscope {

struct RotationLimits {
	std::size_t live = 400;	    ///< limit of sites at a time
	double hits_per_second = 0; ///< in total; 0: no limit
};

class Rotation {
public:
	/// Sites at one address count once.
	Rotation(std::vector<ls_site> sites, RotationLimits limits);

	/// Choose the sites of this turn. At most @most of the live ones are replaced, the
	/// longest live first, and only by waiting ones.
	void begin_turn(std::size_t most = SIZE_MAX);
	/// The sites that should have probes, by address.
	std::vector<ls_site> live() const;
	/// Result for live(): in the same order, with errors. Refused sites are never chosen
	/// again.
	void armed(std::span<const ls_site> probes);
	/// @hits: of each probe since it was registered, in the order of armed(), including
	/// refused ones; @seconds: since the last call. True when some had to be dropped.
	bool measure(std::span<const std::uint32_t> hits, double seconds);
	/// Do all sites have probes all the time?
	bool is_complete() const;

	std::size_t sites() const { return sites_.size(); }
	/// Sites that had a probe for some time.
	std::size_t turned() const;
	/// Sites that were dropped or skipped because they cost too much.
	std::size_t held_back() const;
	/// Number of sites that the kernel refused, by errno.
	std::map<int, std::size_t> refused() const;
	std::uint64_t hits() const { return hits_; }
	/// Maximum number at a time.
	std::size_t most_live() const { return most_live_; }

private:
	struct Site {
		ls_site probe;
		std::uint64_t hits = 0;
		std::uint32_t turns = 0;
		std::uint32_t counter = 0; ///< as last read
		std::size_t slot = 0;	   ///< index in armed()
		double rate = 0;	   ///< hits per second, last measured
		std::uint64_t since = 0;   ///< turn in which it became live
		bool live = false;
		bool armed = false; ///< has a probe: its counter continues
		bool held_back = false;
	};

	std::vector<Site> sites_; ///< by address
	RotationLimits limits_;
	std::uint64_t hits_ = 0, turn_ = 0;
	std::size_t most_live_ = 0;
};

} // namespace lockscope
