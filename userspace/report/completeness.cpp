// SPDX-License-Identifier: GPL-2.0
#include "report/completeness.h"

#include "model/counters.h"
#include "util/text.h"

#include <cstdio>
#include <set>

namespace lockscope {

namespace {

std::uint64_t value(const Run &run, const std::string &name)
{
	auto at = run.counters.find(name);
	return at == run.counters.end() ? 0 : at->second;
}

std::uint64_t lost(const Run &run, LossUnit unit)
{
	std::uint64_t sum = 0;
	for (const auto &loss : kLosses)
		if (loss.unit == unit)
			sum += value(run, loss.stored);
	return sum;
}

/// "" as long as @lost is at most @bound of @all.
std::string beyond(std::uint64_t lost, std::uint64_t all, double bound, const std::string &what)
{
	if (static_cast<double>(lost) <= bound * static_cast<double>(all))
		return {};
	char most[32];
	std::snprintf(most, sizeof(most), "%g %%", bound * 100);
	return with_commas(lost) + " of " + with_commas(all) + " " + what + " lost, at most " +
	       most + " may be";
}

std::vector<std::string> losses_beyond_bounds(const Run &run)
{
	const auto unjudged = lost(run, LossUnit::ACQUISITIONS);
	/* A lost stack only costs a finding its detail; lost sites and pairs its name and rank. */
	const auto records = lost(run, LossUnit::RECORDS) + value(run, kMalformedCounter);
	std::uint64_t accesses = 0;
	for (const auto &loss : kAccessLosses)
		accesses += value(run, loss.name);
	std::vector<std::string> out = {
		beyond(unjudged, value(run, "acquisitions"), kMostAcquisitionsLost, "acquisitions"),
		beyond(records, records + run.observations.size(), kMostRecordsLost, "records"),
		beyond(accesses, value(run, kAccessesCounter), kMostAccessesLost, "accesses"),
	};
	std::erase(out, "");
	return out;
}

void judge(const Run &run, const std::string &which, std::vector<Incomplete> &out)
{
	const auto acquisitions = value(run, "acquisitions");
	auto add = [&](const char *reason, const std::string &text) {
		out.push_back({reason, which + text});
	};
	const std::string known = "; " + counted(acquisitions, "acquisition") +
				  (acquisitions == 1 ? " is known" : " are known");
	switch (run.end) {
	case RunEnd::Finished:
		break;
	case RunEnd::Open:
		if (run.writing)
			add("recording", "a recorder is still writing" + known);
		else
			add("interrupted",
			    "the recorder was killed, or lost its disk or its machine, before it "
			    "finished" +
				    known);
		break;
	case RunEnd::Crashed:
		add("crashed", "the recorder crashed (" + run.problem +
				       "), a fault of LockScope's own: please report it" + known);
		break;
	case RunEnd::Failed:
		add("failed", "the recorder gave up: " + run.problem + known);
		break;
	case RunEnd::ModuleGone:
		add("module-gone",
		    "the module was unloaded while it was recorded, what it saw last is missing" +
			    known);
		break;
	}
	if (run.death)
		add("died", "the machine died: " + run.death->cause + known);
	/* A trace may be one of accesses alone. */
	const bool accesses = run.backend == kTraceBackend && value(run, kAccessesCounter);
	if (acquisitions == 0 && !accesses && run.end == RunEnd::Finished && !run.death)
		add("empty", "no acquisition was seen");
	if (run.backend == "bpf")
		add("no-module",
		    "recorded without the module: sleeping locks only, and of them the order only" +
			    known);
	if (const auto losses = losses_beyond_bounds(run); !losses.empty())
		add("lossy", join(losses, "; "));
	if (const std::set<std::string> tables(run.unread.begin(), run.unread.end());
	    !tables.empty())
		add("damaged", "not all rows could be read of " +
				       join({tables.begin(), tables.end()}, ", ") + known);
}

} // namespace

static std::vector<Incomplete> damage_of(const Model &model)
{
	std::vector<Incomplete> out;
	for (const auto &file : model.damaged)
		out.push_back({"damaged", file + " is damaged: what can be read is below"});
	return out;
}

std::vector<Incomplete> incompleteness(const Model &model)
{
	std::vector<Incomplete> out;
	if (model.runs.empty())
		out.push_back({"no-runs", "nothing was recorded"});
	for (auto &why : damage_of(model))
		out.push_back(std::move(why));
	for (std::size_t i = 0; i < model.runs.size(); i++)
		judge(model.runs[i],
		      model.runs.size() > 1 ? "run " + std::to_string(i + 1) + " of " +
						      std::to_string(model.runs.size()) + ": "
					    : "",
		      out);
	return out;
}

std::vector<Incomplete> incompleteness(const Model &model, std::uint32_t run)
{
	auto out = damage_of(model);
	judge(model.runs[run], "", out);
	return out;
}

std::vector<std::string> losses_of(const Model &model)
{
	std::vector<std::string> out;
	for (const auto &loss : kLosses)
		if (auto n = model.counter(loss.stored))
			out.push_back(std::string(loss.stored) + " " + with_commas(n));
	for (const auto &loss : kAccessLosses)
		if (auto n = model.counter(loss.name))
			out.push_back("accesses " + with_commas(n) + " (" + loss.why + ")");
	if (auto n = model.counter(kMalformedCounter))
		out.push_back(std::string(kMalformedCounter) + " " + with_commas(n));
	return out;
}

std::vector<std::string> trace_losses_of(const Model &model)
{
	std::vector<std::string> out;
	for (const auto &loss : kTraceLosses)
		if (auto n = model.counter(loss.name))
			out.push_back(counted(n, "event") + " (" + loss.why + ")");
	return out;
}

} // namespace lockscope
