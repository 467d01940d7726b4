// SPDX-License-Identifier: GPL-2.0
#include "lockscoped/counter.h"

#include "analysis/filters/annotations.h"
#include "analysis/suppression_file.h"
#include "store/load.h"
#include "util/date.h"
#include "util/file.h"
#include "util/text.h"

#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <cstdio>
#include <cstring>
#include <ctime>

namespace lockscope {

namespace {

using std::chrono::minutes;

/* At most a twentieth of the time goes into counting. */
constexpr auto kLeastPause = minutes(1);
constexpr int kPauseFactor = 20;
constexpr auto kMostTime = minutes(30);
constexpr std::size_t kMostOutput = 64 * 1024;
constexpr int kCountNice = 10;
constexpr const char *kEndLine = "end";

std::optional<std::uint64_t> parse_count(const std::string &text)
{
	std::uint64_t out = 0;
	const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), out);
	if (text.empty() || error != std::errc() || end != text.data() + text.size())
		return std::nullopt;
	return out;
}

} // namespace

std::string encode_counts(const FindingCounts &counts)
{
	std::string out;
	for (const auto &count : counts.counts)
		out += std::string(name(count.severity)) + " " + name(count.confidence) + " " +
		       name(count.kind) + " " + std::to_string(count.n) + "\n";
	return out + "hidden " + std::to_string(counts.hidden) + "\nsuppressed " +
	       std::to_string(counts.suppressed) + "\nwhen " + std::to_string(counts.when) + "\n" +
	       kEndLine + "\n";
}

std::optional<FindingCounts> decode_counts(std::string_view text)
{
	FindingCounts out;
	for (const auto &line : split(text, '\n')) {
		if (line == kEndLine)
			return out;
		const auto words = split(line, ' ');
		const auto n = parse_count(words.back());
		if (!n)
			return std::nullopt;
		if (words.size() == 2 && words[0] == "hidden") {
			out.hidden = *n;
		} else if (words.size() == 2 && words[0] == "suppressed") {
			out.suppressed = *n;
		} else if (words.size() == 2 && words[0] == "when") {
			out.when = static_cast<std::int64_t>(*n);
		} else if (words.size() == 4) {
			const auto severity = parse_severity(words[0]);
			const auto confidence = parse_confidence(words[1]);
			const auto kind = parse_kind(words[2]);
			if (!severity || !confidence || !kind)
				return std::nullopt;
			out.counts.push_back({*severity, *confidence, *kind, *n});
		} else {
			return std::nullopt;
		}
	}
	return std::nullopt;
}

int count_store(const std::string &store)
{
	(void)::setpriority(PRIO_PROCESS, 0, kCountNice);
	const auto fail = [](const Error &error) {
		std::fprintf(stderr, "lockscoped: %s\n", error.what.c_str());
		return static_cast<int>(error.exit);
	};
	auto model = load_stores({store}, Damage::Salvage);
	if (!model)
		return fail(model.error());
	if (auto status = annotations::load(*model); !status)
		return fail(status.error());
	std::vector<Suppression> entries;
	if (exists(kSuppressionsPath)) {
		auto loaded = load_suppressions(kSuppressionsPath);
		if (!loaded)
			return fail(loaded.error());
		entries = std::move(*loaded);
	}
	Analysis analysis = analyse(*model);
	apply_suppressions(*model, analysis, entries, today());
	const std::string text = encode_counts(count_findings(analysis, std::time(nullptr)));
	return std::fputs(text.c_str(), stdout) < 0 || std::fflush(stdout) != 0
		       ? static_cast<int>(Exit::Environment)
		       : static_cast<int>(Exit::Clean);
}

FindingCounter::~FindingCounter()
{
	if (child_ <= 0)
		return;
	(void)::kill(child_, SIGKILL);
	(void)::waitpid(child_, nullptr, 0);
}

void FindingCounter::turn(std::uint64_t records)
{
	if (child_ > 0)
		return take();
	if (Clock::now() < due_ || counted_ == records || store_bytes(store_) == 0)
		return;
	counting_ = records;
	start();
}

void FindingCounter::start()
{
	output_.clear();
	started_ = Clock::now();
	std::array<int, 2> ends;
	if (::pipe2(ends.data(), O_CLOEXEC | O_NONBLOCK) != 0)
		return end(std::strerror(errno));
	pipe_ = Fd(ends[0]);
	const Fd writing(ends[1]);
	/* The program as it was started, also after a new one was installed. */
	const char *argv[] = {"lockscoped", kCountOption, "-o", store_.c_str(), nullptr};
	posix_spawn_file_actions_t actions;
	posix_spawn_file_actions_init(&actions);
	posix_spawn_file_actions_adddup2(&actions, writing.get(), STDOUT_FILENO);
	const int error = ::posix_spawn(&child_, "/proc/self/exe", &actions, nullptr,
					const_cast<char **>(argv), environ);
	posix_spawn_file_actions_destroy(&actions);
	if (error) {
		child_ = -1;
		end(std::strerror(error));
	}
}

void FindingCounter::take()
{
	std::array<char, 4096> buffer;
	for (;;) {
		const ssize_t n = ::read(pipe_.get(), buffer.data(), buffer.size());
		if (n > 0 && output_.size() < kMostOutput) {
			output_.append(buffer.data(), static_cast<std::size_t>(n));
			continue;
		}
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0 && errno == EAGAIN && Clock::now() - started_ < kMostTime)
			return;
		break;
	}
	/* It is at its end, says too much, or takes too long. */
	(void)::kill(child_, SIGKILL);
	(void)::waitpid(child_, nullptr, 0);
	child_ = -1;
	auto counts = decode_counts(output_);
	if (!counts)
		return end("it said why");
	latest_ = std::move(*counts);
	end({});
}

/* A failure is reported once: recording is what matters. */
void FindingCounter::end(const std::string &problem)
{
	pipe_.reset();
	const auto now = Clock::now();
	due_ = now + std::max<Clock::duration>(kLeastPause, kPauseFactor * (now - started_));
	if (problem.empty())
		counted_ = counting_;
	else if (!failed_)
		std::fprintf(stderr, "lockscoped: findings are not counted: %s\n", problem.c_str());
	failed_ = !problem.empty();
}

} // namespace lockscope
