// SPDX-License-Identifier: GPL-2.0
// Where machine code comes from: the running kernel, or a file.
#pragma once

#include "decode/access.h"
#include "util/result.h"

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace lockscope {

/// A function as one piece of code; what compilers split off, like "f.cold", is
/// one of its own.
struct Function {
	std::string name;   ///< as in the symbol table, with ".part.0" and the like
	std::string module; ///< "vmlinux" for the kernel's own
	/// Of its first byte. In the files of modules: within its section.
	std::uint64_t address = 0;
	std::uint64_t size = 0;
	std::size_t section = 0; ///< of a file
};

/// Code by functions.
class CodeSource {
public:
	virtual ~CodeSource() = default;
	/// All functions by section and address, with all names they have.
	const std::vector<Function> &functions() const { return functions_; }
	/// The machine code of one of them.
	virtual Result<std::vector<std::uint8_t>> read(const Function &function) const = 0;

protected:
	std::vector<Function> functions_;
};

/// Functions of an ELF file that has symbols: a module's .ko, or a vmlinux. Nothing
/// is relocated: in a module displacements and targets that the loader fills in are
/// what the file has there, mostly 0.
Result<std::unique_ptr<CodeSource>> open_elf_code(const std::string &path);

/// What there is of the running kernel below @proc: kallsyms, modules and kcore.
/// Needs root, and a kernel that is not locked down. Code that is gone after boot
/// is left out. Functions end where the next symbol begins, so fillers belong to
/// them. Addresses, and bytes, are those of now: open anew after a module came.
Result<std::unique_ptr<CodeSource>> open_kernel_code(const std::string &proc = "/proc");

/// Where the running kernel lets nobody put a probe, by its own list. Empty when
/// debugfs is not there: then registering a probe will tell.
std::vector<AddressRange>
probe_blacklist(const std::string &file = "/sys/kernel/debug/kprobes/blacklist");

} // namespace lockscope
