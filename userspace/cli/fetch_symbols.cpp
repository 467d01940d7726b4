// SPDX-License-Identifier: GPL-2.0
#include "cli/fetch_symbols.h"

#include "cli/child.h"
#include "cli/fetch_symbols_script.h"

#include "symbolize/debug_files.h"
#include "util/fd.h"
#include "util/file.h"
#include "util/modules.h"
#include "util/stop.h"
#include "util/text.h"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstdio>
#include <filesystem>
#include <map>
#include <set>

namespace lockscope::cli {

namespace fs = std::filesystem;

namespace {

/// A folder in the cache for one fetch at a time, removed with all that is in it. That of a
/// fetch that was killed is removed by the next one.
class WorkFolder {
public:
	static Result<WorkFolder> make(const std::string &cache)
	{
		std::error_code error;
		fs::create_directories(cache, error);
		Fd lock(::open((cache + "/.lock").c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600));
		if (!lock.valid())
			return unusable(errno, cache);
		if (::flock(lock.get(), LOCK_EX | LOCK_NB) != 0)
			return Error{errno, "another lockscope symbols fetch is running",
				     "wait for its end", Exit::Environment};
		WorkFolder out(std::move(lock), cache + "/.work");
		fs::remove_all(out.path_, error);
		if (!fs::create_directory(out.path_, error))
			return unusable(error.value(), out.path_);
		return out;
	}

	WorkFolder(WorkFolder &&) = default;
	~WorkFolder()
	{
		std::error_code error;
		if (lock_.valid())
			fs::remove_all(path_, error);
	}

	const std::string &path() const { return path_; }

private:
	WorkFolder(Fd lock, std::string path) : lock_(std::move(lock)), path_(std::move(path)) {}

	static Error unusable(int code, const std::string &path)
	{
		return os_error(code, "cannot write to " + path,
				"XDG_CACHE_HOME names another place for it");
	}

	Fd lock_;
	std::string path_;
};

/// Run the script until it ends or a signal comes.
Status run_script(const std::vector<std::string> &words, const std::string &work, bool quiet)
{
	/* Descriptor 3 is that of its progress. */
	std::vector<std::string> command = {"sh", "-c",
					    std::string("exec 3>") + (quiet ? "/dev/null" : "&2") +
						    "\n" + kFetchSymbols};
	command.insert(command.end(), words.begin(), words.end());
	catch_signals();
	auto child = Child::start(command);
	if (!child)
		return child.error();
	while (!child->poll()) {
		if (stop_signal())
			child->stop();
		nap(std::chrono::milliseconds(50));
	}
	if (stop_signal())
		return Error{0, "interrupted: nothing was kept", "", Exit::Interrupted};
	if (child->status() == 0)
		return success();
	auto said = read_file(work + "/error");
	const auto lines = said ? split(*said, '\n') : std::vector<std::string>{};
	if (lines.size() < 2)
		return Error{0, "cannot fetch debug information",
			     "see what sh and apt-get print in this terminal", Exit::Environment};
	return Error{0, lines[0], lines[1], Exit::Environment};
}

/// Unpacked files with debug information, by build id. Links are left alone.
std::map<std::string, std::string> unpacked(const std::string &root)
{
	std::map<std::string, std::string> out;
	std::error_code error;
	for (auto at = fs::recursive_directory_iterator(root, error);
	     !error && at != fs::recursive_directory_iterator(); at.increment(error)) {
		if (!at->is_regular_file(error) || at->is_symlink(error))
			continue;
		const std::string id = elf_build_id(at->path());
		if (describes(at->path(), id))
			out.emplace(id, at->path());
	}
	return out;
}

/// Build id of the kernel's own file among them, empty when there is none.
std::string kernel_among(const std::map<std::string, std::string> &files)
{
	for (const auto &[id, path] : files)
		if (fs::path(path).filename().string().starts_with("vmlinux"))
			return id;
	return {};
}

/// @there: the build id in the package, empty for none; @wanted: that of the code.
Error without_kernel(const std::string &package, const std::string &release,
		     const std::string &there, const std::string &wanted)
{
	return Error{0,
		     package + (there.empty() ? " has no debug information of kernel " + release
					      : " is of another build of kernel " + release +
							": build id " + there + ", not " + wanted),
		     "apt-get update, or fetch the package of that build from "
		     "snapshot.debian.org: docs/symbols.md",
		     Exit::Environment};
}

Status keep(const std::string &from, const std::string &to)
{
	std::error_code error;
	fs::create_directories(fs::path(to).parent_path(), error);
	fs::rename(from, to, error);
	return error ? Status(os_error(error.value(), "cannot write " + to)) : success();
}

} // namespace

Result<Fetched> fetch_symbols(const std::string &release, const std::vector<CodeBuild> &builds,
			      bool quiet)
{
	const std::string cache = fetched_symbols();
	if (cache.empty())
		return Error{0, "there is no folder to keep debug information in",
			     "set XDG_CACHE_HOME or HOME", Exit::Environment};
	auto work = WorkFolder::make(cache);
	if (!work)
		return work.error();

	std::vector<std::string> words = {"fetch-symbols", work->path(),
					  cache_folder() + "/kernels/.apt"};
	for (const auto &package : debug_packages(release))
		words.push_back(package);
	words.emplace_back("--");
	std::set<std::string> modules;
	for (const auto &build : builds)
		if (is_module_name(build.module))
			modules.insert(build.module);
	words.insert(words.end(), modules.begin(), modules.end());
	LS_TRY_STATUS(run_script(words, work->path(), quiet));

	Fetched out;
	out.package = read_line(work->path() + "/package");
	const auto files = unpacked(work->path() + "/root");
	std::vector<std::pair<std::string, std::string>> fitting;
	for (const auto &build : builds) {
		const auto at = files.find(build.build_id);
		if (at != files.end()) {
			fitting.emplace_back(at->second, fetched_file(build.build_id));
			continue;
		}
		if (build.module == "vmlinux")
			return without_kernel(out.package, release, kernel_among(files),
					      build.build_id);
		out.absent.push_back(build.module);
	}
	for (const auto &[from, to] : fitting)
		LS_TRY_STATUS(keep(from, to));
	LS_TRY_STATUS(keep(work->path() + "/modules", packaged_list(release)));
	out.files = fitting.size();
	return out;
}

bool apt_knows(const std::string &package)
{
	constexpr const char *kPlain = "abcdefghijklmnopqrstuvwxyz0123456789.+-";
	if (package.empty() || package.find_first_not_of(kPlain) != package.npos)
		return false;
	auto child = Child::start(
		{"sh", "-c", "exec apt-cache show \"$1\" > /dev/null 2>&1", "sh", package});
	if (!child)
		return false;
	while (!child->poll())
		nap(std::chrono::milliseconds(10));
	return child->status() == 0;
}

} // namespace lockscope::cli
