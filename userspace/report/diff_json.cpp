// SPDX-License-Identifier: GPL-2.0
// lockscope diff as JSON: "lockscope-diff/1".
#include "report/diff.h"

#include "report/json_parts.h"

namespace lockscope {

namespace {

Json listing_json(const Listing &listing)
{
	return {{"file", listing.file},
		{"form", listing.form},
		{"kernel", {{"release", listing.release}}},
		{"runs", listing.runs},
		{"acquisitions", listing.acquisitions},
		{"findings", listing.shown()},
		{"left_out", listing.left_out},
		{"incomplete", listing.incomplete}};
}

Json worth_json(const Entry &entry)
{
	return {{"severity", name(entry.severity)},
		{"confidence", name(entry.confidence)},
		{"verdict", entry.verdict ? Json(name(*entry.verdict)) : Json(nullptr)},
		{"hidden", entry.hidden.empty() ? Json(nullptr) : Json(entry.hidden)}};
}

Json change_json(const Change &change)
{
	Json out = {{"state", name(change.state)},
		    {"id", change.now.id},
		    {"kind", change.now.kind},
		    {"title", change.now.title}};
	out["old"] = change.state == ChangeState::New ? Json(nullptr) : worth_json(change.before);
	out["new"] = change.state == ChangeState::Gone ? Json(nullptr) : worth_json(change.now);
	out["changes"] = change.what;
	if (change.state == ChangeState::Gone)
		out["seen"] = {{"used", change.used ? Json(*change.used) : Json(nullptr)},
			       {"of", change.names}};
	return out;
}

} // namespace

std::string json_diff(const Listing &old, const Listing &now, const Comparison &comparison)
{
	Json counts, findings = Json::array();
	for (std::size_t i = 0; i < kChangeStates; i++)
		counts[name(static_cast<ChangeState>(i))] = comparison.count[i];
	for (const auto &change : comparison.changes)
		findings.push_back(change_json(change));
	return dump({{"schema", "lockscope-diff/1"},
		     {"old", listing_json(old)},
		     {"new", listing_json(now)},
		     {"counts", std::move(counts)},
		     {"findings", std::move(findings)}});
}

} // namespace lockscope
