// SPDX-License-Identifier: GPL-2.0
#include "recover/events.h"

#include "log/log.h"

extern "C" {
#include "lockclass/event.h"
#include "lockclass/ring.h"
}

#include <algorithm>
#include <cstring>
#include <map>
#include <set>
#include <tuple>
#include <unordered_map>

namespace lockscope::recover {

namespace {

constexpr std::uint32_t kRingHeaderBytes = 4096, kMostRing = 64u << 20;

/// An observation in a ring; what is variable was checked to be there.
struct Event {
	std::vector<ls_held_rec> held;
	std::vector<std::uint64_t> frames;
	std::uint32_t flags = 0; ///< LS_EV_*
	ls_rec_sight sight;	 ///< its array is empty
};

bool parse(std::span<const std::byte> bytes, Event &out)
{
	ls_rec_sight &s = out.sight;
	if (bytes.size() < sizeof(s))
		return false;
	std::memcpy(&s, bytes.data(), sizeof(s));
	bytes = bytes.subspan(sizeof(s));
	if (s.hdr.type != 0 || s.nr_held > LS_MAX_DEPTH || s.stack > LS_STACK_FRAMES ||
	    bytes.size() < s.nr_held * sizeof(ls_held_rec) + s.stack * sizeof(std::uint64_t))
		return false;
	out.held.resize(s.nr_held);
	out.frames.resize(s.stack);
	if (s.nr_held)
		std::memcpy(out.held.data(), bytes.data(), s.nr_held * sizeof(ls_held_rec));
	if (s.stack)
		std::memcpy(out.frames.data(), bytes.data() + s.nr_held * sizeof(ls_held_rec),
			    s.stack * sizeof(std::uint64_t));
	out.flags = s.hdr.flags;
	return true;
}

/// The log, and what in it later records refer to.
class Log {
public:
	explicit Log(std::vector<std::byte> &bytes) : bytes_(bytes)
	{
		LogDecoder decoder;
		std::vector<LogRecord> records;
		decoder.decode(bytes_, records);
		for (const auto &record : records)
			std::visit([&](const auto &r) { see(r); }, record);
	}

	bool known(const Event &e) const { return observed_.count(identity(e.sight)); }

	/// Is the class of @val named?
	bool named(std::uint32_t val) const
	{
		return canonical_.count(val & LS_VAL_CLASS_MASK) || !(val & LS_VAL_CLASS_MASK);
	}

	void add(Event &e)
	{
		ls_rec_sight &s = e.sight;
		s.stack = stack_id(e.frames);
		s.hdr = {
			static_cast<std::uint32_t>(sizeof(s) + e.held.size() * sizeof(ls_held_rec)),
			LS_REC_SIGHT, 0};
		append(&s, sizeof(s));
		append(e.held.data(), e.held.size() * sizeof(ls_held_rec));
		const std::uint32_t ordinal = observations_++;
		if (e.flags & (LS_EV_SAME | LS_EV_STRICT))
			inversion(s.val, e.flags & LS_EV_SAME, ordinal, ordinal);
		else if (e.flags & LS_EV_INVERSION)
			inversion(s.val, false, other_order(e).value_or(ordinal), ordinal);
		remember(s.lock, s.val, ordinal, e.held);
	}

	std::uint32_t observations() const { return observations_; }
	std::uint32_t stacks() const { return last_stack_; }

private:
	using Identity = std::tuple<std::uint64_t, std::uint64_t, std::uint32_t, std::uint32_t>;
	template <typename Sight> static Identity identity(const Sight &s)
	{
		return {s.time_ns, s.ip, s.pid, s.what};
	}

	void see(const ClassRecord &r) { canonical_[r.id] = r.canonical; }
	void see(const StackRecord &r)
	{
		stacks_[r.ip] = r.id;
		last_stack_ = std::max(last_stack_, r.id);
	}
	void see(const ObservationRecord &r)
	{
		observed_.insert(identity(r));
		remember(r.lock, r.val, observations_++, r.held);
	}
	/* The same addresses are another stack once other code is there. */
	void see(const ModuleRecord &r)
	{
		const auto gone = [&](std::uint64_t ip) {
			return (r.state == LS_MODULE_GOES && ip > r.text && ip <= r.text_end) ||
			       (r.state != LS_MODULE_COMES && ip > r.init && ip <= r.init_end);
		};
		if (r.state == LS_MODULE_COMES)
			return;
		std::erase_if(stacks_, [&](const auto &stack) {
			return std::any_of(stack.first.begin(), stack.first.end(), gone);
		});
	}
	template <typename Other> void see(const Other &) {}

	std::uint32_t canonical(std::uint32_t val) const
	{
		const auto at = canonical_.find(val & LS_VAL_CLASS_MASK);
		return at == canonical_.end() ? val & LS_VAL_CLASS_MASK : at->second;
	}

	/// Pairs of instances of one class, and where they were first seen in that order.
	template <typename HeldList>
	void remember(std::uint64_t lock, std::uint32_t val, std::uint32_t ordinal,
		      const HeldList &held)
	{
		for (const auto &h : held)
			if (h.lock != lock && canonical(h.val) == canonical(val))
				pairs_.try_emplace({h.lock, lock}, ordinal);
	}

	std::optional<std::uint32_t> other_order(const Event &e) const
	{
		for (const auto &h : e.held)
			if (const auto at = pairs_.find({e.sight.lock, h.lock}); at != pairs_.end())
				return at->second;
		return std::nullopt;
	}

