// SPDX-License-Identifier: GPL-2.0
// Symbols, modules and types of a dead kernel, in the forms that a running one has them in
// procfs and sysfs: what names a running kernel's code then names that of a dead one.
#pragma once

#include "lockclass/abi.h"
#include "recover/description.h"
#include "recover/pages.h"

#include <map>
#include <string>
#include <vector>

namespace lockscope::recover {

struct DeadModule {
	std::string name, build_id;
	std::uint64_t text = 0, text_bytes = 0;
	std::string symbols; ///< lines of /proc/kallsyms
	std::string types;   ///< BTF; may be empty
};

struct DeadKernel {
	std::string symbols;  ///< lines of /proc/kallsyms, without the modules'; may be empty
	std::string types;    ///< BTF; may be empty
	std::string build_id; ///< hex digits; may be empty
	std::string boot_id;  ///< may be empty
	std::vector<DeadModule> modules;
};

DeadKernel read_kernel(KernelMemory &kernel, const ls_anchor &anchor, const Description &about);

/// Addresses of the named symbols in lines of /proc/kallsyms; one that is not there is left out.
std::map<std::string, std::uint64_t> addresses_of(const std::string &symbols,
						  const std::vector<std::string> &names);

} // namespace lockscope::recover
