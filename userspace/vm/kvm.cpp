// SPDX-License-Identifier: GPL-2.0
#include "vm/kvm.h"

#include "util/file.h"

#include <fstream>
#include <system_error>

namespace lockscope::vm {

namespace fs = std::filesystem;

namespace {

// Empty where nothing can be kept. A release is read from a file, so it may be anything.
fs::path place(const Kernel &kernel)
{
	const std::string cache = cache_folder();
	if (cache.empty() || kernel.release.find('/') != std::string::npos)
		return {};
	return fs::path(cache) / "kvm-fails" / kernel.release;
}

std::string changed(const fs::path &file)
{
	std::error_code ec;
	const auto when = fs::last_write_time(file, ec);
	return std::to_string(ec ? 0 : when.time_since_epoch().count());
}

// The next start of the machine, another QEMU or another build of the kernel may do better.
std::string circumstances(const Kernel &kernel)
{
	return boot_id() + " " + changed("/usr/bin/qemu-system-x86_64") + " " +
	       changed(kernel.image) + " " + kernel.image.string();
}

} // namespace

bool kvm_fails(const Kernel &kernel)
{
	const fs::path file = place(kernel);
	std::string line;
	return !file.empty() && std::getline(std::ifstream(file), line) &&
	       line == circumstances(kernel);
}

void remember_kvm_fails(const Kernel &kernel)
{
	const fs::path file = place(kernel);
	if (file.empty())
		return;
	std::error_code ec;
	fs::create_directories(file.parent_path(), ec);
	std::ofstream(file) << circumstances(kernel) << '\n';
}

} // namespace lockscope::vm
