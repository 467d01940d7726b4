// SPDX-License-Identifier: GPL-2.0
// The death of a machine, with addresses as its memory has them.
#pragma once

#include "log/log.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace lockscope {

/// A task, or an interrupt level of a CPU, that held a lock or waited for one when the machine
/// died.
struct ContextAtDeath {
	std::string comm; ///< of interrupts: of the interrupted task
	std::uint32_t pid = 0, tgid = 0;
	std::optional<std::uint32_t> cpu; ///< where it ran; nullopt: it slept
	ls_level level = LS_TASK;
	std::vector<HeldRecord> held; ///< oldest first
	std::optional<HeldRecord> waits;
};

struct DeathRecord {
	std::string cause;    ///< one line, not empty
	std::string messages; ///< the kernel's last ones, as dmesg prints them; may be empty
	std::vector<std::string> missing; ///< what its memory did not have, one line each
	std::vector<ContextAtDeath> contexts;
};

} // namespace lockscope
