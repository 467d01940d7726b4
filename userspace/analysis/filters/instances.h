// SPDX-License-Identifier: GPL-2.0
// Can the instances that a finding was seen with meet? docs/severity.md says what
// follows from the answer.
#pragma once

#include "analysis/finding.h"
#include "analysis/orders/lockgraph.h"
#include "model/model.h"

#include <vector>

namespace lockscope {

/// Distinct instances that a side may have at most to be said to have only these.
inline constexpr std::size_t kFewInstances = 8;
/// Times that a side has to be seen, by its count, before that means anything.
inline constexpr std::uint64_t kOften = 1024;

/// Bring those observations of a cycle to the front in which most of its locks are one
/// instance on both sides, all of them if there are such, and say how many are:
/// Finding::meeting. choose_witnesses() comes before; @facts of each edge.
void choose_meeting(const Model &model, Finding &finding,
		    const std::vector<ChainFacts::Kind> &facts);

/// What @finding.meeting says against the finding, as filters.
void judge_meeting(const Model &model, Finding &finding);

/// Why a finding through @cls, a union of acquire sites (LS_ORIGIN_SITE), needs instances.
std::string mixed_class(const LockClass &cls);

/// The lock held on both sides, exclusively on one, that keeps them apart, if there is one. It
/// may be the one that a side takes part with: the other one holds it besides. Not one of
/// class @but.
ClassId shared_gate(const Model &model, const std::vector<Held> &a, const std::vector<Held> &b,
		    ClassId but = kNoClass);

} // namespace lockscope
