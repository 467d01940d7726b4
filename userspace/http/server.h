// SPDX-License-Identifier: GPL-2.0
// A small HTTP server: GET and HEAD, one thread, everything bounded.
//
//   auto server = HttpServer::open(*parse_listen_address("127.0.0.1:8765"), answer);
//   while (!stop_signal())
//           server->serve(milliseconds(200));
#pragma once

#include "http/address.h"
#include "util/fd.h"

#include <chrono>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>

struct MHD_Connection;
struct MHD_Daemon;

namespace lockscope {

struct HttpLimits {
	/* Few readers: a browser opens up to six connections, a scraper one. */
	unsigned connections = 16;
	/// Bytes of a connection's buffer: request line, headers and what is sent at a time.
	std::size_t bytes = 16 * 1024;
	/// Without a byte from a client.
	std::chrono::seconds idle{10};
	/// From accept to the last byte sent; time that answers take to make is not counted.
	std::chrono::seconds connection{60};
};

struct HttpRequest {
	std::string path; ///< decoded, without the query
	std::map<std::string, std::string> query;
};

struct HttpResponse {
	unsigned status = 200;
	std::string type = "text/plain; charset=utf-8";
	std::shared_ptr<const std::string> body;
	/// Content-Security-Policy; what is no page needs no more than this.
	std::string policy = "default-src 'none'";
	unsigned refresh = 0; ///< seconds until a browser asks again, 0: never
};

/// A line of text, such as an error.
HttpResponse text_response(unsigned status, const std::string &text);

using HttpHandler = std::function<HttpResponse(const HttpRequest &)>;

class HttpServer {
public:
	/// Listen. On a loopback address only requests for this machine's own names are
	/// answered, see is_local_host().
	static Result<std::unique_ptr<HttpServer>>
	open(const ListenAddress &address, HttpHandler handler, const HttpLimits &limits = {});
	~HttpServer();
	HttpServer(const HttpServer &) = delete;

	/// Answer what arrives within @most.
	void serve(std::chrono::milliseconds most);

	/// "http://127.0.0.1:8765/", with the port that is in use.
	std::string url() const;
	/// One line about the danger of the address; empty on loopback.
	std::string warning() const;

private:
	using Clock = std::chrono::steady_clock;
	friend struct HttpCallbacks;

	HttpServer(const ListenAddress &address, HttpHandler handler, const HttpLimits &limits)
		: address_(address), handler_(std::move(handler)), limits_(limits)
	{
	}

	HttpResponse answer(MHD_Connection *connection, const char *path, const char *method);
	void cut_old_connections();
	/// Time since start, without that of answers.
	Clock::duration waited() const { return Clock::now() - started_ - answering_; }

	struct Stop {
		void operator()(MHD_Daemon *daemon) const;
	};

	ListenAddress address_;
	HttpHandler handler_;
	HttpLimits limits_;
	Clock::time_point started_ = Clock::now();
	Clock::duration answering_{};
	std::map<int, Clock::duration> accepted_; ///< sockets, and waited() then
	std::unique_ptr<MHD_Daemon, Stop> daemon_;
};

} // namespace lockscope
