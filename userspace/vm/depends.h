// SPDX-License-Identifier: GPL-2.0
// What a module needs besides itself, from the lists that depmod leaves and from the module:
// as kmod reads them, since nothing of the distribution runs when these modules are loaded.
#pragma once

#include "vm/kernel.h"

#include <filesystem>
#include <set>
#include <string>
#include <vector>

namespace lockscope::vm {

// Names of modules or their aliases ("crypto-crc32c", "platform:gpio_amd_fch").
struct ModuleNeeds {
	std::vector<std::string> hard; // depends=: without them its symbols are unknown
	std::vector<std::string> soft; // softdep= ... pre: ...: asked for while it starts
};

struct NeededModule {
	std::filesystem::path path;
	bool soft; // may refuse to load: other hardware, or one of several with this alias
};

// .modinfo of a .ko file. Bytes of any content.
ModuleNeeds module_needs(const std::string &ko_content);

// Files of what is needed and of what those need, soft dependencies too, in loading order.
// Left out: what is built in, soft dependencies that do not exist, and modules named in @given.
// @missing gets hard dependencies that this kernel does not have.
std::vector<NeededModule> module_closure(const Kernel &kernel, const ModuleNeeds &needs,
					 const std::set<std::string> &given,
					 std::vector<std::string> &missing);

// What to do when a module was refused. @said: the kernel's words, with "Unknown symbol NAME"
// in them or others; @modules: the .ko files that were to be loaded, next to which builds leave
// Module.symvers. Empty when the words are of no known kind.
std::string refusal_hint(const Kernel &kernel, const std::string &said,
			 const std::vector<std::filesystem::path> &modules);

} // namespace lockscope::vm
