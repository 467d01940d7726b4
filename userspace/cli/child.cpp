// SPDX-License-Identifier: GPL-2.0
#include "cli/child.h"

#include "util/fd.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <thread>

namespace lockscope::cli {

Result<Child> Child::start(const std::vector<std::string> &command, Group group)
{
	/* The pipe closes on exec and carries errno when exec fails. */
	int ends[2];
	if (::pipe2(ends, O_CLOEXEC) != 0)
		return os_error(errno, "cannot start " + command.front());
	Fd read_end(ends[0]), write_end(ends[1]);

	std::vector<char *> argv;
	for (const auto &word : command)
		argv.push_back(const_cast<char *>(word.c_str()));
	argv.push_back(nullptr);

	const pid_t pid = ::fork();
	if (pid < 0)
		return os_error(errno, "cannot start " + command.front());
	if (pid == 0) {
		/* Ignored signals would be inherited. */
		::signal(SIGXFSZ, SIG_DFL);
		if (group == Group::Own)
			::setpgid(0, 0);
		::execvp(argv[0], argv.data());
		const int error = errno;
		(void)!::write(write_end.get(), &error, sizeof(error));
		::_exit(127);
	}
	write_end.reset();
	Child child(pid, group);
	int error = 0;
	if (::read(read_end.get(), &error, sizeof(error)) == static_cast<ssize_t>(sizeof(error))) {
		while (!child.poll())
			std::this_thread::sleep_for(std::chrono::milliseconds(1));
		Error failed = os_error(error, "cannot run " + command.front(),
					"check the name and $PATH");
		failed.exit = Exit{127};
		return failed;
	}
	return child;
}

bool Child::poll()
{
	if (pid_ < 0)
		return true;
	int status = 0;
	const pid_t pid = ::waitpid(pid_, &status, WNOHANG);
	if (pid == 0 || (pid < 0 && errno == EINTR))
		return false;
	status_ = pid < 0 ? 0 : WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
	pid_ = -1;
	return true;
}

void Child::stop()
{
	using namespace std::chrono_literals;
	if (poll())
		return;
	const bool own = group_ == Group::Own;
	const pid_t target = own ? -pid_ : pid_;
	::kill(target, SIGTERM);
	for (int i = 0; i < 50; i++) {
		/* A command that has ended may have left members of its group. */
		if (poll() && (!own || ::kill(target, 0) != 0))
			return;
		std::this_thread::sleep_for(100ms);
	}
	::kill(target, SIGKILL);
	for (int i = 0; i < 1000; i++) {
		if (poll())
			return;
		std::this_thread::sleep_for(10ms);
	}
	/* It sleeps in the kernel, perhaps in a deadlock: what was recorded matters more. */
	std::fprintf(stderr, "lockscope: process %d cannot be killed: it is left behind\n",
		     static_cast<int>(pid_));
	pid_ = -1;
}

Child::~Child()
{
	stop();
}

} // namespace lockscope::cli
