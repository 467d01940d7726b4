// SPDX-License-Identifier: GPL-2.0
// Any bytes as a trace, with tables so small that they fill: an error names file and line, and
// what comes of a trace is a log without a fault.
#include "scratch.h"

#include "log/log.h"
#include "replay/trace.h"

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

using namespace lockscope;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t *data, std::size_t size)
{
	const std::string_view text(reinterpret_cast<const char *>(data), size);
	replay::Limits limits;
	limits.threads = limits.locks = limits.variables = 6;
	limits.places = limits.chains = limits.edges = 12;
	limits.sights = limits.sites = limits.races = 12;
	auto trace = replay::play_trace(text, "trace", limits);
	fuzz::check_error(trace);
	if (!trace) {
		if (trace.error().what.rfind("trace", 0) != 0)
			std::abort();
		return 0;
	}
	LogDecoder decoder;
	std::vector<LogRecord> records;
	const auto &log = trace->image.log;
	if (decoder.decode(log, records) != log.size() || decoder.malformed() || decoder.unknown())
		std::abort();
	replay::TracePlaces places(trace->places);
	for (const auto &record : records)
		if (const auto *seen = std::get_if<ObservationRecord>(&record); seen && seen->ip)
			if (!places.find(seen->ip))
				std::abort();
	return 0;
}
