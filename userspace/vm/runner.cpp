// SPDX-License-Identifier: GPL-2.0
#include "vm/runner.h"

#include "util/guest_folder.h"
#include "util/last_words.h"
#include "vm/depends.h"
#include "vm/initramfs.h"
#include "vm/kernel.h"
#include "vm/kvm.h"
#include "vm/qemu.h"
#include "vm/unpacked.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <memory>
#include <optional>
#include <thread>

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <termios.h>
#include <unistd.h>

namespace fs = std::filesystem;

namespace lockscope::vm {
namespace {

using Clock = std::chrono::steady_clock;

volatile std::sig_atomic_t g_interrupted;

// Restores the previous handlers.
class InterruptWatch {
public:
	InterruptWatch()
	{
		struct sigaction action = {};
		action.sa_handler = [](int) { g_interrupted = 1; };
		g_interrupted = 0;
		sigaction(SIGINT, &action, &old_int_);
		sigaction(SIGTERM, &action, &old_term_);
	}
	~InterruptWatch()
	{
		sigaction(SIGINT, &old_int_, nullptr);
		sigaction(SIGTERM, &old_term_, nullptr);
	}

private:
	struct sigaction old_int_ = {}, old_term_ = {};
};

// QEMU sets the terminal to raw mode, and does not restore it when it is killed.
class TerminalWatch {
public:
	TerminalWatch() : there_(tcgetattr(STDIN_FILENO, &old_) == 0) {}
	~TerminalWatch()
	{
		if (there_)
			tcsetattr(STDIN_FILENO, TCSADRAIN, &old_);
	}

private:
	struct termios old_ = {};
	bool there_;
};

// Initramfs, control files and logs of one run; removed at the end unless kept.
class RunDirectory {
public:
	static Result<std::unique_ptr<RunDirectory>> create()
	{
		std::error_code ec;
		fs::path base = fs::temp_directory_path(ec);
		std::string name = (ec ? fs::path("/tmp") : base) / "lockscope-vm-XXXXXX";
		if (!mkdtemp(name.data()))
			return environment_error("cannot make " + name + ": " +
							 std::strerror(errno),
						 "set TMPDIR to a writable directory");
		fs::create_directory(fs::path(name) / "ctl", ec);
		return std::unique_ptr<RunDirectory>(new RunDirectory(name));
	}
	~RunDirectory()
	{
		std::error_code ec;
		if (!keep)
			fs::remove_all(path_, ec);
	}
	std::string file(const std::string &name) const { return path_ / name; }
	bool keep = false;

private:
	explicit RunDirectory(fs::path path) : path_(std::move(path)) {}
	fs::path path_;
};

// Forwards what the guest has appended to a file since the last call.
class Tail {
public:
	Tail(std::string path, int fd) : path_(std::move(path)), fd_(fd) {}

	void pass_on()
	{
		int in = open(path_.c_str(), O_RDONLY | O_CLOEXEC);
		if (in < 0)
			return;
		std::array<char, 65536> buffer;
		for (ssize_t n; (n = pread(in, buffer.data(), buffer.size(), offset_)) > 0;
		     offset_ += n)
			for (ssize_t done = 0; done < n;) {
				ssize_t written = write(fd_, buffer.data() + done,
							static_cast<size_t>(n - done));
				if (written < 0 && errno != EINTR)
					break;
				done += std::max<ssize_t>(written, 0);
			}
		close(in);
	}

private:
	std::string path_;
	int fd_;
	off_t offset_ = 0;
};

// What the guest is at, on a terminal: booting and leaving take a while and are silent.
class Stage {
public:
	explicit Stage(bool on) : on_(on) {}

	void show(const std::string &text)
	{
		if (on_ && text != shown_)
			std::fprintf(stderr, "lockscope: vm: %s\n", text.c_str());
		shown_ = text;
	}

private:
	bool on_;
	std::string shown_;
};

std::string read_text(const std::string &path)
{
	std::ifstream in(path, std::ios::binary);
	return {std::istreambuf_iterator<char>(in), {}};
}

std::string last_line(std::string text)
{
	while (!text.empty() && (text.back() == '\n' || text.back() == '\r'))
		text.pop_back();
	return text.substr(text.find_last_of("\r\n") + 1);
}

// One boot. The fallback from KVM to TCG is done by the caller.
class Run {
public:
	Run(const Options &options, const Kernel &kernel, RunDirectory &dir, bool kvm,
	    Remains &remains)
		: options_(options), kernel_(kernel), dir_(dir), remains_(remains),
		  stdout_(dir.file("ctl/stdout"), STDOUT_FILENO),
		  stderr_(dir.file("ctl/stderr"), STDERR_FILENO)
	{
		machine_ = {dir.file("initramfs"),
			    dir.file("ctl"),
			    dir.file("console.log"),
			    dir.file("qemu.log"),
			    kvm,
			    options.kaslr ? fs::path() : unpacked_image(kernel)};
		if (!options.out_dir.empty())
			machine_.console_log = fs::path(options.out_dir) / "console.log";
	}

