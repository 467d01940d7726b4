// SPDX-License-Identifier: GPL-2.0
#include "vm/qemu.h"

#include <cerrno>
#include <csignal>
#include <cstring>
#include <utility>

#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

namespace lockscope::vm {
namespace {

// In QEMU's option lists a comma ends a value unless it is doubled.
std::string escape_commas(const std::string &text)
{
	std::string out;
	for (char c : text)
		out += c == ',' ? std::string(",,") : std::string(1, c);
	return out;
}

std::string share(const std::string &path, const std::string &tag, bool readonly)
{
	return "local,path=" + escape_commas(path) + ",mount_tag=" + tag +
	       ",security_model=none,multidevs=remap" + (readonly ? ",readonly=on" : "");
}

std::string kernel_parameters(const Options &options)
{
	// slab_nomerge: caches keep their names, which reports show. An oops, a soft lockup or
	// a panic ends the run at once (QEMU has
	// -no-reboot); a slow host must not look like a soft lockup or a stall,
	// hence the long thresholds, in seconds. rodata and mitigations stay as the
	// distribution has them.
	std::string line =
		"console=ttyS0 quiet panic=-1 oops=panic softlockup_panic=1 watchdog_thresh=60 "
		"rcupdate.rcu_cpu_stall_timeout=60 slab_nomerge no_timer_check";
	if (!options.append.empty())
		line += " " + options.append;
	return line;
}

} // namespace

std::vector<std::string> qemu_command(const Options &options, const Kernel &kernel,
				      const Machine &machine)
{
	std::vector<std::string> c = {
		"qemu-system-x86_64", "-no-user-config", "-nodefaults", "-display", "none",
		"-no-reboot"};
	auto add = [&c](std::initializer_list<std::string> words) { c.insert(c.end(), words); };
	// One thread for all guest CPUs: with more, kernels that patch their own text under
	// load hang in QEMU. la57 only makes TCG slower. With erms the kernel clears and copies
	// pages by the byte, each of which TCG does for itself; where instructions are counted
	// they are those of a real processor.
	if (machine.kvm)
		add({"-accel", "kvm", "-cpu", "host"});
	else
		add({"-accel", "tcg,thread=single", "-cpu",
		     options.icount ? "max,la57=off" : "max,la57=off,erms=off"});
	if (options.icount)
		add({"-icount", "shift=0,sleep=off", "-smp", "1"});
	else
		add({"-smp", std::to_string(options.cpus)});
	const std::string memory = std::to_string(options.memory_mb) + "M";
	add({"-m", memory});
	if (machine.memory >= 0)
		add({"-object",
		     "memory-backend-file,id=memory,share=on,size=" + memory +
			     ",mem-path=/proc/self/fd/" + std::to_string(machine.memory),
		     "-machine", "memory-backend=memory"});
	add({"-kernel", machine.unpacked.empty() ? kernel.image : machine.unpacked, "-initrd",
	     machine.initramfs, "-append", kernel_parameters(options)});
	add({"-chardev", "file,id=console,path=" + escape_commas(machine.console_log), "-serial",
	     "chardev:console"});
	if (options.shell)
		add({"-chardev", "stdio,id=shell,signal=off", "-serial", "chardev:shell"});
	add({"-virtfs", share("/", "root", true)});
	add({"-virtfs", share(machine.control_dir, "ctl", false)});
	for (const std::string &device : options.devices)
		add({"-device", device});
	if (!options.out_dir.empty())
		add({"-virtfs", share(options.out_dir, "out", false)});
	return c;
}

Result<Process> Process::start(const std::vector<std::string> &command, const std::string &log,
			       bool terminal, int inherited)
{
	std::vector<char *> argv;
	for (const std::string &word : command)
		argv.push_back(const_cast<char *>(word.c_str()));
	argv.push_back(nullptr);
	pid_t parent = getpid();
	pid_t pid = fork();
	if (pid < 0)
		return environment_error(std::string("cannot start QEMU: ") + std::strerror(errno),
					 "free some memory or processes");
	if (pid == 0) {
		// Ctrl-C is handled by this process, and QEMU must not outlive it. A process
		// that uses the terminal has to stay in its foreground group; Ctrl-C is a
		// character then.
		if (!terminal)
			setpgid(0, 0);
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		if (getppid() != parent)
			_exit(127);
		int null = open("/dev/null", O_RDONLY);
		int out = open(log.c_str(), O_WRONLY | O_CREAT | O_APPEND, 0644);
		if (!terminal) {
			dup2(null, 0);
			dup2(out, 1);
		}
		dup2(out, 2);
		if (inherited >= 0)
			fcntl(inherited, F_SETFD, 0);
		execvp(argv[0], argv.data());
		_exit(127);
	}
	return Process(pid);
}

Process::Process(Process &&other) noexcept
	: pid_(std::exchange(other.pid_, -1)), ended_(other.ended_)
{
}

Process::~Process()
{
	if (pid_ > 0)
		kill();
}

std::optional<int> Process::poll()
{
	int status = 0;
	if (!ended_ && waitpid(pid_, &status, WNOHANG) == pid_)
		ended_ = status;
	return ended_;
}

void Process::kill()
{
	if (poll())
		return;
	::kill(pid_, SIGKILL);
	int status = 0;
	while (waitpid(pid_, &status, 0) < 0 && errno == EINTR)
		;
	ended_ = status;
}

} // namespace lockscope::vm
