// SPDX-License-Identifier: GPL-2.0
// Messages of libbpf as errors.
#pragma once

#include "util/result.h"

#include <string>

namespace lockscope {

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
