// SPDX-License-Identifier: GPL-2.0
#include "stat/tracer.h"

#include "bpf/trace.skel.h"
#include "util/bpf.h"

#include <bpf/libbpf.h>

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <ctime>
#include <set>
#include <thread>

namespace lockscope {

namespace {

/* Of all rings together. */
constexpr std::uint64_t kRingBytes = 256u << 20;

std::uint64_t now(clockid_t clock)
{
	timespec time{};
	::clock_gettime(clock, &time);
	return static_cast<std::uint64_t>(time.tv_sec) * 1000000000u +
	       static_cast<std::uint64_t>(time.tv_nsec);
}

} // namespace

Result<std::unique_ptr<Tracer>> Tracer::begin()
{
	std::unique_ptr<Tracer> tracer(new Tracer);
	LS_TRY_STATUS(tracer->load());
	return tracer;
}

Status Tracer::load()
{
	BpfMessages messages;
	cpus_ = libbpf_num_possible_cpus();
	if (cpus_ <= 0)
		return os_error(-cpus_, "cannot count the processors");
	lost_.resize(static_cast<std::size_t>(cpus_));
	slots_ = LS_TRACE_SLOTS;
	while (slots_ > LS_TRACE_LEAST_SLOTS &&
	       lost_.size() * slots_ * sizeof(ls_trace_event) > kRingBytes)
		slots_ /= 2;
	const auto rings = static_cast<std::uint32_t>(cpus_), events = rings * slots_;
	bpf_ = trace_bpf__open();
	if (!bpf_)
		return messages.error(errno, "open the trace programs");
	bpf_->rodata->own_tgid = static_cast<__u32>(::getpid());
	bpf_->rodata->slots = slots_;
	int rc = bpf_map__set_max_entries(bpf_->maps.events, events);
	rc = rc ? rc : bpf_map__set_max_entries(bpf_->maps.rings, rings);
	rc = rc ? rc : trace_bpf__load(bpf_);
	if (rc)
		return messages.error(-rc, "load the trace programs");
	LS_TRY_STATUS(events_.map(bpf_map__fd(bpf_->maps.events), events, "map the events"));
	LS_TRY_STATUS(rings_.map(bpf_map__fd(bpf_->maps.rings), rings, "map the rings"));
	begin_ns_ = now(CLOCK_MONOTONIC);
	rc = trace_bpf__attach(bpf_);
	if (rc)
		return messages.error(-rc, "attach to the module's tracepoints");
	tracing_ = true;
	return success();
}

Tracer::~Tracer()
{
	trace_bpf__destroy(bpf_);
}

void Tracer::end()
{
	if (!tracing_)
		return;
	tracing_ = false;
	trace_bpf__detach(bpf_);
	std::this_thread::sleep_for(kProgramSettles);
}

/* The program of this CPU goes on meanwhile: it writes no slot before the tail has passed it. */
void Tracer::take_ring(std::uint16_t cpu, TraceBatch &batch)
{
	ls_trace_ring &ring = *rings_.at(cpu);
	const ls_trace_event *const first = events_.at(std::size_t{cpu} * slots_);
	std::uint64_t tail = ring.tail;
	for (;; tail++) {
		const ls_trace_event *event = first + (tail & (slots_ - 1));
		if (__atomic_load_n(&event->number, __ATOMIC_ACQUIRE) != tail + 1)
			break;
		auto &[task, named_ns] = tasks_[event->pid];
		if (task.tgid != event->tgid)
			task = {event->pid, event->tgid, {'?'}};
		if (event->kind != LS_TRACE_NAME) {
			batch.events.push_back({*event, cpu});
			continue;
		}
		/* The ring of another CPU may have had a later one. */
		if (event->time_ns < named_ns)
			continue;
		named_ns = event->time_ns;
		std::memcpy(task.comm.data(), &event->lock, sizeof(event->lock));
		std::memcpy(task.comm.data() + sizeof(event->lock), &event->ip, sizeof(event->ip));
	}
	__atomic_store_n(&ring.tail, tail, __ATOMIC_RELEASE);

	const std::uint64_t lost = __atomic_load_n(&ring.lost, __ATOMIC_RELAXED);
	if (lost == lost_[cpu])
		return;
	ls_trace_event mark{};
	mark.kind = LS_TRACE_LOST;
	mark.time_ns = now(CLOCK_MONOTONIC);
	mark.ns = lost - lost_[cpu];
	lost_[cpu] = lost;
	batch.events.push_back({mark, cpu});
}

TraceBatch Tracer::take()
{
	TraceBatch batch;
	batch.begin_ns = begin_ns_;
	for (int cpu = 0; cpu < cpus_; cpu++)
		take_ring(static_cast<std::uint16_t>(cpu), batch);
	batch.end_ns = now(CLOCK_MONOTONIC);
	batch.real_ns = now(CLOCK_REALTIME);
	/* One ring after the other: the order within each of them stays. */
	std::stable_sort(
		batch.events.begin(), batch.events.end(),
		[](const auto &a, const auto &b) { return a.event.time_ns < b.event.time_ns; });
	std::set<std::uint32_t> pids;
	for (const auto &traced : batch.events)
		if (traced.event.kind != LS_TRACE_LOST)
			pids.insert(pids.end(), traced.event.pid);
	for (const auto pid : pids)
		batch.tasks.push_back(tasks_[pid].task);
	for (const auto lost : lost_)
		batch.losses[LS_TRACE_LOSS_OVERFLOW] += lost;
	batch.losses[LS_TRACE_LOSS_MISSED] = missed();
	if (!batch.events.empty())
		begin_ns_ = batch.end_ns;
	return batch;
}

/* Another of the programs may run in an NMI, but none twice at a time. */
std::uint64_t Tracer::missed() const
{
	std::uint64_t sum = 0;
	for (const auto *program :
	     {bpf_->progs.on_acquired, bpf_->progs.on_released, bpf_->progs.on_waited})
		sum += missed_runs(program);
	return sum;
}

} // namespace lockscope
