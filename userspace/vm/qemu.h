// SPDX-License-Identifier: GPL-2.0
// One QEMU process: command line, start and end.
#pragma once

#include "vm/kernel.h"
#include "vm/options.h"
#include "vm/status.h"

#include <optional>
#include <string>
#include <vector>

#include <sys/types.h>

namespace lockscope::vm {

struct Machine {
	std::string initramfs;	 // file
	std::string control_dir; // shared, see guest-init.sh
	std::string console_log; // file
	std::string qemu_log;	 // QEMU's own messages
	bool kvm = false;
	std::filesystem::path unpacked; // booted instead of the image unless it is empty
	int memory = -1;		// file that is the guest's memory, -1: QEMU's own
};

std::vector<std::string> qemu_command(const Options &options, const Kernel &kernel,
				      const Machine &machine);

// Owns the child process: killed by the destructor.
class Process {
public:
	// @inherited: a file descriptor that QEMU gets as well, -1: none.
	static Result<Process> start(const std::vector<std::string> &command,
				     const std::string &log, bool terminal, int inherited);
	Process(Process &&other) noexcept;
	Process(const Process &) = delete;
	Process &operator=(const Process &) = delete;
	Process &operator=(Process &&) = delete;
	~Process();

	// The wait status after its end.
	std::optional<int> poll();
	void kill();

private:
	explicit Process(pid_t pid) : pid_(pid) {}

	pid_t pid_ = -1;
	std::optional<int> ended_;
};

} // namespace lockscope::vm
