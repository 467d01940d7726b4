// SPDX-License-Identifier: GPL-2.0
// Ids of findings about accesses: the same with and without debug information, one each.
#include "analysis/foo_model.h"
#include "race_test.h"

#include "analysis/findings.h"
#include "analysis/rules/variable_ids.h"
#include "analysis/rules/violations.h"

#include <algorithm>

using namespace lockscope;
using namespace lockscope::test;

namespace {

struct Sides {
	std::uint32_t write = 0, read = 0; ///< offsets
};

/* Races of foo_add() with foo_show() at pairs of places in one variable. */
Model races_at(const std::vector<Sides> &places)
{
	LogBuilder log;
	const auto data = log.add_data("stats", LS_DATA_STATIC, 0, "foo");
	/* Each place has an instruction of its own. */
	const auto touch = [&](std::uint32_t pid, const char *function, std::uint16_t op,
			       std::uint32_t offset) {
		return log.access({.pid = pid}, {.data = data,
						 .offset = offset,
						 .op = op,
						 .function = function,
						 .at = 48 + offset});
	};
	std::uint64_t granule = 0xffff888000001000u;
	for (const auto &[write, read] : places) {
		const auto second = touch(2, "foo_show", LS_ACC_READ, read);
		log.race(touch(1, "foo_add", LS_ACC_WRITE, write), second, 0, {}, granule += 8);
	}
	return model_of(log);
}

/* The same, by code that gets an index. */
Model races_in_array(std::uint32_t first, std::uint32_t stride, std::uint32_t elements)
{
	LogBuilder log;
	const auto data = log.add_data("stats", LS_DATA_STATIC, 0, "foo");
	std::uint64_t granule = 0xffff888000001000u;
	for (std::uint32_t i = 0; i < elements; i++) {
		const Touch touch{.data = data, .offset = first + i * stride};
		Touch read = touch, write = touch;
		read.function = "foo_show";
		read.op = LS_ACC_READ;
		write.function = "foo_add";
		const auto second = log.access({.pid = 2}, read);
		log.race(log.access({.pid = 1}, write), second, 0, {}, granule += 8);
	}
	return model_of(log);
}

/* What debug information adds. */
Model with_members(Model model, const std::string &member)
{
	for (auto &access : model.accesses)
		access.member = member;
	for (auto &data : model.data)
		data.type = "struct stats";
	return model;
}

std::vector<std::string> ids_of(const Model &model)
{
	std::vector<std::string> out;
	for (const auto &finding : analyse(model).findings)
		out.push_back(finding.id);
	std::sort(out.begin(), out.end());
	return out;
}

} // namespace

TEST(RaceIds, AreTheSameWithDebugInformation)
{
	const Model plain = races_at({{0xa0, 0xa0}}), named = with_members(plain, "word[]");
	ASSERT_EQ(ids_of(plain).size(), 1u);
	EXPECT_EQ(only_finding(named).race->variable.name, "foo:stats.word[]");
	EXPECT_EQ(ids_of(named), ids_of(plain));
}

TEST(RaceIds, AtTheStartAsWell)
{
	const Model plain = races_at({{0, 0}});
	EXPECT_EQ(ids_of(with_members(plain, "rx")), ids_of(plain));
}

TEST(RaceIds, OneForEachMember)
{
	const auto ids = ids_of(races_at({{0, 0}, {8, 8}}));
	ASSERT_EQ(ids.size(), 2u);
	EXPECT_NE(ids[0], ids[1]);
}

/* Which side came first does not matter. */
TEST(RaceIds, OfPlacesThatOverlap)
{
	EXPECT_EQ(ids_of(races_at({{8, 12}})), ids_of(races_at({{12, 8}})));
}

TEST(RaceIds, OneForAnArrayWhicheverElementsMet)
{
	const auto all = ids_of(races_in_array(16, 32, 8)),
		   some = ids_of(races_in_array(48, 32, 5));
	ASSERT_EQ(all.size(), 1u);
	EXPECT_EQ(all, some);
	EXPECT_EQ(all, ids_of(with_members(races_in_array(16, 32, 8), "slot[].rx")));
	/* Another member of the elements. */
	EXPECT_NE(all, ids_of(races_in_array(24, 32, 8)));
}

TEST(RaceIds, FewPlacesAreNoArray)
{
	EXPECT_EQ(ids_of(races_in_array(16, 32, VariableIds::kElements - 1)).size(),
		  VariableIds::kElements - 1);
}

TEST(ViolationIds, AreTheSameWithDebugInformation)
{
	const auto violation = [](const std::string &member) {
		Foo foo;
		foo.model.data[0].kind = LS_DATA_STATIC;
		foo.touch_in(14, "writer", {.held = {"self.lock"}, .member = member});
		foo.touch("sloppy", {.member = member});
		const auto found = guard_violations(foo.model, infer_rules(foo.model));
		EXPECT_EQ(found.size(), 1u);
		return found.empty() ? "" : found[0].id;
	};
	EXPECT_EQ(violation("count"), violation(""));
}
