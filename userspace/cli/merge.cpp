// SPDX-License-Identifier: GPL-2.0
// lockscope merge: copy the runs of many boots and machines into one store.
#include "cli/cli.h"

#include "store/merge.h"
#include "util/text.h"

#include <cstdio>
#include <memory>

namespace lockscope::cli {

namespace {

struct MergeArgs {
	std::vector<std::string> files;
	std::string out;
};

int run(const MergeArgs &options, const Globals &globals)
{
	auto merged = merge_stores(options.files, options.out);
	if (!merged)
		return fail(merged.error());
	if (globals.verbose >= 0)
		std::fprintf(stderr, "lockscope: %s merged into %s\n",
			     counted(options.files.size(), "store").c_str(), options.out.c_str());
	return 0;
}

} // namespace

void add_merge_command(CLI::App &app, Globals &globals)
{
	auto *command = add_command(
		app, "merge", "unite stores of several boots or machines",
		"lockscope merge host1.db host2.db -o all.db && lockscope report all.db");
	auto options = std::make_shared<MergeArgs>();
	command->add_option("FILE", options->files, "stores to unite")->required();
	command->add_option("-o,--output", options->out, "store to write; runs in it are kept")
		->required();
	set_action(command, globals, [options, &globals] { return run(*options, globals); });
}

} // namespace lockscope::cli
