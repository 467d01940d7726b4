// SPDX-License-Identifier: GPL-2.0
#include "store/live_copy.h"

#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <fstream>

namespace lockscope {

namespace fs = std::filesystem;

namespace {

constexpr int kAttempts = 5;
/* Of the log: with the salts, which are others each time it begins anew. */
constexpr std::size_t kHeader = 32;

std::string header_of(const std::string &log)
{
	std::string bytes(kHeader, '\0');
	std::ifstream in(log, std::ios::binary);
	in.read(bytes.data(), static_cast<std::streamsize>(bytes.size()));
	bytes.resize(static_cast<std::size_t>(in.gcount()));
	return bytes;
}

/*
 * The store first: what a checkpoint writes into it meanwhile is in the log as well, until that
 * begins anew.
 */
bool copied(const std::string &from, const std::string &to, std::error_code &error)
{
	const auto over = fs::copy_options::overwrite_existing;
	const std::string log = from + "-wal", before = header_of(log);
	fs::remove(to + "-wal", error);
	if (!fs::copy_file(from, to, over, error))
		return false;
	if (!before.empty() && !fs::copy_file(log, to + "-wal", over, error))
		return false;
	return header_of(log) == before;
}

} // namespace

Result<std::unique_ptr<LiveCopy>> LiveCopy::make(const std::string &path)
{
	std::error_code error;
	auto pattern = (fs::temp_directory_path(error) / "lockscope-store-XXXXXX").string();
	if (error || !::mkdtemp(pattern.data()))
		return os_error(error ? error.value() : errno, "cannot copy " + path,
				"set TMPDIR to a writable directory");
	std::unique_ptr<LiveCopy> copy(new LiveCopy(pattern));
	for (int i = 0; i < kAttempts; i++)
		if (copied(path, copy->path(), error))
			return copy;
	if (error && error != std::errc::no_such_file_or_directory)
		return os_error(error.value(), "cannot copy " + path,
				"set TMPDIR to a directory with room for it");
	return Error{EBUSY, path + " changes too fast to be read: a guest is writing it",
		     "wait for the guest to end, or try again", Exit::Environment};
}

LiveCopy::~LiveCopy()
{
	std::error_code error;
	fs::remove_all(folder_, error);
}

} // namespace lockscope
