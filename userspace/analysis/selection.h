// SPDX-License-Identifier: GPL-2.0
// Which findings a report is wanted of, and what is new in it.
#pragma once

#include "analysis/finding.h"
#include "util/result.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace lockscope {

/// Empty lists: any. One match in each list is enough.
struct Selection {
	std::vector<FindingKind> kinds = {};
	std::vector<std::string> modules = {}; ///< globs, see is_of_module()
	std::vector<std::string> classes = {}; ///< globs, see is_about()
	/// Number in Model::runs: seen in that run or later. What is new is new from there on.
	std::optional<std::uint32_t> since = {};
	bool only_new = false;

	bool any() const
	{
		return !kinds.empty() || !modules.empty() || !classes.empty() || since || only_new;
	}
	/// As on the command line: "--module xfs --new".
	std::string describe() const;
};

struct Analysis;

/// The run that @text names: its number as reports print it, from 1, "last", or a day in UTC,
/// YYYY-MM-DD: the first run from then on. A usage error when there is none.
Result<std::uint32_t> parse_run(const Model &model, const std::string &text);

/// Does @glob match the module, where '-' and '_' are equal, as for modprobe? Empty is vmlinux.
bool module_matches(const std::string &glob, const std::string &module);

/// Does the name of a lock of @finding, or of its variable, match @glob?
bool is_about(const Model &model, const Finding &finding, const std::string &glob);

/// Is a lock of @finding, its variable or a function on its stacks of a module that matches
/// @glob? '-' and '_' are equal, as for modprobe. The functions of vmlinux do not count: they
/// are on every stack.
bool is_of_module(const Model &model, const Finding &finding, const std::string &glob);

/// Set Finding::fresh and left_out, Analysis::selection and new_since. Findings keep their
/// ranks.
void apply_selection(const Model &model, Analysis &analysis, const Selection &selection);

/// Globs of @selection that nothing recorded matches, as on the command line: misspelt, maybe.
std::vector<std::string> unmatched(const Model &model, const Selection &selection);

} // namespace lockscope
