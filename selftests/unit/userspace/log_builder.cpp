// SPDX-License-Identifier: GPL-2.0
#include "log_builder.h"

#include <algorithm>
#include <cstring>

namespace lockscope::test {

namespace {

template <std::size_t N> void fill(char (&field)[N], const std::string &text)
{
	std::memset(field, 0, N);
	std::memcpy(field, text.data(), std::min(text.size(), N - 1));
}

template <typename T> void append(std::vector<std::byte> &out, const T &item)
{
	const auto *bytes = reinterpret_cast<const std::byte *>(&item);
	out.insert(out.end(), bytes, bytes + sizeof(T));
}

} // namespace

LogBuilder::LogBuilder(std::uint64_t instance)
{
	auto &info = image_.info;
	info.abi_major = LS_ABI_MAJOR;
	info.abi_minor = LS_ABI_MINOR;
	info.active = 1;
	info.instance = instance;
	fill(info.release, "6.1.0-test-amd64");
}

template <typename Raw>
void LogBuilder::put(Raw record, ls_rec_type type, const std::vector<std::byte> &tail)
{
	record.hdr.len = static_cast<__u32>(sizeof(Raw) + tail.size());
	record.hdr.type = type;
	append(image_.log, record);
	image_.log.insert(image_.log.end(), tail.begin(), tail.end());
	image_.info.log_bytes = image_.log.size();
}

void LogBuilder::raw(const void *data, std::size_t size)
{
	const auto *bytes = static_cast<const std::byte *>(data);
	image_.log.insert(image_.log.end(), bytes, bytes + size);
	image_.info.log_bytes = image_.log.size();
}

std::uint64_t LogBuilder::ip(const std::string &function, std::uint32_t offset)
{
	auto [base, added] =
		functions_.try_emplace(function, 0xffffffff81000000u + functions_.size() * 0x1000);
	auto [at, first] = ips_.try_emplace({function, offset}, base->second + offset);
	return at->second;
}

std::uint32_t LogBuilder::val(const Lock &lock, const Task &task) const
{
	return lock.cls | std::uint32_t{lock.read} << LS_VAL_READ_SHIFT |
	       (lock.try_lock ? LS_VAL_TRY : 0) | (lock.wait ? LS_VAL_WAIT : 0) |
	       (lock.quiet ? LS_VAL_QUIET : 0) | std::uint32_t{task.level} << LS_VAL_LEVEL_SHIFT |
	       (task.irq_off || task.level == LS_HARDIRQ ? LS_VAL_IRQ_OFF : 0) |
	       (task.bh_off ? LS_VAL_BH_OFF : 0);
}

std::uint64_t LogBuilder::address(const Lock &lock) const
{
	if (!lock.cls)
		return 0;
	return lock.address ? lock.address : 0xffffffff82000000u + lock.cls * 64;
}

std::uint32_t LogBuilder::add_class(const std::string &name, ls_kind kind, ls_origin origin,
				    std::uint32_t offset, std::uint32_t object_size,
				    const std::string &module)
{
	ls_rec_class record{};
	record.id = record.canonical = ++classes_;
	record.kind = static_cast<__u8>(kind);
	record.origin = static_cast<__u8>(origin);
	record.offset = offset;
	record.object_size = object_size;
	fill(record.module, module);
	fill(record.name, name);
	put(record, LS_REC_CLASS);
	image_.info.classes = classes_;
	return classes_;
}

std::uint32_t LogBuilder::chain(const Task &task, const std::vector<Lock> &held,
				const Lock &acquired, std::uint32_t count)
{
	std::uint32_t parent = 0;
	auto step = [&](const Lock &lock, std::uint32_t n) {
		auto [at, added] =
			chains_.try_emplace({parent, val(lock, task)},
					    static_cast<std::uint32_t>(image_.chains.size() + 1));
		if (added)
			image_.chains.push_back(
				{parent, val(lock, task), ip(lock.function, 16), 0, 0});
		image_.chains[at->second - 1].count += n;
		parent = at->second;
	};
	for (const auto &lock : held)
		step(lock, 0);
	step(acquired, count);
	image_.info.chains = static_cast<__u32>(image_.chains.size());
	image_.info.acquisitions += count;
	image_.info.level_acquisitions[task.level] += count;
	return parent;
}

std::uint32_t LogBuilder::acquire(const Task &task, const std::vector<Lock> &held,
				  const Lock &acquired)
{
	ls_rec_sight record{};
	record.new_mask = held.empty() ? 0 : (std::uint64_t{1} << held.size()) - 1;
	record.chain = chain(task, held, acquired, 1);
	return sight(task, held, acquired, record);
}

std::uint32_t LogBuilder::release(const Task &task, const std::vector<Lock> &held,
				  const Lock &released)
{
	ls_rec_sight record{};
	record.what = LS_SIGHT_RELEASE;
	return sight(task, held, released, record);
}

std::uint32_t LogBuilder::complete(const Task &task, const std::vector<Lock> &held,
				   const Lock &completion, std::uint64_t extra)
{
	ls_rec_sight record{};
	record.what = LS_SIGHT_COMPLETE;
	record.extra = extra;
	record.new_mask = (std::uint64_t{1} << held.size()) - 1;
	return sight(task, held, completion, record);
}

std::uint32_t LogBuilder::fault(ls_finding_kind kind, const Task &task,
				const std::vector<Lock> &held, const Lock &lock,
				std::uint64_t marked, std::uint64_t extra)
{
	ls_rec_sight record{};
	record.what = kind;
	record.new_mask = marked;
	record.extra = extra;
	return sight(task, held, lock, record);
}

std::uint32_t LogBuilder::stack(const Task &task, std::uint64_t innermost)
{
	ls_rec_stack stack{};
	stack.id = ++stacks_;
	stack.nr =
		static_cast<__u32>(std::min<std::size_t>(task.stack.size() + 1, LS_STACK_FRAMES));
	std::vector<std::byte> frames;
	append(frames, innermost);
	for (std::size_t i = 0; i + 1 < stack.nr; i++)
		append(frames, ip(task.stack[i], 64));
	put(stack, LS_REC_STACK, frames);
	return stack.id;
}

/* @record has the fields that depend on the kind of observation. */
std::uint32_t LogBuilder::sight(const Task &task, const std::vector<Lock> &held,
				const Lock &acquired, ls_rec_sight sight)
{
	/* A lock and the one before it come from different lines. */
	sight.stack = stack(task, ip(acquired.function, 32));
	sight.time_ns = (sights_ + 1) * 1000;
	sight.ip = ip(acquired.function, 32);
	sight.lock = address(acquired);
	sight.val = val(acquired, task);
	sight.pid = task.pid;
	sight.tgid = task.pid;
	sight.task_flags = task.flags;
	sight.nr_held = static_cast<__u16>(held.size());
	sight.cpu = task.cpu;
	fill(sight.comm, task.comm);
	std::vector<std::byte> tail;
	for (const auto &lock : held)
		append(tail, ls_held_rec{val(lock, task), lock.passed, ip(lock.function, 16),
					 address(lock)});
	put(sight, LS_REC_SIGHT, tail);
	image_.info.sights = sights_ + 1;
	return sights_++;
}

void LogBuilder::acquire_again(const Task &task, const std::vector<Lock> &held,
			       const Lock &acquired, std::uint32_t count)
{
	chain(task, held, acquired, count);
}

void LogBuilder::inversion(std::uint32_t cls, bool same, std::uint32_t first, std::uint32_t second)
{
	ls_rec_inversion record{};
	record.class_id = cls;
	record.same_instance = same;
	record.first = first;
	record.second = second;
	put(record, LS_REC_INVERSION);
}

void LogBuilder::finding(const std::vector<std::uint32_t> &classes, ls_finding_kind kind)
{
	ls_rec_finding record{};
	record.id = ++findings_;
	record.kind = static_cast<__u16>(kind);
	record.nr_edges = static_cast<__u16>(classes.size());
	std::vector<std::byte> tail;
	for (std::size_t i = 0; i < classes.size(); i++)
		append(tail, ls_finding_edge{classes[i], classes[(i + 1) % classes.size()],
					     LS_DEP_EN, 0});
	put(record, LS_REC_FINDING, tail);
	image_.info.findings = findings_;
}

void LogBuilder::count_semaphore(std::uint32_t cls, std::uint64_t releases, std::uint64_t unmatched,
				 __u16 instances, __u16 handed)
{
	ls_class_counts counts{};
	counts.id = cls;
	counts.acquires = counts.releases = releases;
	counts.unmatched_releases = counts.unmatched_acquires = unmatched;
	counts.instances = instances;
	counts.handed = handed;
	count(counts);
}

std::uint32_t LogBuilder::add_data(const std::string &name, ls_data_kind kind,
				   std::uint32_t object_size, const std::string &module)
{
	ls_rec_data record{};
	record.id = ++data_;
	record.object_size = object_size;
	record.kind = static_cast<__u8>(kind);
	fill(record.module, module);
	fill(record.name, name);
	put(record, LS_REC_DATA);
	return data_;
}

void LogBuilder::module(const std::string &name, const std::vector<std::string> &functions)
{
	for (const auto &function : functions)
		modules_[function] = name;
}

ls_access_info &LogBuilder::access_info()
{
	if (!image_.accesses) {
		image_.accesses.emplace();
		image_.accesses->mode = LS_ACCESSES_ALL;
	}
	return *image_.accesses;
}

std::uint32_t LogBuilder::access(const Task &task, const Touch &touch)
{
	ls_rec_access record{};
	const std::uint64_t at = ip(touch.function, touch.at);
	record.stack = stack(task, at);
	access_ips_.push_back(at);
	image_.access_counts.push_back(touch.count | (touch.alone ? 0 : LS_COUNT_SHARED));
	auto &info = access_info();
	info.sites = record.id = static_cast<__u32>(image_.access_counts.size());
	info.seen += touch.count;
	record.data = touch.data;
	record.offset = touch.offset;
	record.size = touch.size;
	record.op = touch.op;
	record.ip = at;
	record.time_ns = record.id * 1000;
	/* The same bits as of an acquisition there. */
	record.where = touch.where | val({}, task);
	record.pid = task.pid;
	record.tgid = task.pid;
	record.task_flags = task.flags;
	record.nr_guards = static_cast<__u16>(touch.guards.size());
	record.cpu = task.cpu;
	fill(record.comm, task.comm);
	std::vector<std::byte> tail;
	for (const auto &guard : touch.guards)
		append(tail, ls_guard_rec{val(guard.lock, task), static_cast<__u16>(guard.relation),
					  guard.via, guard.lock_offset, 0,
					  ip(guard.lock.function, 16), address(guard.lock)});
	put(record, LS_REC_ACCESS, tail);
	return record.id;
}

void LogBuilder::race(std::uint32_t first, std::uint32_t second, std::uint32_t flags,
		      const std::vector<ls_history_rec> &history, std::uint64_t addr,
		      std::uint32_t first_pid, std::uint32_t second_pid)
{
	ls_rec_race record{};
	record.id = ++findings_;
	record.flags = flags;
	record.first = first;
	record.second = second;
	record.first_pid = first_pid;
	record.second_pid = second_pid;
	record.addr = addr;
	record.time_ns = findings_;
	record.nr = static_cast<__u32>(history.size());
	std::vector<std::byte> tail;
	for (const auto &entry : history)
		append(tail, entry);
	put(record, LS_REC_RACE, tail);
	access_info().races++;
}

void LogBuilder::side(std::uint32_t access, const Task &task, std::uint32_t flags,
		      const std::vector<std::uint64_t> &locks, bool own_stack)
{
	ls_rec_side record{};
	record.race = findings_;
	record.flags = flags;
	record.time_ns = findings_;
	record.access = access;
	record.stack = own_stack ? stack(task, access_ips_.at(access - 1)) : 0;
	record.pid = task.pid;
	record.tgid = task.pid;
	record.task_flags = task.flags;
	record.cpu = task.cpu;
	record.nr_locks = static_cast<__u16>(locks.size());
	fill(record.comm, task.comm);
	std::vector<std::byte> tail;
	for (const auto lock : locks)
		append(tail, lock);
	put(record, LS_REC_SIDE, tail);
}

void LogBuilder::history(std::uint32_t access, ls_shadow_state before, ls_shadow_state after,
			 std::uint32_t candidates, std::vector<Lock> locks, std::uint64_t addr)
{
	ls_rec_history record{};
	record.addr = addr;
	record.access = access;
	record.before = static_cast<__u8>(before);
	record.after = static_cast<__u8>(after);
	record.candidates = candidates;
	for (std::size_t i = 0; i < locks.size() && i < std::size(record.locks); i++)
		record.locks[i] = address(locks[i]);
	put(record, LS_REC_HISTORY);
}

void LogBuilder::reset()
{
	struct {
		ls_rec hdr;
	} record{};
	put(record, LS_REC_RESET);
}

Image LogBuilder::image() const
{
	LogBuilder copy = *this;
	for (const auto &[place, address] : ips_) {
		ls_rec_symbol record{};
		record.ip = address;
		record.offset = place.second;
		record.size = 256;
		fill(record.function, place.first);
		auto module = modules_.find(place.first);
		fill(record.module, module == modules_.end() ? "vmlinux" : module->second);
		copy.put(record, LS_REC_SYMBOL);
	}
	return copy.image_;
}

} // namespace lockscope::test
