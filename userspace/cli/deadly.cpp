// SPDX-License-Identifier: GPL-2.0
#include "cli/deadly.h"

#include "report/waits.h"
#include "util/file.h"

#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <thread>

namespace lockscope::cli {

namespace {

using Clock = std::chrono::steady_clock;

constexpr const char *kHungTime = "/proc/sys/kernel/hung_task_timeout_secs";
constexpr auto kHungSeconds = "5";
/* The kernel looks once in that time, so a task is reported after up to twice as long. */
constexpr auto kKernelWaits = std::chrono::seconds(25);
constexpr auto kTasksWait = std::chrono::seconds(10);
constexpr auto kGlance = std::chrono::milliseconds(100);
/* Each task is reported by itself. */
constexpr auto kFurther = std::chrono::seconds(2);

bool in_guest()
{
	if (std::getenv("LOCKSCOPE_VM"))
		return true;
	const auto cpus = read_file("/proc/cpuinfo");
	return cpus && cpus->find(" hypervisor") != std::string::npos;
}

/* "6,1234,5678901,-;text" is one record of /dev/kmsg; lines that belong to it begin with a space. */
std::string console_line(const std::string &record)
{
	const auto text = record.find(';');
	const auto stamp = record.find(',', record.find(',') + 1);
	if (text == std::string::npos || stamp == std::string::npos || stamp > text)
		return "";
	const auto us = std::strtoull(record.c_str() + stamp + 1, nullptr, 10);
	std::array<char, 32> time{};
	std::snprintf(time.data(), time.size(), "[%5llu.%06llu] ", us / 1000000, us % 1000000);
	return time.data() + record.substr(text + 1, record.find('\n', text) - text - 1) + "\n";
}

} // namespace

Result<DeadlyProof> DeadlyProof::begin(const std::string &folder)
{
	if (!in_guest())
		return Error{EPERM,
			     "--deadly is for a guest: this machine would have to be rebooted",
			     "run it in one: lockscope vm run -- lockscope confirm ... --deadly",
			     Exit::Usage};
	LS_TRY_STATUS(make_folder(folder));
	Fd log(::open("/dev/kmsg", O_RDONLY | O_NONBLOCK | O_CLOEXEC));
	if (!log.valid())
		return Error{errno, "open /dev/kmsg",
			     "is this a container? It needs the kernel's log", Exit::Environment};
	(void)::lseek(log.get(), 0, SEEK_END);
	/* Not every kernel looks for such tasks. */
	if (exists(kHungTime) && !(std::ofstream(kHungTime) << kHungSeconds).flush())
		return Error{errno, std::string("write ") + kHungTime, "", Exit::Environment};
	return DeadlyProof(folder, std::move(log));
}

void DeadlyProof::read_log()
{
	std::array<char, 8192> record{};
	for (;;) {
		const auto n = ::read(log_.get(), record.data(), record.size());
		if (n > 0)
			kernel_ += console_line(
				std::string(record.data(), static_cast<std::size_t>(n)));
		else if (n == 0 || errno != EPIPE) /* EPIPE: records were overwritten */
			return;
	}
}

Status DeadlyProof::gather(Source &source)
{
	WaitReader reader(source);
	WaitSnapshot snapshot;
	auto end = Clock::now() + kTasksWait;
	do {
		std::this_thread::sleep_for(kGlance);
		auto read = reader.read();
		if (!read)
			return read.error();
		snapshot = std::move(*read);
	} while (snapshot.deadlocks.empty() && Clock::now() < end);
	LS_TRY_STATUS(add("waits.txt", text_waits(snapshot, {})));
	end = Clock::now() + kKernelWaits;
	bool seen = false;
	for (; Clock::now() < end; std::this_thread::sleep_for(kGlance)) {
		read_log();
		if (seen || kernel_.find("blocked for more than") == std::string::npos)
			continue;
		seen = true;
		end = Clock::now() + kFurther;
	}
	if (!seen)
		kernel_ += "(the kernel reported no task that hangs)\n";
	return add("kernel.txt", kernel_);
}

Status DeadlyProof::add(const std::string &name, const std::string &text) const
{
	return write_file(folder_ + "/" + name, text);
}

Status DeadlyProof::add_store(const std::string &path) const
{
	std::error_code code;
	const std::string to = folder_ + "/lockscope.db";
	if (std::filesystem::equivalent(path, to, code))
		return success();
	std::filesystem::copy_file(path, to, std::filesystem::copy_options::overwrite_existing,
				   code);
	if (code)
		return Error{code.value(), "copy " + path + " to " + to,
			     "is there room on the disk?", Exit::Environment};
	return success();
}

} // namespace lockscope::cli
