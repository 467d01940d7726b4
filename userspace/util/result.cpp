// SPDX-License-Identifier: GPL-2.0
#include "util/result.h"

#include <cstring>

namespace lockscope {

Error os_error(int code, std::string what, std::string hint)
{
	if (code != 0)
		what += std::string(": ") + std::strerror(code);
	return Error{code, std::move(what), std::move(hint), Exit::Environment};
}

Error usage_error(std::string what, std::string hint)
{
	return Error{0, std::move(what), std::move(hint), Exit::Usage};
}

} // namespace lockscope
