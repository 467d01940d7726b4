// SPDX-License-Identifier: GPL-2.0
#include "fetch.h"

#include "fetch_kernel.h"
#include "initramfs.h"

#include <sys/wait.h>

#include <array>
#include <cstdio>
#include <memory>

namespace lockscope::vm {

Result<std::filesystem::path> fetch_kernel(const std::string &version)
{
	const std::string name = "fetch-kernel: ", hint = "HINT: ";
	const std::string command =
		"sh -c " + shell_quote(kFetchKernel) + " fetch-kernel " + shell_quote(version) + " 2>&1";
	std::unique_ptr<FILE, int (*)(FILE *)> pipe(popen(command.c_str(), "re"), pclose);
	if (!pipe)
		return environment_error("cannot fetch kernel " + version + ": no shell",
		               "free some memory or processes");
	Error error = environment_error("cannot fetch kernel " + version, "name an installed kernel");
	std::string last;
	for (std::array<char, 4096> line; std::fgets(line.data(), line.size(), pipe.get());) {
		last = line.data();
		while (last.ends_with('\n'))
			last.pop_back();
		if (last.ends_with("..."))
			std::fprintf(stderr, "lockscope: vm: %s\n", last.substr(name.size()).c_str());
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

} // namespace lockscope::vm
