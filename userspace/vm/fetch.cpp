// SPDX-License-Identifier: GPL-2.0
#include "vm/fetch.h"

#include "vm/fetch_kernel.h"
#include "vm/initramfs.h"

#include "util/file.h"

#include <sys/wait.h>

#include <array>
#include <cstdio>
#include <memory>

namespace lockscope::vm {

namespace {

// Runs the script; its last line is a path.
Result<std::filesystem::path> run_script(const std::string &arguments, const std::string &what)
{
	const std::string name = "fetch-kernel: ", hint = "HINT: ";
	const std::string command =
		"sh -c " + shell_quote(kFetchKernel) + " fetch-kernel " + arguments + " 2>&1";
	std::unique_ptr<FILE, int (*)(FILE *)> pipe(popen(command.c_str(), "re"), pclose);
	if (!pipe)
		return environment_error("cannot fetch " + what + ": no shell",
					 "free some memory or processes");
	Error error = environment_error("cannot fetch " + what, "name an installed kernel");
	std::string last;
	for (std::array<char, 4096> line; std::fgets(line.data(), line.size(), pipe.get());) {
		last = line.data();
		while (last.ends_with('\n'))
			last.pop_back();
		if (last.ends_with("..."))
			std::fprintf(stderr, "lockscope: vm: %s\n",
				     last.substr(name.size()).c_str());
		else if (last.starts_with(name))
			error.what = last.substr(name.size());
		else if (last.starts_with(hint))
			error.hint = last.substr(hint.size());
	}
	int status = pclose(pipe.release());
	if (status == 0)
		return std::filesystem::path(last);
	if (WIFEXITED(status) && WEXITSTATUS(status) == static_cast<int>(Exit::Usage))
		error.exit = Exit::Usage;
	return error;
}

} // namespace

Result<std::filesystem::path> fetch_kernel(const std::string &version)
{
	return run_script(shell_quote(version), "kernel " + version);
}

Result<std::filesystem::path> fetch_source(const std::string &release)
{
	return run_script("--source " + shell_quote(release), "the source of " + release);
}

std::filesystem::path fetched_kernel(const std::string &release)
{
	const std::string cache = cache_folder();
	if (cache.empty())
		return {};
	const auto root = std::filesystem::path(cache) / "kernels" / release;
	std::error_code error;
	return std::filesystem::exists(root / "boot" / ("vmlinuz-" + release), error)
		       ? root
		       : std::filesystem::path();
}

} // namespace lockscope::vm
