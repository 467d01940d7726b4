// SPDX-License-Identifier: GPL-2.0
#include "source/bpf.h"

#include "bpf/order.h"
#include "bpf/order.skel.h"
#include "kmod/primitives.h"
#include "source/order_log.h"
#include "symbolize/data_symbols.h"
#include "symbolize/symbols.h"
#include "util/bpf.h"
#include "util/fd.h"
#include "util/file.h"
#include "util/mapped.h"
#include "util/text.h"

#include <bpf/bpf.h>
#include <bpf/btf.h>
#include <bpf/libbpf.h>

#include <sys/utsname.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <map>
#include <set>

namespace lockscope {

namespace {

/* Limit of the log in memory. */
constexpr std::size_t kLogBytes = 64u << 20;

struct HookedFunction {
	const char *function;
	ls_kind kind;
	unsigned flags;
	__u64 cookie; ///< passed to on_entry() and on_return()
};
constexpr int LS_ORDER_FALLIBLE = LS_ORDER_RESULT; /* no gates */
/* Functions without a program are never attached to. */
constexpr int LS_ORDER_SPIN = LS_ORDER_SPECIAL, LS_ORDER_WAIT = LS_ORDER_SPECIAL,
	      LS_ORDER_QUEUE = LS_ORDER_SPECIAL, LS_ORDER_SLEEP = LS_ORDER_SPECIAL;
#define LS_AS_PRIMITIVE(function, kind, group, bits, offset, flags)                                \
	{#function, LS_KIND_##kind, flags,                                                         \
	 LS_ORDER_COOKIE(LS_KIND_##kind, LS_ORDER_##group, bits, flags)},
constexpr HookedFunction kPrimitives[] = {LS_PRIMITIVES(LS_AS_PRIMITIVE)};
#undef LS_AS_PRIMITIVE

#define LS_AS_NAME(function) #function,
constexpr const char *kFreezers[] = {LS_FREEZERS(LS_AS_NAME)};
#undef LS_AS_NAME

/* Slow paths of spinning locks, native and in guests of a hypervisor, with the kind. */
constexpr std::pair<const char *, __u64> kSlowPaths[] = {
	{"native_queued_spin_lock_slowpath", LS_KIND_SPINLOCK},
	{"__pv_queued_spin_lock_slowpath", LS_KIND_SPINLOCK},
	{"queued_read_lock_slowpath", LS_KIND_RWLOCK | LS_SHARED << LS_VAL_READ_SHIFT},
	{"queued_write_lock_slowpath", LS_KIND_RWLOCK},
};

bool is_traced(const char *function)
{
	return libbpf_find_vmlinux_btf_id(function, BPF_TRACE_FENTRY) > 0;
}

bool has_result(__u64 cookie)
{
	return LS_ORDER_COOKIE_GROUP(cookie) == LS_ORDER_RESULT ||
	       LS_ORDER_COOKIE_GROUP(cookie) == LS_ORDER_WW;
}

/* Is, or may a lock be, held after the function? */
bool takes(__u64 cookie)
{
	const auto group = LS_ORDER_COOKIE_GROUP(cookie);
	return group != LS_ORDER_RELEASE &&
	       (group != LS_ORDER_SPECIAL ||
		(LS_ORDER_COOKIE_BITS(cookie) & LS_OP_MASK) == LS_OP_ACQUIRE);
}

const HookedFunction &primitive_of(const ls_prim_info &prim)
{
	return *std::find_if(std::begin(kPrimitives), std::end(kPrimitives),
			     [&](const HookedFunction &p) {
				     return std::strcmp(p.function, prim.function) == 0;
			     });
}

/* Is the kernel fully preemptible? */
bool preempts()
{
	const auto mode = read_file("/sys/kernel/debug/sched/preempt");
	if (mode)
		return mode->find("(full)") != std::string::npos ||
		       mode->find("(lazy)") != std::string::npos;
	utsname name{};
	::uname(&name);
	return std::strstr(name.version, "PREEMPT") != nullptr;
}

/* Do probes see every return? In old kernels their number of sleeping instances is limited. */
bool probes_see_returns()
{
	btf *types = btf__load_vmlinux_btf();
	const int id = types ? btf__find_by_name_kind(types, "fprobe", BTF_KIND_STRUCT) : -1;
	const btf_type *type = id > 0 ? btf__type_by_id(types, static_cast<__u32>(id)) : nullptr;
	bool found = false;
	for (__u32 i = 0; type && i < btf_vlen(type); i++)
		found |= std::strcmp(btf__name_by_offset(types, btf_members(type)[i].name_off),
				     "hlist_array") == 0;
	btf__free(types);
	return found;
}

/* Offset of the address that kmod/primitives.h uses for locks of a kind. */
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
		info.losses[LS_LOSS_RECORDS] = n[LS_ORDER_NO_SLOT] + n[LS_ORDER_NO_PLACE] + full_;
		info.losses[LS_LOSS_HELD_OVERFLOW] = n[LS_ORDER_NO_TASK] + n[LS_ORDER_TOO_DEEP];
		info.losses[LS_LOSS_RECURSION] = missed();
		info.losses[LS_LOSS_PAIRS] = n[LS_ORDER_NO_PAIR] + log_->lost_pairs();
		info.classes = log_->classes();
		info.edges = log_->edges();
		info.stacks = log_->stacks();
		info.sights = log_->observations();
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
	/*
	 * Releases of semaphores by other contexts distinguish locks from signals; see
	 * lockclass/belief.h.
	 */
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
				const auto *one = semaphores_.at(slot);
				sum.acquires += one->acquires;
				sum.releases += one->releases;
				sum.unmatched_releases += one->unmatched;
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
	void pass_freezers();
	void make_room();
	Status attach(const BpfMessages &messages);
	Status attach_probes(const BpfMessages &messages);
	void poll();
	std::vector<std::uint64_t> totals() const;
	std::uint64_t missed() const;

	order_bpf *bpf_ = nullptr;
	Mapped<const ls_order_observation> observations_;
	Mapped<const ls_order_semaphore> semaphores_;
	Mapped<const ls_order_counts> counts_;
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
	bpf_map__set_max_entries(bpf_->maps.counts, static_cast<__u32>(cpus_));
	bpf_->rodata->own_tgid = static_cast<__u32>(::getpid());
	pass_freezers();
	const bool probes = preempts() && probes_see_returns();
	bpf_->rodata->probes = probes;
	bpf_program__set_autoload(bpf_->progs.on_entry, probes);
	bpf_program__set_autoload(bpf_->progs.on_return, probes);
	bpf_program__set_autoload(bpf_->progs.on_wait, probes);
	bpf_program__set_autoload(bpf_->progs.on_contention, !probes);
	bpf_program__set_autoload(bpf_->progs.on_new_task, !probes);
	bpf_program__set_autoload(bpf_->progs.on_old_task, !probes);
	for (const auto &primitive : kPrimitives) {
		bpf_program *program = bpf_object__find_program_by_name(
			bpf_->obj, (std::string("on_") + primitive.function).c_str());
		if (!program)
			continue;
		ls_prim_info info{};
		std::string(primitive.function).copy(info.function, sizeof(info.function) - 1);
		info.kind = static_cast<__u8>(primitive.kind);
		info.state = LS_PRIM_FTRACE;
		/* A wrapper would be seen twice where it calls the primitive itself. */
		if (primitive.flags & LS_P_WRAPS)
			info.state = LS_PRIM_COVERED;
		else if (!is_traced(primitive.function))
			info.state = LS_PRIM_ABSENT;
		if (info.state != LS_PRIM_FTRACE || probes)
			bpf_program__set_autoload(program, false);
		prims_.push_back(info);
	}
	if (const int rc = order_bpf__load(bpf_))
		return messages.error(-rc, "load the lock order programs");
	LS_TRY_STATUS(probes ? attach_probes(messages) : attach(messages));

	const auto map = [](auto &values, const bpf_map *array) {
		return values.map(bpf_map__fd(array), bpf_map__max_entries(array),
				  "map what the lock order programs see");
	};
	LS_TRY_STATUS(map(observations_, bpf_->maps.observations));
	LS_TRY_STATUS(map(semaphores_, bpf_->maps.semaphores));
	LS_TRY_STATUS(map(counts_, bpf_->maps.counts));

	auto code = [this](std::uint64_t ip) -> std::optional<OrderClasses::Symbol> {
		auto found = code_.find(ip);
		return found ? std::optional(symbol(*found)) : std::nullopt;
	};
	/* A function that names a lock has to be unique. */
	auto namer = [this](std::uint64_t ip) -> std::optional<OrderClasses::Symbol> {
		auto found = code_.find(ip);
		if (found)
			found->function = numbered_name(found->function,
							data_.code_number(ip - found->offset));
		return found ? std::optional(symbol(*found)) : std::nullopt;
	};
	auto data = [this](std::uint64_t address) -> std::optional<OrderClasses::Symbol> {
		auto found = data_.find(address);
		return found ? std::optional(symbol(*found)) : std::nullopt;
	};
	log_ = std::make_unique<OrderLog>(OrderClasses(namer, data, lock_offsets()), code);
	return success();
}

void BpfSource::pass_freezers()
{
	std::size_t n = 0;
	for (const char *name : kFreezers)
		for (const auto &range : code_.ranges(name))
			if (n < LS_ORDER_FREEZERS)
				bpf_->rodata->freezers[n++] = {range.begin,
							       range.end - range.begin};
}

/*
 * Allocate task storage for all tasks; without it allocation is tried when a task acquires its
 * first lock.
 */
void BpfSource::make_room()
{
	links_.push_back(bpf_program__attach(bpf_->progs.on_new_task));
	if (!links_.back())
		links_.pop_back();
	bpf_link *link = bpf_program__attach_iter(bpf_->progs.on_old_task, nullptr);
	if (!link)
		return;
	/* Reading it runs the program for every task. */
	const Fd all(bpf_iter_create(bpf_link__fd(link)));
	char none[64];
	while (all.valid() && ::read(all.get(), none, sizeof(none)) > 0)
		;
	bpf_link__destroy(link);
}

/*
 * One by one: a refused function is reported, and the others are attached. Releases first: a
 * lock whose release is not attached yet would stay held for ever.
 */
Status BpfSource::attach(const BpfMessages &messages)
{
	std::size_t attached = 0;
	int error = 0;
	make_room();
	std::vector<ls_prim_info *> order;
	for (auto &prim : prims_)
		if (prim.state == LS_PRIM_FTRACE)
			order.push_back(&prim);
	std::stable_partition(order.begin(), order.end(), [](const ls_prim_info *prim) {
		return !takes(primitive_of(*prim).cookie);
	});
	for (auto *at : order) {
		auto &prim = *at;
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
	/* Optional. */
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

/*
 * Each program to all of its functions at once. Returns first, so that no entry is recorded
 * without a return.
 */
Status BpfSource::attach_probes(const BpfMessages &messages)
{
	struct Probe {
		bpf_program *program;
		bool returns;
		std::vector<const char *> functions;
		std::vector<__u64> cookies;
		void add(const char *function, __u64 cookie)
		{
			functions.push_back(function);
			cookies.push_back(cookie);
		}
	};
	Probe probes[] = {{bpf_->progs.on_return, true, {}, {}},
			  {bpf_->progs.on_entry, false, {}, {}},
			  {bpf_->progs.on_wait, false, {}, {}}};
	for (const auto &prim : prims_) {
		if (prim.state != LS_PRIM_FTRACE)
			continue;
		const auto &primitive = primitive_of(prim);
		if (has_result(primitive.cookie))
			probes[0].add(primitive.function, primitive.cookie);
		probes[1].add(primitive.function, primitive.cookie);
	}
	for (const auto &[function, kind] : kSlowPaths)
		if (is_traced(function))
			probes[2].add(function, kind);
	for (auto &probe : probes) {
		LIBBPF_OPTS(bpf_kprobe_multi_opts, options);
		options.syms = probe.functions.data();
		options.cookies = probe.cookies.data();
		options.cnt = probe.functions.size();
		options.retprobe = probe.returns;
		if (options.cnt == 0)
			continue;
		links_.push_back(
			bpf_program__attach_kprobe_multi_opts(probe.program, nullptr, &options));
		if (links_.back())
			continue;
		const int error = errno;
		links_.pop_back();
		/* Spinning locks are optional. */
		if (probe.program != bpf_->progs.on_wait)
			return messages.error(error, "attach to the functions of sleeping locks");
	}
	return success();
}

void BpfSource::poll()
{
	data_.update();
	std::vector<const ls_order_observation *> fresh;
	for (std::size_t i = 0; i < LS_ORDER_SLOTS; i++) {
		const auto *observation = observations_.at(i);
		if (taken_[i] || !__atomic_load_n(&observation->ready, __ATOMIC_ACQUIRE))
			continue;
		taken_[i] = true;
		fresh.push_back(observation);
	}
	std::sort(fresh.begin(), fresh.end(),
		  [](const auto *a, const auto *b) { return a->time_ns < b->time_ns; });
	for (const auto *observation : fresh) {
		if (log_->bytes().size() > kLogBytes)
			full_++;
		else
			log_->add(*observation);
	}
}

std::vector<std::uint64_t> BpfSource::totals() const
{
	std::vector<std::uint64_t> out(LS_ORDER_NR_COUNTS);
	for (int cpu = 0; cpu < cpus_; cpu++)
		for (std::size_t i = 0; i < out.size(); i++)
			out[i] += __atomic_load_n(&counts_.at(cpu)->n[i], __ATOMIC_RELAXED);
	return out;
}

/*
 * A program interrupted by itself misses that event. Probes miss events while any of them is
 * interrupted. on_wait() ignores interrupts, so its misses are no loss.
 */
std::uint64_t BpfSource::missed() const
{
	std::uint64_t sum = 0;
	bpf_program *program;
	bpf_object__for_each_program(program, bpf_->obj)
	{
		if (program != bpf_->progs.on_wait)
			sum += missed_runs(program);
	}
	return sum;
}

} // namespace

Result<std::unique_ptr<Source>> bpf_source()
{
	return BpfSource::open();
}

} // namespace lockscope
