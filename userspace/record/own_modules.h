// SPDX-License-Identifier: GPL-2.0
// The modules that a recording is about: those that were named, and those that a guest was booted
// with. Their calls of lock primitives are listed and watched.
#pragma once

#include "model/model.h"
#include "record/site_counter.h"
#include "symbolize/lines.h"
#include "symbolize/symbols.h"

#include <string>
#include <vector>

namespace lockscope {

class OwnModules {
public:
	/// @named: modules by name, or their files; empty, in a guest: those it was booted with.
	/// LockScope's own module is none.
	explicit OwnModules(const std::vector<std::string> &named,
			    const std::string &booted = kGuestModules);

	/// Find files and list the sites. Modules that are not loaded are looked for again in
	/// end(). @watch: a probe at each site says whether it is reached. Not where the module
	/// may leave a wrong preemption count: a breakpoint there is fatal to the kernel.
	void begin(LineFinder &finder, SymbolSource &symbols, bool watch);
	void tick() { counter_.tick(); }
	void end(LineFinder &finder, SymbolSource &symbols);

	/// Before end(): which sites are reached is not known.
	std::vector<OwnModule> result() const;

private:
	void read(LineFinder &finder, SymbolSource &symbols);

	void add(const std::string &name, const std::string &path);

	std::vector<OwnModule> modules_;
	/// Numbers of counter_: module and site.
	std::vector<std::pair<std::size_t, std::size_t>> counted_;
	SiteCounter counter_;
	bool ended_ = false;
};

} // namespace lockscope
