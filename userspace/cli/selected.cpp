// SPDX-License-Identifier: GPL-2.0
#include "cli/selected.h"

#include "cli/cli.h"

#include "analysis/filters/annotations.h"
#include "store/load.h"
#include "util/text.h"

namespace lockscope::cli {

namespace {

/// All but the run of --since, which takes a model.
Result<Selection> selection_of(const SelectionArgs &args)
{
	Selection out;
	out.modules = args.modules;
	out.classes = args.classes;
	out.only_new = args.only_new;
	for (const auto &word : args.kinds) {
		const auto kind = parse_kind(word);
		if (!kind)
			return usage_error("--kind: there is no kind " + word,
					   "kinds are " + join(kind_names(), ", "));
		out.kinds.push_back(*kind);
	}
	return out;
}

} // namespace

void add_selection_options(CLI::App *command, SelectionArgs &args)
{
	command->add_option("FILE", args.files,
			    "stores to read, merged when several (default lockscope.db)");
	command->add_option("--min-confidence", args.min_confidence,
			    "leave out what is less certain")
		->check(CLI::IsMember({"possible", "observed", "confirmed"}))
		->capture_default_str();
	command->add_option("--limit", args.limit, "list at most this many, 0 for all")
		->check(kCount)
		->capture_default_str();
	command->add_option("--module", args.modules,
			    "only what has a lock, a variable or code of this module; a pattern "
			    "with * and ?; again: any of them, as for the next two")
		->allow_extra_args(false);
	command->add_option("--kind", args.kinds, "only this kind, see docs/findings.md")
		->allow_extra_args(false);
	command->add_option("--class", args.classes,
			    "only what has a lock or a variable whose name matches this pattern")
		->allow_extra_args(false);
	command->add_option("--since", args.since,
			    "only what that run or a later one shows a part of: its number, last, "
			    "or a day, YYYY-MM-DD");
	command->add_flag("--new", args.only_new,
			  "only what the runs before the last one do not show, or before that of "
			  "--since");
	command->add_flag("--raw-nesting", args.analysis.raw_nesting,
			  "look for spinlock_t under raw_spinlock_t as well, which PREEMPT_RT "
			  "forbids");
	add_weights_option(command, args.weights);
	add_suppression_options(command, args.suppressions);
}

Result<Selected> select_from_stores(const SelectionArgs &args)
{
	auto selection = selection_of(args);
	if (!selection)
		return selection.error();
	auto model = load_stores(stores_or_default(args.files), Damage::Salvage);
	if (!model)
		return model.error();
	LS_TRY_STATUS(annotations::load(*model));
	if (model->runs.empty())
		return Error{0, "nothing was recorded in " + stores_or_default(args.files).front(),
			     "record first: lockscope record -- COMMAND", Exit::Environment};
	if (!args.since.empty()) {
		auto since = parse_run(*model, args.since);
		if (!since)
			return since.error();
		selection->since = *since;
	}
	auto analysis =
		analyse_with(*model, args.suppressions, args.analysis, args.weights, *selection);
	if (!analysis)
		return analysis.error();
	Selected out{std::move(*model), std::move(*analysis), {}};
	out.report.min_confidence = *parse_confidence(args.min_confidence);
	out.report.all = args.all;
	out.report.limit = args.limit;
	return out;
}

} // namespace lockscope::cli
