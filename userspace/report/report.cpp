// SPDX-License-Identifier: GPL-2.0
#include "report/report.h"

#include "util/text.h"

#include <algorithm>
#include <cstring>
#include <set>

namespace lockscope {

std::vector<const Finding *> select_findings(const Analysis &analysis, const ReportOptions &options)
{
	std::vector<const Finding *> out;
	for (const auto &finding : analysis.findings) {
		if (options.limit && out.size() == options.limit)
			break;
		if (finding.left_out || (finding.hidden() && !options.all) ||
		    finding.confidence < options.min_confidence)
			continue;
		out.push_back(&finding);
	}
	return out;
}

Tally tally(const Analysis &analysis, const ReportOptions &options)
{
	Tally out;
	for (const auto &finding : analysis.findings) {
		if (finding.hidden() && !options.all) {
			if (!finding.left_out)
				(finding.suppressed() ? out.suppressed : out.hidden)++;
		} else if (finding.confidence < options.min_confidence) {
			out.uncertain++;
		} else if (finding.left_out) {
			out.not_selected[static_cast<int>(finding.severity)]++;
		} else if (options.limit && out.listed == options.limit) {
			out.beyond_limit++;
		} else {
			out.listed++;
		}
	}
	return out;
}

const char *dependency_name(std::uint32_t kind)
{
	switch (kind) {
	case LS_DEP_ER:
		return "ER";
	case LS_DEP_EN:
		return "EN";
	case LS_DEP_SR:
		return "SR";
	default:
		return "SN";
	}
}

const char *dependency_words(std::uint32_t kind)
{
	switch (kind) {
	case LS_DEP_ER:
		return "held Exclusively, then acquired by a Recursive reader, which waits for "
		       "writers that hold it only";
	case LS_DEP_EN:
		return "held Exclusively, then acquired by a writer or a reader that waits in line "
		       "(Not recursive)";
	case LS_DEP_SR:
		return "held Shared, then acquired by a Recursive reader, which waits for writers "
		       "that hold it only";
	default:
		return "held Shared, then acquired by a writer or a reader that waits in line (Not "
		       "recursive)";
	}
}

namespace {

bool watched_queues(const Run &run)
{
	return std::any_of(run.primitives.begin(), run.primitives.end(), [](const Primitive &p) {
		return p.kind == LS_KIND_WAITQUEUE && p.state != LS_PRIM_OFF &&
		       p.state != LS_PRIM_ABSENT && p.state != LS_PRIM_FAILED;
	});
}

bool traces_only(const Model &model)
{
	return !model.runs.empty() &&
	       std::all_of(model.runs.begin(), model.runs.end(),
			   [](const Run &run) { return run.backend == kTraceBackend; });
}

} // namespace

std::string systems_of(const Model &model)
{
	std::set<std::string> kernels, traces;
	for (const auto &run : model.runs)
		if (run.release.starts_with(kTraceRelease))
			traces.insert(run.release.substr(std::strlen(kTraceRelease)));
		else
			kernels.insert(run.release);
	std::string out;
	if (!kernels.empty() || traces.empty())
		out = "kernel " + join({kernels.begin(), kernels.end()}, ", ");
	if (!traces.empty())
		out += (out.empty() ? "" : ", ") + std::string(kTraceRelease) +
		       join({traces.begin(), traces.end()}, ", ");
	return out;
}

const char *where_never_seen(const Model &model)
{
	return traces_only(model) ? "in any trace" : "on any kernel";
}

std::vector<std::string> blind_spots(const Model &model)
{
	if (traces_only(model))
		return {"what the program that wrote it did not record",
			"interrupts, which count as the task that they interrupt",
			"orders of threads other than by fork and join"};
	std::vector<std::string> spots = {
		"percpu-rwsem readers on their fast path",
		"bit spinlocks and local_lock, which are inlined",
		"interrupts disabled by inlined code, but for their state at each acquire",
		"locks already held when the module was loaded",
		"freezing a file system, against what is done while it stays frozen",
	};
	if (model.runs.empty() ||
	    !std::all_of(model.runs.begin(), model.runs.end(), watched_queues))
		spots.emplace_back("who waits on wait queues, without waitqueues=1");
	return spots;
}

const std::vector<std::string> &bpf_blind_spots()
{
	static const std::vector<std::string> spots = {
		"spinlocks and rwlocks nobody had to wait for, and what is taken under them",
		"interrupts and softirqs: what they hold, and what they would meet",
		"socket locks, work items and completions; RCU and per-CPU rwsem readers",
		"sleeping where it is not allowed, wrong unlocks, locks freed while held",
		"where kmalloc memory was allocated: locks in it are known by their initialiser, "
		"or by who takes them"};
	return spots;
}

bool has_bpf_run(const Model &model)
{
	return std::any_of(model.runs.begin(), model.runs.end(),
			   [](const Run &run) { return run.backend == "bpf"; });
}

} // namespace lockscope
