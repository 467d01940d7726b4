// SPDX-License-Identifier: GPL-2.0
#include "http/address.h"

#include <arpa/inet.h>
#include <netinet/in.h>

#include <algorithm>
#include <charconv>
#include <cstring>
#include <optional>

namespace lockscope {

namespace {

bool loopback4(const in_addr &address)
{
	return ntohl(address.s_addr) >> 24 == 127;
}

/// "HOST:PORT" or "[HOST]:PORT" without the port, which may be missing.
struct HostPort {
	std::string host;
	std::string_view port;
	bool brackets = false;
};

std::optional<HostPort> split_host(std::string_view text)
{
	HostPort out;
	std::string_view rest;
	if (text.starts_with('[')) {
		const auto end = text.find(']');
		if (end == text.npos)
			return std::nullopt;
		out.host = text.substr(1, end - 1);
		out.brackets = true;
		rest = text.substr(end + 1);
	} else {
		const auto colon = std::min(text.find(':'), text.size());
		out.host = text.substr(0, colon);
		rest = text.substr(colon);
	}
	if (rest.empty())
		return out;
	if (rest.front() != ':')
		return std::nullopt;
	out.port = rest.substr(1);
	return out;
}

std::optional<std::uint16_t> parse_port(std::string_view text)
{
	std::uint16_t port = 0;
	const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), port);
	if (text.empty() || error != std::errc() || end != text.data() + text.size())
		return std::nullopt;
	return port;
}

template <typename T> void keep(ListenAddress &out, const T &socket)
{
	std::memcpy(&out.socket, &socket, sizeof(socket));
	out.length = sizeof(socket);
}

} // namespace

Result<ListenAddress> parse_listen_address(const std::string &text)
{
	const Error error = usage_error(text + " is no address to listen on",
					"give one as 127.0.0.1:8765 or [::1]:8765");
	const auto parts = split_host(text);
	const auto port = parts ? parse_port(parts->port) : std::nullopt;
	if (!port)
		return error;
	ListenAddress out;
	out.port = *port;
	if (parts->brackets) {
		sockaddr_in6 socket{};
		socket.sin6_family = AF_INET6;
		socket.sin6_port = htons(*port);
		if (::inet_pton(AF_INET6, parts->host.c_str(), &socket.sin6_addr) != 1)
			return error;
		out.loopback = IN6_IS_ADDR_LOOPBACK(&socket.sin6_addr);
		out.host = "[" + parts->host + "]";
		keep(out, socket);
		return out;
	}
	sockaddr_in socket{};
	socket.sin_family = AF_INET;
	socket.sin_port = htons(*port);
	out.host = parts->host == "localhost" ? "127.0.0.1" : parts->host;
	if (::inet_pton(AF_INET, out.host.c_str(), &socket.sin_addr) != 1)
		return error;
	out.loopback = loopback4(socket.sin_addr);
	keep(out, socket);
	return out;
}

bool is_local_host(std::string_view header)
{
	const auto parts = split_host(header);
	if (!parts || (!parts->port.empty() && !parse_port(parts->port)))
		return false;
	if (parts->brackets) {
		in6_addr address{};
		return ::inet_pton(AF_INET6, parts->host.c_str(), &address) == 1 &&
		       IN6_IS_ADDR_LOOPBACK(&address);
	}
	std::string host = parts->host;
	for (char &c : host)
		c = c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
	in_addr address{};
	return host == "localhost" ||
	       (::inet_pton(AF_INET, host.c_str(), &address) == 1 && loopback4(address));
}

} // namespace lockscope
