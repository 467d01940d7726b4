// SPDX-License-Identifier: GPL-2.0
// The memory of a dead machine with any words in it changed: what was found has to be sound, and
// a half-written ring of events has to end.
#include "recover/dead_machine.h"

#include "log/log.h"
#include "log_builder.h"
#include "recover/formats.h"
#include "recover/recover.h"

#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <span>

using namespace lockscope;
using test::DeadMachine;
using test::LogBuilder;

namespace {

std::string machine()
{
	LogBuilder log;
	const auto a = log.add_class("a"), b = log.add_class("b");
	log.acquire({}, {{a}}, {b});
	DeadMachine dead(2);
	dead.log(log.log());
	dead.chains(log.image().chains);
	ls_rec_sight sight{};
	sight.time_ns = 5;
	sight.val = a;
	const ls_held_rec held = {b, 0, 1, 2};
	for (std::uint32_t i = 0; i < 4; i++)
		dead.event(i % 2, DeadMachine::observation(sight, {held}, {i + 1, 7}, 2));
	const auto task = dead.task("task", 1);
	dead.runs(0, task, dead.context({{1, 0, 2, a, 0}}, task));
	return dead.bytes();
}

/// A word of the memory, or of the anchor, and its new value.
struct Change {
	std::uint32_t at;
	std::uint8_t bits, pad[3];
	std::uint64_t value;
};

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t *data, std::size_t size)
{
	static const std::string whole = machine();
	std::string bytes = whole;
	for (Change c; size >= sizeof(c); data += sizeof(c), size -= sizeof(c)) {
		std::memcpy(&c, data, sizeof(c));
		/* Most of what is read lies at the start of its page. */
		const std::size_t at = c.bits & 1 ? (c.at >> 6) * 4096 + (c.at & 63) * 8 : c.at;
		if (bytes.size() >= 8)
			std::memcpy(&bytes[at % (bytes.size() - 7)], &c.value, 8);
	}
	if (auto found = recover::recover(*recover::memory_in(bytes), "memory")) {
		LogDecoder decoder;
		std::vector<LogRecord> records;
		if (decoder.decode(found->image.log, records) != found->image.log.size() &&
		    !decoder.broken())
			std::abort();
		if (found->image.log.size() % 8)
			std::abort();
		for (const auto &context : found->death.contexts)
			if (context.held.size() > LS_MAX_DEPTH)
				std::abort();
	}
	std::uint32_t lost = 0;
	std::vector<std::byte> ring(4096);
	std::memcpy(ring.data(), bytes.data() + bytes.size() - 4096, 4096);
	for (const auto event : recover::ring_events(ring, size, size + 4096, lost))
		if (event.data() < ring.data() || event.data() + event.size() > ring.data() + 4096)
			std::abort();
	return 0;
}
