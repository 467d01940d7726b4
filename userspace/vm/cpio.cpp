// SPDX-License-Identifier: GPL-2.0
#include "vm/cpio.h"

#include <cstdio>

#include <sys/stat.h>

namespace lockscope::vm {

void CpioArchive::pad()
{
	bytes_.append((4 - bytes_.size() % 4) % 4, '\0');
}

void CpioArchive::entry(std::string_view path, unsigned mode, std::string_view content,
			unsigned major, unsigned minor)
{
	char header[111];
	// Owner and time are zero: the same input gives the same archive.
	std::snprintf(header, sizeof header,
		      "070701%08X%08X%08X%08X%08X%08X%08X%08X%08X%08X%08X%08X%08X", inode_++, mode,
		      0u, 0u, 1u, 0u, static_cast<unsigned>(content.size()), 0u, 0u, major, minor,
		      static_cast<unsigned>(path.size() + 1), 0u);
	bytes_.append(header, 110);
	bytes_.append(path);
	bytes_.push_back('\0');
	pad();
	bytes_.append(content);
	pad();
}

void CpioArchive::directory(std::string_view path, unsigned mode)
{
	entry(path, S_IFDIR | mode, {});
}

void CpioArchive::file(std::string_view path, std::string_view content, unsigned mode)
{
	entry(path, S_IFREG | mode, content);
}

void CpioArchive::symlink(std::string_view path, std::string_view target)
{
	entry(path, S_IFLNK | 0777, target);
}

void CpioArchive::device(std::string_view path, unsigned mode, unsigned major, unsigned minor)
{
	entry(path, mode, {}, major, minor);
}

const std::string &CpioArchive::finish()
{
	entry("TRAILER!!!", 0, {});
	return bytes_;
}

} // namespace lockscope::vm
