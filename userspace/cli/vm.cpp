// SPDX-License-Identifier: GPL-2.0
// lockscope vm run, vm shell: a command in a disposable VM on an unmodified kernel.
#include "cli/vm.h"

#include "cli/cli.h"
#include "cli/recover.h"
#include "store/schema.h"
#include "util/file.h"
#include "util/text.h"
#include "vm/runner.h"

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <map>
#include <memory>

namespace fs = std::filesystem;

namespace lockscope::cli {
namespace {

constexpr char kFooter[] =
	"Example:\n"
	"  lockscope vm run --module 'out/kmod/RELEASE/lockscope.ko splat=1' -o out/vm -- stress-ng --pipe 1 -t 5\n"
	"\n"
	"The guest sees this machine's files under a writable overlay; what COMMAND\n"
	"leaves in /out is brought back to DIR; what is in /out/live is in DIR at once, also\n"
	"when the guest dies: lockscope record -o /out/live/lockscope.db. Exits with COMMAND's status, or\n"
	"2 usage, 3 no guest could be made, 124 time is up, 125 the guest died,\n"
	"130 interrupted.";

constexpr char kShellFooter[] =
	"Example:\n"
	"  lockscope vm shell --module out/kmod/RELEASE/lockscope.ko\n"
	"\n"
	"A terminal on the guest's second serial line, where COMMAND (default: bash) runs as\n"
	"root in this directory's copy. Its end is the guest's; the exit status is as of vm run.";

bool parse_copy(const std::string &text, vm::Copy &copy)
{
	std::size_t colon = text.find(':');
	if (colon == 0 || colon == std::string::npos || colon + 1 == text.size())
		return false;
	copy = {text.substr(0, colon), text.substr(colon + 1)};
	return true;
}

// The store of a recorder in the guest, which wrote to /out/live; lockscope.db if there is none.
std::string store_in(const fs::path &folder)
{
	const fs::path usual = folder / kDefaultStore;
	std::error_code error;
	if (fs::exists(usual, error))
		return usual;
	for (const auto &entry : fs::directory_iterator(folder, error))
		if (entry.path().extension() == ".db" && is_store(entry.path()))
			return entry.path();
	return usual;
}

// What the dead guest still held goes to the store beside its console's log.
void take_remains(const vm::Options &options, const vm::Remains &remains)
{
	const std::string memory = "/proc/self/fd/" + std::to_string(remains.memory.get());
	if (options.keep_memory) {
		const std::string kept = fs::path(remains.folder) / "memory";
		auto copied = copy_file(memory, kept);
		if (!copied)
			std::fprintf(stderr, "lockscope: vm: %s\n", copied.error().what.c_str());
		else
			std::fprintf(stderr, "lockscope: vm: the guest's memory is in %s\n",
				     kept.c_str());
	}
	const std::string store = store_in(remains.folder);
	auto recovered = recover_into({memory, store, {}, remains.how});
	if (!recovered) {
		/* A guest without the module is nothing to speak of. */
		const auto loaded = [](const std::string &module) {
			return module.find("lockscope.ko") != module.npos;
		};
		if (std::any_of(options.modules.begin(), options.modules.end(), loaded) ||
		    fs::exists(store))
			std::fprintf(stderr, "lockscope: vm: not recovered: %s\n",
				     recovered.error().what.c_str());
		return;
	}
	for (const auto &what : recovered->missing)
		std::fprintf(stderr, "lockscope: vm: not in the guest's memory: %s\n",
			     what.c_str());
	std::fprintf(
		stderr,
		"lockscope: vm: recovered from the guest's memory: %s of locks, %s that held or "
		"waited for locks; see: lockscope report %s\n",
		counted(recovered->observations, "observation").c_str(),
		counted(recovered->contexts, "context").c_str(), store.c_str());
}

int run(vm::Options options, const std::vector<std::string> &copies)
{
	for (const std::string &text : copies) {
		vm::Copy copy;
		if (!parse_copy(text, copy)) {
			std::fprintf(stderr, "lockscope: vm: --copy %s is not SRC:DST\n",
				     text.c_str());
			std::fprintf(stderr,
				     "HINT: for example --copy build/tool:/usr/local/bin/tool\n");
			return static_cast<int>(Exit::Usage);
		}
		options.copies.push_back(copy);
	}
	vm::Remains remains;
	auto status = vm::run(options, remains);
	if (status)
		return *status;
	std::fprintf(stderr, "lockscope: vm: %s\n", status.error().what.c_str());
	if (remains.memory.valid())
		take_remains(options, remains);
	if (!status.error().hint.empty())
		std::fprintf(stderr, "HINT: %s\n", status.error().hint.c_str());
	return static_cast<int>(status.error().exit);
}

// Common options of `run` and `shell`.
void add_machine_options(CLI::App *sub, vm::Options &options, std::vector<std::string> &copies)
{
	sub->fallthrough();
	sub->add_option(
		   "--kernel", options.kernel,
		   "release, its beginning (6.12) or \"newest\", fetched from Debian if it is not here; or a "
		   "bzImage (default: newest Debian kernel here)")
		->envname("LOCKSCOPE_KERNEL");
	sub->add_option("--smp", options.cpus, "virtual CPUs")
		->check(CLI::Range(1, 64))
		->capture_default_str();
	sub->add_option("--memory", options.memory_mb, "memory in MB")
		->check(CLI::Range(256, 1 << 20))
		->capture_default_str();
	sub->add_option("--module", options.modules,
			"'FILE.ko PARAMETERS', loaded early, in this order")
		->allow_extra_args(false);
	sub->add_option("--copy", copies,
			"SRC:DST, a host file or directory to copy into the guest")
		->allow_extra_args(false);
	sub->add_option("--append", options.append, "more kernel parameters");
	sub->add_flag(
		"--kaslr", options.kaslr,
		"boot at a random address, as a bootloader does; the kernel unpacks itself for it, "
		"which takes seconds without KVM");
	sub->add_option("--device", options.devices,
			"one more device for QEMU, such as qxl or virtio-rng-pci")
		->allow_extra_args(false);
	sub->add_option("--timeout", options.timeout_s, "seconds until the guest is stopped")
		->check(CLI::Range(1, 86400))
		->capture_default_str();
	sub->add_option("-o,--out", options.out_dir, "gets the guest's /out and console.log");
	sub->add_flag("--udev", options.udev,
		      "start udev and let it find the drivers before COMMAND");
	// The transformer keeps a copy of the map.
	std::map<std::string, vm::Accelerator> accelerators = {{"auto", vm::Accelerator::Auto},
							       {"kvm", vm::Accelerator::Kvm},
							       {"tcg", vm::Accelerator::Tcg}};
	sub->add_option("--accel", options.accelerator, "auto, kvm or tcg")
		->transform(CLI::CheckedTransformer(accelerators));
	sub->add_flag("--keep-memory", options.keep_memory,
		      "leave the memory of a guest that died in DIR/memory, for lockscope recover");
	sub->add_flag("--show-qemu", options.verbose, "print QEMU's command line");
}

} // namespace

void add_vm_command(CLI::App &app, int &exit_status)
{
	CLI::App *vm = app.add_subcommand("vm", "disposable virtual machines");
	vm->require_subcommand(1);
	vm->fallthrough();
	for (bool shell : {false, true}) {
		CLI::App *sub =
			shell ? vm->add_subcommand("shell", "boot a VM to work in by hand")
			      : vm->add_subcommand(
					"run",
					"boot a VM, run COMMAND in it, hand back its results");
		// The callback runs after this function has returned.
		auto options = std::make_shared<vm::Options>();
		auto copies = std::make_shared<std::vector<std::string>>();
		options->shell = shell;
		if (shell)
			options->timeout_s = 86400;
		add_machine_options(sub, *options, *copies);
		CLI::Option *command = sub->add_option("COMMAND", options->command,
						       "command and arguments, after --");
		if (shell) {
			command->default_str("bash");
		} else {
			sub->add_flag(
				"--icount", options->icount,
				"count instructions: 1 ns of guest time is 1 instruction, 1 CPU");
			command->required();
		}
		sub->footer(shell ? kShellFooter : kFooter);
		sub->callback(
			[options, copies, &exit_status] { exit_status = run(*options, *copies); });
	}
}

} // namespace lockscope::cli
