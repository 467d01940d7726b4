// SPDX-License-Identifier: GPL-2.0
// lockscope waits: tasks that wait for locks now, and the owners of the locks.
#include "cli/cli.h"

#include "report/waits.h"

#include <unistd.h>

#include <memory>

namespace lockscope::cli {

namespace {

int run(const std::string &device, const Globals &globals)
{
	auto source = open_source(device);
	if (!source)
		return fail(source.error());
	auto info = (*source)->info();
	if (!info)
		return fail(info.error());
	if (auto checked = check_abi(*info); !checked)
		return fail(checked.error());
	/* If it was only started now, it would miss tasks that already wait. */
	if (!info->active)
		return fail({0, "the module is stopped: it does not see who waits",
			     "lockscope record, stat and top start it; waits tells of locks "
			     "taken from then on",
			     Exit::Environment});
	WaitReader reader(**source);
	auto snapshot = reader.read();
	if (!snapshot)
		return fail(snapshot.error());
	const TextStyle style{terminal_width(STDOUT_FILENO),
			      use_color(globals.color, STDOUT_FILENO)};
	if (const int status = deliver(
		    globals.json ? json_waits(*snapshot) : text_waits(*snapshot, style), ""))
		return status;
	return static_cast<int>(snapshot->deadlocks.empty() ? Exit::Clean : Exit::Findings);
}

} // namespace

void add_waits_command(CLI::App &app, Globals &globals)
{
	auto *command = add_command(app, "waits",
				    "print who waits for which lock now, and who has it; exit 1 "
				    "when tasks wait for each other",
				    "lockscope waits");
	auto device = std::make_shared<std::string>(kDevicePath);
	command->add_option("--device", *device, "the module's device")->capture_default_str();
	set_action(command, globals, [device, &globals] { return run(*device, globals); });
}

} // namespace lockscope::cli