	Result<int> go();
	bool guest_came_up() const { return fs::exists(dir_.file("ctl/state")); }

private:
	Result<int> finished(const std::string &status);
	// @ended: QEMU's wait status, nullopt if it was killed here after the timeout.
	Error lost(std::optional<int> ended);
	Error gone(std::optional<int> ended);

	const Options &options_;
	const Kernel &kernel_;
	RunDirectory &dir_;
	Remains &remains_;
	Fd memory_;
	Machine machine_;
	Tail stdout_, stderr_;
};

Result<int> Run::go()
{
	std::error_code ec;
	fs::remove(machine_.console_log, ec);
	// In memory like QEMU's own would be, and freed when both processes are gone.
	memory_ = Fd(memfd_create("lockscope-guest", MFD_CLOEXEC));
	machine_.memory = memory_.get();
	std::vector<std::string> command = qemu_command(options_, kernel_, machine_);
	if (options_.verbose) {
		std::string line;
		for (const std::string &word : command)
			line += shell_quote(word) + " ";
		std::fprintf(stderr, "lockscope: vm: %s\n", line.c_str());
	}
	auto qemu = Process::start(command, machine_.qemu_log, options_.shell, machine_.memory);
	if (!qemu)
		return qemu.error();

	Stage stage(isatty(STDERR_FILENO) && !options_.shell);
	stage.show("booting " + kernel_.image.string());
	const auto start = Clock::now();
	// KVM that cannot run this kernel is often just silent.
	const auto silence = start + std::chrono::seconds(20);
	const auto deadline = start + std::chrono::seconds(options_.timeout_s);
	for (;;) {
		const std::optional<int> ended = qemu->poll();
		const std::string state = read_text(dir_.file("ctl/state"));
		if (state.starts_with("running"))
			stage.show("running " + options_.command.front());
		stdout_.pass_on();
		stderr_.pass_on();
		if (state.starts_with("leaving"))
			stage.show("the command has ended, its results are brought back");
		if (std::string status = read_text(dir_.file("ctl/status"));
		    status.ends_with('\n')) {
			// All output was received; the guest can be killed.
			qemu->kill();
			stdout_.pass_on();
			stderr_.pass_on();
			return finished(status);
		}
		if (g_interrupted)
			return Error{0, "interrupted, the guest is gone", "start it again",
				     Exit::Interrupted};
		if (ended)
			return gone(ended);
		if (Clock::now() > deadline ||
		    (machine_.kvm && Clock::now() > silence && !guest_came_up())) {
			qemu->kill();
			return gone(std::nullopt);
		}
		std::this_thread::sleep_for(std::chrono::milliseconds(50));
	}
}

Result<int> Run::finished(const std::string &status)
{
	int code = 0;
	if (std::sscanf(status.c_str(), "exit %d", &code) == 1)
		return code;
	dir_.keep = options_.out_dir.empty();
	const std::string why =
		status.substr(status.find(' ') + 1, status.size() - status.find(' ') - 2);
	std::vector<fs::path> modules;
	for (const std::string &spec : options_.modules)
		modules.emplace_back(module_file(spec));
	std::string hint = refusal_hint(kernel_, why, modules);
	if (hint.empty())
		hint = "the kernel's own words are in " + machine_.console_log;
	return environment_error("guest not ready: " + why, hint);
}

// Keep what is left of the guest.
Error Run::gone(std::optional<int> ended)
{
	Error error = lost(ended);
	if (guest_came_up())
		remains_ = {std::move(memory_), fs::path(machine_.console_log).parent_path(),
			    error.what};
	return error;
}

Error Run::lost(std::optional<int> ended)
{
	dir_.keep = options_.out_dir.empty();
	const std::string console = read_text(machine_.console_log);
	std::string hint = "the kernel's last words are in " + machine_.console_log;
	std::error_code ec;
	if (const fs::path store = fs::path(options_.out_dir) / "lockscope.db";
	    !options_.out_dir.empty() && fs::exists(store, ec))
		hint += ", what was recorded until then in " + store.string();
	if (std::string cause = cause_of_death(console); !cause.empty())
		return Error{0, "guest died: " + cause, hint, kGuestLost};
	if (!ended) {
		const char *what = guest_came_up() ? "command not finished" : "guest not booted";
		return Error{0,
			     what + (" after " + std::to_string(options_.timeout_s) +
				     " s, guest stopped"),
			     "give it longer with --timeout, or see " + machine_.console_log,
			     kTimedOut};
	}
	if (WIFSIGNALED(*ended)) {
		const int signal = WTERMSIG(*ended);
		return Error{0,
			     "QEMU was killed by signal " + std::to_string(signal) + " (" +
				     strsignal(signal) + "), the guest is gone",
			     hint, kGuestLost};
	}
	std::string qemu_says = last_line(read_text(machine_.qemu_log));
	if (console.empty()) {
		if (qemu_says.empty())
			qemu_says = "qemu-system-x86_64 cannot be run";
		return environment_error("QEMU did not start the guest: " + qemu_says,
					 "apt-get install qemu-system-x86");
	}
	std::string what = "guest went away without an exit status";
	if (!qemu_says.empty())
		what += ": " + qemu_says;
	return Error{0, what, hint, kGuestLost};
}

Result<int> boot(const Options &options, const Kernel &kernel, RunDirectory &dir, Remains &remains)
{
	const bool kvm = options.accelerator == Accelerator::Kvm;
	bool tried = false;
	// Try whether KVM works: the device may exist without being able to run a stock
	// kernel. The user's files are not touched before the guest is up, so a second try is
	// safe.
	if (options.accelerator == Accelerator::Auto && !options.icount &&
	    access("/dev/kvm", R_OK | W_OK) == 0 && !kvm_fails(kernel)) {
		Run run(options, kernel, dir, true, remains);
		auto result = run.go();
		if (result || run.guest_came_up() || g_interrupted)
			return result;
		if (options.verbose)
			std::fprintf(stderr,
				     "lockscope: vm: KVM does not work here (%s), using TCG\n",
				     result.error().what.c_str());
		std::error_code ec;
		fs::remove(dir.file("qemu.log"), ec);
		dir.keep = false;
		tried = true;
	}
	Run run(options, kernel, dir, kvm, remains);
	auto result = run.go();
	// A kernel that does not come up at all says nothing about KVM.
	if (tried && run.guest_came_up())
		remember_kvm_fails(kernel);
	return result;
}

} // namespace

Result<int> run(const Options &options, Remains &remains)
{
	if (options.timeout_s < 1)
		return usage_error("--timeout must be at least 1 s", "the default is 300");
	auto kernel = find_kernel(options.kernel);
	if (!kernel)
		return kernel.error();
	Options made_absolute = options;
	if (options.shell && options.command.empty())
		made_absolute.command = {"bash", "-i"};
	std::error_code ec;
	for (const Copy &copy : options.copies)
		if (!fs::exists(copy.source, ec))
			return usage_error("--copy: " + copy.source + " does not exist",
					   "--copy takes HOST-PATH:GUEST-PATH");
	if (!options.out_dir.empty()) {
		fs::create_directories(options.out_dir, ec);
		if (!fs::is_directory(options.out_dir))
			return environment_error("cannot make directory " + options.out_dir,
						 "give -o a directory that can be written");
		made_absolute.out_dir = fs::absolute(options.out_dir).lexically_normal();
	}
	auto dir = RunDirectory::create();
	if (!dir)
		return dir.error();
	auto initramfs = build_initramfs(made_absolute, *kernel, fs::current_path());
	if (!initramfs)
		return initramfs.error();
	std::ofstream file((*dir)->file("initramfs"), std::ios::binary);
	file << *initramfs;
	file.close();
	if (!file)
		return environment_error("cannot write " + (*dir)->file("initramfs"),
					 "is the disk full? TMPDIR names another place");
	std::optional<GuestFolder> written;
	if (!options.out_dir.empty())
		written.emplace(made_absolute.out_dir);
	InterruptWatch watch;
	TerminalWatch terminal;
	return boot(made_absolute, *kernel, **dir, remains);
}

} // namespace lockscope::vm
