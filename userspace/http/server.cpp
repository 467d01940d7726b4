// SPDX-License-Identifier: GPL-2.0
// On GNU libmicrohttpd, which parses requests. It is driven from the caller's loop and starts
// no thread.
#include "http/server.h"

#include <arpa/inet.h>
#include <microhttpd.h>
#include <netinet/in.h>
#include <strings.h>
#include <sys/socket.h>

#include <cerrno>
#include <exception>
#include <new>

namespace lockscope {

namespace {

/* Connections that wait until others end. */
constexpr int kBacklog = 16;

Error listen_error(int code, const ListenAddress &address)
{
	const std::string what =
		"cannot listen on " + address.host + ":" + std::to_string(address.port);
	switch (code) {
	case EADDRINUSE:
		return os_error(code, what, "another program does; choose another port, 0 for any");
	case EAFNOSUPPORT:
		return os_error(code, what,
				"lockscoped.service allows no network: docs/serve.md says how to");
	case EACCES:
		return os_error(code, what, "ports below 1024 are root's; choose another");
	default:
		return os_error(code, what, "choose an address of this machine");
	}
}

/// A listening socket; @address gets the port that the kernel chose.
Result<Fd> listen_on(ListenAddress &address)
{
	Fd fd(::socket(address.socket.ss_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
	if (!fd.valid())
		return listen_error(errno, address);
	/* Connections of an earlier server may still be in TIME_WAIT. */
	const int on = 1;
	(void)::setsockopt(fd.get(), SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
	auto *name = reinterpret_cast<sockaddr *>(&address.socket);
	if (::bind(fd.get(), name, address.length) != 0 || ::listen(fd.get(), kBacklog) != 0)
		return listen_error(errno, address);
	socklen_t length = sizeof(address.socket);
	if (::getsockname(fd.get(), name, &length) != 0)
		return listen_error(errno, address);
	address.port = ntohs(address.socket.ss_family == AF_INET6
				     ? reinterpret_cast<sockaddr_in6 *>(name)->sin6_port
				     : reinterpret_cast<sockaddr_in *>(name)->sin_port);
	return fd;
}

/// The values of a header; a request may repeat one.
struct HostValues {
	int n = 0;
	std::string last;
};

MHD_Result add_host(void *out, MHD_ValueKind, const char *key, const char *value)
{
	if (::strcasecmp(key, MHD_HTTP_HEADER_HOST) == 0) {
		static_cast<HostValues *>(out)->n++;
		static_cast<HostValues *>(out)->last = value ? value : "";
	}
	return MHD_YES;
}

MHD_Result add_query(void *out, MHD_ValueKind, const char *key, const char *value)
{
	auto &query = *static_cast<std::map<std::string, std::string> *>(out);
	query[key] = value ? value : "";
	return MHD_YES;
}

using Body = std::shared_ptr<const std::string>;

void free_body(void *body)
{
	delete static_cast<Body *>(body);
}

MHD_Result queue(MHD_Connection *connection, const HttpResponse &answer)
{
	/* The library keeps the owner until the last byte is sent, and frees it. */
	auto owner = std::make_unique<Body>(answer.body ? answer.body
							: std::make_shared<const std::string>());
	const std::string &text = **owner;
	MHD_Response *response = MHD_create_response_from_buffer_with_free_callback_cls(
		text.size(), const_cast<char *>(text.data()), free_body, owner.get());
	if (!response)
		return MHD_NO;
	(void)owner.release();
	const auto add = [response](const char *name, const std::string &value) {
		(void)MHD_add_response_header(response, name, value.c_str());
	};
	add(MHD_HTTP_HEADER_CONTENT_TYPE, answer.type);
	/* Only a header can say which pages may frame this one. */
	add("Content-Security-Policy", answer.policy + "; frame-ancestors 'none'");
	add("X-Content-Type-Options", "nosniff");
	add("Cross-Origin-Resource-Policy", "same-origin");
	add(MHD_HTTP_HEADER_CACHE_CONTROL, "no-store");
	/* Bounds the time of a request, too. */
	add(MHD_HTTP_HEADER_CONNECTION, "close");
	if (answer.refresh)
		add("Refresh", std::to_string(answer.refresh));
	if (answer.status == MHD_HTTP_METHOD_NOT_ALLOWED)
		add(MHD_HTTP_HEADER_ALLOW, "GET, HEAD");
	const auto queued = MHD_queue_response(connection, answer.status, response);
	MHD_destroy_response(response);
	return queued;
}

} // namespace

HttpResponse text_response(unsigned status, const std::string &text)
{
	HttpResponse out;
	out.status = status;
	out.body = std::make_shared<const std::string>(text + "\n");
	return out;
}

/// What the library calls, as it wants it.
struct HttpCallbacks {
	static MHD_Result on_request(void *server, MHD_Connection *connection, const char *path,
				     const char *method, const char *, const char *, size_t *,
				     void **)
	{
		/* No exception may cross the library. */
		try {
			return queue(connection, static_cast<HttpServer *>(server)->answer(
							 connection, path, method));
		} catch (const std::exception &) {
			return MHD_NO;
		}
	}

	static void on_connection(void *server, MHD_Connection *connection, void **,
				  MHD_ConnectionNotificationCode what)
	{
		auto &self = *static_cast<HttpServer *>(server);
		const auto *info =
			MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CONNECTION_FD);
		if (!info)
			return;
		try {
			if (what == MHD_CONNECTION_NOTIFY_STARTED)
				self.accepted_[info->connect_fd] = self.waited();
			else
				self.accepted_.erase(info->connect_fd);
		} catch (const std::bad_alloc &) {
			/* Idle time still bounds this one. */
		}
	}
};

void HttpServer::Stop::operator()(MHD_Daemon *daemon) const
{
	MHD_stop_daemon(daemon);
}

HttpServer::~HttpServer() = default;

Result<std::unique_ptr<HttpServer>> HttpServer::open(const ListenAddress &address,
						     HttpHandler handler, const HttpLimits &limits)
{
	std::unique_ptr<HttpServer> server(new HttpServer(address, std::move(handler), limits));
	auto fd = listen_on(server->address_);
	if (!fd)
		return fd.error();
	server->daemon_.reset(MHD_start_daemon(
		MHD_USE_EPOLL, 0, nullptr, nullptr, HttpCallbacks::on_request, server.get(),
		MHD_OPTION_LISTEN_SOCKET, fd->get(), MHD_OPTION_CONNECTION_LIMIT,
		limits.connections, MHD_OPTION_CONNECTION_MEMORY_LIMIT, limits.bytes,
		MHD_OPTION_CONNECTION_TIMEOUT, static_cast<unsigned>(limits.idle.count()),
		MHD_OPTION_NOTIFY_CONNECTION, HttpCallbacks::on_connection, server.get(),
		MHD_OPTION_END));
	if (!server->daemon_)
		return listen_error(errno, server->address_);
	/* The library's from now on. */
	(void)fd->release();
	return server;
}

HttpResponse HttpServer::answer(MHD_Connection *connection, const char *path, const char *method)
{
	const std::string_view verb = method;
	if (verb != MHD_HTTP_METHOD_GET && verb != MHD_HTTP_METHOD_HEAD)
		return text_response(MHD_HTTP_METHOD_NOT_ALLOWED, "only GET and HEAD");
	HostValues host;
	MHD_get_connection_values(connection, MHD_HEADER_KIND, add_host, &host);
	if (host.n != 1 || (address_.loopback && !is_local_host(host.last)))
		return text_response(MHD_HTTP_FORBIDDEN,
				     "the Host header does not name this machine: ask " + url());
	HttpRequest request;
	request.path = path;
	MHD_get_connection_values(connection, MHD_GET_ARGUMENT_KIND, add_query, &request.query);
	const auto start = Clock::now();
	HttpResponse out;
	try {
		out = handler_(request);
	} catch (const std::bad_alloc &) {
		out = text_response(MHD_HTTP_SERVICE_UNAVAILABLE, "out of memory");
	}
	answering_ += Clock::now() - start;
	return out;
}

void HttpServer::serve(std::chrono::milliseconds most)
{
	(void)MHD_run_wait(daemon_.get(), static_cast<std::int32_t>(most.count()));
	cut_old_connections();
}

/* The library's own timeout begins again with each byte. */
void HttpServer::cut_old_connections()
{
	const auto now = waited();
	for (const auto &[socket, since] : accepted_)
		if (now - since > limits_.connection)
			(void)::shutdown(socket, SHUT_RDWR);
}

std::string HttpServer::url() const
{
	return "http://" + address_.host + ":" + std::to_string(address_.port) + "/";
}

std::string HttpServer::warning() const
{
	if (address_.loopback)
		return {};
	return "anything that reaches " + address_.host + ":" + std::to_string(address_.port) +
	       " can read this: there is no password and no encryption";
}

} // namespace lockscope
