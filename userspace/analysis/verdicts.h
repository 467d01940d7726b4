// SPDX-License-Identifier: GPL-2.0
// What a verdict of lockscope confirm changes about a finding, see docs/severity.md.
#pragma once

#include "analysis/finding.h"

#include <string>

namespace lockscope {

/// Set Finding::verdict of a finding about the order of locks, if the model has one.
void take_verdict(const Model &model, Finding &finding);

/// Adapt confidence, severity and filters to the verdict, whatever they were; the severity is
/// then limited by the filters that are left. Can be repeated.
void heed_verdict(Finding &finding);

/// Is it confirmed, or refuted, by a verdict?
bool confirmed(const Finding &finding);
bool refuted(const Finding &finding);

/// The severity that @finding would have if it were not refuted. Exit statuses go by it: a
/// refutation is about what ran, and a failed test does not pass by one.
Severity unrefuted(const Finding &finding);

/// "both sides met ..., after 12 tries"
std::string describe(const Verdict &verdict);

} // namespace lockscope
