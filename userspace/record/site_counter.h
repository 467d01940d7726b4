// SPDX-License-Identifier: GPL-2.0
// Which places in modules' code run: a kprobe at each, removed once it was hit. The log cannot
// show it: of several places that take a lock in one order it has the first.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace lockscope {

/// An instruction by its module, function and offset.
struct CodePlace {
	std::string module, function;
	std::uint64_t offset = 0;
};

/// Uses kprobe events in an instance of tracefs of its own. Places that the kernel refuses are
/// not watched; without tracefs none is. One at a time on a machine.
class SiteCounter {
public:
	/// @tracing: folder of tracefs. A module that is not loaded yet is watched from then on.
	explicit SiteCounter(std::string tracing = "/sys/kernel/tracing");
	~SiteCounter();
	SiteCounter(const SiteCounter &) = delete;

	void begin(const std::vector<CodePlace> &places);
	/// Take away the probes that were hit.
	void tick();
	/// Take away all.
	void end();

	/// By the number of the place; valid after begin().
	bool watched(std::size_t place) const { return places_[place].watched; }
	bool hit(std::size_t place) const { return places_[place].hit; }

private:
	struct Place {
		bool watched = false, hit = false;
	};
	void remove_events();
	bool write(const std::string &file, const std::string &text, bool append = false) const;

	std::string tracing_, instance_;
	std::vector<Place> places_;
	bool on_ = false;
};

} // namespace lockscope
