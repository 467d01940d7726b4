// SPDX-License-Identifier: GPL-2.0
// Test cases as KTAP, for kselftest, KUnit's tools and KernelCI.
#include "report/ci.h"

#include "util/text.h"

#include <algorithm>

namespace lockscope {

namespace {

std::string without_hashes(std::string text)
{
	std::replace(text.begin(), text.end(), '#', '.');
	return text;
}

std::string diagnostics(const std::string &text)
{
	std::string out;
	for (const auto &line : split(text, '\n'))
		if (!line.empty())
			out += "# " + line + "\n";
	return out;
}

} // namespace

std::string ktap_report(const Model &model, const Analysis &analysis, const CiOptions &options)
{
	const auto cases = ci_cases(model, analysis, options);
	std::string out = "KTAP version 1\n";
	for (const auto &[key, value] : ci_properties(model))
		out += "# " + key + ": " + value + "\n";
	out += "1.." + std::to_string(cases.size()) + "\n";
	for (std::size_t i = 0; i < cases.size(); i++) {
		const auto &test = cases[i];
		if (test.outcome == CiCase::Outcome::Failed)
			out += diagnostics(test.why);
		out += diagnostics(test.details);
		out += test.outcome == CiCase::Outcome::Failed ? "not ok " : "ok ";
		out += std::to_string(i + 1) + " " + without_hashes(test.group + ": " + test.name);
		if (test.outcome == CiCase::Outcome::Skipped)
			out += " # SKIP " + without_hashes(test.why);
		out += "\n";
	}
	return out;
}

} // namespace lockscope
