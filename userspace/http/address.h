// SPDX-License-Identifier: GPL-2.0
// Addresses that a server listens on, and those that requests name.
#pragma once

#include "util/result.h"

#include <sys/socket.h>

#include <cstdint>
#include <string>
#include <string_view>

namespace lockscope {

struct ListenAddress {
	sockaddr_storage socket{};
	socklen_t length = 0;
	std::string host; ///< as in a URL: "127.0.0.1", "[::1]"
	std::uint16_t port = 0;
	bool loopback = false; ///< only this machine reaches it
};

/// "127.0.0.1:8765", "[::1]:8765", "localhost:8765"; port 0: a free one. Names other than
/// localhost are an error: what a resolver says may change.
Result<ListenAddress> parse_listen_address(const std::string &text);

/// Does the value of a Host header name this machine as it names itself: localhost, or a
/// loopback address, with or without a port? A page of another site that resolves its own
/// name to 127.0.0.1 sends that name.
bool is_local_host(std::string_view header);

} // namespace lockscope
