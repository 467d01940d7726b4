// SPDX-License-Identifier: GPL-2.0
#include "analysis/verdicts.h"

#include "util/text.h"

#include <algorithm>
#include <vector>

namespace lockscope {

namespace {

bool has(const Finding &finding, VerdictResult result)
{
	return finding.verdict && finding.verdict->result == result;
}

} // namespace

void take_verdict(const Model &model, Finding &finding)
{
	const auto at = model.verdicts.find(finding.id);
	if (at == model.verdicts.end() || !(finding.about_order() || finding.race))
		return;
	finding.verdict = at->second;
	/* Older releases took it for a proof that the sides came one after the other. */
	if (refuted(finding) && finding.verdict->reason == "order") {
		finding.verdict->result = VerdictResult::NotReached;
		finding.verdict->reason.clear();
	}
}

void heed_verdict(Finding &finding)
{
	/* A filter of a race says why it does no harm, which a meeting does not contradict. */
	if (confirmed(finding) && finding.race)
		finding.confidence = Confidence::Confirmed;
	/* A filter of a deadlock says why the sides cannot meet. They did. */
	if (confirmed(finding) && !finding.race) {
		std::erase_if(finding.filters,
			      [](const Filter &filter) { return filter.name != kSuppressed; });
		finding.confidence = Confidence::Confirmed;
		finding.severity = std::max(finding.severity, usual_severity(finding.kind));
	}
	const auto doubted = [](const Filter &filter) { return filter.name == kRefuted; };
	if (refuted(finding) &&
	    std::none_of(finding.filters.begin(), finding.filters.end(), doubted))
		finding.filters.push_back(
			{kRefuted, false, describe(*finding.verdict), Severity::Note});
}

bool confirmed(const Finding &finding)
{
	return has(finding, VerdictResult::Confirmed);
}

bool refuted(const Finding &finding)
{
	return has(finding, VerdictResult::Refuted);
}

Severity unrefuted(const Finding &finding)
{
	if (!refuted(finding))
		return finding.severity;
	Severity out = usual_severity(finding.kind);
	for (const auto &filter : finding.filters)
		if (filter.name != kRefuted)
			out = std::min(out, most_with(filter));
	return out;
}

std::string describe(const Verdict &verdict)
{
	if (!verdict.tries)
		return verdict.why;
	const std::string tries =
		with_commas(verdict.tries) + (verdict.tries == 1 ? " try" : " tries");
	return verdict.why.empty() ? "after " + tries : verdict.why + " (" + tries + ")";
}

} // namespace lockscope
