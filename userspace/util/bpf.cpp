// SPDX-License-Identifier: GPL-2.0
#include "util/bpf.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>

#include <cerrno>
#include <cstdarg>
#include <cstdio>

namespace lockscope {

namespace {

std::string g_last;
libbpf_print_fn_t g_before;

int keep(enum libbpf_print_level level, const char *format, va_list args)
{
	if (level > LIBBPF_WARN)
		return 0;
	char line[512];
	std::vsnprintf(line, sizeof(line), format, args);
	g_last = line;
	g_last.resize(g_last.find_last_not_of('\n') + 1);
	if (auto newline = g_last.rfind('\n'); newline != g_last.npos)
		g_last.erase(0, newline + 1);
	return 0;
}

const char *hint(int code)
{
	switch (code) {
	case EPERM:
	case EACCES:
		return "run as root; a locked down kernel allows no BPF: see lockscope doctor";
	case ENOENT:
	case ESRCH:
		return "module and program are of different versions: build and load both from "
		       "one tree";
	case ENOSYS:
	case EOPNOTSUPP:
		return "this kernel lacks what the programs need: see lockscope doctor";
	default:
		return "";
	}
}

} // namespace

std::uint64_t missed_runs(const bpf_program *program)
{
	bpf_prog_info info{};
	__u32 size = sizeof(info);
	const int fd = bpf_program__fd(program);
	return fd >= 0 && bpf_obj_get_info_by_fd(fd, &info, &size) == 0 ? info.recursion_misses : 0;
}

BpfMessages::BpfMessages()
{
	g_last.clear();
	g_before = libbpf_set_print(keep);
}

BpfMessages::~BpfMessages()
{
	libbpf_set_print(g_before);
}

Error BpfMessages::error(int code, const std::string &action) const
{
	Error error = os_error(code, "cannot " + action, hint(code));
	if (!g_last.empty())
		error.what += " (" + g_last + ")";
	return error;
}

} // namespace lockscope
