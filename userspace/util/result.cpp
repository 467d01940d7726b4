// SPDX-License-Identifier: GPL-2.0
#include "util/result.h"

#include <cerrno>
#include <cstring>

namespace lockscope {

namespace {

/* Default hints, for callers that have none. */
const char *usual_hint(int code)
{
	switch (code) {
	case EPERM:
	case EACCES:
		return "run as root, or look who may use it";
	case ENOENT:
	case ENOTDIR:
	case EISDIR:
		return "check the path";
	case ENODEV:
	case ENXIO:
		return "the module has gone: load it and start again";
	case ENOMEM:
	case EAGAIN:
		return "free some memory or processes and start again";
	case EMFILE:
	case ENFILE:
		return "close some files, or allow more of them (ulimit -n)";
	case ENOSPC:
	case EDQUOT:
		return "free some space";
	default:
		return "see dmesg for the kernel's reason, and lockscope doctor";
	}
}

} // namespace

Error os_error(int code, std::string what, std::string hint)
{
	if (hint.empty())
		hint = usual_hint(code);
	if (code != 0)
		what += std::string(": ") + std::strerror(code);
	return Error{code, std::move(what), std::move(hint), Exit::Environment};
}

Error usage_error(std::string what, std::string hint)
{
	return Error{0, std::move(what), std::move(hint), Exit::Usage};
}

} // namespace lockscope
