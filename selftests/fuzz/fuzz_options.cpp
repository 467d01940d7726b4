// SPDX-License-Identifier: GPL-2.0
// Any words as arguments: parsed, or refused with status 2; nothing is run.
#include "cli/app.h"

#include <fcntl.h>
#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <vector>

using namespace lockscope;

extern "C" int LLVMFuzzerInitialize(int *, char ***)
{
	/* Help texts and errors by the million are of no use; what libFuzzer
	 * itself has to say goes to its own copy of stderr. */
	const int null = ::open("/dev/null", O_WRONLY);
	::dup2(null, STDOUT_FILENO);
	return 0;
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t *data, std::size_t size)
{
	std::vector<std::string> words = {"lockscope"};
	std::string word;
	for (std::size_t i = 0; i < size; i++) {
		if (data[i] == '\n' || data[i] == 0) {
			words.push_back(word);
			word.clear();
		} else {
			word += static_cast<char>(data[i]);
		}
	}
	words.push_back(word);
	std::vector<const char *> argv;
	for (const auto &each : words)
		argv.push_back(each.c_str());

	std::fflush(stderr);
	const int kept = ::dup(STDERR_FILENO), null = ::open("/dev/null", O_WRONLY);
	::dup2(null, STDERR_FILENO);
	cli::Globals globals;
	globals.parse_only = true;
	auto app = cli::make_app(globals);
	const int status = cli::run_app(*app, globals, static_cast<int>(argv.size()), argv.data());
	std::fflush(stderr);
	::dup2(kept, STDERR_FILENO);
	::close(kept);
	::close(null);
	if (status != 0 && status != 2)
		std::abort();
	return 0;
}
