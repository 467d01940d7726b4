// SPDX-License-Identifier: GPL-2.0
// Sources of machine code: the running kernel, or a file.
#pragma once

#include "decode/access.h"
#include "util/result.h"

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace lockscope {

/// A function as one contiguous piece of code; split-off parts like "f.cold" are functions of
/// their own.
struct Function {
	std::string name;   ///< as in the symbol table, with ".part.0" and the like
	std::string module; ///< "vmlinux" for the kernel's own
	/// Of its first byte. In a module's file: within its section.
	std::uint64_t address = 0;
	std::uint64_t size = 0;
	std::size_t section = 0; ///< of a file
};

/// Code by functions.
class CodeSource {
public:
	virtual ~CodeSource() = default;
	/// All functions by section and address, with all of their names.
	const std::vector<Function> &functions() const { return functions_; }
	/// The machine code of one of them.
	virtual Result<std::vector<std::uint8_t>> read(const Function &function) const = 0;

protected:
	std::vector<Function> functions_;
};

/// Functions of an ELF file with symbols: a module's .ko, or a vmlinux. Nothing is relocated:
/// in a module, displacements and targets that the loader fills in are as in the file, mostly
/// 0.
Result<std::unique_ptr<CodeSource>> open_elf_code(const std::string &path);

/// Functions of the running kernel, from kallsyms, modules and kcore below @proc. Needs root,
/// and a kernel that is not locked down. Code that is freed after boot is skipped. Functions
/// end where the next symbol begins, so they include padding. Addresses and bytes are a
/// snapshot: open again after a module was loaded.
Result<std::unique_ptr<CodeSource>> open_kernel_code(const std::string &proc = "/proc");

/// Ranges where the running kernel allows no probe, from its own list. Empty without debugfs:
/// then registering a probe fails instead.
std::vector<AddressRange>
probe_blacklist(const std::string &file = "/sys/kernel/debug/kprobes/blacklist");

} // namespace lockscope
