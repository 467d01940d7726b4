// SPDX-License-Identifier: GPL-2.0
// Builds the guest's initramfs: busybox, the few modules that its root needs, the user's
// modules and the command.
#pragma once

#include "vm/kernel.h"
#include "vm/options.h"
#include "vm/status.h"

#include <string>
#include <vector>

namespace lockscope::vm {

// The archive's bytes. It is some 3 MB and built in milliseconds, so it is not kept between
// runs. @cwd: working directory of the command.
Result<std::string> build_initramfs(const Options &options, const Kernel &kernel,
				    const std::string &cwd);

// The file of a --module option, "FILE.ko [PARAMETER=VALUE]...".
std::string module_file(const std::string &spec);

// 'text' quoted for a POSIX shell, for any content.
std::string shell_quote(const std::string &text);

} // namespace lockscope::vm
