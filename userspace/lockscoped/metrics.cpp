// SPDX-License-Identifier: GPL-2.0
#include "lockscoped/metrics.h"

#include "record/session.h"
#include "store/load.h"
#include "util/file.h"

#include <cstdio>
#include <cstring>
#include <ctime>

namespace lockscope {

namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

/* As often as Prometheus looks at most. */
constexpr auto kPublishEvery = seconds(1);
constexpr auto kWriteEvery = seconds(15);
constexpr auto kTurn = milliseconds(200);
/* Of node_exporter, which runs as another user. */
constexpr int kFileMode = 0644;

} // namespace

Result<std::unique_ptr<DaemonMetrics>> DaemonMetrics::open(const MetricsOptions &options,
							   const std::string &store)
{
	std::unique_ptr<DaemonMetrics> out(new DaemonMetrics(options, store));
	out->metrics_.recording = false;
	out->render();
	if (!options.file.empty())
		LS_TRY_STATUS(out->write());
	if (options.listen.empty())
		return out;
	auto address = parse_listen_address(options.listen);
	if (!address)
		return address.error();
	auto server = HttpServer::open(*address, [self = out.get()](const HttpRequest &request) {
		return self->answer(request);
	});
	if (!server)
		return server.error();
	out->server_ = std::move(*server);
	if (const auto warning = out->server_->warning(); !warning.empty())
		std::fprintf(stderr, "lockscoped: warning: %s\n", warning.c_str());
	std::fprintf(stderr, "lockscoped: metrics at %smetrics\n", out->server_->url().c_str());
	out->thread_ = std::thread([self = out.get()] { self->serve(); });
	return out;
}

DaemonMetrics::~DaemonMetrics()
{
	stop_ = true;
	if (thread_.joinable())
		thread_.join();
	metrics_.recording = false;
	render();
	if (!options_.file.empty())
		(void)write().ok();
}

void DaemonMetrics::drained(Session &session)
{
	const auto now = Clock::now();
	Recorder &recorder = session.recorder();
	counter_.turn(recorder.records());
	if (metrics_.recording == true && now - published_ < kPublishEvery)
		return;
	const ls_info &info = recorder.info();
	metrics_.kernel.assign(info.release, ::strnlen(info.release, sizeof(info.release)));
	metrics_.backend = session.source().backend();
	metrics_.counters = recorder.counters();
	metrics_.recording = true;
	metrics_.records = recorder.records();
	metrics_.log_bytes = info.log_bytes;
	metrics_.lag_bytes = recorder.lag_bytes();
	metrics_.run_started = recorder.started();
	metrics_.last_drain = std::time(nullptr);
	publish();
}

void DaemonMetrics::waiting()
{
	counter_.turn(metrics_.records.value_or(0));
	if (metrics_.recording == false && Clock::now() - published_ < kPublishEvery)
		return;
	metrics_.recording = false;
	metrics_.lag_bytes.reset();
	publish();
}

void DaemonMetrics::render()
{
	metrics_.store_bytes = store_bytes(store_);
	metrics_.findings = counter_.latest();
	auto text = std::make_shared<const std::string>(metrics_text(metrics_));
	{
		const std::lock_guard lock(mutex_);
		text_ = std::move(text);
	}
	published_ = Clock::now();
}

void DaemonMetrics::publish()
{
	render();
	if (options_.file.empty() || published_ - written_ < kWriteEvery)
		return;
	/* Reported once: recording is what matters. */
	const auto status = write();
	if (!status && !unwritten_)
		std::fprintf(stderr, "lockscoped: %s\n", status.error().what.c_str());
	unwritten_ = !status;
}

Status DaemonMetrics::write()
{
	written_ = Clock::now();
	/* No other thread sets it. */
	auto status = write_file(options_.file, *text_, kFileMode);
	if (status)
		return status;
	Error error = status.error();
	error.hint = "choose another file with --metrics-file; lockscoped.service may write to its "
		     "own folder and node_exporter's only";
	return error;
}

void DaemonMetrics::serve()
{
	while (!stop_)
		server_->serve(kTurn);
}

HttpResponse DaemonMetrics::answer(const HttpRequest &request)
{
	if (request.path != "/metrics")
		return text_response(404, "there is only /metrics");
	HttpResponse out;
	out.type = kMetricsType;
	const std::lock_guard lock(mutex_);
	out.body = text_;
	return out;
}

} // namespace lockscope
