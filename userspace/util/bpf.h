// SPDX-License-Identifier: GPL-2.0
// Messages of libbpf as errors.
#pragma once

#include "util/result.h"

#include <chrono>
#include <cstdint>
#include <string>

struct bpf_program;

namespace lockscope {

/// So long after a program was detached no handler is running any more.
inline constexpr std::chrono::milliseconds kProgramSettles{20};

/// How often the program did not run because it was running already on that CPU.
std::uint64_t missed_runs(const bpf_program *program);

/// During its lifetime messages of libbpf are kept instead of printed. One at a time.
class BpfMessages {
public:
	BpfMessages();
	~BpfMessages();
	BpfMessages(const BpfMessages &) = delete;

	/// "cannot ACTION: ...", with the last message of libbpf and a hint.
	Error error(int code, const std::string &action) const;
};

} // namespace lockscope
