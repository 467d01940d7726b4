// SPDX-License-Identifier: GPL-2.0
// lockscope doctor: what this kernel supports, what is missing, and the remedies.
#include "cli/cli.h"
#include "cli/fetch_symbols.h"

#include "model/model.h"
#include "source/module.h"
#include "source/source.h"
#include "symbolize/debug_files.h"
#include "symbolize/lines.h"
#include "symbolize/symbols.h"
#include "util/file.h"
#include "util/text.h"

#include <nlohmann/json.hpp>

#include <unistd.h>

#include <cstdio>
#include <cstring>
#include <map>

namespace lockscope::cli {

namespace {

/// Missing: recording is impossible. Weak: it works, with limits.
enum class State { Ok, Weak, Missing };

struct Check {
	std::string name;
	State state;
	std::string found; ///< what was found
	std::string todo;  ///< the remedy, empty when all is well
};

struct ConfigNeed {
	const char *option;
	State without;
	const char *what_for;
};

constexpr ConfigNeed kConfig[] = {
	{"CONFIG_MODULES", State::Missing, "LockScope is a module"},
	{"CONFIG_DYNAMIC_FTRACE_WITH_DIRECT_CALLS", State::Weak,
	 "hooks cost several times more without it"},
	{"CONFIG_DYNAMIC_FTRACE", State::Missing, "lock functions are hooked through it"},
	{"CONFIG_KPROBES", State::Missing, "kernel symbols are found through it"},
	{"CONFIG_KALLSYMS", State::Missing, "stacks have no names without it"},
	{"CONFIG_STACKTRACE", State::Missing, "findings have no stacks without it"},
	{"CONFIG_DEBUG_INFO_BTF", State::Weak,
	 "locks in slab objects get no field names without it"},
	{"CONFIG_HAVE_HW_BREAKPOINT", State::Weak, "no race is caught in the act without it"},
};

const char *word(State state)
{
	return state == State::Ok ? "ok" : state == State::Weak ? "weak" : "missing";
}

std::string kernel_config()
{
	auto text = read_file("/boot/config-" + kernel_release());
	if (!text)
		text = read_file("/lib/modules/" + kernel_release() + "/config");
	return text ? *text : "";
}

void check_config(std::vector<Check> &out)
{
	const std::string config = kernel_config();
	if (config.empty()) {
		out.push_back({"kernel configuration", State::Weak, "not found under /boot",
			       "nothing: only doctor reads it"});
		return;
	}
	for (const auto &need : kConfig) {
		const bool set = config.find("\n" + std::string(need.option) + "=y") != config.npos;
		out.push_back(
			{need.option, set ? State::Ok : need.without, set ? "set" : "not set",
			 set ? "" : std::string(need.what_for) + ": boot a kernel that has it"});
	}
	if (config.find("\nCONFIG_LOCKDEP=y") != config.npos)
		out.push_back({"lockdep", State::Weak, "this kernel has lockdep built in",
			       "lock functions go other ways there: use the stock kernel"});
}

void check_tracing(std::vector<Check> &out)
{
	for (const char *place : {"/sys/kernel/tracing", "/sys/kernel/debug/tracing"})
		if (exists(std::string(place) + "/available_filter_functions")) {
			out.push_back({"tracefs", State::Ok, place, ""});
			return;
		}
	out.push_back({"tracefs", State::Weak, "not mounted",
		       "mount -t tracefs nodev /sys/kernel/tracing, if perf or bpftrace shall see "
		       "findings"});
}

/// Packages are only named if there are such.
std::string debug_remedy()
{
	const auto packages = debug_packages(kernel_release());
	for (const auto &package : packages)
		if (apt_knows(package))
			return "lockscope symbols fetch, from " + package;
	return packages.empty()
		       ? "build the kernel with CONFIG_DEBUG_INFO"
		       : "apt-get update, then lockscope symbols fetch: apt does not know " +
				 packages.front();
}

void check_symbols(std::vector<Check> &out)
{
	auto text = read_file("/proc/kallsyms");
	auto table = text ? SymbolTable::parse(*text) : Result<SymbolTable>(text.error());
	out.push_back({"kernel symbols", table ? State::Ok : State::Missing,
		       table ? "/proc/kallsyms shows addresses" : table.error().what,
		       table ? "" : table.error().hint});
	const bool btf = exists("/sys/kernel/btf/vmlinux");
	out.push_back({"type information", btf ? State::Ok : State::Weak,
		       btf ? "/sys/kernel/btf/vmlinux" : "no BTF",
		       btf ? ""
			   : "locks in slab objects get no field names: boot a kernel with "
			     "CONFIG_DEBUG_INFO_BTF"});
	const std::string vmlinux = LineFinder(kernel_release(), {})
					    .file("vmlinux", KernelSymbols().build_id("vmlinux"));
	const bool debug = !vmlinux.empty();
	out.push_back({"debug information", debug ? State::Ok : State::Weak,
		       debug ? vmlinux : "none for the kernel itself",
		       debug ? "" : "for file and line: " + debug_remedy()});
	const bool nomerge = read_line("/proc/cmdline").find("slab_nomerge") != std::string::npos;
	out.push_back(
		{"slab caches", nomerge ? State::Ok : State::Weak,
		 nomerge ? "slab_nomerge" : "may be merged",
		 nomerge ? "" : "boot with slab_nomerge, or caches of one size share a name"});
}

void check_rights(std::vector<Check> &out)
{
	const bool root = ::geteuid() == 0;
	out.push_back({"rights", root ? State::Ok : State::Missing, root ? "root" : "not root",
		       root ? "" : "run as root: sudo lockscope doctor"});
	const std::string lockdown = read_line("/sys/kernel/security/lockdown");
	const bool locked = lockdown.find("[none]") == lockdown.npos && !lockdown.empty();
	if (locked)
		out.push_back({"lockdown", State::Weak, lockdown,
			       "only signed modules load: sign lockscope.ko (DKMS does)"});
}

std::string named(const std::vector<std::string> &functions)
{
	return join(functions, ", ");
}

std::string headers_remedy()
{
	const std::string package = "linux-headers-" + kernel_release();
	return apt_knows(package) ? "apt install " + package
				  : "apt does not know " + package +
					    ": install the headers as the kernel was installed";
}

void check_accesses(std::vector<Check> &out)
{
	const std::string headers = "/lib/modules/" + kernel_release() + "/build";
	const bool built = exists(headers + "/Makefile");
	out.push_back({"instrumented modules", built ? State::Ok : State::Weak,
		       built ? headers : "no kernel headers",
		       built ? "" : "for lockscope instrument: " + headers_remedy()});
	const bool code = ::access("/proc/kcore", R_OK) == 0;
	out.push_back({"unmodified code", code ? State::Ok : State::Weak,
		       code ? "/proc/kcore can be read" : "/proc/kcore cannot be read",
		       code ? "" : "record --watch decodes it: run as root, without lockdown"});
}

/// Memory accesses in the loaded module.
void check_judge(const ls_access_info &info, std::vector<Check> &out)
{
	static const char *const modes[LS_NR_ACCESS_MODES] = {LS_ACCESS_MODE_NAMES};
	const bool full = info.pages >= info.max_pages;
	out.push_back({"accesses", full ? State::Weak : State::Ok,
		       std::string(info.mode < std::size(modes) ? modes[info.mode] : "?") + ", " +
			       with_commas(info.seen) + " seen, shadow of " +
			       counted(info.pages, "page") + " of " + with_commas(info.max_pages),
		       full ? "reload the module with a larger shadow_mb" : ""});
	out.push_back({"probes", State::Ok,
		       with_commas(info.probes) + " of " + with_commas(info.max_probes), ""});
	out.push_back({"watchpoints", State::Ok,
		       with_commas(info.watchpoints) + " armed so far, " +
			       counted(info.caught, "race") + " caught",
		       ""});
}

void check_module(std::vector<Check> &out)
{
	if (!module_loaded()) {
		auto file = find_module("");
		out.push_back({"module", file ? State::Ok : State::Missing,
			       file ? "not loaded; record will load " + *file : file.error().what,
			       file ? "" : file.error().hint});
		return;
	}
	auto source = open_source(kDevicePath);
	auto info = source ? (*source)->info() : Result<ls_info>(source.error());
	auto abi = info ? check_abi(*info) : Status(info.error());
	if (!abi) {
		out.push_back({"module", State::Missing, abi.error().what, abi.error().hint});
		return;
	}
	out.push_back({"module", State::Ok,
		       std::string("loaded, ") + (info->active ? "recording" : "stopped") + ", " +
			       counted(info->classes, "class") + " of " +
			       with_commas(info->max_classes) + ", " +
			       counted(info->edges, "edge") + " of " + with_commas(info->max_edges),
		       ""});
	if (auto accesses = (*source)->access_info(); accesses && *accesses)
		check_judge(**accesses, out);
	auto prims = (*source)->prims();
	if (!prims)
		return;
	std::map<int, std::vector<std::string>> by_state;
	for (const auto &prim : *prims)
		by_state[prim.state].emplace_back(prim.function,
						  ::strnlen(prim.function, sizeof(prim.function)));
	auto add = [&](ls_prim_state state, const char *name, State verdict, const char *todo) {
		if (const auto &functions = by_state[state]; !functions.empty())
			out.push_back({std::string("lock functions ") + name, verdict,
				       named(functions), todo});
	};
	add(LS_PRIM_DIRECT, "hooked directly", State::Ok, "");
	add(LS_PRIM_FTRACE, "hooked by ftrace", State::Ok, "");
	add(LS_PRIM_KRETPROBE, "hooked by kretprobe", State::Ok, "");
	add(LS_PRIM_COVERED, "covered by others", State::Ok, "");
	add(LS_PRIM_ABSENT, "not in this kernel", State::Ok, "");
	add(LS_PRIM_OFF, "of wait queues, for waitqueues=1", State::Ok, "");
	add(LS_PRIM_FAILED, "not hooked", State::Weak,
	    "stop other tracers of them, then reload the module");
}

int run(const Globals &globals)
{
	std::vector<Check> checks = {{"kernel", State::Ok, kernel_release(), ""}};
	check_rights(checks);
	check_config(checks);
	check_tracing(checks);
	check_symbols(checks);
	check_accesses(checks);
	check_module(checks);

	bool able = true;
	std::string text;
	auto json = nlohmann::ordered_json::array();
	for (const auto &check : checks) {
		able = able && check.state != State::Missing;
		json.push_back({{"name", check.name},
				{"state", word(check.state)},
				{"found", check.found},
				{"todo", check.todo}});
		std::string state = word(check.state);
		state.resize(9, ' ');
		text += state + check.name + ": " + check.found + "\n";
		if (!check.todo.empty())
			text += "         -> " + check.todo + "\n";
	}
	text += able ? "LockScope can record here.\n" : "LockScope cannot record here yet.\n";
	const int delivered = deliver(globals.json ? json.dump(1, '\t') + "\n" : text, "");
	return delivered ? delivered : able ? 0 : static_cast<int>(Exit::Environment);
}

} // namespace

void add_doctor_command(CLI::App &app, Globals &globals)
{
	auto *command =
		add_command(app, "doctor", "say what this kernel offers and what is missing",
			    "sudo lockscope doctor");
	set_action(command, globals, [&globals] { return run(globals); });
}

} // namespace lockscope::cli
