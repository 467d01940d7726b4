// SPDX-License-Identifier: GPL-2.0
// Small helpers for reading whole files, most of them in procfs and sysfs.
#pragma once

#include "util/result.h"

#include <cstdint>
#include <string>
#include <vector>

namespace lockscope {

/// Whole content. Works for procfs and sysfs files, whose size reads as 0.
Result<std::string> read_file(const std::string &path);

/// First line without its newline; empty when the file cannot be read.
std::string read_line(const std::string &path);

/// Write @data to @path. A regular file is replaced as a whole, or not at all,
/// and keeps its mode; @mode, if it is not 0, is the mode of one that is new,
/// whatever the umask.
Status write_file(const std::string &path, const std::string &data, unsigned mode = 0);

/// Copy a regular file; holes stay holes. @to is replaced, mode 0600.
Status copy_file(const std::string &from, const std::string &to);

/// Create the folder, mode 0700, unless it exists. Its parent must exist.
Status make_folder(const std::string &path);

bool exists(const std::string &path);
bool is_folder(const std::string &path);

/// Build id from the bytes of an ELF note section, as hex digits; empty when
/// there is none.
std::string build_id_from_notes(const std::string &notes);

/// Release of the running kernel (uname -r), and its random boot id.
std::string kernel_release();
std::string boot_id();

/// Folder of the running program.
std::string program_dir();

/// $XDG_CACHE_HOME/lockscope, ~/.cache/lockscope where that is not set; empty without a home.
std::string cache_folder();

} // namespace lockscope
