// SPDX-License-Identifier: GPL-2.0
#include "analysis/filters/beliefs.h"

extern "C" {
#include "lockclass/belief.h"
}

#include "util/text.h"

#include <cmath>
#include <cstdio>
#include <optional>

namespace lockscope {

namespace {

/* Nesting in address order: this many pairs in one direction happen by chance once in 128
 * times. Pointers between objects are not chance. */
constexpr std::uint64_t kLeastPairs = 8;

ls_belief belief(const ClassCounts &counts)
{
	return ls_believe(counts.unmatched_releases, counts.releases);
}

ls_semaphore_use use(const ClassCounts &counts)
{
	return ls_semaphore_used(counts.releases, counts.unmatched_releases, counts.instances,
				 counts.handed);
}

std::optional<LockRule> rule_of(const ClassCounts &counts)
{
	const auto &nested = counts.nested;
	if (nested[LS_NEST_ANNOTATED])
		return LockRule{kNoClass, "annotated", nested[LS_NEST_ANNOTATED], 0};
	const auto looked = nested[LS_NEST_LOOKED];
	const auto pairs = nested[LS_NEST_ASCENDING] + nested[LS_NEST_DESCENDING];
	const struct {
		const char *rule;
		std::uint64_t support, of, least;
	} candidates[] = {
		{"parent before child", nested[LS_NEST_BACK], looked, 0},
		{"along a pointer", nested[LS_NEST_FORTH], looked, 0},
		{"ascending address", nested[LS_NEST_ASCENDING], pairs, kLeastPairs},
		{"descending address", nested[LS_NEST_DESCENDING], pairs, kLeastPairs},
	};
	for (const auto &candidate : candidates) {
		if (candidate.support > candidate.of || candidate.of < candidate.least)
			continue;
		const auto against = candidate.of - candidate.support;
		/* Of a few pairs a third may be chance, but no rule has so many exceptions. */
		if (against * LS_BELIEF_ERRORS > candidate.of)
			continue;
		if (ls_believe(against, candidate.of) == LS_BELIEF_HOLDS)
			return LockRule{kNoClass, candidate.rule, candidate.support, against};
	}
	return std::nullopt;
}

} // namespace

const char *semaphore_verdict(const ClassCounts &counts)
{
	if (use(counts) == LS_SEMAPHORE_SIGNAL)
		return "signal";
	return belief(counts) == LS_BELIEF_HOLDS ? "lock" : "undecided";
}

double semaphore_z(const ClassCounts &counts)
{
	constexpr double p = 1.0 / LS_BELIEF_ERRORS;
	const auto n = static_cast<double>(counts.releases);
	if (counts.releases == 0)
		return 0;
	return (static_cast<double>(counts.unmatched_releases) - n * p) /
	       std::sqrt(n * p * (1 - p));
}

std::string describe_semaphore(const ClassCounts &counts)
{
	const std::string verdict = semaphore_verdict(counts);
	char z[32];
	std::snprintf(z, sizeof(z), "%.1f", semaphore_z(counts));
	const std::string instances = counts.handed == 0
					      ? ""
					      : "; " + with_commas(counts.handed) + " of " +
							counted(counts.instances, "semaphore") +
							" handed over";
	return (verdict == "signal" && belief(counts) != LS_BELIEF_BROKEN && counts.handed > 0
			? "handed over, no lock: "
		: verdict == "signal" ? "a signal, no lock: "
		: verdict == "lock"   ? "used as a lock: "
				      : "lock or signal, undecided: ") +
	       with_commas(counts.unmatched_releases) + " of " +
	       counted(counts.releases, "release") +
	       " by a task that had not acquired it, z = " + z + instances;
}

const ClassCounts *semaphore_counts(const Model &model, ClassId cls)
{
	if (cls == kNoClass || is_interrupt(cls) || model[cls].kind != LS_KIND_SEMAPHORE)
		return nullptr;
	auto at = model.counts.find(cls);
	return at == model.counts.end() ? nullptr : &at->second;
}

bool counts_events(const Model &model, ClassId cls)
{
	const auto *counts = semaphore_counts(model, cls);
	return counts && use(*counts) == LS_SEMAPHORE_SIGNAL;
}

bool handed_over(const Model &model, ClassId cls)
{
	const auto *counts = semaphore_counts(model, cls);
	return counts && use(*counts) == LS_SEMAPHORE_MIXED;
}

bool often_handed_over(const Model &model, ClassId cls)
{
	const auto *counts = semaphore_counts(model, cls);
	return counts && ls_semaphore_doubted(counts->releases, counts->unmatched_releases,
					      counts->instances, counts->handed);
}

bool always_handed_over(const Model &model, ClassId cls)
{
	const auto *counts = semaphore_counts(model, cls);
	return counts && use(*counts) == LS_SEMAPHORE_MIXED && counts->handed > 0 &&
	       counts->handed == counts->instances && belief(*counts) != LS_BELIEF_HOLDS;
}

std::vector<LockRule> lock_rules(const Model &model)
{
	std::vector<LockRule> out;
	for (const auto &[cls, counts] : model.counts)
		if (auto rule = rule_of(counts)) {
			rule->cls = cls;
			out.push_back(*rule);
		}
	return out;
}

} // namespace lockscope
