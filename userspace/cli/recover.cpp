// SPDX-License-Identifier: GPL-2.0
// lockscope recover: what a dead machine still held, as a store.
#include "cli/recover.h"

#include "cli/cli.h"

#include "record/session.h"
#include "recover/recover.h"
#include "util/text.h"

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <memory>

namespace lockscope::cli {

namespace {

/* Of a machine whose messages say nothing: it was killed from outside, or has just stopped. */
constexpr const char *kNoWord = "the machine stopped without a word";

/// A folder of its own, removed at the end.
class SystemFolder {
public:
	static Result<SystemFolder> make()
	{
		std::error_code error;
		std::string path =
			std::filesystem::temp_directory_path(error) / "lockscope-recover-XXXXXX";
		if (error || !::mkdtemp(path.data()))
			return os_error(errno, "cannot make a folder " + path,
					"set TMPDIR to a writable folder");
		return SystemFolder(path);
	}
	SystemFolder(SystemFolder &&other) noexcept : path_(std::exchange(other.path_, {})) {}
	SystemFolder &operator=(SystemFolder &&) = delete;
	~SystemFolder()
	{
		std::error_code error;
		if (!path_.empty())
			std::filesystem::remove_all(path_, error);
	}
	const std::string &path() const { return path_; }

private:
	explicit SystemFolder(std::string path) : path_(std::move(path)) {}
	std::string path_;
};

int recover_command(const RecoverOptions &options, const Globals &globals)
{
	auto done = recover_into(options);
	if (!done)
		return fail(done.error());
	for (const auto &what : done->missing)
		std::fprintf(stderr, "lockscope: not in %s: %s\n", options.image.c_str(),
			     what.c_str());
	if (globals.verbose < 0)
		return 0;
	std::fprintf(stderr, "lockscope: %s\n", done->cause.c_str());
	std::fprintf(stderr,
		     "lockscope: %s classes, %s observations (%u still on their way), %s that held "
		     "or waited for locks, in %s; see: lockscope report %s\n",
		     with_commas(done->classes).c_str(), with_commas(done->observations).c_str(),
		     done->pending, counted(done->contexts, "context").c_str(),
		     options.store.c_str(), options.store.c_str());
	return 0;
}

} // namespace

Result<Recovered> recover_into(const RecoverOptions &options)
{
	auto found = recover::recover(options.image);
	if (!found)
		return found.error();
	auto scratch = SystemFolder::make();
	if (!scratch)
		return scratch.error();
	LS_TRY_STATUS(recover::write_system(found->kernel, scratch->path()));

	SessionOptions session_options;
	session_options.store = options.store;
	session_options.symbol_dirs = options.symbol_dirs;
	auto session = Session::open(session_options, image_source(std::move(found->image), "kmod"),
				     {scratch->path(), found->kernel.boot_id});
	if (!session)
		return session.error();
	DeathRecord &death = found->death;
	if (death.cause.empty())
		death.cause = options.cause.empty() ? kNoWord : options.cause;
	Recorder &recorder = (*session)->recorder();
	const auto store = [&]() -> Status {
		LS_TRY_STATUS((*session)->begin());
		LS_TRY_STATUS((*session)->finish());
		LS_TRY_STATUS(recorder.put_death(death));
		LS_TRY_STATUS((*session)->close());
		return (*session)->end();
	};
	if (auto stored = store(); !stored) {
		(*session)->give_up(stored.error());
		return stored.error();
	}
	return Recovered{death.cause,
			 death.contexts.size(),
			 found->pending.observations,
			 recorder.info().classes,
			 recorder.info().sights,
			 recorder.resumed(),
			 death.missing};
}

void add_recover_command(CLI::App &app, Globals &globals)
{
	auto *command = add_command(app, "recover",
				    "what a dead machine still held: its memory into a store",
				    "lockscope recover vmcore -o died.db\n"
				    "  lockscope report died.db");
	auto options = std::make_shared<RecoverOptions>();
	options->store = kDefaultStore;
	command->add_option(
		       "IMAGE", options->image,
		       "file with the memory of a machine that died with lockscope.ko loaded: of a "
		       "guest of QEMU, or a vmcore")
		->required();
	command->add_option("-o,--output", options->store,
			    "store to write; a run whose begin is in it is completed")
		->capture_default_str();
	command->add_option("--symbols", options->symbol_dirs,
			    "folder with modules that have debug information")
		->allow_extra_args(false);
	set_action(command, globals,
		   [options, &globals] { return recover_command(*options, globals); });
}

} // namespace lockscope::cli
