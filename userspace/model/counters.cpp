// SPDX-License-Identifier: GPL-2.0
#include "model/counters.h"

#include "model/model.h"

#include <array>

namespace lockscope {

const AccessLoss kAccessLosses[LS_NR_ALOSSES] = {
#define LS_ROW(symbol, value, stored, why) {stored, why},
	LS_ACCESS_LOSSES(LS_ROW)
#undef LS_ROW
};

std::uint64_t access_losses(const Model &model)
{
	std::uint64_t sum = 0;
	for (const auto &loss : kAccessLosses)
		sum += model.counter(loss.name);
	return sum;
}

const TraceLoss kTraceLosses[LS_TRACE_NR_LOSSES] = {
#define LS_ROW(symbol, stored, why) {stored, why},
	LS_TRACE_LOSSES(LS_ROW)
#undef LS_ROW
};

std::uint64_t trace_losses(const Model &model)
{
	std::uint64_t sum = 0;
	for (const auto &loss : kTraceLosses)
		sum += model.counter(loss.name);
	return sum;
}

std::span<const AccessCounterName> access_counter_names()
{
	static constexpr std::array names{
		AccessCounterName{kAccessesCounter,
				  [](const ls_access_info &i) { return std::uint64_t{i.seen}; }},
		AccessCounterName{kAccessModeCounter,
				  [](const ls_access_info &i) { return std::uint64_t{i.mode}; }},
		AccessCounterName{"access_share",
				  [](const ls_access_info &i) { return std::uint64_t{i.share}; }},
		AccessCounterName{"access_epochs",
				  [](const ls_access_info &i) { return std::uint64_t{i.epochs}; }},
		AccessCounterName{"shadow_resets",
				  [](const ls_access_info &i) { return std::uint64_t{i.resets}; }},
		AccessCounterName{
			"handovers",
			[](const ls_access_info &i) { return std::uint64_t{i.handovers}; }},
		AccessCounterName{"races",
				  [](const ls_access_info &i) { return std::uint64_t{i.races}; }},
		AccessCounterName{
			"watchpoints",
			[](const ls_access_info &i) { return std::uint64_t{i.watchpoints}; }},
		AccessCounterName{
			"probe_hits",
			[](const ls_access_info &i) { return std::uint64_t{i.probe_hits}; }},
		AccessCounterName{"races_caught",
				  [](const ls_access_info &i) { return std::uint64_t{i.caught}; }},
	};
	return names;
}

const Loss kLosses[LS_NR_LOSSES] = {
#define LS_ROW(symbol, value, name, stored, unit) {LS_LOSS_##symbol, name, stored, LossUnit::unit},
	LS_LOSSES(LS_ROW)
#undef LS_ROW
};

std::span<const CounterName> counter_names()
{
	static constexpr std::array names{
		CounterName{"acquisitions",
			    [](const ls_info &i) { return std::uint64_t{i.acquisitions}; }},
		CounterName{"releases", [](const ls_info &i) { return std::uint64_t{i.releases}; }},
		CounterName{"unknown_releases",
			    [](const ls_info &i) { return std::uint64_t{i.unknown_releases}; }},
		CounterName{"deferred", [](const ls_info &i) { return std::uint64_t{i.deferred}; }},
		CounterName{"task",
			    [](const ls_info &i) {
				    return std::uint64_t{i.level_acquisitions[LS_TASK]};
			    }},
		CounterName{"softirq",
			    [](const ls_info &i) {
				    return std::uint64_t{i.level_acquisitions[LS_SOFTIRQ]};
			    }},
		CounterName{"hardirq",
			    [](const ls_info &i) {
				    return std::uint64_t{i.level_acquisitions[LS_HARDIRQ]};
			    }},
		CounterName{"nmi",
			    [](const ls_info &i) {
				    return std::uint64_t{i.level_acquisitions[LS_NMI]};
			    }},
		CounterName{"classes", [](const ls_info &i) { return std::uint64_t{i.classes}; }},
		CounterName{"edges", [](const ls_info &i) { return std::uint64_t{i.edges}; }},
		CounterName{"chains", [](const ls_info &i) { return std::uint64_t{i.chains}; }},
		CounterName{"findings", [](const ls_info &i) { return std::uint64_t{i.findings}; }},
		CounterName{"max_classes",
			    [](const ls_info &i) { return std::uint64_t{i.max_classes}; }},
		CounterName{"max_edges",
			    [](const ls_info &i) { return std::uint64_t{i.max_edges}; }},
		CounterName{"max_chains",
			    [](const ls_info &i) { return std::uint64_t{i.max_chains}; }},
	};
	return names;
}

} // namespace lockscope
