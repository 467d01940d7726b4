// SPDX-License-Identifier: GPL-2.0
#include "session.h"

#include "analysis/findings.h"
#include "selftests/oracle/run.h"

#include <algorithm>
#include <cstdio>

namespace lockscope::access_oracle {

namespace {

/// "pN_fM": program and number.
bool parse(const std::string &name, const char *form, std::size_t *program, int *number)
{
	return std::sscanf(name.c_str(), form, program, number) == 2;
}

std::string describe(const Finding &finding)
{
	std::string out = std::string(name(finding.severity)) + ", " + name(finding.confidence) +
			  (finding.hidden() ? ", hidden: " : ": ") + finding.title;
	for (const auto &filter : finding.filters)
		out += " [" + filter.name + ": " + filter.why + "]";
	return out;
}

} // namespace

Pair pair_of(const Program &program, int step, int other)
{
	const Place &a = program.place(program.steps[static_cast<std::size_t>(step)]),
		    &b = program.place(program.steps[static_cast<std::size_t>(other)]);
	return {std::min(a.function, b.function), std::max(a.function, b.function), a.word};
}

Result<std::vector<Outcome>> run_session(const std::vector<Job> &jobs, const std::string &folder)
{
	auto module = std::make_unique<Module>();
	std::vector<Outcome> outcomes(jobs.size());
	for (std::size_t i = 0; i < jobs.size(); i++) {
		const auto losses = module->losses;
		outcomes[i].judged = module->run(jobs[i].program, static_cast<std::uint32_t>(i),
					       jobs[i].salt);
		outcomes[i].losses = module->losses - losses;
	}
	auto model = oracle::through_store(module->finish(), folder);
	if (!model)
		return model.error();
	for (const auto &finding : analyse(*model).findings) {
		if (finding.kind != FindingKind::DataRace || !finding.race)
			continue;
		std::size_t program = jobs.size();
		int functions[2], word = kNone;
		for (int i = 0; i < 2; i++) {
			const auto &access = model->accesses[finding.race->sides[i].access];
			auto data = (*model)[access.data].name;
			data.erase(0, data.rfind(':') + 1); /* what says that it is of a CPU */
			parse((*model)[access.at].function, "p%zu_f%d", &program, &functions[i]);
			if (!parse(data, "p%zu_w%d", &program, &word))
				word = static_cast<int>(access.offset) / kWordBytes;
		}
		std::sort(functions, functions + 2);
		outcomes.at(program).report.push_back({{functions[0], functions[1], word},
						       finding.severity,
						       finding.hidden(),
						       !finding.filters.empty(),
						       describe(finding)});
	}
	return outcomes;
}

} // namespace lockscope::access_oracle
