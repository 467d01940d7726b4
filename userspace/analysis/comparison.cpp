// SPDX-License-Identifier: GPL-2.0
#include "analysis/comparison.h"

#include "analysis/verdicts.h"
#include "model/counters.h"
#include "model/variable.h"

#include <algorithm>
#include <tuple>
#include <utility>

namespace lockscope {

namespace {

/* Confirmed is worse than no verdict, and that is worse than refuted. */
int weight(const std::optional<VerdictResult> &verdict)
{
	return !verdict				      ? 0
	       : *verdict == VerdictResult::Confirmed ? 1
	       : *verdict == VerdictResult::Refuted   ? -1
						      : 0;
}

auto worth(const Entry &entry)
{
	return std::tuple(entry.hidden.empty(), entry.severity, entry.confidence,
			  weight(entry.verdict));
}

std::string verdict_name(const std::optional<VerdictResult> &verdict)
{
	return verdict ? name(*verdict) : "none";
}

std::string hidden_because(const Finding &finding)
{
	for (const auto &filter : finding.filters)
		if (filter.hidden)
			return filter.name + ": " + filter.why;
	return {};
}

Entry entry_of(const Model &model, const Finding &finding)
{
	Entry out;
	out.id = finding.id;
	out.kind = name(finding.kind);
	out.title = finding.title;
	out.severity = finding.severity;
	if (refuted(finding))
		out.unrefuted = unrefuted(finding);
	out.confidence = finding.confidence;
	if (finding.verdict)
		out.verdict = finding.verdict->result;
	out.hidden = hidden_because(finding);
	for (ClassId cls : finding.locks())
		out.locks.push_back(comparable_name(model[cls].name));
	if (finding.race)
		out.variable = comparable_name(finding.race->variable.name);
	else if (finding.violation)
		out.variable = comparable_name(finding.violation->variable.name);
	return out;
}

Used used_by(const Model &model)
{
	Used out;
	std::vector<bool> acquired(model.classes.size());
	for (const auto &run : model.runs)
		for (const auto &chain : run.chains)
			if (chain.cls != kNoClass)
				acquired[index(chain.cls)] = true;
	/* Completions and wait queues are in no chain. */
	for (const auto &observation : model.observations)
		if (observation.acquired.cls != kNoClass)
			acquired[index(observation.acquired.cls)] = true;
	for (std::size_t i = 0; i < acquired.size(); i++)
		if (acquired[i])
			out.locks.insert(comparable_name(model.classes[i].name));
	for (const auto &access : model.accesses)
		out.variables.insert(comparable_name(variable_of(model, access).name));
	return out;
}

Change change_of(const Entry &before, const Entry &now)
{
	Change out;
	out.before = before;
	out.now = now;
	bool rose = false, fell = false;
	auto note = [&](const std::string &what, int difference) {
		if (difference == 0)
			return;
		(difference > 0 ? rose : fell) = true;
		out.what.push_back(what);
	};
	if (before.hidden.empty() != now.hidden.empty()) {
		note(now.hidden.empty() ? "was hidden, " + before.hidden
					: "hidden now, " + now.hidden,
		     now.hidden.empty() ? 1 : -1);
	} else {
		note(std::string("severity ") + name(before.severity) + ", now " +
			     name(now.severity),
		     static_cast<int>(now.severity) - static_cast<int>(before.severity));
		note(std::string("confidence ") + name(before.confidence) + ", now " +
			     name(now.confidence),
		     static_cast<int>(now.confidence) - static_cast<int>(before.confidence));
		note("verdict " + verdict_name(before.verdict) + ", now " +
			     verdict_name(now.verdict),
		     weight(now.verdict) - weight(before.verdict));
	}
	out.state = rose ? ChangeState::Worse : fell ? ChangeState::Better : ChangeState::Unchanged;
	return out;
}

Change gone(const Entry &entry, const Listing &now)
{
	Change out;
	out.state = ChangeState::Gone;
	out.before = out.now = entry;
	out.names = entry.locks.size() + (entry.variable.empty() ? 0 : 1);
	if (!now.used)
		return out;
	const auto &locks = now.used->locks;
	out.used = static_cast<std::size_t>(
			   std::count_if(entry.locks.begin(), entry.locks.end(),
					 [&](const auto &lock) { return locks.contains(lock); })) +
		   now.used->variables.count(entry.variable);
	return out;
}

} // namespace

void Listing::add(Entry entry)
{
	const auto [at, added] = by_id_.try_emplace(entry.id, entries_.size());
	if (added)
		entries_.push_back(std::move(entry));
	else if (worth(entry) > worth(entries_[at->second]))
		entries_[at->second] = std::move(entry);
}

const Entry *Listing::find(const std::string &id) const
{
	const auto at = by_id_.find(id);
	return at == by_id_.end() ? nullptr : &entries_[at->second];
}

std::size_t Listing::shown() const
{
	return static_cast<std::size_t>(
		std::count_if(entries_.begin(), entries_.end(),
			      [](const Entry &entry) { return entry.hidden.empty(); }));
}

std::string comparable_name(const std::string &name)
{
	/* A member of a known type is named behind its offset. */
	const auto from = name.find("+0x");
	if (from == name.npos || name.find(" struct ", from) == name.npos)
		return name;
	const auto to = name.find_first_not_of("0123456789abcdef", from + 3);
	return name.substr(0, from) + name.substr(to);
}

Listing listing_of(const Model &model, const Analysis &analysis)
{
	Listing out;
	out.release = model.runs.empty() ? "" : model.runs.back().release;
	out.runs = model.runs.size();
	out.acquisitions = model.counter("acquisitions");
	for (const auto &finding : analysis.findings)
		out.add(entry_of(model, finding));
	out.used = used_by(model);
	return out;
}

const char *name(ChangeState state)
{
	switch (state) {
	case ChangeState::New:
		return "new";
	case ChangeState::Worse:
		return "worse";
	case ChangeState::Gone:
		return "gone";
	case ChangeState::Better:
		return "better";
	case ChangeState::Unchanged:
		break;
	}
	return "unchanged";
}

bool Comparison::any(Severity level) const
{
	return std::any_of(changes.begin(), changes.end(), [&](const Change &change) {
		return (change.state == ChangeState::New || change.state == ChangeState::Worse) &&
		       change.now.unrefuted.value_or(change.now.severity) >= level;
	});
}

Comparison compare(const Listing &old, const Listing &now)
{
	Comparison out;
	for (const auto &entry : now.entries()) {
		const Entry *before = old.find(entry.id);
		const bool was = before && before->hidden.empty();
		if (!was && !entry.hidden.empty())
			continue;
		if (before) {
			out.changes.push_back(change_of(*before, entry));
			continue;
		}
		Change change;
		change.state = ChangeState::New;
		change.before = change.now = entry;
		out.changes.push_back(std::move(change));
	}
	for (const auto &entry : old.entries())
		if (entry.hidden.empty() && !now.find(entry.id))
			out.changes.push_back(gone(entry, now));
	std::stable_sort(out.changes.begin(), out.changes.end(),
			 [](const Change &a, const Change &b) { return a.state < b.state; });
	for (const auto &change : out.changes)
		out.count[static_cast<std::size_t>(change.state)]++;
	return out;
}

} // namespace lockscope