	void inversion(std::uint32_t val, bool same, std::uint32_t first, std::uint32_t second)
	{
		const ls_rec_inversion record = {
			{sizeof(record), LS_REC_INVERSION, 0}, canonical(val), same, first, second};
		append(&record, sizeof(record));
	}

	std::uint32_t stack_id(const std::vector<std::uint64_t> &frames)
	{
		if (frames.empty())
			return 0;
		const auto [at, added] = stacks_.try_emplace(frames, last_stack_ + 1);
		if (!added)
			return at->second;
		ls_rec_stack record{};
		record.hdr = {static_cast<std::uint32_t>(sizeof(record) + frames.size() * 8),
			      LS_REC_STACK, 0};
		record.id = ++last_stack_;
		record.nr = static_cast<std::uint32_t>(frames.size());
		append(&record, sizeof(record));
		append(frames.data(), frames.size() * 8);
		return last_stack_;
	}

	void append(const void *from, std::size_t n)
	{
		const auto *bytes = static_cast<const std::byte *>(from);
		bytes_.insert(bytes_.end(), bytes, bytes + n);
	}

	std::vector<std::byte> &bytes_;
	std::unordered_map<std::uint32_t, std::uint32_t> canonical_;
	std::map<std::vector<std::uint64_t>, std::uint32_t> stacks_;
	std::set<Identity> observed_;
	std::map<std::pair<std::uint64_t, std::uint64_t>, std::uint32_t> pairs_;
	std::uint32_t observations_ = 0, last_stack_ = 0;
};

/// The header of the event at @at, if it is one that ends before @head.
std::optional<ls_event> event_at(std::span<const std::byte> data, std::uint64_t at,
				 std::uint64_t head)
{
	const std::uint64_t begin = at & (data.size() - 1);
	ls_event e;
	if (data.size() - begin < sizeof(e))
		return std::nullopt;
	std::memcpy(&e, data.data() + begin, sizeof(e));
	if (e.len < sizeof(e) || e.len & 7 || e.len > data.size() - begin || e.len > head - at)
		return std::nullopt;
	return e;
}

/// Does a committed event begin at @at, and one behind another up to @head, or a few of them?
bool follows(std::span<const std::byte> data, std::uint64_t at, std::uint64_t head)
{
	constexpr int kEnough = 8;
	for (int i = 0; i < kEnough && at != head; i++) {
		const auto e = event_at(data, at, head);
		if (!e || e->state > LS_EVENT_SKIP || (i == 0 && e->state == LS_EVENT_FREE))
			return false;
		at += e->len;
	}
	return true;
}

} // namespace

std::vector<std::span<const std::byte>> ring_events(std::span<const std::byte> data,
						    std::uint64_t tail, std::uint64_t head,
						    std::uint32_t &lost)
{
	std::vector<std::span<const std::byte>> out;
	const std::uint64_t size = data.size();
	if (head - tail > size || tail & 7 || head & 7)
		return out;
	for (std::uint64_t at = tail; at != head;) {
		if (const auto e = event_at(data, at, head)) {
			const std::uint64_t begin = (at & (size - 1)) + sizeof(*e);
			if (e->state == LS_EVENT_READY)
				out.push_back(data.subspan(begin, e->len - sizeof(*e)));
			else if (e->state != LS_EVENT_SKIP)
				lost++;
			at += e->len;
			continue;
		}
		/*
		 * Its room was reserved but not its length written. The first one may be an event
		 * whose words the worker has made zero to free it: that one is in the log.
		 */
		lost += at != tail;
		do
			at += 8;
		while (at != head && !follows(data, at, head));
	}
	return out;
}

Pending take_pending(KernelMemory &kernel, const ls_anchor &anchor, Tables &tables)
{
	Pending out;
	std::vector<Event> events;
	for (const std::uint64_t cpu : cpu_states(kernel, anchor)) {
		if (!cpu)
			continue;
		const auto ring = kernel.get<std::uint64_t>(cpu + anchor.cpu_layout.ring);
		const auto header = ring ? kernel.get<ls_ring_header>(*ring) : std::nullopt;
		if (!header || header->data_bytes < kRingHeaderBytes ||
		    header->data_bytes > kMostRing ||
		    header->data_bytes & (header->data_bytes - 1)) {
			tables.missing.push_back("the ring of events of a CPU");
			continue;
		}
		std::vector<std::byte> data(header->data_bytes);
		if (!kernel.read(*ring + kRingHeaderBytes, data.data(), data.size())) {
			tables.missing.push_back("the ring of events of a CPU");
			continue;
		}
		for (const auto bytes : ring_events(data, header->tail, header->head, out.lost))
			if (Event e; parse(bytes, e))
				events.push_back(std::move(e));
			else
				out.lost++;
	}
	std::stable_sort(events.begin(), events.end(), [](const Event &a, const Event &b) {
		return a.sight.time_ns < b.sight.time_ns;
	});
	Log log(tables.image.log);
	for (auto &e : events) {
		/* The worker was about to free it. */
		if (log.known(e))
			continue;
		const auto named = [&](const ls_held_rec &h) { return log.named(h.val); };
		if (!log.named(e.sight.val) || !std::all_of(e.held.begin(), e.held.end(), named)) {
			out.lost++;
			continue;
		}
		log.add(e);
		out.observations++;
	}
	ls_info &info = tables.image.info;
	info.sights = log.observations();
	info.stacks = log.stacks();
	info.log_bytes = tables.image.log.size();
	info.losses[LS_LOSS_RECORDS] += out.lost;
	return out;
}

} // namespace lockscope::recover
