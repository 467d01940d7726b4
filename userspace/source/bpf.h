// SPDX-License-Identifier: GPL-2.0
// The backend without the module.
#pragma once

#include "source/source.h"

namespace lockscope {

/// Attach BPF programs to the functions of sleeping locks. Their observations are converted to
/// the log that the module would have written. They are detached with the source. Errors:
/// refused by the kernel; the module is loaded, which hooks these functions itself.
Result<std::unique_ptr<Source>> bpf_source();

} // namespace lockscope
