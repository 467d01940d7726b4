// SPDX-License-Identifier: GPL-2.0
// The manual page of the module, from its sources: parameters from MODULE_PARM_DESC, with the
// values that their variables begin with.
#pragma once

#include "manual/page.h"

#include <string>
#include <vector>

namespace lockscope::manual {

struct ModuleParameter {
	std::string name, type, about, standard;
	bool writable = false; ///< while the module is loaded
};

/// The parameters in a source, in its order; @all are the texts of all sources, which have
/// the variables.
Result<std::vector<ModuleParameter>> module_parameters(const std::string &source,
						       const std::string &all);

/// The files that a source makes in debugfs.
std::vector<std::string> debugfs_files(const std::string &source);

/// lockscope(4), from the folder kmod/; @text has its other sections, which have to name
/// each file in debugfs.
Result<Page> module_page(const std::string &folder, const std::string &text,
			 const PageTitle &title);

} // namespace lockscope::manual
