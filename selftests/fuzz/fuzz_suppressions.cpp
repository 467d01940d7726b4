// SPDX-License-Identifier: GPL-2.0
// Any bytes as a file of suppressions, and as pattern and name of a class.
#include "scratch.h"

#include "analysis/suppressions.h"
#include "util/text.h"

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

using namespace lockscope;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t *data, std::size_t size)
{
	const std::string_view text(reinterpret_cast<const char *>(data), size);
	auto entries = parse_suppressions(text, "file");
	fuzz::check_error(entries);
	if (!entries && entries.error().what.rfind("file:", 0) != 0)
		std::abort();
	if (entries) {
		/* What was read can be written, and means the same again. */
		for (const auto &entry : *entries) {
			auto back = parse_suppressions(format_suppression(entry), "again");
			if (!back || back->size() != 1 || !back->front().same_target(entry) ||
			    back->front().reason != entry.reason ||
			    back->front().until != entry.until)
				std::abort();
		}
	}
	const auto half = text.substr(0, size / 2), rest = text.substr(size / 2);
	glob_matches(half, rest);
	if (!glob_matches("*", rest))
		std::abort();
	return 0;
}
