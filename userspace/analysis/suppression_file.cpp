// SPDX-License-Identifier: GPL-2.0
#include "analysis/suppression_file.h"

#include "util/fd.h"
#include "util/file.h"

#include <fcntl.h>
#include <sys/file.h>

#include <cerrno>
#include <filesystem>

namespace lockscope {

namespace {

constexpr const char *kHead =
	"# Findings that LockScope leaves out, one a line; see lockscope suppress --help.\n";

} // namespace

Result<std::vector<Suppression>> load_suppressions(const std::string &path)
{
	auto text = read_file(path);
	if (!text) {
		Error error = text.error();
		error.hint = "name another file with --suppressions, or use --no-suppressions";
		return error;
	}
	return parse_suppressions(*text, path);
}

Status add_suppression(const std::string &path, const Suppression &entry)
{
	LS_TRY_STATUS(check_suppression(entry));
	/* Replace the file itself, not a link to it. */
	std::error_code error;
	const auto real = std::filesystem::weakly_canonical(path, error);
	const std::string file = error ? path : real.string();
	const auto folder = std::filesystem::path(file).parent_path();
	if (path == kSuppressionsPath)
		std::filesystem::create_directories(folder, error);

	/* Two writers at once would each lose the other's entry. */
	Fd lock(::open(folder.empty() ? "." : folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
	if (!lock.valid())
		return os_error(errno, "cannot write " + path,
				"name another file with --suppressions");
	while (::flock(lock.get(), LOCK_EX) != 0 && errno == EINTR)
		;

	std::string text = kHead;
	if (exists(file)) {
		auto old = read_file(file);
		if (!old)
			return old.error();
		text = std::move(*old);
		auto entries = parse_suppressions(text, path);
		if (!entries)
			return entries.error();
		for (const auto &known : *entries)
			if (known.same_target(entry))
				return usage_error(describe(entry) + " is in " + path +
							   " already, line " +
							   std::to_string(known.line),
						   "change that line");
		if (!text.empty() && text.back() != '\n')
			text += '\n';
	}
	text += format_suppression(entry) + "\n";
	if (auto written = write_file(file, text); !written) {
		Error failed = written.error();
		failed.hint = failed.code == EACCES || failed.code == EROFS
				      ? "run it as root, or name another file with --suppressions"
				      : "name another file with --suppressions";
		return failed;
	}
	return success();
}

} // namespace lockscope
