// SPDX-License-Identifier: GPL-2.0
// The kernel's log of messages in a dead machine's memory.
#pragma once

#include "recover/description.h"
#include "recover/pages.h"

#include <string>

namespace lockscope::recover {

/// As dmesg prints it: "[   12.345678] text", one line each, printable. Empty when there is
/// none, or it is not described. Takes the ring buffer of Linux 5.10 and later
/// [kernel/printk/printk_ringbuffer.h].
std::string kernel_messages(KernelMemory &kernel, const Description &description);

} // namespace lockscope::recover
