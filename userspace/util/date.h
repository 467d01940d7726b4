// SPDX-License-Identifier: GPL-2.0
// Days in UTC as text, YYYY-MM-DD: they sort as text.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace lockscope {

/// Is @text a day that exists?
bool is_date(std::string_view text);
/// The day of @time, in seconds since 1970.
std::string day_of(std::int64_t time);
std::string today();

} // namespace lockscope
