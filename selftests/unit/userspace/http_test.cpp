// SPDX-License-Identifier: GPL-2.0
// The HTTP server: what it listens on, what it answers, and that everything is bounded.
#include "http/server.h"

#include <gtest/gtest.h>

#include <poll.h>
#include <sys/socket.h>

#include <atomic>
#include <thread>

using namespace lockscope;
using std::chrono::milliseconds;
using std::chrono::seconds;

namespace {

TEST(ListenAddress, LoopbackIsTold)
{
	struct {
		const char *text, *host;
		bool loopback;
	} const cases[] = {
		{"127.0.0.1:80", "127.0.0.1", true},
		{"127.8.9.1:80", "127.8.9.1", true},
		{"localhost:80", "127.0.0.1", true},
		{"[::1]:80", "[::1]", true},
		{"0.0.0.0:80", "0.0.0.0", false},
		{"10.0.0.1:80", "10.0.0.1", false},
		{"[::]:80", "[::]", false},
		{"[::ffff:127.0.0.1]:80", "[::ffff:127.0.0.1]", false},
	};
	for (const auto &wanted : cases) {
		const auto address = parse_listen_address(wanted.text);
		ASSERT_TRUE(address) << wanted.text;
		EXPECT_EQ(address->host, wanted.host);
		EXPECT_EQ(address->port, 80);
		EXPECT_EQ(address->loopback, wanted.loopback) << wanted.text;
	}
}

TEST(ListenAddress, OthersAreRefused)
{
	for (const char *text :
	     {"", ":", ":80", "80", "127.0.0.1", "127.0.0.1:", "127.0.0.1:65536", "127.0.0.1:-1",
	      "127.0.0.1:80x", "127.0.0.1:+80", "example.org:80", "::1:80", "[::1]", "[::1]80",
	      "[::1:80", "[127.0.0.1]:80", "1:2:3"})
		EXPECT_FALSE(parse_listen_address(text)) << text;
}

TEST(HostHeader, OnlyOwnNames)
{
	for (const char *host : {"localhost", "LocalHost:8765", "127.0.0.1", "127.0.0.1:1",
				 "127.3.2.1", "[::1]", "[::1]:8765"})
		EXPECT_TRUE(is_local_host(host)) << host;
	for (const char *host :
	     {"", "example.org", "localhost.example.org", "127.0.0.1.example.org", "localhost:x",
	      "localhost@example.org", "10.0.0.1", "[::2]", "[::1", "::1", "0.0.0.0", "2130706433"})
		EXPECT_FALSE(is_local_host(host)) << host;
}

/// A server on a free port, in a thread of its own.
class HttpTest : public ::testing::Test {
protected:
	void start(const HttpLimits &limits = {})
	{
		auto address = parse_listen_address("127.0.0.1:0");
		ASSERT_TRUE(address);
		auto server = HttpServer::open(
			*address,
			[this](const HttpRequest &request) {
				asked_ = request;
				HttpResponse out = text_response(200, std::string(size_, 'x'));
				out.refresh = 7;
				return out;
			},
			limits);
		ASSERT_TRUE(server) << server.error().what;
		server_ = std::move(*server);
		const std::string url = server_->url();
		port_ = static_cast<std::uint16_t>(std::stoi(url.substr(url.find(':', 5) + 1)));
		thread_ = std::thread([this] {
			while (!stop_)
				server_->serve(milliseconds(20));
		});
	}
	void TearDown() override
	{
		stop_ = true;
		if (thread_.joinable())
			thread_.join();
	}

