// SPDX-License-Identifier: GPL-2.0
#include "util/last_words.h"

#include <algorithm>
#include <array>
#include <string_view>

namespace lockscope {

namespace {

/*
 * What a kernel prints as it dies, or shortly before. The first one is the cause: an oops of a
 * corrupted list comes behind the list, and a panic behind the oops. "BUG: " alone would be
 * reports of lockdep and of this module as well, after which a kernel goes on.
 */
constexpr std::array<std::string_view, 15> kMarks = {
	"Kernel panic - not syncing",
	"BUG: unable to handle",
	"BUG: kernel NULL pointer dereference",
	"kernel BUG at",
	"general protection fault",
	"list_add corruption",
	"list_del corruption",
	"double fault",
	"stack guard page was hit",
	"watchdog: BUG: soft lockup",
	"watchdog: Watchdog detected hard LOCKUP",
	"NMI watchdog: Watchdog detected hard LOCKUP",
	"Oops:",
	"divide error:",
	"BUG: stack guard page",
};

} // namespace

std::string cause_of_death(const std::string &messages)
{
	std::size_t at = std::string::npos;
	for (const auto mark : kMarks)
		at = std::min(at, messages.find(mark));
	if (at == std::string::npos)
		return {};
	return messages.substr(at, messages.find_first_of("\r\n", at) - at);
}

} // namespace lockscope
