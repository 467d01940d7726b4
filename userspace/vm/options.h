// SPDX-License-Identifier: GPL-2.0
// Options of `lockscope vm run` and `vm shell`.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace lockscope::vm {

enum class Accelerator { Auto, Kvm, Tcg };

struct Copy {
	std::string source;	 // on the host
	std::string destination; // in the guest
};

struct Options {
	std::string kernel; // see find_kernel()
	int cpus = 2;
	int memory_mb = 2048;
	std::vector<std::string> modules; // "FILE.ko [PARAMETER=VALUE]..."
	std::vector<Copy> copies;
	std::string append; // more kernel parameters, last, so that they override others
	std::vector<std::string>
		devices; // as QEMU's -device names them: "qxl", "usb-tablet,bus=x.0"
	int timeout_s = 300;
	std::string out_dir; // for the guest's /out and console.log; may be empty
	bool icount = false; // one instruction is one nanosecond, one CPU
	Accelerator accelerator = Accelerator::Auto;
	bool kaslr = false;	  // the image unpacks itself, at a random address
	bool udev = false;	  // udev runs, and has loaded drivers before COMMAND starts
	bool shell = false;	  // COMMAND uses this terminal, through a serial line of its own
	bool keep_memory = false; // of a guest that died, as a file
	bool verbose = false;
	std::vector<std::string> command;
};

} // namespace lockscope::vm
