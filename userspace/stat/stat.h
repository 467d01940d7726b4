// SPDX-License-Identifier: GPL-2.0
// Statistics for tables: of a store's runs, sorted and selected.
#pragma once

#include "model/stat.h"

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace lockscope {

struct Model;

/// What tables can be sorted by, most first; the first is the default.
struct StatOrder {
	const char *name;
	std::function<std::uint64_t(const StatClass &)> key;
};
const std::vector<StatOrder> &stat_orders();

/// Sort by @order, one of stat_orders(), then by acquisitions, then by name; keep the
/// classes that fit @pattern (as in a shell; empty: all).
void arrange(StatReport &report, const std::string &order, const std::string &pattern);

/// What was counted while the runs of a store were recorded; if in none of them,
/// estimates from their chains.
StatReport stat_of(const Model &model);

} // namespace lockscope
