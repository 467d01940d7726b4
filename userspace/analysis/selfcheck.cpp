// SPDX-License-Identifier: GPL-2.0
#include "analysis/selfcheck.h"

#include "analysis/verdicts.h"
#include "model/counters.h"
#include "util/text.h"

#include <algorithm>
#include <map>

namespace lockscope {

namespace {

/// How the store shows a cycle of the module.
enum class Shown { All, NotAll, Revised };

class Cycles {
public:
	Cycles(const Model &model, const LockGraph &graph) : model_(model), graph_(graph) {}

	Shown operator()(const KernelFinding &f) const
	{
		const std::size_t n = f.classes.size();
		Shown shown = Shown::All;
		for (std::size_t i = 0; ls_finding_shown(f.kind) == LS_BY_CYCLE && i < n; i++) {
			if (graph_.find(f.classes[i], f.classes[(i + 1) % n]))
				continue;
			/* A later completer did not need that lock. */
			if (!is_interrupt(f.classes[i]) && f.classes[i] != kNoClass &&
			    awaited(model_[f.classes[i]].kind))
				return Shown::Revised;
			shown = Shown::NotAll;
		}
		return shown;
	}

private:
	const Model &model_;
	const LockGraph &graph_;
};

/// Counts of one kind of finding on both sides.
struct Both {
	std::size_t module = 0, visible = 0, all = 0;
};

/* A cycle through an interrupt may be reported as one lock in two states by one side and as an
 * inversion by the other, which had other observations by then. */
FindingKind sort_of(FindingKind kind)
{
	return kind == FindingKind::IrqInversion ? FindingKind::InconsistentIrqState : kind;
}

} // namespace

SelfCheck self_check(const Model &model, const LockGraph &graph, std::size_t cycles,
		     const std::vector<Finding> &findings)
{
	SelfCheck out;
	std::map<FindingKind, Both> sorts;
	const Cycles shown(model, graph);
	std::size_t unknown = 0;
	for (const auto &finding : model.kernel_findings) {
		const Shown how = shown(finding);
		unknown += how == Shown::NotAll;
		if (how != Shown::Revised)
			sorts[sort_of(static_cast<FindingKind>(finding.kind))].module++;
	}
	for (const auto &finding : findings) {
		auto &sort = sorts[sort_of(finding.kind)];
		sort.all++;
		/* Some that the module defers are known by their verdict. */
		sort.visible += !finding.hidden() && !confirmed(finding);
	}
	if (unknown)
		out.missing.push_back(counted(unknown, "cycle") +
				      " that the module found cannot be rebuilt from the store");
	const bool one_run = model.runs.size() == 1 && model.runs[0].backend == "kmod";
	/* Lost records were still processed by the module. */
	const bool complete = model.counter(kLosses[LS_LOSS_RECORDS].stored) == 0 &&
			      model.counter(kMalformedCounter) == 0;

	for (const auto &[kind, sort] : sorts) {
		switch (ls_finding_shown(static_cast<std::uint32_t>(kind))) {
		case LS_BY_CYCLE: {
			const bool order = kind == FindingKind::LockOrderCycle;
			/* The module defers cycles under a gate lock. */
			const bool none = order ? !cycles : !sort.all;
			if (sort.module && none && !unknown)
				out.missing.push_back("the module found " +
						      (order ? counted(sort.module, "cycle")
							     : counted(sort.module, "deadlock") +
								       " with interrupts") +
						      ", the search over its log none");
			if (sort.visible && !sort.module && one_run)
				out.only_here.push_back(order ? "orders of locks"
							      : "locks that interrupts take");
			break;
		}
		case LS_BY_PAIR:     /* judged by the module alone */
		case LS_BY_ACCESSES: /* the same, see below, or by us alone */
			break;
		case LS_BY_SIGHT:
		case LS_BY_TASKS:
			if (!complete)
				break;
			if (sort.module && !sort.all)
				out.missing.push_back(
					"the module counted " + counted(sort.module, "finding") +
					" of kind " + name(kind) + ", its log shows none");
			if (sort.all && !sort.module && one_run)
				out.only_here.emplace_back(name(kind));
			break;
		}
	}
	const auto races = model.counter("races");
	if (races && model.races.empty() && complete && access_losses(model) == 0)
		out.missing.push_back("the module found " + counted(races, "data race") +
				      ", its log shows none");
	return out;
}

} // namespace lockscope
