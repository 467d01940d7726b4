// SPDX-License-Identifier: GPL-2.0
#include "record/site_counter.h"

#include "util/fd.h"
#include "util/file.h"
#include "util/text.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <charconv>
#include <cstdio>
#include <sstream>

namespace lockscope {

namespace {

/* Names of events: "lockscope_sites/s12". */
constexpr const char *kGroup = "lockscope_sites";

} // namespace

SiteCounter::SiteCounter(std::string tracing)
	: tracing_(std::move(tracing)), instance_(tracing_ + "/instances/" + kGroup)
{
}

SiteCounter::~SiteCounter()
{
	end();
}

bool SiteCounter::write(const std::string &file, const std::string &text, bool append) const
{
	const Fd fd(::open(file.c_str(), O_WRONLY | O_CLOEXEC | (append ? O_APPEND : O_TRUNC)));
	return fd.valid() &&
	       ::write(fd.get(), text.data(), text.size()) == static_cast<ssize_t>(text.size());
}

/* Also those of a recorder that was killed. */
void SiteCounter::remove_events()
{
	auto events = read_file(tracing_ + "/kprobe_events");
	if (!events)
		return;
	std::istringstream lines(*events);
	for (std::string line; std::getline(lines, line);) {
		const auto name = line.find(std::string(":") + kGroup + "/");
		if (name != line.npos)
			write(tracing_ + "/kprobe_events",
			      "-" + line.substr(name, line.find(' ') - name) + "\n", true);
	}
}

void SiteCounter::begin(const std::vector<CodePlace> &places)
{
	end();
	places_.assign(places.size(), {});
	if (places.empty() || !exists(tracing_ + "/kprobe_events"))
		return;
	write(instance_ + "/events/" + kGroup + "/enable", "0");
	remove_events();
	::mkdir(instance_.c_str(), 0700);
	on_ = exists(instance_);
	if (!on_)
		return;
	for (std::size_t i = 0; i < places.size(); i++) {
		char at[32];
		std::snprintf(at, sizeof(at), "+0x%llx",
			      static_cast<unsigned long long>(places[i].offset));
		const std::string event = "s" + std::to_string(i);
		places_[i].watched =
			write(tracing_ + "/kprobe_events",
			      std::string("p:") + kGroup + "/" + event + " " + places[i].module +
				      ":" + places[i].function + at + "\n",
			      true) &&
			write(instance_ + "/events/" + kGroup + "/" + event + "/enable", "1");
	}
}

void SiteCounter::tick()
{
	auto profile = on_ ? read_file(tracing_ + "/kprobe_profile") : Result<std::string>("");
	if (!profile)
		return;
	std::istringstream lines(*profile);
	for (std::string line; std::getline(lines, line);) {
		std::istringstream words(line);
		std::string name;
		std::uint64_t hits = 0;
		if (!(words >> name >> hits) || name.size() < 2 || name[0] != 's' || hits == 0)
			continue;
		std::size_t place = 0;
		const auto [end, error] =
			std::from_chars(name.data() + 1, name.data() + name.size(), place);
		if (error != std::errc() || end != name.data() + name.size() ||
		    place >= places_.size() || places_[place].hit)
			continue;
		places_[place].hit = true;
		write(instance_ + "/events/" + kGroup + "/" + name + "/enable", "0");
	}
}

void SiteCounter::end()
{
	if (!on_)
		return;
	tick();
	on_ = false;
	write(instance_ + "/events/" + kGroup + "/enable", "0");
	remove_events();
	::rmdir(instance_.c_str());
}

} // namespace lockscope
