// SPDX-License-Identifier: GPL-2.0
#include "stat/collector.h"

#include "bpf/stat.skel.h"
#include "model/counters.h"
#include "model/model.h"
#include "util/bpf.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>

#include <algorithm>
#include <cerrno>
#include <thread>

namespace lockscope {

namespace {

using Clock = std::chrono::steady_clock;

StatTimes times(const ls_stat_times &t)
{
	StatTimes out;
	out.count = t.count;
	out.sum = t.sum;
	out.max = t.max;
	std::copy(std::begin(t.buckets), std::end(t.buckets), out.buckets.begin());
	return out;
}

StatClass one_cpu(const ls_stat_class &c)
{
	StatClass out;
	std::copy(std::begin(c.acquired), std::end(c.acquired), out.acquired.begin());
	std::copy(std::begin(c.contended), std::end(c.contended), out.contended.begin());
	out.readers = c.readers;
	out.trylocks = c.trylocks;
	out.gave_up = c.gave_up;
	out.waits = times(c.waits);
	out.holds = times(c.holds);
	return out;
}

} // namespace

Result<std::unique_ptr<StatCollector>> StatCollector::begin(Source &source,
							    const StatOptions &options)
{
	std::unique_ptr<StatCollector> stat(new StatCollector(source));
	auto info = source.info();
	if (!info)
		return info.error();
	stat->before_ = *info;
	stat->cpus_ = libbpf_num_possible_cpus();
	stat->room_ = std::min(info->classes + options.more_classes, info->max_classes) + 1;
	BpfMessages messages;
	stat->bpf_ = stat_bpf__open();
	if (!stat->bpf_)
		return messages.error(errno, "open the statistics programs");
	int rc = bpf_map__set_max_entries(stat->bpf_->maps.classes, stat->room_);
	rc = rc ? rc : stat_bpf__load(stat->bpf_);
	if (rc)
		return messages.error(-rc, "load the statistics programs");
	stat->began_ = Clock::now();
	rc = stat_bpf__attach(stat->bpf_);
	if (rc)
		return messages.error(-rc, "attach to the module's tracepoints");
	stat->counting_ = true;
	return stat;
}

StatCollector::~StatCollector()
{
	stat_bpf__destroy(bpf_);
}

void StatCollector::end()
{
	if (!counting_)
		return;
	counting_ = false;
	ended_ = Clock::now();
	stat_bpf__detach(bpf_);
	std::this_thread::sleep_for(kProgramSettles);
}

Result<std::map<std::uint32_t, StatClass>> StatCollector::read_classes()
{
	std::map<std::uint32_t, StatClass> classes;
	std::vector<ls_stat_class> cpus(static_cast<std::size_t>(cpus_));
	for (std::uint32_t id = 1; id < room_; id++) {
		const int rc = bpf_map__lookup_elem(bpf_->maps.classes, &id, sizeof(id),
						    cpus.data(), cpus.size() * sizeof(cpus[0]), 0);
		if (rc)
			return os_error(-rc, "cannot read the statistics of classes");
		StatClass sum;
		for (const auto &cpu : cpus)
			sum.add(one_cpu(cpu));
		if (sum.all_acquired() || sum.all_contended() || sum.holds.count)
			classes[names_.canonical(id)].add(sum);
	}
	return classes;
}

Status StatCollector::read_sites(std::map<std::uint32_t, StatClass> &classes)
{
	std::map<std::pair<std::uint32_t, std::uint64_t>, StatSite> all;
	std::vector<ls_stat_site> cpus(static_cast<std::size_t>(cpus_));
	for (std::uint32_t i = 0; i < LS_STAT_SITES; i++) {
		const int rc = bpf_map__lookup_elem(bpf_->maps.sites, &i, sizeof(i), cpus.data(),
						    cpus.size() * sizeof(cpus[0]), 0);
		if (rc)
			return os_error(-rc, "cannot read the statistics of call sites");
		for (const auto &cpu : cpus) {
			if (!cpu.ip)
				continue;
			StatSite &site = all[{names_.canonical(cpu.id), cpu.ip}];
			site.acquired += cpu.acquired;
			site.contended += cpu.contended;
			site.wait_ns += cpu.wait_ns;
			site.hold_ns += cpu.hold_ns;
		}
	}
	for (auto &[key, site] : all) {
		auto at = symbols_.find(key.second);
		Code code;
		if (at) {
			code.function = at->function;
			code.offset = at->offset;
			code.module = at->module;
		}
		site.place = place_name(code);
		classes[key.first].sites.push_back(std::move(site));
	}
	return success();
}

Status StatCollector::read_losses(StatReport &report)
{
	std::uint32_t zero = 0;
	std::vector<ls_stat_losses> cpus(static_cast<std::size_t>(cpus_));
	const int rc = bpf_map__lookup_elem(bpf_->maps.losses, &zero, sizeof(zero), cpus.data(),
					    cpus.size() * sizeof(cpus[0]), 0);
	if (rc)
		return os_error(-rc, "cannot read what the statistics lost");
	static constexpr const char *names[LS_STAT_NR_LOSSES] = {
#define LS_ROW(symbol, name) name,
		LS_STAT_LOSSES(LS_ROW)
#undef LS_ROW
	};
	for (int i = 0; i < LS_STAT_NR_LOSSES; i++) {
		std::uint64_t &n = report.losses[names[i]];
		for (const auto &cpu : cpus)
			n += cpu.n[i];
	}
	std::uint64_t &missed = report.losses["events_missed"];
	for (const auto *program :
	     {bpf_->progs.on_acquired, bpf_->progs.on_released, bpf_->progs.on_waited})
		missed += missed_runs(program);
	/* Events that the hooks lost reached no tracepoint. */
	auto now = source_.info();
	if (!now)
		return now.error();
	for (auto loss : {LS_LOSS_RECURSION, LS_LOSS_HELD_OVERFLOW, LS_LOSS_CLASSES})
		report.losses[kLosses[loss].name] = now->losses[loss] - before_.losses[loss];
	return success();
}

Result<StatReport> StatCollector::read()
{
	StatReport report;
	report.release = before_.release;
	report.seconds =
		std::chrono::duration<double>((counting_ ? Clock::now() : ended_) - began_).count();
	LS_TRY_STATUS(names_.update(source_));
	auto classes = read_classes();
	if (!classes)
		return classes.error();
	LS_TRY_STATUS(read_sites(*classes));
	LS_TRY_STATUS(read_losses(report));
	for (auto &[id, c] : *classes) {
		auto name = names_.find(id);
		c.name = name.name;
		c.kind = name.kind;
		report.classes.push_back(std::move(c));
	}
	return report;
}

} // namespace lockscope
