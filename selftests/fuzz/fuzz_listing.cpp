// SPDX-License-Identifier: GPL-2.0
// Any bytes as a report or a baseline for lockscope diff.
#include "scratch.h"

#include "report/diff.h"
#include "report/listing.h"

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <sstream>

using namespace lockscope;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t *data, std::size_t size)
{
	std::istringstream in(std::string(reinterpret_cast<const char *>(data), size));
	const auto listing = read_listing(in, "file");
	fuzz::check_error(listing);
	if (!listing) {
		if (listing.error().what.rfind("file ", 0) != 0)
			std::abort();
		return 0;
	}
	/* What was read can be written, and means the same again. */
	std::istringstream again(baseline_of(*listing));
	const auto back = read_listing(again, "again");
	if (!back || back->shown() != listing->shown())
		std::abort();
	const Comparison same = compare(*listing, *back), gone = compare(*back, Listing());
	for (const auto &change : same.changes)
		if (change.state != ChangeState::Unchanged)
			std::abort();
	if (gone.changes.size() != back->shown())
		std::abort();
	text_diff(*listing, *back, same, true, {80, true});
	json_diff(*back, Listing(), gone);
	return 0;
}
