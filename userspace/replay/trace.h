// SPDX-License-Identifier: GPL-2.0
// A recorded trace as the source of a run.
#pragma once

#include "replay/player.h"
#include "symbolize/symbols.h"
#include "util/result.h"

#include <memory>
#include <string>
#include <string_view>

namespace lockscope::replay {

struct Trace {
	Image image;
	std::vector<Location> places; ///< by number, see Player::place_address()
	std::uint64_t lines = 0, events = 0;
};

/// Read and play the trace at @path, plain or compressed by gzip; "-" is standard input.
/// Errors name file and line.
Result<Trace> read_trace(const std::string &path, const Limits &limits = {});

/// The same for a trace in memory.
Result<Trace> play_trace(std::string_view text, const std::string &name, const Limits &limits = {});

/// The places of a trace as symbols of its addresses.
class TracePlaces final : public SymbolSource {
public:
	explicit TracePlaces(std::vector<Location> places) : places_(std::move(places)) {}
	std::optional<Location> find(std::uint64_t ip) override;

private:
	std::vector<Location> places_;
};

} // namespace lockscope::replay
