// SPDX-License-Identifier: GPL-2.0
#include "vm/kernel.h"

#include "vm/fetch.h"

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <cstring>
#include <fstream>

namespace fs = std::filesystem;

namespace lockscope::vm {
namespace {

// Trees that may have boot/ and lib/modules/: the machine's own, and one with unpacked kernel
// packages that are not installed (dpkg -x).
std::vector<fs::path> roots()
{
	std::vector<fs::path> all = {"/"};
	if (const char *extra = std::getenv("LOCKSCOPE_KERNEL_ROOT"); extra && *extra)
		all.emplace_back(fs::absolute(extra));
	return all;
}

fs::path modules_of(const std::string &release, const fs::path &near)
{
	for (const fs::path &root : roots())
		if (fs::path dir = root / "lib/modules" / release; fs::is_directory(dir))
			return dir;
	if (fs::path dir = near / release; fs::is_directory(dir))
		return dir;
	return {};
}

// Orders "6.1.0-9" before "6.1.0-56": numbers by value, the rest as text.
bool version_less(const std::string &a, const std::string &b)
{
	return strverscmp(a.c_str(), b.c_str()) < 0;
}

std::vector<Kernel> kernels_in(const std::vector<fs::path> &trees)
{
	std::vector<Kernel> found;
	for (const fs::path &root : trees) {
		std::error_code ec;
		for (const auto &entry : fs::directory_iterator(root / "lib/modules", ec)) {
			std::string release = entry.path().filename();
			fs::path image = root / "boot" / ("vmlinuz-" + release);
			if (fs::exists(image, ec) && fs::exists(entry.path() / "modules.dep", ec))
				found.push_back({image, release, entry.path()});
		}
	}
	std::stable_sort(found.begin(), found.end(), [](const Kernel &a, const Kernel &b) {
		// Prefer kernels with headers, for which modules can be built.
		std::error_code ec;
		bool ha = fs::exists(a.modules / "build", ec),
		     hb = fs::exists(b.modules / "build", ec);
		return ha != hb ? ha < hb : version_less(a.release, b.release);
	});
	return found;
}

// "6.12" and "6.12.95" for "6.12.95+deb12-amd64": part of a release ends at a dot.
bool is_called(const Kernel &kernel, const std::string &wanted)
{
	return kernel.release == wanted || kernel.release.starts_with(wanted + ".");
}

} // namespace

std::string image_release(const fs::path &image)
{
	// Documentation/x86/boot.rst: "HdrS" at 0x202, kernel_version at 0x20e
	// counts from 0x200.
	std::ifstream in(image, std::ios::binary);
	std::string head(0x8000, '\0');
	in.read(head.data(), static_cast<std::streamsize>(head.size()));
	head.resize(static_cast<std::size_t>(in.gcount()));
	if (head.size() < 0x210 || head.compare(0x202, 4, "HdrS") != 0)
		return {};
	std::size_t at = 0x200 + (static_cast<unsigned char>(head[0x20e]) |
				  static_cast<unsigned char>(head[0x20f]) << 8);
	if (at >= head.size())
		return {};
	std::string text = head.c_str() + at;
	return text.substr(0, text.find(' '));
}

Result<Kernel> find_kernel(const std::string &wanted)
{
	const std::string get = "install linux-image-amd64, or name a kernel with --kernel PATH";
	if (wanted.find('/') != std::string::npos ||
	    (!wanted.empty() && fs::is_regular_file(wanted))) {
		std::error_code ec;
		if (!fs::exists(wanted, ec))
			return environment_error("kernel " + wanted + " does not exist", get);
		std::string release = image_release(wanted);
		if (release.empty())
			return environment_error(
				wanted + " is not an x86 kernel image",
				"--kernel takes a bzImage (vmlinuz), not a vmlinux");
		fs::path image = fs::absolute(wanted);
		return Kernel{
			image, release,
			modules_of(release, image.parent_path().parent_path() / "lib/modules")};
	}
	std::vector<Kernel> kernels = kernels_in(roots());
	if (wanted.empty()) {
		if (kernels.empty())
			return environment_error(
				"no kernel with modules under /boot and /lib/modules", get);
		return kernels.back();
	}
	for (auto kernel = kernels.rbegin(); kernel != kernels.rend(); ++kernel)
		if (is_called(*kernel, wanted))
			return *kernel;
	if (wanted == "newest" || std::isdigit(static_cast<unsigned char>(wanted[0]))) {
		auto root = fetch_kernel(wanted);
		if (!root)
			return root.error();
		std::vector<Kernel> there = kernels_in({*root});
		if (there.size() == 1)
			return there[0];
		return environment_error("no kernel with modules in " + root->string(),
					 "remove that folder, so that it is fetched again");
	}
	std::string have;
	for (const Kernel &kernel : kernels)
		have += " " + kernel.release;
	return environment_error("no kernel with modules of release " + wanted,
				 have.empty() ? get : "installed:" + have);
}

} // namespace lockscope::vm
