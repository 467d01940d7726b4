// SPDX-License-Identifier: GPL-2.0
// Metrics of the daemon: to a file for node_exporter, and over HTTP.
#pragma once

#include "http/server.h"
#include "lockscoped/counter.h"
#include "report/metrics.h"

#include <atomic>
#include <chrono>
#include <memory>
#include <mutex>
#include <string>
#include <thread>

namespace lockscope {

class Session;

struct MetricsOptions {
	std::string file;   ///< empty: none
	std::string listen; ///< empty: nowhere
	bool wanted() const { return !file.empty() || !listen.empty(); }
};

class DaemonMetrics {
public:
	/// Error: the file cannot be written, or the address not be listened on.
	static Result<std::unique_ptr<DaemonMetrics>> open(const MetricsOptions &options,
							   const std::string &store);
	/// The last thing that the file says is that nothing is recorded.
	~DaemonMetrics();
	DaemonMetrics(const DaemonMetrics &) = delete;

	/// The log was stored.
	void drained(Session &session);
	/// There is no module.
	void waiting();

private:
	using Clock = std::chrono::steady_clock;

	DaemonMetrics(MetricsOptions options, const std::string &store)
		: options_(std::move(options)), store_(store), counter_(store)
	{
	}
	void render();
	void publish();
	Status write();
	void serve();
	HttpResponse answer(const HttpRequest &request);

	MetricsOptions options_;
	std::string store_;
	Metrics metrics_;
	FindingCounter counter_;
	Clock::time_point published_, written_;
	bool unwritten_ = false; ///< said so already
	std::mutex mutex_;
	std::shared_ptr<const std::string> text_; ///< by mutex_
	std::unique_ptr<HttpServer> server_;
	std::atomic<bool> stop_ = false;
	std::thread thread_;
};

} // namespace lockscope
