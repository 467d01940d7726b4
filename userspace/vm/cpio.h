// SPDX-License-Identifier: GPL-2.0
// Writes the "newc" archive format that the kernel unpacks as its initramfs
// (Documentation/driver-api/early-userspace/buffer-format.rst).
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace lockscope::vm {

class CpioArchive {
public:
	void directory(std::string_view path, unsigned mode = 0755);
	void file(std::string_view path, std::string_view content, unsigned mode = 0644);
	void symlink(std::string_view path, std::string_view target);
	void device(std::string_view path, unsigned mode, unsigned major, unsigned minor);

	// Ends the archive. Nothing may be added afterwards.
	const std::string &finish();

private:
	void entry(std::string_view path, unsigned mode, std::string_view content,
		   unsigned major = 0, unsigned minor = 0);
	void pad();

	std::string bytes_;
	std::uint32_t inode_ = 1;
};

} // namespace lockscope::vm
