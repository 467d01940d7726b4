// SPDX-License-Identifier: GPL-2.0
#include "util/guest_folder.h"

#include <fcntl.h>
#include <unistd.h>

#include <filesystem>

namespace lockscope {

namespace {

constexpr const char *kName = ".lockscope-guest";

struct flock whole(short type)
{
	struct flock lock {};
	lock.l_type = type;
	lock.l_whence = SEEK_SET;
	return lock;
}

/* By another open file. The question takes no lock, which other questions would see. */
bool is_held(const Fd &file)
{
	struct flock lock = whole(F_WRLCK);
	return file.valid() && ::fcntl(file.get(), F_OFD_GETLK, &lock) == 0 &&
	       lock.l_type != F_UNLCK;
}

} // namespace

GuestFolder::GuestFolder(const std::string &folder) : path_(folder + "/" + kName)
{
	file_ = Fd(::open(path_.c_str(), O_RDONLY | O_CREAT | O_CLOEXEC, 0644));
	/* Shared: several guests may have one folder. */
	struct flock lock = whole(F_RDLCK);
	if (file_.valid() && ::fcntl(file_.get(), F_OFD_SETLK, &lock) != 0)
		file_.reset();
}

GuestFolder::~GuestFolder()
{
	if (file_.valid() && !is_held(file_))
		(void)::unlink(path_.c_str());
}

bool guest_writes(const std::string &file)
{
	std::error_code error;
	auto folder = std::filesystem::weakly_canonical(file, error).parent_path();
	for (; !error && !folder.empty(); folder = folder.parent_path()) {
		if (is_held(Fd(::open((folder / kName).c_str(), O_RDONLY | O_CLOEXEC))))
			return true;
		if (folder == folder.root_path())
			break;
	}
	return false;
}

} // namespace lockscope
