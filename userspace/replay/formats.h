// SPDX-License-Identifier: GPL-2.0
// Formats of traces, read line by line.
#pragma once

#include "replay/event.h"

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace lockscope::replay {

class Format {
public:
	using Play = std::function<void(const Event &)>;
	virtual ~Format() = default;

	/// Take the next line, without its end. Returns what is wrong with it, "" for nothing;
	/// @play gets the events that are complete.
	virtual std::string line(std::string_view text, const Play &play) = 0;
	/// There are no more lines.
	virtual void end(const Play &) {}
	/// What a line looks like, for a hint.
	virtual const char *shape() const = 0;
};

/// The STD format of RAPID, "thread|operation(object)|place" [github.com/umangm/rapid, README.md].
std::unique_ptr<Format> std_format();
/// Tracepoints of locks (lock:*) as `perf script` prints them, with or without call chains.
std::unique_ptr<Format> perf_format();

/// The format that @line is of; null for none of these.
std::unique_ptr<Format> format_of(std::string_view line);

/// Is it empty or a comment? Such lines say nothing in any format.
bool says_nothing(std::string_view line);

/// Parts of a line.
std::string_view trim(std::string_view text);
/// @text up to @end, which goes with it from @text; all of it when @end is not in there.
std::string_view cut(std::string_view &text, char end);

} // namespace lockscope::replay
