// SPDX-License-Identifier: GPL-2.0
// lockscope instrument: build a module from its source so that it reports its accesses.
#include "cli/cli.h"

#include "cli/child.h"
#include "cli/instrument.h"
#include "cli/instrument_headers.h"
#include "util/file.h"
#include "util/text.h"
#include "vm/fetch.h"

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <memory>
#include <set>
#include <thread>

namespace lockscope::cli {

namespace fs = std::filesystem;

namespace {

/* Separate call-outs for plain and volatile accesses. No call-outs at entry and exit, which
 * are not needed, and no tail calls, so that stacks are complete. */
constexpr char kFlags[] = "KCFLAGS=-fsanitize=thread --param=tsan-distinguish-volatile=1 "
			  "--param=tsan-instrument-func-entry-exit=0 "
			  "-fno-optimize-sibling-calls -Wno-tsan";
constexpr int kTailLines = 15;
constexpr char kTraceEvents[] = "include/trace/events";

struct InstrumentArgs {
	std::string dir, release, out;
	std::vector<std::string> config, symvers;
	bool in_tree = false;
	unsigned int jobs = std::max(1u, std::thread::hardware_concurrency());
};

/// Paths of a build.
struct Plan {
	std::string release, headers, compiler;
	fs::path source; ///< to be copied; empty: from the tarball
	fs::path out, tree, log;
	std::string name; ///< below tree: where kbuild works
	std::vector<std::string> symvers;
};

bool is_inside(const fs::path &path, const fs::path &dir)
{
	const auto relative = path.lexically_relative(dir);
	return !relative.empty() && *relative.begin() != "..";
}

/// Of an installed kernel, or of one fetched by `vm run --kernel`.
std::string headers_of(const std::string &release)
{
	const std::string path = "/lib/modules/" + release + "/build";
	const fs::path root = vm::fetched_kernel(release);
	return root.empty() || exists(path + "/Makefile") ? path : root.string() + path;
}

/// The compiler fetched with a kernel of a newer Debian. Empty when there is none.
fs::path tools_of(const std::string &headers, const std::string &release)
{
	const fs::path root = vm::fetched_kernel(release);
	const fs::path tools = root / "tools/bin";
	return !root.empty() && is_inside(headers, root) && exists(tools) ? tools : fs::path();
}

Result<std::string> choose_release(const std::string &given)
{
	if (!given.empty()) {
		if (exists(headers_of(given) + "/Makefile"))
			return given;
		return Error{0, "there are no headers for kernel " + given,
			     "apt-get install linux-headers-" + given, Exit::Environment};
	}
	if (exists(headers_of(kernel_release()) + "/Makefile"))
		return kernel_release();
	std::string newest;
	std::error_code error;
	for (const auto &entry : fs::directory_iterator("/lib/modules", error)) {
		const std::string release = entry.path().filename();
		if (exists(headers_of(release) + "/Makefile") &&
		    (newest.empty() || ::strverscmp(release.c_str(), newest.c_str()) > 0))
			newest = release;
	}
	if (newest.empty())
		return Error{0, "there are no kernel headers on this machine",
			     "apt-get install linux-headers-amd64", Exit::Environment};
	return newest;
}

bool in_path(const std::string &program)
{
	const char *path = std::getenv("PATH");
	for (const auto &dir : split(path ? path : "/usr/bin:/bin", ':'))
		if (::access((dir + "/" + program).c_str(), X_OK) == 0)
			return true;
	return false;
}

/// The compiler of the kernel: plugins and flags depend on it.
Result<std::string> choose_compiler(const std::string &headers)
{
	auto config = read_file(headers + "/.config");
	const std::string key = "CONFIG_GCC_VERSION=";
	const auto at = config ? config->find(key) : std::string::npos;
	const int version =
		at == std::string::npos ? 0 : std::atoi(config->c_str() + at + key.size());
	if (version == 0)
		return Error{0, "cannot tell which gcc built the kernel of " + headers,
			     "headers with a .config are needed; kernels built by clang cannot be "
			     "used yet",
			     Exit::Environment};
	const std::string compiler = "gcc-" + std::to_string(version / 10000);
	for (const auto &program : {compiler, std::string("make")})
		if (!in_path(program))
			return Error{0, program + " is not installed", "apt-get install " + program,
				     Exit::Environment};
	return compiler;
}

/// Run @command with its output in @log; returns its status.
Result<int> run_logged(const std::string &log, std::vector<std::string> command)
{
	/* kbuild must not use the caller's job server. */
	std::vector<std::string> all = {"sh", "-c",
					"unset MAKEFLAGS MFLAGS MAKELEVEL; log=$1; shift; "
					"exec \"$@\" > \"$log\" 2>&1 < /dev/null",
					"sh", log};
	all.insert(all.end(), command.begin(), command.end());
	auto child = Child::start(all);
	if (!child)
		return child.error();
	while (!child->poll())
		std::this_thread::sleep_for(std::chrono::milliseconds(20));
	return child->status();
}

/// Create the folder, or reuse one of an earlier run.
Status prepare_out(const Plan &plan)
{
	const auto mark = plan.out / ".lockscope-instrument";
	std::error_code error;
	if (fs::exists(plan.out, error) && !exists(mark) && !fs::is_empty(plan.out, error))
		return usage_error(plan.out.string() + " is there and was not made by instrument",
				   "choose another folder with -o");
	fs::create_directories(plan.out, error);
	if (error)
		return os_error(error.value(), "cannot make " + plan.out.string(),
				"choose another folder with -o");
	return write_file(mark, plan.release + "\n");
}

/// Left in the source by another build.
bool is_product(const fs::path &path)
{
	const std::string name = path.filename();
	for (const char *suffix : {".o", ".ko", ".mod", ".mod.c", ".cmd", ".a"})
		if (name.size() > std::string(suffix).size() &&
		    name.compare(name.size() - std::string(suffix).size(), name.npos, suffix) == 0)
			return true;
	return name == "Module.symvers" || name == "modules.order" || name == ".git";
}

Status copy_source(const Plan &plan)
{
	std::error_code error;
	const auto target = plan.tree / plan.name;
	fs::remove_all(target, error);
	fs::create_directories(target, error);
	auto walk = fs::recursive_directory_iterator(plan.source, error);
	for (; !error && walk != fs::recursive_directory_iterator(); walk.increment(error)) {
		if (is_product(walk->path())) {
			if (walk->is_directory(error))
				walk.disable_recursion_pending();
			continue;
		}
		const auto to = target / walk->path().lexically_relative(plan.source);
		if (walk->is_directory())
			fs::create_directories(to, error);
		else
			fs::copy(walk->path(), to, error);
		if (error)
			break;
	}
	if (error)
		return os_error(error.value(),
				"cannot copy " + plan.source.string() + " to " + target.string(),
				"is there space, and may it be read?");
	return success();
}

/// "6.1" of "6.1.0-56-amd64"
std::string version_of(const std::string &release)
{
	const auto parts = split(release, '.');
	return parts.size() < 2 ? release : parts[0] + "." + parts[1];
}

/// Makefiles of the kernel name their own folder as $(srctree)/$(src); outside of its tree
/// that is $(src) alone.
Status find_own_headers(const fs::path &tree)
{
	const std::string inside = "$(srctree)/$(src)";
	std::error_code error;
	for (const auto &entry : fs::recursive_directory_iterator(tree, error)) {
		const auto name = entry.path().filename();
		if (name != "Makefile" && name != "Kbuild")
			continue;
		auto text = read_file(entry.path());
		if (!text)
			return text.error();
		bool changed = false;
		for (std::size_t at; (at = text->find(inside)) != std::string::npos; changed = true)
			text->replace(at, inside.size(), "$(src)");
		if (changed)
			LS_TRY_STATUS(write_file(entry.path(), *text));
	}
	return success();
}

/// Unpack the folder from Debian's source package, with the headers around it. Kept: the
/// archive is large.
Status unpack_source(const Plan &plan)
{
	const std::string package = "linux-source-" + version_of(plan.release);
	std::string tarball = "/usr/src/" + package + ".tar.xz";
	if (const auto root = vm::fetched_kernel(plan.release);
	    !root.empty() && is_inside(plan.headers, root)) {
		auto fetched = vm::fetch_source(plan.release);
		if (!fetched)
			return fetched.error();
		tarball = *fetched;
	}
	if (!exists(tarball))
		return Error{0, "there is no " + tarball, "apt-get install " + package,
			     Exit::Environment};
	const auto target = plan.tree / plan.name;
	if (exists(target / ".unpacked"))
		return success();
	std::error_code error;
	fs::create_directories(plan.tree, error);
	/* For headers of trace events: see build(). */
	fs::create_directories(plan.tree / kTraceEvents, error);
	const std::string top = plan.name.substr(0, plan.name.find('/'));
	auto status = run_logged(
		plan.log, {"tar", "-xf", tarball, "-C", plan.tree, "--strip-components=1",
			   "--wildcards", package + "/" + plan.name, package + "/" + top + "/*.h"});
	if (!status)
		return status.error();
	if (*status != 0 || !exists(target))
		return Error{0, plan.name + " cannot be unpacked from " + tarball,
			     "give a folder of the kernel's source, such as fs/ext4; tar's words "
			     "are in " +
				     plan.log.string(),
			     Exit::Environment};
	LS_TRY_STATUS(find_own_headers(target));
	return write_file(target / ".unpacked", "");
}

Result<Plan> make_plan(const InstrumentArgs &options)
{
	Plan plan;
	auto release = choose_release(options.release);
	if (!release)
		return release.error();
	plan.release = *release;
	plan.headers = headers_of(*release);
	if (const auto tools = tools_of(plan.headers, *release); !tools.empty()) {
		const char *path = std::getenv("PATH");
		::setenv("PATH", (tools.string() + ":" + (path ? path : "/usr/bin:/bin")).c_str(),
			 1);
	}
	auto compiler = choose_compiler(plan.headers);
	if (!compiler)
		return compiler.error();
	plan.compiler = *compiler;

	std::error_code error;
	for (const auto &list : options.symvers)
		plan.symvers.push_back(fs::absolute(list));
	fs::path place = fs::current_path(error);
	if (options.in_tree) {
		plan.name = fs::path(options.dir).lexically_normal().relative_path();
		while (!plan.name.empty() && plan.name.back() == '/')
			plan.name.pop_back();
		if (plan.name.empty() || plan.name[0] == '.' || options.dir[0] == '/')
			return usage_error(options.dir + " is no folder of the kernel's source",
					   "for example --in-tree fs/ext4");
	} else {
		plan.source = fs::canonical(options.dir, error);
		if (error)
			return os_error(error.value(), "cannot read " + options.dir,
					"give the folder of the module's source");
		if (!exists(plan.source / "Kbuild") && !exists(plan.source / "Makefile"))
			return usage_error(options.dir + " has neither Kbuild nor Makefile",
					   "give the folder of the module's source");
		plan.name = plan.source.filename();
		place = plan.source.parent_path();
	}
	plan.out = options.out.empty()
			   ? place / (fs::path(plan.name).filename().string() + ".lockscope")
			   : fs::absolute(options.out).lexically_normal();
	if (!plan.out.has_filename())
		plan.out = plan.out.parent_path();
	plan.out = fs::weakly_canonical(plan.out, error);
	if (!plan.source.empty() &&
	    (is_inside(plan.out, plan.source) || is_inside(plan.source, plan.out)))
		return usage_error("the output would lie in the source, or over it",
				   "choose another folder with -o");
	plan.tree = plan.out / "tree";
	plan.log = plan.out / "log";
	return plan;
}

void print_tail(const fs::path &log)
{
	auto text = read_file(log);
	auto lines = split(text ? *text : "", '\n');
	while (!lines.empty() && lines.back().empty())
		lines.pop_back();
	const std::size_t from = lines.size() > kTailLines ? lines.size() - kTailLines : 0;
	for (std::size_t i = from; i < lines.size(); i++)
		std::fprintf(stderr, "%s\n", lines[i].c_str());
}

/// Headers that precede the kernel's.
struct Headers {
	fs::path dir;
	std::string mark; ///< hash of their text
};

/// Headers for locks that are acquired inline, and for accesses that the compiler does not
/// see.
Result<Headers> write_headers(const Plan &plan)
{
	const fs::path dir = plan.out / "include";
	std::error_code error;
	fs::create_directories(dir / "linux", error);
	fs::create_directories(dir / "lockscope", error);
	if (error)
		return os_error(error.value(), "cannot make " + dir.string(),
				"choose another folder with -o");
	const std::pair<const char *, const char *> headers[] = {
		{"lockscope/annotate.h", kAnnotateHeader},
		{"linux/bit_spinlock.h", kBitSpinlockHeader},
		{"linux/kcsan-checks.h", kKcsanChecksHeader},
		{"linux/local_lock.h", kLocalLockHeader},
		{"linux/rhashtable.h", kRhashtableHeader},
		{"linux/string.h", kStringHeader},
		{"linux/uaccess.h", kUaccessHeader},
		{"linux/uio.h", kUioHeader},
	};
	std::string all;
	for (const auto &[name, text] : headers) {
		all += text;
		/* An unchanged file keeps its time, for kbuild. */
		const auto old = read_file(dir / name);
		if (old && *old == text)
			continue;
		LS_TRY_STATUS(write_file(dir / name, text));
	}
	return Headers{dir, hex64(stable_hash(all))};
}

Status build(const Plan &plan, const InstrumentArgs &options)
{
	auto headers = write_headers(plan);
	if (!headers)
		return headers.error();
	/* Some headers of trace events include the source by its path relative to their own
	 * folder, and there is no source around the headers. */
	const std::string flags =
		kFlags + (plan.source.empty() ? " -I" + (plan.tree / kTraceEvents).string() : "");
	/* Undefined names are checked afterwards: modpost prints ten of a module at most. */
	std::vector<std::string> make = {
		"make", "-C", plan.headers, "M=" + (plan.tree / plan.name).string(),
		/* A new header does not rebuild files that were built
					  * without it; a changed command line does. */
		"CC=" + plan.compiler + " -I" + headers->dir.string() + " -DLOCKSCOPE_HEADERS=0x" +
			headers->mark,
		flags, "KBUILD_MODPOST_WARN=1", "-j" + std::to_string(options.jobs)};
	/* Some headers require BTF even where it cannot be generated. */
	if (!in_path("pahole"))
		make.emplace_back("CONFIG_DEBUG_INFO_BTF_MODULES=");
	make.insert(make.end(), options.config.begin(), options.config.end());
	const std::string call_outs = plan.out / "call-outs.symvers";
	if (auto written = write_file(call_outs, kCallOuts); !written)
		return written;
	std::vector<std::string> symvers = plan.symvers;
	symvers.push_back(call_outs);
	make.push_back("KBUILD_EXTRA_SYMBOLS=" + join(symvers, " "));
	make.push_back("modules");
	auto status = run_logged(plan.log, make);
	if (!status)
		return status.error();
	if (*status != 0) {
		print_tail(plan.log);
		return Error{0, options.dir + " does not build for kernel " + plan.release,
			     "the whole log is in " + plan.log.string(), Exit::Environment};
	}
	return success();
}

Result<std::vector<fs::path>> collect_modules(const Plan &plan, const InstrumentArgs &options)
{
	std::set<std::string> known;
	add_exports(kCallOuts, known);
	std::vector<std::string> lists = plan.symvers;
	lists.push_back(plan.headers + "/Module.symvers");
	/* Exports of its own modules; missing when there are none. */
	if (const auto own = plan.tree / plan.name / "Module.symvers"; exists(own))
		lists.push_back(own);
	for (const auto &list : lists) {
		auto text = read_file(list);
		if (!text)
			return text.error();
		add_exports(*text, known);
	}
	std::vector<fs::path> out;
	std::error_code error;
	for (const auto &entry : fs::recursive_directory_iterator(plan.tree / plan.name, error)) {
		if (entry.path().extension() != ".ko")
			continue;
		auto missing = missing_symbols(entry.path(), known);
		if (!missing)
			return missing.error();
		const std::string name = entry.path().filename();
		if (!missing->empty())
			return Error{0,
				     name + " needs " + join(*missing, ", ") +
					     ", which neither the kernel nor LockScope has",
				     "give the Module.symvers of the module that has it with "
				     "--symvers",
				     Exit::Environment};
		fs::copy_file(entry.path(), plan.out / name, fs::copy_options::overwrite_existing,
			      error);
		if (error)
			return os_error(error.value(), "cannot write " + (plan.out / name).string(),
					"choose another folder with -o");
		out.push_back(plan.out / name);
	}
	if (out.empty())
		return Error{0, options.dir + " builds no module",
			     "obj-m in its Kbuild says what to build; what the kernel's "
			     "configuration leaves out needs --config CONFIG_NAME=m",
			     Exit::Environment};
	return out;
}

int run(const InstrumentArgs &options, const Globals &globals)
{
	auto plan = make_plan(options);
	if (!plan)
		return fail(plan.error());
	if (auto ready = prepare_out(*plan); !ready)
		return fail(ready.error());
	if (globals.verbose >= 0)
		std::fprintf(stderr, "lockscope: building %s for kernel %s with %s\n",
			     options.dir.c_str(), plan->release.c_str(), plan->compiler.c_str());
	if (auto there = options.in_tree ? unpack_source(*plan) : copy_source(*plan); !there)
		return fail(there.error());
	if (auto built = build(*plan, options); !built)
		return fail(built.error());
	auto modules = collect_modules(*plan, options);
	if (!modules)
		return fail(modules.error());
	std::string text;
	for (const auto &module : *modules)
		text += module.string() + "\n";
	return deliver(text, "");
}

} // namespace

void add_instrument_command(CLI::App &app, Globals &globals)
{
	auto *command = add_command(
		app, "instrument", "build a module that tells its memory accesses",
		"lockscope instrument ~/my-driver && insmod lockscope.ko && insmod "
		"~/my-driver.lockscope/my_driver.ko\n"
		"  lockscope instrument --in-tree fs/ext4\n\n"
		"Builds a copy of the source against the stock headers, prints the modules made.\n"
		"They need lockscope.ko loaded before them.");
	auto options = std::make_shared<InstrumentArgs>();
	command->add_option("DIR", options->dir, "folder of the module's source, with its Kbuild")
		->required();
	command->add_flag("--in-tree", options->in_tree,
			  "DIR is one of the kernel's own, such as fs/ext4, from Debian's "
			  "linux-source package");
	command->add_option("--release", options->release,
			    "kernel to build for (default: this one, or the newest with headers)");
	command->add_option("-o,--out", options->out,
			    "folder for the modules (default: NAME.lockscope beside DIR; with "
			    "--in-tree: here)");
	command->add_option("--config", options->config,
			    "more for make, such as CONFIG_JFS_FS=m; may be repeated")
		->allow_extra_args(false);
	command->add_option("--symvers", options->symvers,
			    "Module.symvers of modules that it needs; may be repeated")
		->allow_extra_args(false)
		->check(CLI::ExistingFile);
	command->add_option("-j,--jobs", options->jobs, "compilers at a time")
		->check(CLI::Range(1, 1024));
	set_action(command, globals, [options, &globals] { return run(*options, globals); });
}

} // namespace lockscope::cli