	Fd connection() const
	{
		auto address = parse_listen_address("127.0.0.1:" + std::to_string(port_));
		Fd fd(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
		EXPECT_EQ(::connect(fd.get(), reinterpret_cast<sockaddr *>(&address->socket),
				    address->length),
			  0);
		return fd;
	}
	static bool say(const Fd &fd, const std::string &text)
	{
		return ::send(fd.get(), text.data(), text.size(), MSG_NOSIGNAL) ==
		       static_cast<ssize_t>(text.size());
	}
	/// Everything until the server closes; "timeout" when it does not within @most.
	static std::string hear(const Fd &fd, seconds most = seconds(20))
	{
		std::string out;
		const auto end = std::chrono::steady_clock::now() + most;
		char buffer[4096];
		while (std::chrono::steady_clock::now() < end) {
			pollfd ready{fd.get(), POLLIN, 0};
			if (::poll(&ready, 1, 100) <= 0)
				continue;
			const ssize_t n = ::recv(fd.get(), buffer, sizeof(buffer), 0);
			if (n <= 0)
				return out;
			out.append(buffer, static_cast<std::size_t>(n));
		}
		return "timeout";
	}
	std::string ask(const std::string &text) const
	{
		const Fd fd = connection();
		EXPECT_TRUE(say(fd, text));
		return hear(fd);
	}
	std::string get(const std::string &path, const std::string &host = "localhost") const
	{
		return ask("GET " + path + " HTTP/1.1\r\nHost: " + host + "\r\n\r\n");
	}

	HttpRequest asked_;
	std::size_t size_ = 3;

private:
	std::unique_ptr<HttpServer> server_;
	std::uint16_t port_ = 0;
	std::atomic<bool> stop_ = false;
	std::thread thread_;
};

TEST_F(HttpTest, AnswersWithHeaders)
{
	start();
	const std::string answer = get("/a%20b/c?refresh=5&x=%2f&empty");
	EXPECT_TRUE(answer.starts_with("HTTP/1.1 200 OK\r\n")) << answer;
	for (const char *header :
	     {"Content-Security-Policy: default-src 'none'; frame-ancestors 'none'\r\n",
	      "X-Content-Type-Options: nosniff\r\n", "Cache-Control: no-store\r\n",
	      "Cross-Origin-Resource-Policy: same-origin\r\n", "Connection: close\r\n",
	      "Refresh: 7\r\n", "Content-Length: 4\r\n"})
		EXPECT_NE(answer.find(header), answer.npos) << header << answer;
	EXPECT_TRUE(answer.ends_with("\r\n\r\nxxx\n")) << answer;
	EXPECT_EQ(asked_.path, "/a b/c");
	EXPECT_EQ(asked_.query.at("refresh"), "5");
	EXPECT_EQ(asked_.query.at("x"), "/");
	EXPECT_EQ(asked_.query.at("empty"), "");
}

TEST_F(HttpTest, LargeBodiesArriveWhole)
{
	size_ = 3000000;
	start();
	const std::string answer = get("/");
	EXPECT_EQ(answer.size() - answer.find("\r\n\r\n"), size_ + 5);
}

TEST_F(HttpTest, HeadHasNoBody)
{
	start();
	const std::string answer = ask("HEAD / HTTP/1.1\r\nHost: localhost\r\n\r\n");
	EXPECT_TRUE(answer.starts_with("HTTP/1.1 200 ")) << answer;
	EXPECT_TRUE(answer.ends_with("\r\n\r\n")) << answer;
}

TEST_F(HttpTest, OtherMethodsAreRefused)
{
	start();
	for (const char *method : {"POST", "PUT", "DELETE", "OPTIONS", "TRACE", "PROPFIND"}) {
		const std::string answer =
			ask(std::string(method) + " / HTTP/1.1\r\nHost: localhost\r\n\r\n");
		EXPECT_TRUE(answer.starts_with("HTTP/1.1 405 ")) << method << answer;
		EXPECT_NE(answer.find("Allow: GET, HEAD\r\n"), answer.npos) << answer;
	}
	EXPECT_TRUE(asked_.path.empty());
}

TEST_F(HttpTest, OtherHostsAreRefused)
{
	start();
	EXPECT_TRUE(get("/", "rebound.example.org").starts_with("HTTP/1.1 403 "));
	EXPECT_TRUE(ask("GET / HTTP/1.0\r\n\r\n").find(" 403 ") < 20);
	EXPECT_TRUE(ask("GET / HTTP/1.1\r\nHost: localhost\r\nHost: example.org\r\n\r\n")
			    .starts_with("HTTP/1.1 403 "));
	EXPECT_TRUE(asked_.path.empty());
}

TEST_F(HttpTest, RequestsAreBounded)
{
	start();
	const std::string large(100000, 'a');
	const auto refused = [](const std::string &answer) {
		return answer.empty() || answer.starts_with("HTTP/1.1 4");
	};
	{
		const Fd fd = connection();
		(void)say(fd, "GET /" + large + " HTTP/1.1\r\nHost: localhost\r\n\r\n");
		EXPECT_TRUE(refused(hear(fd)));
	}
	{
		const Fd fd = connection();
		(void)say(fd, "GET / HTTP/1.1\r\nHost: localhost\r\nX: " + large + "\r\n\r\n");
		EXPECT_TRUE(refused(hear(fd)));
	}
	EXPECT_TRUE(refused(ask("\r\n\x01\x02 nonsense\r\n\r\n")));
	EXPECT_TRUE(asked_.path.empty());
	EXPECT_TRUE(get("/after").starts_with("HTTP/1.1 200 "));
}

TEST_F(HttpTest, IdleConnectionsEnd)
{
	HttpLimits limits;
	limits.idle = seconds(1);
	start(limits);
	const Fd fd = connection();
	EXPECT_TRUE(say(fd, "GET / HT"));
	EXPECT_NE(hear(fd), "timeout");
}

TEST_F(HttpTest, SlowConnectionsEnd)
{
	HttpLimits limits;
	limits.connection = seconds(2);
	start(limits);
	const Fd fd = connection();
	EXPECT_TRUE(say(fd, "GET / HTTP/1.1\r\nX: "));
	/* A byte now and then is never idle. */
	int sent = 0;
	while (sent < 100 && say(fd, "x")) {
		std::this_thread::sleep_for(milliseconds(200));
		sent++;
	}
	EXPECT_LT(sent, 100);
}

TEST_F(HttpTest, ConnectionsAreBounded)
{
	HttpLimits limits;
	limits.connections = 4;
	limits.connection = seconds(2);
	start(limits);
	std::vector<Fd> idle;
	for (int i = 0; i < 4; i++)
		idle.push_back(connection());
	std::this_thread::sleep_for(milliseconds(200));
	/* Waits until they are cut, and is answered then. */
	const auto begin = std::chrono::steady_clock::now();
	EXPECT_TRUE(get("/").starts_with("HTTP/1.1 200 "));
	EXPECT_GT(std::chrono::steady_clock::now() - begin, milliseconds(500));
}

TEST_F(HttpTest, PortsInUseAreAnError)
{
	start();
	const Fd fd = connection();
	sockaddr_storage name{};
	socklen_t length = sizeof(name);
	ASSERT_EQ(::getpeername(fd.get(), reinterpret_cast<sockaddr *>(&name), &length), 0);
	ListenAddress taken = *parse_listen_address("127.0.0.1:0");
	taken.socket = name;
	const auto second =
		HttpServer::open(taken, [](const HttpRequest &) { return HttpResponse(); });
	ASSERT_FALSE(second);
	EXPECT_EQ(second.error().code, EADDRINUSE);
	EXPECT_FALSE(second.error().hint.empty());
}

TEST(HttpServer, WarnsBeyondLoopback)
{
	const auto answer = [](const HttpRequest &) { return text_response(200, ""); };
	const auto open = [&](const char *text) {
		return HttpServer::open(*parse_listen_address(text), answer);
	};
	auto near = open("127.0.0.1:0"), far = open("0.0.0.0:0");
	ASSERT_TRUE(near && far);
	EXPECT_EQ((*near)->warning(), "");
	EXPECT_NE((*far)->warning().find("no password"), std::string::npos);
}

} // namespace
