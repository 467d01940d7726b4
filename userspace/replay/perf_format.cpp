// SPDX-License-Identifier: GPL-2.0
// Lines of `perf script` for tracepoints of locks:
//
//   comm pid[/tid] [cpu] seconds.micros: lock:lock_acquire: 0xaddress [try ][read ]name
//	    ffffffff81234567 function+0x12 (module)		<- with call chains, innermost first
//
// lock_acquire and lock_release come from kernels with lockdep, of any lock. lock_acquired,
// lock_contended and contention_* do not say what is held and are passed over, as are other
// tracepoints.
#include "replay/formats.h"

#include <algorithm>
#include <charconv>
#include <optional>

namespace lockscope::replay {

namespace {

constexpr std::uint64_t kMicro = 1000, kSecond = 1000000000; // nanoseconds

template <typename T> bool number(std::string_view text, T &value, int base = 10)
{
	const auto [end, error] =
		std::from_chars(text.data(), text.data() + text.size(), value, base);
	return !text.empty() && error == std::errc{} && end == text.data() + text.size();
}

struct Header {
	std::string_view comm, task, event, args;
	std::uint32_t pid = 0, tgid = 0;
	std::uint16_t cpu = 0;
	std::uint64_t time_ns = 0;
};

bool parse_time(std::string_view text, std::uint64_t &ns)
{
	const auto point = text.find('.');
	std::uint64_t seconds = 0, micros = 0;
	if (point == text.npos || text.size() - point != 7 ||
	    !number(text.substr(0, point), seconds) || !number(text.substr(point + 1), micros) ||
	    seconds > ~std::uint64_t{0} / kSecond - 1)
		return false;
	ns = seconds * kSecond + micros * kMicro;
	return true;
}

/* What is around "[cpu]": a name may have blanks, so the number of the CPU is looked for. */
std::optional<Header> header_of(std::string_view text)
{
	for (auto open = text.find(" ["); open != text.npos; open = text.find(" [", open + 1)) {
		Header h;
		auto rest = text.substr(open + 2);
		const auto cpu = cut(rest, ']');
		rest = trim(rest);
		if (!number(cpu, h.cpu) || !parse_time(cut(rest, ':'), h.time_ns))
			continue;
		const auto before = trim(text.substr(0, open));
		const auto blank = before.find_last_of(" \t");
		if (blank == before.npos)
			continue;
		h.comm = trim(before.substr(0, blank));
		h.task = before.substr(blank + 1);
		auto tid = h.task;
		const auto first = cut(tid, '/');
		if (!number(first, h.tgid) || !number(tid.empty() ? first : tid, h.pid))
			continue;
		/* "lock:lock_acquire: "; a count may stand before it. */
		rest = trim(rest);
		const auto end = rest.find(": ");
		h.event = rest.substr(0, end);
		h.event.remove_prefix(h.event.find_last_of(" \t") + 1);
		if (h.event.ends_with(':'))
			h.event.remove_suffix(1);
		h.args = end == rest.npos ? std::string_view{} : trim(rest.substr(end + 2));
		if (h.event.empty())
			continue;
		return h;
	}
	return std::nullopt;
}

/* "ffffffff81234567 function+0x12 (module)" */
std::optional<Location> frame_of(std::string_view text)
{
	auto rest = trim(text);
	std::uint64_t address = 0;
	if (!number(cut(rest, ' '), address, 16))
		return std::nullopt;
	Location out;
	const auto open = rest.rfind(" (");
	auto symbol = trim(rest.substr(0, open));
	auto module = open == rest.npos ? std::string_view{} : rest.substr(open + 2);
	module = module.substr(0, module.find(')'));
	if (module.starts_with('[') && module.ends_with(']'))
		module = module.substr(1, module.size() - 2);
	module.remove_prefix(module.find_last_of('/') + 1);
	out.module = module.starts_with("kernel.kallsyms") ? "vmlinux" : module;
	const auto plus = symbol.rfind("+0x");
	if (plus == symbol.npos || !number(symbol.substr(plus + 3), out.offset, 16))
		out.offset = 0;
	else
		symbol = symbol.substr(0, plus);
	out.function = symbol == "[unknown]" ? std::string_view{} : symbol;
	return out;
}

/* The lock's own functions, and those of tracing. */
bool is_locks_own(const std::string &function)
{
	static constexpr std::string_view kLockFunctions[] = {
		"lock_acquire", "lock_release", "perf_trace", "trace_",	     "__traceiter", "_raw_",
		"__raw_",	"mutex_",	"__mutex_",   "ww_mutex",    "down_",	    "up_",
		"rwsem_",	"rt_mutex",	"rt_spin",    "__bpf_trace", "do_raw_"};
	return std::any_of(std::begin(kLockFunctions), std::end(kLockFunctions),
			   [&](std::string_view own) { return function.starts_with(own); });
}

class PerfFormat final : public Format {
public:
	std::string line(std::string_view text, const Play &play) override
	{
		if (const auto header = header_of(text)) {
			end(play);
			begin(*header);
			in_event_ = true;
			return {};
		}
		auto frame = in_event_ ? frame_of(text) : std::nullopt;
		if (!frame)
			return "neither an event nor a frame of a call chain";
		if (pending_ && stack_.size() < kFrames && !frame->function.empty())
			stack_.push_back(std::move(*frame));
		return {};
	}

	void end(const Play &play) override
	{
		if (!pending_)
			return;
		pending_ = false;
		const auto first =
			std::find_if_not(stack_.begin(), stack_.end(), [](const Location &frame) {
				return is_locks_own(frame.function);
			});
		event_.thread = thread_;
		event_.comm = comm_;
		event_.object = object_;
		event_.name = name_;
		event_.stack = std::span<const Location>(
			first == stack_.end() ? stack_.begin() : first, stack_.end());
		play(event_);
	}

	const char *shape() const override
	{
		return "a line is as perf script prints it: comm pid [cpu] time: lock:lock_acquire: "
		       "0xaddress name";
	}

private:
	/* More than a record has room for, before the lock's own are left out. */
	static constexpr std::size_t kFrames = 64;

	void begin(const Header &h)
	{
		stack_.clear();
		const bool acquires = h.event == "lock:lock_acquire";
		if (!acquires && h.event != "lock:lock_release")
			return;
		event_ = {};
		event_.op = acquires ? Op::Acquire : Op::Release;
		auto args = h.args;
		const auto address = cut(args, ' ');
		if (acquires && args.starts_with("try ")) {
			event_.tries = true;
			args.remove_prefix(4);
		}
		if (acquires && args.starts_with("read ")) {
			event_.read = LS_SHARED;
			args.remove_prefix(5);
		}
		/* Nothing waits for a read side of RCU. */
		if (args.starts_with("rcu_") || args.starts_with("srcu"))
			event_.read = LS_RECURSIVE;
		event_.nests = event_.read != LS_EXCLUSIVE;
		event_.pid = h.pid;
		event_.tgid = h.tgid;
		event_.cpu = h.cpu;
		event_.time_ns = h.time_ns;
		thread_ = std::string(h.task);
		/* Each CPU has an idle task. */
		if (!h.pid)
			thread_ += " " + std::to_string(h.cpu);
		comm_ = h.comm;
		name_ = args.empty() ? address : args;
		object_ = std::string(address) + " " + name_;
		pending_ = true;
	}

	Event event_;
	std::string thread_, comm_, object_, name_;
	std::vector<Location> stack_;
	bool pending_ = false, in_event_ = false;
};

} // namespace

std::unique_ptr<Format> perf_format()
{
	return std::make_unique<PerfFormat>();
}

} // namespace lockscope::replay
