// SPDX-License-Identifier: GPL-2.0
#include "util/date.h"

#include <chrono>
#include <cstdio>

namespace lockscope {

bool is_date(std::string_view text)
{
	if (text.size() != 10 || text[4] != '-' || text[7] != '-')
		return false;
	auto number = [&](std::size_t at, std::size_t size) {
		unsigned value = 0;
		for (char c : text.substr(at, size)) {
			if (c < '0' || c > '9')
				return ~0u;
			value = value * 10 + static_cast<unsigned>(c - '0');
		}
		return value;
	};
	const unsigned year = number(0, 4), month = number(5, 2), day = number(8, 2);
	return year != ~0u && month <= 12 && day <= 31 &&
	       std::chrono::year_month_day{std::chrono::year(static_cast<int>(year)),
					   std::chrono::month(month), std::chrono::day(day)}
		       .ok();
}

std::string day_of(std::int64_t time)
{
	const std::chrono::year_month_day day{std::chrono::floor<std::chrono::days>(
		std::chrono::sys_seconds(std::chrono::seconds(time)))};
	char text[32];
	std::snprintf(text, sizeof(text), "%04d-%02u-%02u", static_cast<int>(day.year()),
		      static_cast<unsigned>(day.month()), static_cast<unsigned>(day.day()));
	return text;
}

std::string today()
{
	return day_of(std::chrono::duration_cast<std::chrono::seconds>(
			      std::chrono::system_clock::now().time_since_epoch())
			      .count());
}

} // namespace lockscope
