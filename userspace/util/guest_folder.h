// SPDX-License-Identifier: GPL-2.0
// Which files a guest of this machine may be writing. Locks on files are not seen through 9p, so
// `vm run` holds one on a file of its own in the folder that its guest writes to.
#pragma once

#include "util/fd.h"

#include <string>

namespace lockscope {

/// Held as long as a guest may write to a folder. Its file is removed at the end.
class GuestFolder {
public:
	/// Nothing is held where the file cannot be made. @folder is an absolute path.
	explicit GuestFolder(const std::string &folder);
	~GuestFolder();
	GuestFolder(const GuestFolder &) = delete;

private:
	std::string path_;
	Fd file_;
};

/// May a guest write to @file now, in a folder of its own or one below it?
bool guest_writes(const std::string &file);

} // namespace lockscope
