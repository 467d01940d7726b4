// SPDX-License-Identifier: GPL-2.0
#include "replay/trace.h"

#include "model/model.h"
#include "replay/formats.h"
#include "util/text.h"

#include <zlib.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>

#include <fcntl.h>
#include <unistd.h>

namespace lockscope::replay {

namespace {

constexpr std::size_t kMostInLine = 65536, kBuffer = 1u << 18; // bytes

Error bad_trace(std::string what, std::string hint)
{
	return {0, std::move(what), std::move(hint), Exit::Environment};
}

/// Takes bytes, cuts them into lines and plays these.
class Reader {
public:
	Reader(std::string name, const Limits &limits) : name_(std::move(name)), player_(limits) {}

	Status take(std::string_view bytes)
	{
		while (!bytes.empty()) {
			const auto end = bytes.find('\n');
			const auto part = bytes.substr(0, end);
			if (rest_.size() + part.size() > kMostInLine)
				return at_line(lines_ + 1, "longer than " +
								   std::to_string(kMostInLine) +
								   " bytes");
			if (end == bytes.npos) {
				rest_ += part;
				return success();
			}
			bytes.remove_prefix(end + 1);
			if (rest_.empty()) {
				LS_TRY_STATUS(line(part));
				continue;
			}
			rest_ += part;
			LS_TRY_STATUS(line(rest_));
			rest_.clear();
		}
		return success();
	}

	Result<Trace> finish()
	{
		if (!rest_.empty())
			LS_TRY_STATUS(line(rest_));
		if (!format_)
			return bad_trace(name_ + " has no events", kFormats);
		format_->end(play_);
		Trace trace;
		trace.image = player_.finish(kTraceRelease +
					     std::filesystem::path(name_).filename().string());
		/* The same trace is the same run. */
		const auto &log = trace.image.log;
		trace.image.info.instance =
			stable_hash({reinterpret_cast<const char *>(log.data()), log.size()});
		trace.places = player_.take_places();
		trace.lines = lines_;
		trace.events = events_;
		return trace;
	}

private:
	static constexpr const char *kFormats =
		"formats are RAPID's STD and what perf script prints of lock:*; see "
		"docs/replay.md";

	Error at_line(std::uint64_t number, const std::string &what) const
	{
		return bad_trace(name_ + ":" + std::to_string(number) + ": " + what,
				 format_ ? format_->shape() : kFormats);
	}

	Status line(std::string_view text)
	{
		lines_++;
		if (text.ends_with('\r'))
			text.remove_suffix(1);
		if (says_nothing(text))
			return success();
		if (!format_)
			format_ = format_of(text);
		if (!format_)
			return at_line(lines_, "no trace of a known format");
		const std::string wrong = format_->line(text, play_);
		return wrong.empty() ? success() : Status(at_line(lines_, wrong));
	}

	std::string name_, rest_;
	Player player_;
	std::unique_ptr<Format> format_;
	std::uint64_t lines_ = 0, events_ = 0;
	Format::Play play_ = [this](const Event &event) {
		events_++;
		player_.play(event);
	};
};

struct Close {
	void operator()(gzFile file) const { gzclose(file); }
};

} // namespace

Result<Trace> play_trace(std::string_view text, const std::string &name, const Limits &limits)
{
	Reader reader(name, limits);
	LS_TRY_STATUS(reader.take(text));
	return reader.finish();
}

Result<Trace> read_trace(const std::string &path, const Limits &limits)
{
	const bool standard = path == "-";
	const int fd = standard ? ::dup(STDIN_FILENO) : ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return os_error(errno, "cannot read " + path);
	/* It reads what is not compressed as it is. */
	const std::unique_ptr<gzFile_s, Close> file(gzdopen(fd, "rb"));
	if (!file) {
		::close(fd);
		return os_error(ENOMEM, "cannot read " + path);
	}
	Reader reader(standard ? "stdin" : path, limits);
	std::string buffer(kBuffer, '\0');
	for (;;) {
		errno = 0;
		const int size = gzread(file.get(), buffer.data(), static_cast<unsigned>(kBuffer));
		int error = Z_OK;
		const char *why = gzerror(file.get(), &error);
		if (size < 0 && error == Z_ERRNO)
			return os_error(errno, "cannot read " + path);
		if (size < 0 || error == Z_BUF_ERROR)
			return bad_trace(path + " is damaged: " + why, "write or copy it again");
		if (size == 0)
			return reader.finish();
		LS_TRY_STATUS(reader.take({buffer.data(), static_cast<std::size_t>(size)}));
	}
}

std::optional<Location> TracePlaces::find(std::uint64_t ip)
{
	const std::uint64_t index = (ip - Player::place_address(0)) / 16;
	if (ip < Player::place_address(1) || index >= places_.size())
		return std::nullopt;
	return places_[index];
}

} // namespace lockscope::replay
