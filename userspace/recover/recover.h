// SPDX-License-Identifier: GPL-2.0
// What a dead machine still held: the module's log and tables, as an image of its device, the
// locks of every context, the kernel's messages, and what names its code.
#pragma once

#include "recover/events.h"
#include "recover/held.h"
#include "recover/symbols.h"
#include "source/source.h"
#include "util/result.h"

#include <string>
#include <vector>

namespace lockscope::recover {

struct Recovery {
	Image image; ///< with what the rings still had
	Pending pending;
	DeathRecord death; ///< the cause is empty when the kernel's messages do not say it
	DeadKernel kernel;
};

/// From the file at @path, see open_memory(). Errors: it cannot be read, or nothing of the module
/// is in it. What is damaged beyond that is missing.
Result<Recovery> recover(const std::string &path);
/// The same from @memory; @name is that of its file.
Result<Recovery> recover(const PhysicalMemory &memory, const std::string &name);

/// Write what names the code of the dead kernel below @folder, which exists: proc/kallsyms and
/// modules, sys/kernel/btf, sys/module/NAME/notes and the like.
Status write_system(const DeadKernel &kernel, const std::string &folder);

} // namespace lockscope::recover
