// SPDX-License-Identifier: GPL-2.0
#pragma once

#include "util/fd.h"
#include "util/result.h"

#include <string>
#include <string_view>

namespace lockscope {

/// A file written in parts. A regular one is replaced as a whole by finish(), and keeps its mode;
/// without finish() it stays as it was. @mode, if it is not 0, is the mode of one that is new,
/// whatever the umask.
class FileWriter {
public:
	static Result<FileWriter> open(const std::string &path, unsigned mode = 0);
	FileWriter(FileWriter &&) = default;
	FileWriter &operator=(FileWriter &&) = delete;
	~FileWriter();

	Status write(std::string_view data);
	/// Nothing can be written any more.
	Status finish();

private:
	FileWriter() = default;
	Error error(int code) const;

	Fd fd_;
	std::string path_, part_; ///< part_ is empty for pipes and devices
};

} // namespace lockscope
