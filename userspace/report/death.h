// SPDX-License-Identifier: GPL-2.0
// How the machines of a report's runs died, and what was held then.
#pragma once

#include "analysis/findings.h"
#include "report/json_parts.h"
#include "report/printer.h"

#include <string>
#include <vector>

namespace lockscope {

/// What a report says of the death of one run's machine.
struct DeathStory {
	const Death *death = nullptr;
	std::uint32_t run = 0; ///< number in Model::runs
	/// Of these, as many as are about a lock that was held or waited for, by rank.
	std::vector<const Finding *> findings;
	/// What was running, "foo_thread [foo]"; empty when the messages do not say it.
	std::string function, module;
	std::vector<std::string> next; ///< what to do, one sentence each
};

/// Of each run whose machine died; @shown: the findings of the report, by rank.
std::vector<DeathStory> death_stories(const Model &model,
				      const std::vector<const Finding *> &shown);

/// "rwsem foo (shared), taken at foo_lookup+0x1a/foo"
std::string lock_at_death(const Model &model, const Held &lock);
/// "bash/312, on CPU 1", "softirq on CPU 0", "kworker/0:1/33, asleep"
std::string context_at_death(const DeadContext &context);

void print_deaths(const Model &model, const std::vector<const Finding *> &shown, Printer &out);
/// Empty: no machine died.
Json deaths_json(const Model &model, const std::vector<const Finding *> &shown);

} // namespace lockscope
