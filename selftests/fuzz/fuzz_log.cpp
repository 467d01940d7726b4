// SPDX-License-Identifier: GPL-2.0
// Any bytes as the module's log, read in pieces of any size.
#include "log/accesses.h"
#include "log/log.h"

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <span>

using namespace lockscope;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t *data, std::size_t size)
{
	const std::span bytes(reinterpret_cast<const std::byte *>(data), size);
	LogDecoder decoder;
	std::vector<LogRecord> records;
	std::size_t at = 0;
	while (at < size && !decoder.broken()) {
		const std::size_t used = decoder.decode(bytes.subspan(at), records);
		if (used > size - at || (used == 0 && !decoder.broken()))
			std::abort();
		at += used;
	}
	/* A refused record says why. */
	if ((decoder.malformed() != 0) != !decoder.problem().empty())
		std::abort();
	for (const auto &record : records) {
		if (const auto *sight = std::get_if<ObservationRecord>(&record);
		    sight && sight->held.size() > LS_MAX_DEPTH)
			std::abort();
		if (const auto *access = std::get_if<AccessRecord>(&record);
		    access && (access->guards.size() > LS_MAX_DEPTH || access->size == 0))
			std::abort();
		if (const auto *side = std::get_if<SideRecord>(&record);
		    side && side->locks.size() > LS_MAX_DEPTH)
			std::abort();
		if (const auto *race = std::get_if<RaceRecord>(&record);
		    race && race->history.size() > kMaxRaceHistory)
			std::abort();
	}
	return 0;
}
