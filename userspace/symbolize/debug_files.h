// SPDX-License-Identifier: GPL-2.0
// Files with debug information: which packages have them, and the folder of those fetched by
// lockscope symbols.
#pragma once

#include <string>
#include <vector>

namespace lockscope {

/// Packages that have the debug information of a distribution's kernel, the most likely one
/// first; empty for a kernel that comes in no package.
std::vector<std::string> debug_packages(const std::string &release);

/// Folder of fetched files, empty without a home. gdb finds them with "set
/// debug-file-directory": they are in .build-id below it.
std::string fetched_symbols();
/// Place of the file with that build id there, whether or not it exists; empty without a home.
std::string fetched_file(const std::string &build_id);

/// Names of the modules in the package of a kernel, as far as it was fetched; the kernel's
/// own, "vmlinux", is among them. Empty: it was not.
std::vector<std::string> packaged_modules(const std::string &release);
/// The file that has them.
std::string packaged_list(const std::string &release);

/// Build id of an ELF file as hex digits; empty when there is none.
std::string elf_build_id(const std::string &path);
/// Does the ELF file have that build id, and debug information?
bool describes(const std::string &path, const std::string &build_id);

} // namespace lockscope
