// SPDX-License-Identifier: GPL-2.0
// The backend without a module.
#pragma once

#include "source/source.h"

namespace lockscope {

/// Attach BPF programs to the functions of sleeping locks. What they see comes out as
/// the log that the module would have written. They go with the source. Errors: what
/// the kernel refuses; the module is loaded, which has these functions to itself.
Result<std::unique_ptr<Source>> bpf_source();

} // namespace lockscope
