// SPDX-License-Identifier: GPL-2.0
// Types of a module that was built without BTF, from its DWARF. The kernel's build makes BTF for
// modules only where it has the kernel's vmlinux, which packages of headers lack.
#pragma once

#include <elfutils/libdw.h>

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

struct btf;

namespace lockscope {

/// As BTF, so that what reads types needs to know one format only. Pointers to structs of the
/// kernel lead to a declaration with their name.
struct ModuleTypes {
	/// A variable or function, and its type or prototype in types.
	using Named = std::pair<std::string, std::uint32_t>;

	btf *types = nullptr; ///< the caller's to free; nullptr without debug information
	std::vector<std::uint32_t> structs; ///< those that the module defines
	/// Static variables, in the order of the files that the module is linked from.
	struct Variable {
		std::string name;
		std::uint32_t type;
		std::string unit; ///< name of that file, without folders
	};
	std::vector<Variable> variables;
	std::vector<Named> functions;
	/// Parameters and variables of functions, and of those inlined there: by the name of the
	/// function that has a symbol.
	std::multimap<std::string, Named> locals;
};

/// A struct by its name and size, in bytes: drivers use names that the kernel has, too.
using KnownStruct = std::function<bool(const std::string &name, std::uint32_t size)>;

/// @known: does the kernel's BTF have that struct?
ModuleTypes module_types(Dwarf *dwarf, const KnownStruct &known);

} // namespace lockscope
