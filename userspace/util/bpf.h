// SPDX-License-Identifier: GPL-2.0
// libbpf's messages as errors of ours.
#pragma once

#include "util/result.h"

#include <string>

namespace lockscope {

/// While it lives, what libbpf says is kept instead of printed. One at a time.
class BpfMessages {
public:
	BpfMessages();
	~BpfMessages();
	BpfMessages(const BpfMessages &) = delete;

	/// "cannot ACTION: ...", with the last thing libbpf said and a hint.
	Error error(int code, const std::string &action) const;
};

} // namespace lockscope
