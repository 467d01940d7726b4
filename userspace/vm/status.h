// SPDX-License-Identifier: GPL-2.0
// Exit statuses of a VM run besides the command's own.
#pragma once

#include "util/result.h"

namespace lockscope::vm {

// 124 as in timeout(1): the timeout has expired. 125, which no usual command uses: the guest
// crashed or disappeared.
inline constexpr Exit kTimedOut{124};
inline constexpr Exit kGuestLost{125};

inline Error environment_error(std::string what, std::string hint)
{
	return {0, std::move(what), std::move(hint), Exit::Environment};
}

inline Error usage_error(std::string what, std::string hint)
{
	return {0, std::move(what), std::move(hint), Exit::Usage};
}

} // namespace lockscope::vm
