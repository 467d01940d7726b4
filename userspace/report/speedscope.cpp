// SPDX-License-Identifier: GPL-2.0
// Statistics as profiles for speedscope [github.com/jlfwong/speedscope, file-format-schema.json].
#include "report/json_parts.h"
#include "report/stat.h"

#include "util/utf8.h"

#include <algorithm>
#include <limits>
#include <map>

namespace lockscope {

namespace {

/// Frames of all profiles; one for each name.
class Frames {
public:
	std::size_t number(const std::string &name)
	{
		const auto [at, added] = numbers_.try_emplace(plain_line(name), list_.size());
		if (added)
			list_.push_back({{"name", at->first}});
		return at->second;
	}
	Json take() { return std::move(list_); }

private:
	std::map<std::string, std::size_t> numbers_;
	Json list_ = Json::array();
};

/// The sum, or the largest number: figures of a store may be anything.
std::uint64_t added(std::uint64_t a, std::uint64_t b)
{
	return b > std::numeric_limits<std::uint64_t>::max() - a
		       ? std::numeric_limits<std::uint64_t>::max()
		       : a + b;
}

class TimeProfile {
public:
	TimeProfile(Frames &frames, const char *name) : frames_(frames), name_(name) {}

	void add(const StatClass &cls, std::uint64_t all, std::uint64_t StatSite::*of_site)
	{
		const auto frame = frames_.number(cls.name + " (" + kind_name(cls.kind) + ")");
		std::uint64_t rest = all;
		for (const auto &site : cls.sites) {
			const std::uint64_t time = std::min(site.*of_site, rest);
			if (time)
				put({frame, frames_.number(site.place)}, time);
			rest -= time;
		}
		/* Of sites that were not counted, for want of room. */
		if (rest)
			put({frame}, rest);
	}

	Json take()
	{
		return {{"type", "sampled"},
			{"name", name_},
			{"unit", "nanoseconds"},
			{"startValue", 0},
			{"endValue", end_},
			{"samples", std::move(samples_)},
			{"weights", std::move(weights_)}};
	}

private:
	void put(const std::vector<std::size_t> &stack, std::uint64_t time)
	{
		samples_.push_back(stack);
		weights_.push_back(time);
		end_ = added(end_, time);
	}

	Frames &frames_;
	const char *name_;
	Json samples_ = Json::array(), weights_ = Json::array();
	std::uint64_t end_ = 0;
};

} // namespace

std::string speedscope_stat(const StatReport &report, std::size_t limit)
{
	Frames frames;
	TimeProfile waits(frames, "waiting for locks"), holds(frames, "holding locks");
	std::size_t left = limit ? limit : report.classes.size();
	for (const auto &cls : report.classes) {
		if (left-- == 0)
			break;
		waits.add(cls, cls.waits.sum, &StatSite::wait_ns);
		holds.add(cls, cls.holds.sum, &StatSite::hold_ns);
	}
	Json profiles = {waits.take(), holds.take()};
	return dump({{"$schema", "https://www.speedscope.app/file-format-schema.json"},
		     {"name", "locks of kernel " + plain_line(report.release)},
		     {"exporter", "lockscope " LOCKSCOPE_VERSION},
		     {"activeProfileIndex", 0},
		     {"shared", {{"frames", frames.take()}}},
		     {"profiles", std::move(profiles)}});
}

} // namespace lockscope
