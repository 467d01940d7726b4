// SPDX-License-Identifier: GPL-2.0
#include "report/ci.h"

#include "report/completeness.h"

#include "analysis/verdicts.h"
#include "util/printable.h"
#include "util/text.h"
#include "util/utf8.h"

#include <set>

namespace lockscope {

namespace {

CiCase completeness_case(const Model &model, bool allowed)
{
	CiCase out{CiCase::Outcome::Passed, "run", "the run is complete", "", ""};
	std::vector<std::string> reasons;
	for (const auto &why : incompleteness(model))
		reasons.push_back(why.text);
	if (!reasons.empty()) {
		out.outcome = allowed ? CiCase::Outcome::Skipped : CiCase::Outcome::Failed;
		out.why = plain_line(join(reasons, "; "));
	}
	for (const auto &loss : losses_of(model))
		out.details += plain_line(loss) + ": findings may be missing\n";
	return out;
}

CiCase finding_case(const Model &model, const Finding &finding)
{
	CiCase out{CiCase::Outcome::Failed, name(finding.kind),
		   finding.id + " " + plain_line(finding.title),
		   std::string(name(finding.severity)) + ", " + name(finding.confidence),
		   valid_utf8(printable(text_finding(model, finding, {100, false})))};
	for (const auto &filter : finding.filters)
		if (filter.hidden) {
			out.outcome = CiCase::Outcome::Skipped;
			out.why = plain_line(filter.why + " (" + filter.name + ")");
		}
	return out;
}

} // namespace

std::vector<CiCase> ci_cases(const Model &model, const Analysis &analysis, const CiOptions &options)
{
	std::vector<CiCase> out{completeness_case(model, options.allow_incomplete)};
	for (const auto *finding : select_findings(analysis, options.report)) {
		/* A hidden one is a note; what it would be is not known any more. */
		const bool fails = options.fail_on && unrefuted(*finding) >= *options.fail_on;
		if (fails || finding->hidden())
			out.push_back(finding_case(model, *finding));
	}
	return out;
}

std::vector<std::pair<std::string, std::string>> ci_properties(const Model &model)
{
	std::set<std::string> kernels, backends;
	for (const auto &run : model.runs) {
		kernels.insert(run.release);
		backends.insert(run.backend);
	}
	return {{"kernel", plain_line(join({kernels.begin(), kernels.end()}, ", "))},
		{"backend", plain_line(join({backends.begin(), backends.end()}, ", "))},
		{"runs", std::to_string(model.runs.size())},
		{"acquisitions", std::to_string(model.counter("acquisitions"))}};
}

} // namespace lockscope
