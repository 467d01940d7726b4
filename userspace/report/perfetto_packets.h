// SPDX-License-Identifier: GPL-2.0
// Packets of a trace for Perfetto, all of one sequence.
#pragma once

#include "model/model.h"
#include "report/perfetto_fields.h"
#include "report/stream.h"

#include <protozero/pbf_builder.hpp>

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

namespace lockscope::perfetto {

/// An argument of an event. Text is made valid.
struct Argument {
	const char *name;
	enum class Type { Bool, Number, Text } type;
	std::uint64_t number = 0; ///< Bool as well
	std::string text = {};
};

struct EventText {
	const char *category;
	std::string name;
	std::vector<Argument> arguments = {};
	const SourceLine *line = nullptr; ///< outlives the call
};

class Packets {
public:
	explicit Packets(const Sink &sink) : sink_(sink) {}
	~Packets() { flush(0); }
	Packets(const Packets &) = delete;

	/// The first packets of all: times are of CLOCK_MONOTONIC, which was @monotonic_ns when
	/// CLOCK_REALTIME was @real_ns.
	void begin(std::uint64_t monotonic_ns, std::uint64_t real_ns);

	/// Tracks; @parent is 0 or a track that was described before.
	void track(std::uint64_t uuid, std::uint64_t parent, const std::string &name);
	void process(std::uint64_t uuid, std::uint32_t pid, const std::string &name);
	void thread(std::uint64_t uuid, std::uint64_t parent, std::uint32_t pid, std::uint32_t tid,
		    const std::string &name);

	/// Events, in the order of time, on tracks that were described.
	void slice_begin(std::uint64_t time, std::uint64_t track, const EventText &text);
	void slice_end(std::uint64_t time, std::uint64_t track);
	void instant(std::uint64_t time, std::uint64_t track, const EventText &text);

private:
	using Builder = protozero::pbf_builder<Packet>;

	std::uint64_t iid(Interned table, const std::string &text);
	std::uint64_t location(const SourceLine &line);
	template <typename Fill> void packet(Fill fill);
	template <typename Fill> void descriptor(Fill fill);
	void event(EventType type, std::uint64_t time, std::uint64_t track, const EventText &text);
	void flush(std::size_t most);

	const Sink &sink_;
	std::string out_;
	std::map<std::pair<Interned, std::string>, std::uint64_t> iids_;
	std::map<Interned, std::uint64_t> last_iid_;
	std::string interned_; ///< entries that the next packet brings
};

} // namespace lockscope::perfetto
