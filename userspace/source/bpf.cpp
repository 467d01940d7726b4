// SPDX-License-Identifier: GPL-2.0
#include "source/bpf.h"

#include "bpf/order.skel.h"
#include "kmod/primitives.h"
#include "source/order_log.h"
#include "symbolize/data_symbols.h"
#include "symbolize/symbols.h"
#include "util/bpf.h"
#include "util/text.h"

#include <bpf/bpf.h>
#include <bpf/btf.h>
#include <bpf/libbpf.h>

#include <sys/mman.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <map>
#include <set>

namespace lockscope {

namespace {

/* Most of the log that is kept in memory. */
constexpr std::size_t kLogBytes = 64u << 20;

struct Primitive {
	const char *function;
	ls_kind kind;
	unsigned flags;
};
#define LS_AS_PRIMITIVE(function, kind, group, bits, offset, flags)                                \
	{#function, LS_KIND_##kind, flags},
constexpr Primitive kPrimitives[] = {LS_PRIMITIVES(LS_AS_PRIMITIVE)};
#undef LS_AS_PRIMITIVE

/* Where kmod/primitives.h has the module see locks of a kind. */
std::map<ls_kind, std::uint32_t> lock_offsets()
{
	std::map<ls_kind, std::uint32_t> out = {{LS_KIND_RT_MUTEX, LS_RTM_OFF}};
	btf *types = btf__load_vmlinux_btf();
	const int id = types ? btf__find_by_name_kind(types, "semaphore", BTF_KIND_STRUCT) : -1;
	const btf_type *type = id > 0 ? btf__type_by_id(types, static_cast<__u32>(id)) : nullptr;
	for (__u32 i = 0; type && i < btf_vlen(type); i++) {
		const auto &member = btf_members(type)[i];
		if (std::strcmp(btf__name_by_offset(types, member.name_off), "count") == 0)
			out[LS_KIND_SEMAPHORE] = btf_member_bit_offset(type, i) / 8;
	}
	btf__free(types);
	return out;
}

OrderClasses::Symbol symbol(const Location &at)
{
	return {at.function, at.offset, at.module};
}

class BpfSource final : public Source {
public:
	static Result<std::unique_ptr<Source>> open()
	{
		std::unique_ptr<BpfSource> source(new BpfSource);
		LS_TRY_STATUS(source->load());
		return std::unique_ptr<Source>(std::move(source));
	}

	~BpfSource() override
	{
		for (auto *link : links_)
			bpf_link__destroy(link);
		if (sights_)
			::munmap(sights_, mapped_);
		order_bpf__destroy(bpf_);
	}

	Result<ls_info> info() override
	{
		poll();
		ls_info info{};
		info.abi_major = LS_ABI_MAJOR;
		info.abi_minor = LS_ABI_MINOR;
		info.active = 1;
		info.instance = instance_;
		info.log_bytes = log_->bytes().size();
		const auto n = totals();
		info.acquisitions = info.level_acquisitions[LS_TASK] = n[LS_ORDER_ACQUISITIONS];
		info.releases = n[LS_ORDER_RELEASES];
		info.unknown_releases = n[LS_ORDER_UNKNOWN_RELEASES];
		info.losses[LS_LOSS_RECORDS] =
			n[LS_ORDER_NO_SLOT] + n[LS_ORDER_NO_PLACE] + full_;
		info.losses[LS_LOSS_HELD_OVERFLOW] = n[LS_ORDER_NO_TASK] + n[LS_ORDER_TOO_DEEP];
		info.losses[LS_LOSS_RECURSION] = missed();
		info.losses[LS_LOSS_PAIRS] = n[LS_ORDER_NO_PAIR] + log_->lost_pairs();
		info.classes = log_->classes();
		info.edges = log_->edges();
		info.stacks = log_->stacks();
		info.sights = log_->sights();
		info.findings = log_->findings();
		info.max_classes = LS_VAL_CLASS_MASK;
		info.nr_prims = static_cast<__u32>(prims_.size());
		info.nr_cpus = static_cast<__u32>(cpus_);
		utsname name{};
		::uname(&name);
		std::string(name.release).copy(info.release, sizeof(info.release) - 1);
		return info;
	}

	Result<std::size_t> read(std::uint64_t offset, std::span<std::byte> buffer) override
	{
		const auto &log = log_->bytes();
		if (offset >= log.size())
			poll();
		std::size_t end = static_cast<std::size_t>(offset);
		while (end < log.size()) {
			ls_rec header;
			std::memcpy(&header, log.data() + end, sizeof(header));
			if (header.len > buffer.size() - (end - offset))
				break;
			end += header.len;
		}
		if (end <= offset)
			return std::size_t{0};
		std::memcpy(buffer.data(), log.data() + offset, end - offset);
		return end - static_cast<std::size_t>(offset);
	}

	Result<std::vector<ls_chain>> chains(std::uint32_t) override
	{
		return std::vector<ls_chain>{};
	}
	Result<std::vector<ls_prim_info>> prims() override { return prims_; }
	/* Who gives semaphores back tells locks from signals; see lockclass/belief.h. */
	Result<std::vector<ls_class_counts>> counts() override
	{
		std::vector<ls_class_counts> out;
		for (const auto &[cls, locks] : log_->semaphores()) {
			ls_class_counts sum{};
			sum.id = cls;
			std::set<__u32> slots;
			for (auto lock : locks)
				slots.insert(static_cast<__u32>(lock * LS_ORDER_GOLDEN >>
								LS_ORDER_SEMAPHORE_SHIFT));
			for (auto slot : slots) {
				ls_order_semaphore one{};
				if (bpf_map__lookup_elem(bpf_->maps.semaphores, &slot, sizeof(slot),
							 &one, sizeof(one), 0) != 0)
					continue;
				sum.acquires += one.acquires;
				sum.releases += one.releases;
				sum.unmatched_releases += one.unmatched;
			}
			out.push_back(sum);
		}
		return out;
	}
	Status control(ls_ctl_op) override
	{
		poll();
		return success();
	}
	bool live() const override { return true; }
	const char *backend() const override { return "bpf"; }

private:
	BpfSource() = default;

	Status load();
	Status attach(const BpfMessages &messages);
	void poll();
	std::vector<std::uint64_t> totals() const;
	std::uint64_t missed() const;

	order_bpf *bpf_ = nullptr;
	std::byte *sights_ = nullptr;
	std::size_t mapped_ = 0;
	int cpus_ = 0;
	std::uint64_t instance_ = random_key()[0] | 1, full_ = 0;
	std::vector<ls_prim_info> prims_;
	std::vector<bpf_link *> links_;
	std::vector<bool> taken_ = std::vector<bool>(LS_ORDER_SLOTS);
	KernelSymbols code_;
	DataSymbols data_;
	std::unique_ptr<OrderLog> log_;
};

Status BpfSource::load()
{
	BpfMessages messages;
	cpus_ = libbpf_num_possible_cpus();
	bpf_ = order_bpf__open();
	if (!bpf_)
		return messages.error(errno, "open the lock order programs");
	bpf_->rodata->own_tgid = static_cast<__u32>(::getpid());
	for (const auto &primitive : kPrimitives) {
		bpf_program *program = bpf_object__find_program_by_name(
			bpf_->obj, (std::string("on_") + primitive.function).c_str());
		if (!program)
			continue;
		ls_prim_info info{};
		std::string(primitive.function).copy(info.function, sizeof(info.function) - 1);
		info.kind = static_cast<__u8>(primitive.kind);
		info.state = LS_PRIM_FTRACE;
		/* Those would be seen twice where they call the primitive itself. */
		if (primitive.flags & LS_P_WRAPS)
			info.state = LS_PRIM_COVERED;
		else if (libbpf_find_vmlinux_btf_id(primitive.function, BPF_TRACE_FENTRY) <= 0)
			info.state = LS_PRIM_ABSENT;
		if (info.state != LS_PRIM_FTRACE)
			bpf_program__set_autoload(program, false);
		prims_.push_back(info);
	}
	if (const int rc = order_bpf__load(bpf_))
		return messages.error(-rc, "load the lock order programs");
	LS_TRY_STATUS(attach(messages));

	/* Each value takes a multiple of 8 bytes. */
	mapped_ = LS_ORDER_SLOTS * ((sizeof(ls_order_sight) + 7) / 8 * 8);
	void *at = ::mmap(nullptr, mapped_, PROT_READ, MAP_SHARED,
			  bpf_map__fd(bpf_->maps.sights), 0);
	if (at == MAP_FAILED)
		return os_error(errno, "cannot map what the lock order programs see");
	sights_ = static_cast<std::byte *>(at);

	auto code = [this](std::uint64_t ip) -> std::optional<OrderClasses::Symbol> {
		auto found = code_.find(ip);
		return found ? std::optional(symbol(*found)) : std::nullopt;
	};
	auto data = [this](std::uint64_t address) -> std::optional<OrderClasses::Symbol> {
		auto found = data_.find(address);
		return found ? std::optional(symbol(*found)) : std::nullopt;
	};
	log_ = std::make_unique<OrderLog>(OrderClasses(code, data, lock_offsets()), code);
	return success();
}

/* One by one: a function that is refused is told of, and the others are watched. */
Status BpfSource::attach(const BpfMessages &messages)
{
	std::size_t attached = 0;
	int error = 0;
	for (auto &prim : prims_) {
		if (prim.state != LS_PRIM_FTRACE)
			continue;
		bpf_program *program = bpf_object__find_program_by_name(
			bpf_->obj, (std::string("on_") + prim.function).c_str());
		links_.push_back(bpf_program__attach(program));
		if (links_.back()) {
			attached++;
			continue;
		}
		links_.pop_back();
		error = errno;
		prim.state = LS_PRIM_FAILED;
		prim.error = -error;
	}
	links_.push_back(bpf_program__attach(bpf_->progs.on_contention));
	if (!links_.back())
		links_.pop_back();
	if (attached)
		return success();
	Error refused = messages.error(error, "attach to the functions of sleeping locks");
	if (error == EBUSY)
		refused.hint = "the module or another tracer has them: rmmod lockscope, or use "
			       "--backend kmod";
	return refused;
}

void BpfSource::poll()
{
	data_.update();
	constexpr std::size_t step = (sizeof(ls_order_sight) + 7) / 8 * 8;
	std::vector<const ls_order_sight *> fresh;
	for (std::size_t i = 0; i < LS_ORDER_SLOTS; i++) {
		const auto *sight = reinterpret_cast<const ls_order_sight *>(sights_ + i * step);
		if (taken_[i] || !__atomic_load_n(&sight->ready, __ATOMIC_ACQUIRE))
			continue;
		taken_[i] = true;
		fresh.push_back(sight);
	}
	std::sort(fresh.begin(), fresh.end(),
		  [](const auto *a, const auto *b) { return a->time_ns < b->time_ns; });
	for (const auto *sight : fresh) {
		if (log_->bytes().size() > kLogBytes)
			full_++;
		else
			log_->add(*sight);
	}
}

std::vector<std::uint64_t> BpfSource::totals() const
{
	std::vector<std::uint64_t> out(LS_ORDER_NR_COUNTS);
	std::vector<ls_order_counts> cpus(static_cast<std::size_t>(cpus_));
	const __u32 zero = 0;
	if (bpf_map__lookup_elem(bpf_->maps.counts, &zero, sizeof(zero), cpus.data(),
				 cpus.size() * sizeof(cpus[0]), 0) != 0)
		return out;
	for (const auto &cpu : cpus)
		for (std::size_t i = 0; i < out.size(); i++)
			out[i] += cpu.n[i];
	return out;
}

/* A program that is interrupted by its own like misses that. */
std::uint64_t BpfSource::missed() const
{
	std::uint64_t sum = 0;
	bpf_program *program;
	bpf_object__for_each_program(program, bpf_->obj) {
		bpf_prog_info info{};
		__u32 size = sizeof(info);
		if (bpf_program__fd(program) >= 0 &&
		    bpf_obj_get_info_by_fd(bpf_program__fd(program), &info, &size) == 0)
			sum += info.recursion_misses;
	}
	return sum;
}

} // namespace

Result<std::unique_ptr<Source>> bpf_source()
{
	return BpfSource::open();
}

} // namespace lockscope
