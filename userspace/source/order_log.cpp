// SPDX-License-Identifier: GPL-2.0
#include "source/order_log.h"

extern "C" {
#include "lockclass/edges.h"
}

#include <algorithm>
#include <cstring>

namespace lockscope {

namespace {

/* Longest cycle of instances that is searched. */
/* Frames of a contended lock's own functions. */
constexpr std::size_t kLockFrames = 8;

std::uint32_t mode(std::uint32_t val)
{
	return val & ~LS_VAL_CLASS_MASK;
}

bool is_lock_function(const std::string &name)
{
	return name.rfind("_raw_", 0) == 0 || name.find("spin_lock_slowpath") != name.npos ||
	       name.rfind("queued_", 0) == 0 || name.rfind("__raw_callee", 0) == 0;
}

} // namespace

void OrderLog::append(const void *record, std::size_t size, const void *more, std::size_t more_size)
{
	const auto *from = static_cast<const std::byte *>(record);
	log_.insert(log_.end(), from, from + size);
	if (more_size) {
		const auto *rest = static_cast<const std::byte *>(more);
		log_.insert(log_.end(), rest, rest + more_size);
	}
}

void OrderLog::append_classes()
{
	for (const auto &cls : classes_.take_new()) {
		ls_rec_class rec{};
		rec.hdr = {sizeof(rec), LS_REC_CLASS, 0};
		rec.id = cls.id;
		rec.canonical = cls.canonical;
		rec.kind = cls.kind;
		rec.origin = cls.origin;
		rec.offset = cls.offset;
		rec.object_size = cls.object_size;
		cls.module.copy(rec.module, sizeof(rec.module) - 1);
		cls.name.copy(rec.name, sizeof(rec.name) - 1);
		append(&rec, sizeof(rec));
	}
}

/* Stack from the caller of the lock function outwards. A contended lock has no acquire site:
 * there it begins behind the last frame of the lock's own functions. */
std::vector<std::uint64_t> OrderLog::stack_of(const ls_order_observation &observation,
					      std::uint64_t &ip)
{
	const std::size_t nr =
		std::min<std::size_t>(observation.nr_frames, std::size(observation.stack));
	const std::vector<std::uint64_t> frames(observation.stack, observation.stack + nr);
	const auto kind = observation.lock.val & LS_VAL_CLASS_MASK;
	auto first = std::find(frames.begin(), frames.end(), ip);
	if (LS_SPINNING_KINDS >> kind & 1) {
		std::size_t last = 0;
		for (std::size_t i = 0; i < frames.size() && i < kLockFrames; i++)
			if (auto at = code_(frames[i]); at && is_lock_function(at->name))
				last = i + 1;
		if (last && last < frames.size()) {
			first = frames.begin() + static_cast<std::ptrdiff_t>(last);
			ip = *first;
		}
	}
	std::vector<std::uint64_t> out(first, frames.end());
	if (out.empty())
		out.push_back(ip);
	out.resize(std::min<std::size_t>(out.size(), LS_STACK_FRAMES));
	return out;
}

std::uint32_t OrderLog::stack_id(const std::vector<std::uint64_t> &frames)
{
	auto [at, added] =
		stacks_.try_emplace(frames, static_cast<std::uint32_t>(stacks_.size() + 1));
	if (added) {
		ls_rec_stack rec{};
		const std::size_t bytes = frames.size() * sizeof(frames[0]);
		rec.hdr = {static_cast<__u32>(sizeof(rec) + bytes), LS_REC_STACK, 0};
		rec.id = at->second;
		rec.nr = static_cast<__u32>(frames.size());
		append(&rec, sizeof(rec), frames.data(), bytes);
	}
	return at->second;
}

void OrderLog::invert(std::uint32_t cls, bool same, std::uint32_t first, std::uint32_t second)
{
	if (!inverted_.insert({cls, same}).second)
		return;
	ls_rec_inversion rec{};
	rec.hdr = {sizeof(rec), LS_REC_INVERSION, 0};
	rec.class_id = cls;
	rec.same_instance = same;
	rec.first = first;
	rec.second = second;
	append(&rec, sizeof(rec));
	ls_rec_finding finding{};
	const ls_finding_edge edge{cls, cls, LS_DEP_EN, second};
	finding.hdr = {sizeof(finding) + sizeof(edge), LS_REC_FINDING, 0};
	finding.id = ++findings_;
	finding.kind = LS_FINDING_RECURSIVE;
	finding.nr_edges = 1;
	append(&finding, sizeof(finding), &edge, sizeof(edge));
}

std::uint32_t OrderLog::node(const Taken &lock)
{
	const auto next = static_cast<std::uint32_t>(nodes_.size());
	auto [at, added] = nodes_.try_emplace({lock.cls, lock.lock.lock, lock.life}, next);
	if (added && next >= kInstances) {
		nodes_.erase(at);
		return kInstances;
	}
	return at->second;
}

/* As in the module: the same instance again is a fault, unless both are readers that may
 * certainly read at once; instances in a cycle are one. */
void OrderLog::look_at_instances(const std::vector<Taken> &held, const Taken &taken,
				 std::uint32_t ordinal)
{
	for (const auto &h : held) {
		if (h.cls != taken.cls || !ls_orders(h.lock.val, taken.lock.val))
			continue;
		const bool both_read =
			(h.lock.val & LS_VAL_READ_MASK) && (taken.lock.val & LS_VAL_READ_MASK);
		if (h.lock.lock == taken.lock.lock) {
			invert(taken.cls, true, ordinal, ordinal);
			continue;
		}
		/* A lock held besides by all of them excludes the two orders. */
		const bool gate = std::any_of(held.begin(), held.end(), [&](const Taken &other) {
			return &other != &h && !(other.lock.val & LS_VAL_READ_MASK);
		});
		if (both_read || gate)
			continue;
		const std::uint32_t from = node(h), to = node(taken);
		const std::uint32_t edge =
			from < kInstances && to < kInstances ? pairs_.add(from, to, LS_DEP_EN) : 0;
		if (!edge) {
			lost_pairs_++;
			continue;
		}
		if (pair_observations_.size() <= edge)
			pair_observations_.resize(edge + 1, ordinal);
		const auto ring = pairs_.shortest_cycle(edge, LS_DEP_EN);
		if (ring.size() > 1)
			invert(taken.cls, false, pair_observations_[ring[1]], ordinal);
		pair_observations_[edge] = ordinal;
	}
}

void OrderLog::note_semaphore(const Taken &lock)
{
	if ((lock.lock.val & LS_VAL_CLASS_MASK) == LS_KIND_SEMAPHORE)
		semaphores_[lock.cls].insert(lock.lock.lock);
}

void OrderLog::add(const ls_order_observation &observation)
{
	const std::uint32_t nr = std::min<std::uint32_t>(observation.nr_held, LS_ORDER_DEPTH);
	std::uint64_t ip = observation.lock.ip;
	const auto frames = stack_of(observation, ip);

	Taken taken{observation.lock, 0, observation.idents[nr].life};
	taken.lock.ip = ip;
	std::vector<Taken> held;
	for (std::uint32_t i = 0; i < nr; i++) {
		Taken h{observation.held[i],
			classes_.find(observation.held[i], observation.idents[i]),
			observation.idents[i].life};
		if (h.cls)
			held.push_back(h);
	}
	taken.cls = classes_.find(taken.lock, observation.idents[nr]);
	if (!taken.cls || held.empty())
		return;
	append_classes();
	note_semaphore(taken);

	std::vector<ls_held_rec> records;
	for (const auto &h : held) {
		note_semaphore(h);
		records.push_back({mode(h.lock.val) | h.cls, 0, h.lock.ip, h.lock.lock});
		if (h.cls != taken.cls && ls_orders(h.lock.val, taken.lock.val))
			edges_.insert({h.cls, taken.cls});
	}
	ls_rec_sight rec{};
	const std::size_t bytes = records.size() * sizeof(records[0]);
	rec.stack = stack_id(frames);
	rec.hdr = {static_cast<__u32>(sizeof(rec) + bytes), LS_REC_SIGHT, 0};
	rec.time_ns = observation.time_ns;
	rec.new_mask = (std::uint64_t{1} << records.size()) - 1;
	rec.ip = ip;
	rec.lock = observation.lock.lock;
	rec.val = mode(observation.lock.val) | taken.cls;
	rec.pid = observation.pid;
	rec.tgid = observation.tgid;
	rec.task_flags = observation.task_flags;
	rec.nr_held = static_cast<__u16>(records.size());
	rec.cpu = static_cast<__u16>(observation.cpu);
	std::memcpy(rec.comm, observation.comm, sizeof(rec.comm));
	rec.comm[sizeof(rec.comm) - 1] = 0;
	append(&rec, sizeof(rec), records.data(), bytes);
	look_at_instances(held, taken, observations_++);
}

} // namespace lockscope
