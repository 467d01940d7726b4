// SPDX-License-Identifier: GPL-2.0
#include "source/module.h"

#include "source/source.h"
#include "util/fd.h"
#include "util/file.h"

#include <fcntl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <thread>
#include <vector>

namespace lockscope {

namespace {

constexpr auto kPoll = std::chrono::milliseconds(100);
constexpr int kDevicePolls = 50;
constexpr int kUnloadPolls = 100;

std::string load_hint(int error)
{
	switch (error) {
	case EPERM:
		return "run as root; a locked-down kernel loads signed modules only";
	case ENOEXEC:
	case EINVAL:
		return "the module is for another kernel: make modules KERNEL=" + kernel_release() +
		       ", and see dmesg";
	case EKEYREJECTED:
		return "this kernel loads signed modules only";
	default:
		return "see dmesg for the kernel's reason";
	}
}

} // namespace

bool module_loaded()
{
	return exists("/sys/module/" LS_DEVICE_NAME);
}

Result<std::string> find_module(const std::string &given)
{
	if (!given.empty()) {
		if (exists(given))
			return given;
		return os_error(errno, "cannot load " + given,
				"give the path of lockscope.ko with --kmod");
	}
	const std::string release = kernel_release();
	for (const auto &path : {program_dir() + "/../kmod/" + release + "/lockscope.ko",
				 "/lib/modules/" + release + "/extra/lockscope.ko",
				 "/lib/modules/" + release + "/updates/lockscope.ko",
				 "/lib/modules/" + release + "/updates/dkms/lockscope.ko"})
		if (exists(path))
			return path;
	return Error{ENOENT, "there is no lockscope.ko for kernel " + release,
		     "build it with make, or give its path with --kmod", Exit::Environment};
}

Result<LoadedModule> LoadedModule::ensure(const std::string &path)
{
	if (module_loaded())
		return LoadedModule(false);
	auto file = find_module(path);
	if (!file)
		return file.error();
	Fd fd(::open(file->c_str(), O_RDONLY | O_CLOEXEC));
	if (!fd.valid())
		return os_error(errno, "cannot load " + *file);
	/* Loaded concurrently: equivalent. */
	if (::syscall(SYS_finit_module, fd.get(), "", 0) != 0) {
		if (errno == EEXIST)
			return LoadedModule(false);
		return os_error(errno, "cannot load " + *file, load_hint(errno));
	}
	LoadedModule module(true);
	for (int i = 0; i < kDevicePolls; i++) {
		if (exists(kDevicePath))
			return module;
		std::this_thread::sleep_for(kPoll);
	}
	return Error{0, std::string(kDevicePath) + " does not appear",
		     "mount devtmpfs on /dev, or let udev run", Exit::Environment};
}

Status LoadedModule::unload()
{
	if (!ours_)
		return success();
	ours_ = false;
	for (int i = 0;; i++) {
		if (::syscall(SYS_delete_module, LS_DEVICE_NAME, O_NONBLOCK) == 0 ||
		    errno == ENOENT)
			return success();
		/* A daemon that polls for the device may have it open. */
		if ((errno != EAGAIN && errno != EBUSY && errno != EWOULDBLOCK) ||
		    i == kUnloadPolls)
			return os_error(errno, "cannot unload the module",
					"close what uses " + std::string(kDevicePath) +
						", then rmmod lockscope");
		std::this_thread::sleep_for(kPoll);
	}
}

LoadedModule::~LoadedModule()
{
	(void)unload().ok();
}

} // namespace lockscope
