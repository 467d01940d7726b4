// SPDX-License-Identifier: GPL-2.0
// Which kernels KVM does not run on this machine. Where it hangs in silence, finding out takes
// 20 s of a CPU for each guest, so it is found out once.
#pragma once

#include "vm/kernel.h"

namespace lockscope::vm {

// True if KVM failed for this kernel since the machine was started and QEMU installed.
bool kvm_fails(const Kernel &kernel);

// To be called when KVM failed and TCG brought the kernel up. A cache that cannot be written
// is no error: the next guest tries KVM again.
void remember_kvm_fails(const Kernel &kernel);

} // namespace lockscope::vm
