// SPDX-License-Identifier: GPL-2.0
// What tests of data races have in common.
#pragma once

#include "support.h"

namespace lockscope::test {

class RaceTest : public testing::Test {
protected:
	RaceTest() { data = log.add_data("stats", LS_DATA_STATIC, 0, "foo"); }

	/* A side: a task of its own number, one function. */
	std::uint32_t side(std::uint32_t pid, const std::string &function, std::uint16_t op,
			   std::vector<GuardedBy> guards = {}, std::uint16_t size = 4)
	{
		return log.access({.pid = pid, .stack = {function + "_caller"}},
				  {.data = data,
				   .offset = 8,
				   .size = size,
				   .op = op,
				   .function = function,
				   .guards = std::move(guards)});
	}

	Finding only() { return only_finding(model = model_of(log)); }
	std::size_t findings() { return analyse(model = model_of(log)).findings.size(); }

	static const Feature *feature(const Finding &finding, const std::string &name)
	{
		for (const auto &each : finding.features)
			if (each.name == name)
				return &each;
		return nullptr;
	}

	LogBuilder log;
	std::uint32_t data;
	Model model;
};

} // namespace lockscope::test
