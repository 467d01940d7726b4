// SPDX-License-Identifier: GPL-2.0
// Patterns of functions to watch, and the memory accesses in them.
//
//   auto code = open_kernel_code();                        decode/code.h
//   SiteOptions options{.refused = probe_blacklist()};
//   auto list = list_sites(**code, "ext4:ext4_mb_*", options);
//   std::vector<ls_site> probes = probe_sites(*list);      for LS_IOC_SITES
//
// The kernel decides where a probe is allowed: registering one can fail for a site of this
// list (jump labels, static calls, addresses of another tracer), which is to be counted and is
// no fatal error.
#pragma once

#include "decode/code.h"
#include "lockclass/abi.h"

#include <string>
#include <vector>

namespace lockscope {

struct SiteOptions {
	std::vector<AddressRange> refused = {}; ///< see decode_function()
	std::string btf_dir = "/sys/kernel/btf";
};

struct WatchedFunction {
	Function code;
	FunctionSites decoded;
};

struct SiteList {
	std::vector<WatchedFunction> functions; ///< as in the source
	std::vector<std::string> unread;	///< functions whose code could not be read
	std::size_t sites() const;
	std::uint32_t unsupported(Unsupported why) const;
};

/// Functions that match @pattern, each piece of code once:
///   vfs_*              by name, * and ? as in a shell
///   ext4:ext4_mb_*     in one module; the kernel itself is "vmlinux"
///   struct inode       that take a pointer to one, by BTF
///   ext4:struct inode  both
/// A name also matches split-off parts and clones: "f" is "f.cold" and "f.isra.0" too. An
/// error when nothing matches.
Result<std::vector<Function>> select_functions(const CodeSource &code, const std::string &pattern,
					       const std::string &btf_dir = "/sys/kernel/btf");

/// The accesses of the functions that match @pattern.
Result<SiteList> list_sites(const CodeSource &code, const std::string &pattern,
			    const SiteOptions &options = {});

/// The same in the format of LS_IOC_SITES, at the present addresses of the code. An absolute
/// or %rip-relative operand, per CPU or not, gets an absolute displacement.
std::vector<ls_site> probe_sites(const SiteList &list);

} // namespace lockscope
