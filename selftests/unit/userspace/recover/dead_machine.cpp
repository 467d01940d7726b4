// SPDX-License-Identifier: GPL-2.0
#include "recover/dead_machine.h"

#include <cstring>

namespace lockscope::test {

namespace {

constexpr std::uint64_t kPresent = 1, kPages = 512;
constexpr std::uint32_t kRing = 4096, kContexts = 8, kClasses = 64;
constexpr std::uint32_t kSegment = 1024, kSegments = 64;
constexpr unsigned char kMagic[] = LS_ANCHOR_MAGIC;

} // namespace

/*
 * One table of each level covers 2 MiB behind the start of the direct mapping, which is all
 * there is.
 */
DeadMachine::DeadMachine(std::uint32_t cpus)
{
	/* Address 0 is no address. */
	bytes_.resize(kPage);
	std::uint64_t tables[4];
	for (auto &table : tables) {
		table = bytes_.size();
		bytes_.resize(bytes_.size() + kPage);
	}
	const unsigned shifts[] = {39, 30, 21};
	for (int i = 0; i < 3; i++) {
		const std::uint64_t entry = tables[i + 1] | kPresent;
		std::memcpy(&bytes_[tables[i] + (kDirect >> shifts[i] & (kPages - 1)) * 8], &entry,
			    8);
	}
	for (std::uint64_t i = 0; i < kPages; i++) {
		const std::uint64_t entry = i * kPage | kPresent;
		std::memcpy(&bytes_[tables[3] + i * 8], &entry, 8);
	}
	anchor_at_ = room(sizeof(ls_anchor)) - kDirect;
	std::memcpy(anchor.magic, kMagic, sizeof(kMagic));
	anchor.version = LS_ANCHOR_VERSION;
	anchor.bytes = sizeof(anchor);
	anchor.physical = anchor_at_;
	anchor.at = kDirect + anchor_at_;
	anchor.page_table = tables[0];
	anchor.levels = 4;
	anchor.info.abi_major = LS_ABI_MAJOR;
	anchor.info.abi_minor = LS_ABI_MINOR;
	anchor.info.instance = 0x1234;
	std::strcpy(anchor.info.release, "6.1.0-test");
	anchor.active = put(std::int32_t{1});
	anchor.log_length = put(std::uint64_t{0});
	anchor.log = {room(8 * kSegments), kSegment, kSegments};
	anchor.chain_count = put(std::uint32_t{0});
	anchor.chains = {room(8 * kSegments), kSegment, kSegments};
	anchor.class_count = put(std::uint32_t{0});
	anchor.classes = {room(kClasses * sizeof(ls_class)), sizeof(ls_class), kClasses};
	anchor.prims = {put(ls_prim_info{"mutex_lock", LS_KIND_MUTEX, LS_PRIM_DIRECT, 0, 0}),
			sizeof(ls_prim_info), 1};
	anchor.contexts = {room(kContexts * sizeof(ls_ctx)), sizeof(ls_ctx), kContexts};
	anchor.contexts_used = put(std::uint64_t{0});
	anchor.access_counts = {room(64), 4, 16};
	anchor.access_count = put(std::uint32_t{0});
	anchor.edges = put(std::uint32_t{0});
	anchor.findings = put(std::uint32_t{0});
	anchor.lost_edges = put(std::uint64_t{0});
	anchor.cut_searches = put(std::uint64_t{0});
	anchor.held_bytes = sizeof(ls_held);
	anchor.context_bytes = sizeof(ls_ctx);
	anchor.cpu_layout = {offsetof(Cpu, current),	  offsetof(Cpu, context),
			     offsetof(Cpu, levels),	  offsetof(Cpu, ring),
			     offsetof(Cpu, acquisitions), offsetof(Cpu, releases),
			     offsetof(Cpu, unknown),	  offsetof(Cpu, losses)};
	anchor.task_layout = {offsetof(Task, pid), offsetof(Task, tgid), offsetof(Task, comm),
			      offsetof(Task, flags)};
	std::vector<std::uint64_t> states;
	for (std::uint32_t i = 0; i < cpus; i++) {
		Cpu cpu;
		cpu.levels = room((LS_NR_LEVELS - 1) * sizeof(ls_ctx));
		cpu.ring = room(kPage + kRing);
		ls_ring_header header{};
		header.data_bytes = kRing;
		header.cpu = i;
		write(cpu.ring, header);
		cpus_.push_back(put(cpu));
	}
	anchor.cpu = {put(cpus_.data(), cpus_.size() * 8), 8, cpus};
}

std::uint64_t DeadMachine::room(std::size_t bytes)
{
	const std::uint64_t at = bytes_.size();
	bytes_.resize(at + (bytes + kPage - 1) / kPage * kPage);
	return kDirect + at;
}

std::uint64_t DeadMachine::put(const void *from, std::size_t bytes)
{
	const std::uint64_t at = room(bytes);
	write(at, from, bytes);
	return at;
}

void DeadMachine::write(std::uint64_t at, const void *from, std::size_t bytes)
{
	if (bytes)
		std::memcpy(&bytes_[at - kDirect], from, bytes);
}

void DeadMachine::log(const std::vector<std::byte> &bytes)
{
	for (std::size_t done = 0, i = 0; done < bytes.size(); done += kSegment, i++) {
		const std::size_t part = std::min<std::size_t>(kSegment, bytes.size() - done);
		write(anchor.log.at + i * 8, put(bytes.data() + done, part));
	}
	write(anchor.log_length, std::uint64_t{bytes.size()});
}

void DeadMachine::chains(const std::vector<ls_chain> &chains)
{
	std::vector<ls_chain> all(1);
	all.insert(all.end(), chains.begin(), chains.end());
	constexpr std::size_t each = kSegment / sizeof(ls_chain);
	anchor.chains.bytes = each * sizeof(ls_chain);
	for (std::size_t done = 0, i = 0; done < all.size(); done += each, i++)
		write(anchor.chains.at + i * 8,
		      put(&all[done], std::min(each, all.size() - done) * sizeof(ls_chain)));
	write(anchor.chain_count, static_cast<std::uint32_t>(chains.size()));
}

void DeadMachine::event(std::uint32_t cpu, const std::vector<std::byte> &record,
			ls_event_state state)
{
	const std::uint64_t ring = read<Cpu>(cpus_[cpu]).ring;
	auto header = read<ls_ring_header>(ring);
	const ls_event e = {static_cast<std::uint32_t>(sizeof(e) + (record.size() + 7) / 8 * 8),
			    static_cast<std::uint32_t>(state)};
	const std::uint64_t at = ring + kPage + (header.head & (kRing - 1));
	write(at, e);
	write(at + sizeof(e), record.data(), record.size());
	header.head += e.len;
	write(ring, header);
}

std::vector<std::byte> DeadMachine::observation(ls_rec_sight sight,
						const std::vector<ls_held_rec> &held,
						const std::vector<std::uint64_t> &frames,
						std::uint16_t flags)
{
	sight.hdr = {0, 0, flags};
	sight.nr_held = static_cast<std::uint16_t>(held.size());
	sight.stack = static_cast<std::uint32_t>(frames.size());
	std::vector<std::byte> out;
	const auto add = [&](const void *from, std::size_t n) {
		const auto *bytes = static_cast<const std::byte *>(from);
		out.insert(out.end(), bytes, bytes + n);
	};
	add(&sight, sizeof(sight));
	add(held.data(), held.size() * sizeof(ls_held_rec));
	add(frames.data(), frames.size() * 8);
	return out;
}

std::uint64_t DeadMachine::context(const std::vector<ls_held> &held, std::uint64_t task)
{
	const auto used = read<std::uint64_t>(anchor.contexts_used);
	const auto number = static_cast<unsigned>(__builtin_ctzll(~used));
	const std::uint64_t at = anchor.contexts.at + number * sizeof(ls_ctx);
	auto ctx = std::make_unique<ls_ctx>();
	ctx->depth = static_cast<std::uint32_t>(held.size());
	ctx->owner = reinterpret_cast<void *>(task);
	for (std::size_t i = 0; i < held.size(); i++)
		ctx->held[i] = held[i];
	write(at, *ctx);
	write(anchor.contexts_used, used | std::uint64_t{1} << number);
	return at;
}

std::uint64_t DeadMachine::task(const std::string &comm, std::uint32_t pid)
{
	Task task;
	task.pid = task.tgid = pid;
	comm.copy(task.comm, sizeof(task.comm) - 1);
	return put(task);
}

void DeadMachine::runs(std::uint32_t cpu, std::uint64_t task, std::uint64_t context)
{
	auto state = read<Cpu>(cpus_[cpu]);
	state.current = task;
	state.context = context;
	write(cpus_[cpu], state);
}

void DeadMachine::describe(const std::string &text)
{
	anchor.vmcoreinfo = put(text.data(), text.size());
	anchor.vmcoreinfo_bytes = text.size();
}

std::string DeadMachine::bytes()
{
	std::string out = bytes_;
	std::memcpy(&out[anchor_at_], &anchor, sizeof(anchor));
	return out;
}

} // namespace lockscope::test
