// SPDX-License-Identifier: GPL-2.0
// lockscope rules: locking rules, inferred from accesses.
#include "cli/cli.h"
#include "cli/suppressed.h"

#include "analysis/rank.h"
#include "analysis/rules/violations.h"
#include "analysis/selection.h"
#include "report/rules.h"
#include "store/load.h"
#include "util/date.h"
#include "util/text.h"

#include <unistd.h>

#include <algorithm>
#include <memory>
#include <numeric>
#include <set>

namespace lockscope::cli {

namespace {

/* Number of types in a HINT. */
constexpr std::size_t kNearMatches = 3;

struct RulesArgs {
	std::vector<std::string> files;
	std::string type, module, format = "text", out;
	bool check = false;
	SuppressionOptions suppressions;
};

/// "inode" of "struct inode".
std::string bare(const std::string &type)
{
	return type.rfind("struct ", 0) == 0 ? type.substr(7) : type;
}

/// Edit distance [Levenshtein].
std::size_t letters_apart(const std::string &a, const std::string &b)
{
	std::vector<std::size_t> row(b.size() + 1);
	std::iota(row.begin(), row.end(), std::size_t{0});
	for (std::size_t i = 0; i < a.size(); i++) {
		std::size_t diagonal = row[0]++;
		for (std::size_t j = 0; j < b.size(); j++) {
			const std::size_t change = diagonal + (a[i] != b[j]);
			diagonal = row[j + 1];
			row[j + 1] = std::min({change, row[j] + 1, row[j + 1] + 1});
		}
	}
	return row.back();
}

/// The names closest to @wanted, those that contain it first.
std::vector<std::string> near(const std::set<std::string> &names, const std::string &wanted)
{
	std::vector<std::pair<std::size_t, std::string>> ranked;
	for (const auto &name : names) {
		const bool part = name.find(wanted) != name.npos || wanted.find(name) != name.npos;
		ranked.emplace_back(part ? 0 : letters_apart(name, wanted), name);
	}
	std::sort(ranked.begin(), ranked.end());
	std::vector<std::string> out;
	for (std::size_t i = 0; i < ranked.size() && i < kNearMatches; i++)
		out.push_back(ranked[i].second);
	return out;
}

/// Is it a rule of that struct, or of that variable or a member of it?
bool is_of(const Rule &rule, const std::string &wanted)
{
	const std::string owner = bare(rule.owner());
	if (owner == wanted)
		return true;
	/* A variable with or without its module's name. */
	for (const std::string &name : {owner, owner.substr(owner.rfind(':') + 1)})
		if (rule.global && (name == wanted || name.rfind(wanted + ".", 0) == 0))
			return true;
	return false;
}

/// Keep only rules of the type, or of the variable, with that name.
Status select_type(std::vector<Rule> &rules, const std::string &wanted)
{
	const std::string type = bare(wanted);
	std::set<std::string> names;
	for (const auto &rule : rules)
		names.insert(bare(rule.owner()));
	std::vector<Rule> kept;
	for (auto &rule : rules)
		if (is_of(rule, type))
			kept.push_back(std::move(rule));
	if (kept.empty())
		return usage_error("no access to a struct or variable " + type + " was seen",
				   "seen were, among others: " + join(near(names, type), ", "));
	rules = std::move(kept);
	return success();
}

/// Keep only rules of that module's variables, or of what its code was seen to access.
Status select_module(const Model &model, std::vector<Rule> &rules, const std::string &glob)
{
	const auto is_of = [&](std::size_t access) {
		const MemoryAccess &seen = model.accesses[access];
		return module_matches(glob, model[seen.at].module) ||
		       (seen.data != kNoData && module_matches(glob, model[seen.data].module));
	};
	std::erase_if(rules, [&](const Rule &rule) {
		return std::none_of(rule.examples.begin(), rule.examples.end(), is_of) &&
		       std::none_of(rule.counterexamples.begin(), rule.counterexamples.end(),
				    is_of);
	});
	if (rules.empty())
		return usage_error("no access to data of " + glob + ", or by it, was seen",
				   "modules are named as in lsmod, the kernel is vmlinux");
	return success();
}

TextStyle style(const RulesArgs &options, const Globals &globals)
{
	const bool to_file = !options.out.empty();
	return {to_file ? 80 : terminal_width(STDOUT_FILENO),
		use_color(globals.color, to_file ? -1 : STDOUT_FILENO)};
}

/// A report of the accesses that break the rules.
int check(const Model &model, const std::vector<Rule> &rules, const RulesArgs &options,
	  const Globals &globals)
{
	auto entries = suppressions_of(options.suppressions);
	if (!entries)
		return fail(entries.error());
	Analysis analysis = analyse(model);
	analysis.findings = guard_violations(model, rules);
	sort_findings(analysis.findings);
	apply_suppressions(model, analysis, *entries, today());
	const std::string text =
		options.format == "json" || globals.json
			? json_report(model, analysis, {})
			: text_report(model, analysis, {}, style(options, globals));
	if (const int status = deliver(text, options.out))
		return status;
	const bool any = std::any_of(
		analysis.findings.begin(), analysis.findings.end(), [](const Finding &finding) {
			return !finding.hidden() && finding.severity >= Severity::Warning;
		});
	return static_cast<int>(any ? Exit::Findings : Exit::Clean);
}

int run(const RulesArgs &options, const Globals &globals)
{
	if (options.check && options.format == "c")
		return fail(usage_error("--check has no format c", "use --format text or json"));
	const auto files = stores_or_default(options.files);
	auto model = load_stores(files);
	if (!model)
		return fail(model.error());
	if (model->accesses.empty())
		return fail({0, "no memory accesses were recorded in " + files.front(),
			     "record them: lockscope record --accesses all, or --watch, -- COMMAND",
			     Exit::Environment});
	std::vector<Rule> rules = infer_rules(*model);
	if (!options.type.empty())
		if (auto selected = select_type(rules, options.type); !selected)
			return fail(selected.error());
	if (!options.module.empty())
		if (auto selected = select_module(*model, rules, options.module); !selected)
			return fail(selected.error());
	if (options.check)
		return check(*model, rules, options, globals);
	if (options.format == "json" || globals.json)
		return deliver(json_rules(*model, rules), options.out);
	if (options.format == "c")
		return deliver(c_rules(*model, rules), options.out);
	return deliver(text_rules(*model, rules, style(options, globals), !options.type.empty()),
		       options.out);
}

} // namespace

void add_rules_command(CLI::App &app, Globals &globals)
{
	auto *command = add_command(app, "rules", "print which lock guards what, as inferred",
				    "lockscope rules --type inode --format c lockscope.db");
	auto options = std::make_shared<RulesArgs>();
	command->add_option("FILE", options->files,
			    "stores to read, merged when several (default lockscope.db)");
	command->add_option("--type", options->type,
			    "only this struct, or variable; also what was accessed rarely");
	command->add_option("--module", options->module,
			    "only data of a module whose name fits, or that it accesses")
		->type_name("PATTERN");
	command->add_option("--format", options->format, "text, json, or c: comments for a header")
		->check(CLI::IsMember({"text", "json", "c"}))
		->capture_default_str();
	command->add_option("-o,--output", options->out, "write here instead of standard output");
	command->add_flag("--check", options->check,
			  "report accesses that break a rule; exit 1 when a warning is among them");
	add_suppression_options(command, options->suppressions);
	set_action(command, globals, [options, &globals] { return run(*options, globals); });
}

} // namespace lockscope::cli
