// SPDX-License-Identifier: GPL-2.0
// Metrics in Prometheus' text format, version 0.0.4, of a store or of a running daemon. Their
// names are in one table in metrics.cpp; docs/serve.md has a list.
#pragma once

#include "analysis/findings.h"
#include "model/model.h"

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace lockscope {

/// Findings of one sort that a report lists.
struct FindingCount {
	Severity severity;
	Confidence confidence;
	FindingKind kind;
	std::uint64_t n = 0;
};

/// Of a whole store. Counting takes a search of it, and is done now and then.
struct FindingCounts {
	std::vector<FindingCount> counts;
	std::uint64_t hidden = 0, suppressed = 0;
	std::int64_t when = 0; ///< seconds since 1970
};

/// Everything that metrics tell. What is not known is left out of the text.
struct Metrics {
	std::string kernel, backend; ///< of the run
	/// Of the run that is recorded, else the last one, see model/counters.h; empty: none.
	std::map<std::string, std::uint64_t> counters;
	std::optional<bool> recording; ///< is there a module, and is it read?
	std::optional<std::uint64_t> runs, records, log_bytes, lag_bytes, store_bytes;
	std::optional<std::int64_t> run_started, last_drain; ///< seconds since 1970
	std::optional<FindingCounts> findings;
};

/// What a report of @model without options lists.
FindingCounts count_findings(const Analysis &analysis, std::int64_t now);

/// Those of a store. The model does not know its size.
Metrics metrics_of(const Model &model, const Analysis &analysis, std::int64_t now);

/// Content-Type of the text.
inline constexpr const char *kMetricsType = "text/plain; version=0.0.4; charset=utf-8";
std::string metrics_text(const Metrics &metrics);

/// The names of all metrics, for tests of what uses them.
std::vector<std::string> metric_names();

} // namespace lockscope
