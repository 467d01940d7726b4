// SPDX-License-Identifier: GPL-2.0
#include "report/perfetto_packets.h"

#include "util/utf8.h"

namespace lockscope::perfetto {

namespace {

constexpr std::size_t kPartBytes = 1 << 16;
constexpr std::uint32_t kSequence = 1;

template <typename Message> using Build = protozero::pbf_builder<Message>;

} // namespace

template <typename Fill> void Packets::packet(Fill fill)
{
	{
		Build<Trace> trace(out_);
		Builder packet(trace, Trace::Packet);
		packet.add_uint32(Packet::SequenceId, kSequence);
		fill(packet);
	}
	flush(kPartBytes);
}

void Packets::flush(std::size_t most)
{
	if (out_.size() <= most)
		return;
	sink_(out_);
	out_.clear();
}

void Packets::begin(std::uint64_t monotonic_ns, std::uint64_t real_ns)
{
	packet([&](Builder &packet) {
		packet.add_uint32(Packet::SequenceFlags, kStateCleared);
		packet.add_bool(Packet::FirstOnSequence, true);
		Build<Defaults>(packet, Packet::Defaults).add_uint32(Defaults::ClockId, kMonotonic);
	});
	packet([&](Builder &packet) {
		Build<Snapshot> snapshot(packet, Packet::ClockSnapshot);
		for (const auto &[id, time] :
		     {std::pair(kMonotonic, monotonic_ns), std::pair(kRealtime, real_ns)}) {
			Build<Clock> clock(snapshot, Snapshot::Clock);
			clock.add_uint32(Clock::Id, id);
			clock.add_uint64(Clock::Timestamp, time);
		}
		snapshot.add_uint32(Snapshot::PrimaryClock, kMonotonic);
	});
}

std::uint64_t Packets::iid(Interned table, const std::string &text)
{
	const auto [at, added] = iids_.try_emplace({table, text});
	if (!added)
		return at->second;
	at->second = ++last_iid_[table];
	Build<Interned> data(interned_);
	Build<Name> entry(data, table);
	entry.add_uint64(Name::Iid, at->second);
	entry.add_string(Name::Text, plain_line(text));
	return at->second;
}

std::uint64_t Packets::location(const SourceLine &line)
{
	const auto [at, added] =
		iids_.try_emplace({Interned::Locations, line.file + '\0' + line.function + '\0' +
								std::to_string(line.line)});
	if (!added)
		return at->second;
	at->second = ++last_iid_[Interned::Locations];
	Build<Interned> data(interned_);
	Build<Location> entry(data, Interned::Locations);
	entry.add_uint64(Location::Iid, at->second);
	entry.add_string(Location::File, plain_line(line.file));
	entry.add_string(Location::Function, plain_line(line.function));
	entry.add_uint32(Location::Line, line.line);
	return at->second;
}

template <typename Fill> void Packets::descriptor(Fill fill)
{
	packet([&](Builder &packet) {
		Build<Descriptor> descriptor(packet, Packet::TrackDescriptor);
		fill(descriptor);
	});
}

void Packets::track(std::uint64_t uuid, std::uint64_t parent, const std::string &name)
{
	descriptor([&](auto &track) {
		track.add_uint64(Descriptor::Uuid, uuid);
		if (parent)
			track.add_uint64(Descriptor::Parent, parent);
		track.add_string(Descriptor::Name, plain_line(name));
	});
}

void Packets::process(std::uint64_t uuid, std::uint32_t pid, const std::string &name)
{
	descriptor([&](auto &track) {
		track.add_uint64(Descriptor::Uuid, uuid);
		Build<Process> process(track, Descriptor::Process);
		process.add_int32(Process::Pid, static_cast<std::int32_t>(pid));
		process.add_string(Process::Name, plain_line(name));
	});
}

void Packets::thread(std::uint64_t uuid, std::uint64_t parent, std::uint32_t pid, std::uint32_t tid,
		     const std::string &name)
{
	descriptor([&](auto &track) {
		track.add_uint64(Descriptor::Uuid, uuid);
		track.add_uint64(Descriptor::Parent, parent);
		Build<Thread> thread(track, Descriptor::Thread);
		thread.add_int32(Thread::Pid, static_cast<std::int32_t>(pid));
		thread.add_int32(Thread::Tid, static_cast<std::int32_t>(tid));
		thread.add_string(Thread::Name, plain_line(name));
	});
}

void Packets::event(EventType type, std::uint64_t time, std::uint64_t track, const EventText &text)
{
	std::string body;
	{
		Build<Event> event(body);
		event.add_enum(Event::Type, static_cast<std::int32_t>(type));
		event.add_uint64(Event::Track, track);
		if (type != EventType::End) {
			event.add_uint64(Event::CategoryIid,
					 iid(Interned::Categories, text.category));
			event.add_uint64(Event::NameIid, iid(Interned::EventNames, text.name));
		}
		if (text.line)
			event.add_uint64(Event::LocationIid, location(*text.line));
		for (const auto &argument : text.arguments) {
			const auto name = iid(Interned::AnnotationNames, argument.name);
			Build<Annotation> annotation(event, Event::Annotation);
			annotation.add_uint64(Annotation::NameIid, name);
			if (argument.type == Argument::Type::Bool)
				annotation.add_bool(Annotation::Bool, argument.number != 0);
			else if (argument.type == Argument::Type::Number)
				annotation.add_uint64(Annotation::Uint, argument.number);
			else
				annotation.add_uint64(
					Annotation::StringIid,
					iid(Interned::AnnotationStrings, argument.text));
		}
	}
	packet([&](Builder &packet) {
		packet.add_uint64(Packet::Timestamp, time);
		packet.add_uint32(Packet::SequenceFlags, kNeedsState);
		if (!interned_.empty())
			packet.add_message(Packet::InternedData, interned_);
		packet.add_message(Packet::TrackEvent, body);
	});
	interned_.clear();
}

void Packets::slice_begin(std::uint64_t time, std::uint64_t track, const EventText &text)
{
	event(EventType::Begin, time, track, text);
}

void Packets::slice_end(std::uint64_t time, std::uint64_t track)
{
	event(EventType::End, time, track, {});
}

void Packets::instant(std::uint64_t time, std::uint64_t track, const EventText &text)
{
	event(EventType::Instant, time, track, text);
}

} // namespace lockscope::perfetto
