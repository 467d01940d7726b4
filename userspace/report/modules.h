// SPDX-License-Identifier: GPL-2.0
// "Your module": what a recording saw of the modules that it was about, findings or not.
#pragma once

#include "analysis/findings.h"
#include "model/model.h"
#include "report/json_parts.h"
#include "report/printer.h"

#include <cstdint>
#include <string>
#include <vector>

namespace lockscope {

/// A lock of a module, or one of others that its code takes.
struct ModuleLock {
	ClassId cls = kNoClass;
	bool own = false;		   ///< the class is the module's
	std::uint64_t acquisitions = 0;	   ///< in any code, estimated from samples
	std::vector<std::string> contexts; ///< "task", "softirq"
	std::size_t before = 0, after = 0; ///< locks held when it is taken; taken under it
};

struct ModuleReport {
	OwnModule module;		///< of all runs together
	std::vector<ModuleLock> locks;	///< own ones first, then by acquisitions
	std::uint64_t accesses = 0;	///< to memory, seen in its code
	std::uint64_t acquisitions = 0; ///< of its own locks, and of others by its code
	std::size_t reached = 0;	///< of module.sites
	std::vector<const OwnSite *> unreached;
	std::size_t unknown = 0; ///< neither; among them code that ran before the recording
};

/// Modules that were named when recording, or are selected now.
std::vector<ModuleReport> module_reports(const Model &model, const Selection &selection);

/// What a report says of one in a few lines, without its locks.
std::vector<std::string> summary_lines(const ModuleReport &report);
/// "FILE:LINE FUNCTION()", without the inlined spin_lock() around it.
std::string site_name(const OwnSite &site);
void print_modules(const Model &model, const std::vector<ModuleReport> &modules, bool all,
		   Printer &out);
Json modules_json(const Model &model, const std::vector<ModuleReport> &modules);

} // namespace lockscope
