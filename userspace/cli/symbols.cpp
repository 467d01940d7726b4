// SPDX-License-Identifier: GPL-2.0
// lockscope symbols: which code has source lines and from where; fetch: debug information of a
// distribution's kernels into the cache.
#include "cli/cli.h"
#include "cli/fetch_symbols.h"

#include "record/debug_information.h"
#include "store/builds.h"
#include "symbolize/debug_files.h"
#include "symbolize/lines.h"
#include "symbolize/symbols.h"
#include "util/file.h"
#include "util/modules.h"
#include "util/text.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <map>
#include <memory>

namespace lockscope::cli {

namespace {

using Builds = std::vector<CodeBuild>;

constexpr const char *kNoBuild = "No code of a known build.\n";

/// Finders of files, one for each release.
class Finders {
public:
	explicit Finders(std::vector<std::string> dirs = {}) : dirs_(std::move(dirs)) {}
	LineFinder &of(const std::string &release)
	{
		return finders_.try_emplace(release, release, dirs_).first->second;
	}
	std::string file(const CodeBuild &build)
	{
		return of(build.release).file(build.module, build.build_id);
	}

	std::string stripped(const CodeBuild &build)
	{
		return of(build.release).stripped(build.module, build.build_id);
	}

private:
	std::vector<std::string> dirs_;
	std::map<std::string, LineFinder> finders_;
};

/// Those of all stores, each once.
Result<Builds> builds_of(const std::vector<std::string> &stores)
{
	Builds out;
	for (const auto &path : stores) {
		auto builds = code_builds(path);
		if (!builds)
			return builds.error();
		for (auto &build : *builds) {
			const auto same = std::find_if(out.begin(), out.end(), [&](auto &known) {
				return known.release == build.release &&
				       known.module == build.module &&
				       known.build_id == build.build_id;
			});
			if (same == out.end()) {
				out.push_back(std::move(build));
				continue;
			}
			same->places += build.places;
			same->with_lines += build.with_lines;
		}
	}
	return out;
}

/// The running kernel and all its modules.
Builds running_builds()
{
	const std::string release = kernel_release();
	KernelSymbols symbols;
	Builds out;
	auto add = [&](const std::string &module) {
		if (auto id = symbols.build_id(module); !id.empty())
			out.push_back({release, module, std::move(id)});
	};
	add("vmlinux");
	std::error_code error;
	for (auto at = std::filesystem::directory_iterator("/sys/module", error);
	     !error && at != std::filesystem::directory_iterator(); at.increment(error))
		add(at->path().filename().string());
	return out;
}

/// May the distribution's package have the debug information of that module? Not that of
/// modules that were built elsewhere.
bool may_be_packaged(const CodeBuild &build)
{
	if (debug_packages(build.release).empty())
		return false;
	if (build.module == "vmlinux")
		return true;
	if (const auto known = packaged_modules(build.release); !known.empty())
		return std::find(known.begin(), known.end(), build.module) != known.end();
	const std::string modules = "/lib/modules/" + build.release;
	for (const auto &root : {std::string(), cache_folder() + "/kernels/" + build.release})
		if (const auto listed = listed_modules(root + modules); !listed.empty())
			return std::any_of(listed.begin(), listed.end(), [&](const auto &module) {
				return module.path.starts_with("kernel/") &&
				       module_name(module.path) == build.module;
			});
	return true;
}

/// Where the lines of a build are, or what would bring them.
std::string whereabouts(const CodeBuild &build, const std::string &file,
			const std::string &stripped)
{
	if (!file.empty())
		return file;
	if (build.with_lines)
		return "in the store";
	if (may_be_packaged(build))
		return "missing, in " + debug_packages(build.release).front();
	if (build.module == "vmlinux")
		return "missing: build the kernel with CONFIG_DEBUG_INFO";
	if (!stripped.empty())
		return "missing: " + stripped +
		       " has no debug information, build the module with it";
	return "missing: its file was not found, lockscope symbols add --symbols DIR names the "
	       "folder";
}

int list(const std::vector<std::string> &stores, const Globals &globals)
{
	auto builds = builds_of(stores_or_default(stores));
	if (!builds)
		return fail(builds.error());
	Finders finders;
	std::string text, release;
	auto json = nlohmann::ordered_json::array();
	std::size_t width = 0;
	bool in_packages = false;
	for (const auto &build : *builds)
		width = std::max(width, build.module.size());
	for (const auto &build : *builds) {
		const std::string file = finders.file(build);
		json.push_back({{"kernel", build.release},
				{"module", build.module},
				{"build_id", build.build_id},
				{"places", build.places},
				{"with_lines", build.with_lines},
				{"file", file},
				{"package", file.empty() && may_be_packaged(build)
						    ? debug_packages(build.release).front()
						    : ""}});
		if (build.release != release)
			text += "kernel " + build.release + "\n";
		release = build.release;
		in_packages = in_packages ||
			      (file.empty() && !build.with_lines && may_be_packaged(build));
		std::string name = build.module;
		name.resize(width, ' ');
		text += "  " + name + "  " + with_commas(build.with_lines) + " of " +
			counted(build.places, "place") + " with lines; " +
			whereabouts(build, file, file.empty() ? finders.stripped(build) : "") +
			"\n";
	}
	if (builds->empty())
		text = kNoBuild;
	if (in_packages)
		text += "lockscope symbols fetch brings what is in packages.\n";
	return deliver(
		globals.json
			? json.dump(1, '\t', false, nlohmann::json::error_handler_t::replace) + "\n"
			: text,
		"");
}

/// Add to the store what files on this machine know of its code.
Status add_lines(const std::string &store, Finders &finders, const Globals &globals)
{
	auto builds = code_builds(store);
	if (!builds)
		return builds.error();
	std::map<std::string, bool> releases;
	for (const auto &build : *builds)
		if (build.with_lines < build.places && !finders.file(build).empty())
			releases[build.release] = true;
	if (releases.empty())
		return success();
	{
		auto writer = StoreWriter::open(store);
		if (!writer)
			return writer.error();
		for (const auto &[release, any] : releases)
			LS_TRY_STATUS(
				add_debug_information(*writer, finders.of(release), Again::Yes));
	}
	if (globals.verbose < 0)
		return success();
	builds = code_builds(store);
	if (!builds)
		return builds.error();
	std::size_t places = 0, with_lines = 0;
	for (const auto &build : *builds) {
		places += build.places;
		with_lines += build.with_lines;
	}
	std::printf("%s: %s of %s with lines\n", store.c_str(), with_commas(with_lines).c_str(),
		    counted(places, "place").c_str());
	return success();
}

/// What is missing of one kernel.
Status fetch_missing(const std::string &release, const Builds &missing, const Globals &globals)
{
	if (debug_packages(release).empty())
		return Error{0,
			     "kernel " + release +
				     " is none of a distribution: no package has its debug "
				     "information",
			     "build it with CONFIG_DEBUG_INFO, and copy its vmlinux to "
			     "/usr/lib/debug/boot/vmlinux-" +
				     release,
			     Exit::Environment};
	auto fetched = fetch_symbols(release, missing, globals.verbose < 0);
	if (!fetched)
		return fetched.error();
	std::printf("%s: %s of %s kept in %s\n", release.c_str(),
		    counted(fetched->files, "file").c_str(), fetched->package.c_str(),
		    fetched_symbols().c_str());
	if (!fetched->absent.empty())
		std::printf("%s: not in it, or of another build: %s\n", release.c_str(),
			    join(fetched->absent, ", ").c_str());
	return success();
}

int fetch(const std::vector<std::string> &stores, const Globals &globals)
{
	auto builds = stores.empty() ? Result<Builds>(running_builds()) : builds_of(stores);
	if (!builds)
		return fail(builds.error());
	std::map<std::string, Builds> missing;
	{
		Finders before;
		for (const auto &build : *builds)
			if (before.file(build).empty() &&
			    (build.module == "vmlinux" || may_be_packaged(build)))
				missing[build.release].push_back(build);
	}
	/* What one kernel lacks is no reason to leave out the others. */
	int status = 0;
	for (const auto &[release, those] : missing)
		if (auto done = fetch_missing(release, those, globals); !done) {
			status = fail(done.error());
			if (done.error().exit == Exit::Interrupted)
				return status;
		}
	if (builds->empty())
		std::printf("%s", kNoBuild);
	else if (missing.empty())
		std::printf("Nothing is missing.\n");
	Finders finders;
	for (const auto &store : stores)
		if (auto added = add_lines(store, finders, globals); !added)
			status = fail(added.error());
	return status;
}

int add(const std::vector<std::string> &stores, const std::vector<std::string> &places,
	const Globals &globals)
{
	int status = 0;
	Finders finders(places);
	for (const auto &store : stores_or_default(stores))
		if (auto added = add_lines(store, finders, globals); !added)
			status = fail(added.error());
	return status;
}

} // namespace

void add_symbols_command(CLI::App &app, Globals &globals)
{
	auto *command =
		add_command(app, "symbols", "say which code has source lines, and from where",
			    "lockscope symbols run.db\n"
			    "  lockscope symbols fetch run.db && lockscope report run.db");
	auto stores = std::make_shared<std::vector<std::string>>();
	command->add_option("STORE", *stores, "stores to look at (default lockscope.db)");
	auto *fetching = add_command(
		*command, "fetch", "fetch the debug information that is missing, from its package",
		"lockscope symbols fetch run.db");
	auto wanted = std::make_shared<std::vector<std::string>>();
	fetching->add_option("STORE", *wanted,
			     "stores whose code gets lines; none: the running kernel, for later "
			     "recordings");
	set_action(fetching, globals, [wanted, &globals] { return fetch(*wanted, globals); });
	auto *adding = add_command(*command, "add",
				   "add the lines that files on this machine have to stores",
				   "lockscope symbols add --symbols my-driver/ ci/lockscope.db");
	auto given = std::make_shared<std::vector<std::string>>();
	auto places = std::make_shared<std::vector<std::string>>();
	adding->add_option("STORE", *given, "stores whose code gets lines (default lockscope.db)");
	adding->add_option("--symbols", *places,
			   "a module's file, or a folder of modules, with debug information")
		->allow_extra_args(false);
	set_action(adding, globals,
		   [given, places, &globals] { return add(*given, *places, globals); });
	/* The callback of a command runs after that of its subcommand, too. */
	set_action(command, globals, [command, stores, &globals] {
		return command->get_subcommands().empty() ? list(*stores, globals)
							  : globals.exit_status;
	});
}

} // namespace lockscope::cli
