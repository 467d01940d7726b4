// SPDX-License-Identifier: GPL-2.0
#include "store/crash_note.h"

#include "util/fd.h"

#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <climits>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <string_view>

namespace lockscope {

namespace {

constexpr std::array kSignals = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT};

/* All that the handler needs is made before: it may neither allocate nor take a lock. */
struct Armed {
	char path[PATH_MAX];
	char note[32]; /* "RUN " */
	char words[PATH_MAX + 256];
	struct sigaction before[kSignals.size()];
};
Armed g_armed;
bool g_handled;
alignas(16) char g_stack[65536];

void say(int fd, std::string_view text)
{
	/* Nothing is left to do about a failure. */
	if (::write(fd, text.data(), text.size()) < 0)
		return;
}

/* Async-signal-safe [signal-safety(7)]. */
void on_crash(int number)
{
	const char digits[] = {static_cast<char>('0' + number / 10),
			       static_cast<char>('0' + number % 10), '\n'};
	const std::string_view signal(digits + (number < 10), number < 10 ? 2 : 3);
	const int fd = ::open(g_armed.path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	if (fd >= 0) {
		say(fd, g_armed.note);
		say(fd, signal);
		::close(fd);
	}
	say(STDERR_FILENO, "lockscope: the recorder crashed, signal ");
	say(STDERR_FILENO, signal);
	say(STDERR_FILENO, g_armed.words);
	/* As it would have ended without a handler; blocked until this one returns. */
	for (std::size_t i = 0; i < kSignals.size(); i++)
		if (kSignals[i] == number)
			::sigaction(number, &g_armed.before[i], nullptr);
	::raise(number);
}

std::string path_of(const std::string &store)
{
	return store + "-crash";
}

} // namespace

std::optional<CrashNote> crash_note(const std::string &store)
{
	const Fd file(::open(path_of(store).c_str(), O_RDONLY | O_CLOEXEC));
	char text[64] = "";
	if (!file.valid() || ::read(file.get(), text, sizeof(text) - 1) <= 0)
		return std::nullopt;
	CrashNote note;
	long long run = 0;
	if (std::sscanf(text, "%lld %d", &run, &note.signal) != 2 || note.signal < 1 ||
	    note.signal > SIGRTMAX)
		return std::nullopt;
	note.run = run;
	return note;
}

std::string crash_words(const CrashNote &note)
{
	return "signal " + std::to_string(note.signal) + ", " + ::strsignal(note.signal);
}

void remove_crash_note(const std::string &store)
{
	(void)::unlink(path_of(store).c_str());
}

void leave_crash_note(const std::string &store, std::int64_t run)
{
	std::snprintf(g_armed.path, sizeof(g_armed.path), "%s", path_of(store).c_str());
	std::snprintf(g_armed.note, sizeof(g_armed.note), "%lld ", static_cast<long long>(run));
	std::snprintf(g_armed.words, sizeof(g_armed.words),
		      "HINT: this is a fault of LockScope: please report it; what was recorded "
		      "until then is in %s\n",
		      store.c_str());
	if (g_handled)
		return;
	g_handled = true;
	/* A stack of its own: the other one may be what is used up. */
	stack_t stack{};
	stack.ss_sp = g_stack;
	stack.ss_size = sizeof(g_stack);
	(void)::sigaltstack(&stack, nullptr);
	struct sigaction action {};
	action.sa_handler = on_crash;
	action.sa_flags = SA_ONSTACK;
	for (std::size_t i = 0; i < kSignals.size(); i++)
		(void)::sigaction(kSignals[i], &action, &g_armed.before[i]);
}

} // namespace lockscope
