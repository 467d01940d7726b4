// SPDX-License-Identifier: GPL-2.0
// Any bytes as a table of annotations, and as a source file.
#include "scratch.h"

#include "annotations/scan.h"
#include "model/annotations.h"

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

using namespace lockscope;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t *data, std::size_t size)
{
	const std::string_view text(reinterpret_cast<const char *>(data), size);
	auto table = annotations::Table::parse(text, "file");
	fuzz::check_error(table);
	if (table) {
		/* What was read can be written, and means the same again. */
		auto back = annotations::Table::parse(table->print(), "again");
		if (!back || back->print() != table->print())
			std::abort();
	}
	annotations::scan(text, [](std::string_view name) { return name.ends_with("n"); });
	return 0;
}
