// SPDX-License-Identifier: GPL-2.0
// Statistics for tables: from a store's runs, sorted and selected.
#pragma once

#include "model/stat.h"

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace lockscope {

struct Model;

/// Sort orders of tables, all descending; the first is the default.
struct StatOrder {
	const char *name;
	std::function<std::uint64_t(const StatClass &)> key;
};
const std::vector<StatOrder> &stat_orders();

/// Sort by @order, one of stat_orders(), then by acquisitions, then by name; keep the classes
/// that match @pattern (as in a shell; empty: all), and that are of @module (see
/// module_matches(); empty: any): its variables, and what it acquires.
void arrange(StatReport &report, const std::string &order, const std::string &pattern,
	     const std::string &module = {});

/// Statistics of the runs in a store; if none of them has any, estimates from their chains.
StatReport stat_of(const Model &model);

} // namespace lockscope
