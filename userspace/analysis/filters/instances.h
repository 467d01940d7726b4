// SPDX-License-Identifier: GPL-2.0
// Do the observed instances of a finding match? docs/severity.md has the consequences.
#pragma once

#include "analysis/finding.h"
#include "analysis/orders/lockgraph.h"
#include "model/model.h"

#include <vector>

namespace lockscope {

/// Distinct instances that a side may have at most to be limited to these.
inline constexpr std::size_t kFewInstances = 8;
/// Observations of a side, by its count, that are needed for that.
inline constexpr std::uint64_t kOften = 1024;

/// Choose the observations of a cycle in which most of its locks are the same instance on both
/// sides, all of them if possible, and count them: Finding::meeting. choose_witnesses() comes
/// before; @facts of each edge.
void choose_meeting(const Model &model, Finding &finding,
		    const std::vector<ChainFacts::Kind> &facts);

/// Add the filters that follow from @finding.meeting.
void judge_meeting(const Model &model, Finding &finding);

/// Why a finding through @cls, a union of acquire sites (LS_ORIGIN_SITE), needs instances.
std::string mixed_class(const LockClass &cls);

/// The gate: a lock held on both sides, exclusively on one, if there is one. It may be a lock
/// of the cycle on one side that the other one holds besides. Not one of class @but.
ClassId shared_gate(const Model &model, const std::vector<Held> &a, const std::vector<Held> &b,
		    ClassId but = kNoClass);

/// Has the context of @a passed a lock that @b holds, or the other way round, so that the two
/// never meet? See lockclass/passed.h. The lock's class; both are of one run.
ClassId passed_before(const std::vector<Held> &a, const std::vector<Held> &b);

/// The filter for it: no error, but not hidden.
Filter passed_filter(const Model &model, ClassId cls);

} // namespace lockscope
