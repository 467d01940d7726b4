// SPDX-License-Identifier: GPL-2.0
// Identifiers, over faults of all kinds in a store of some size: one a fault, and none for two.
#include "store/large_store.h"
#include "support.h"

#include <algorithm>
#include <map>
#include <set>

using namespace lockscope;
using namespace lockscope::test;

namespace {

struct Large {
	Planted planted;
	Model model;
	Analysis analysis;
};

Large large(const LargeStore &wanted)
{
	TempDir dir;
	Large out;
	auto planted = write_large_store(dir / "large.db", wanted);
	EXPECT_TRUE(planted.ok()) << (planted ? "" : planted.error().what);
	auto model = load_stores({dir / "large.db"});
	EXPECT_TRUE(model.ok()) << (model ? "" : model.error().what);
	if (!planted || !model)
		return out;
	out.planted = *planted;
	out.model = std::move(*model);
	out.analysis = analyse(out.model);
	return out;
}

/// What a finding is about, by names alone.
std::string fault_of(const Model &model, const Finding &finding)
{
	std::string out = name(finding.kind);
	std::multiset<std::string> names;
	for (ClassId cls : finding.classes)
		names.insert(model[cls].name);
	if (finding.race)
		names.insert(finding.race->variable.name);
	for (const auto &each : names)
		out += "\n" + each;
	return out;
}

std::map<std::string, std::string> ids_of(const Large &store)
{
	std::map<std::string, std::string> out;
	for (const auto &finding : store.analysis.findings)
		out[fault_of(store.model, finding)] = finding.id;
	return out;
}

} // namespace

TEST(LargeStores, EveryPlantedFaultIsFoundAndNothingElse)
{
	const Large store = large({.findings = 2000, .edges = 8000, .runs = 4});
	EXPECT_EQ(store.planted.findings, 2000u);
	EXPECT_EQ(store.analysis.findings.size(), store.planted.findings);
	EXPECT_EQ(store.analysis.edges, store.planted.edges);
	EXPECT_TRUE(store.analysis.self_check.empty());
	std::set<FindingKind> kinds;
	for (const auto &finding : store.analysis.findings)
		kinds.insert(finding.kind);
	EXPECT_EQ(kinds.size(), 9u);
}

TEST(LargeStores, NoTwoFaultsShareAnId)
{
	const Large store = large({.findings = 5000, .edges = 20000, .runs = 2});
	std::map<std::string, std::string> faults;
	for (const auto &finding : store.analysis.findings) {
		const auto fault = fault_of(store.model, finding);
		const auto [at, added] = faults.try_emplace(finding.id, fault);
		EXPECT_TRUE(added) << at->second << "\nand\n" << fault;
	}
	EXPECT_EQ(faults.size(), store.planted.findings);
	EXPECT_EQ(ids_of(store).size(), store.planted.findings);
}

/* Other numbers of classes, code and stacks, other tasks, instances and addresses, cycles that
 * begin elsewhere, sides observed in another order. */
TEST(LargeStores, OneFaultHasOneIdInWhateverOrderItWasSeen)
{
	const auto first = ids_of(large({.findings = 1000, .edges = 3000, .runs = 2}));
	EXPECT_EQ(first.size(), 1000u);
	for (std::uint64_t order : {1, 2, 77}) {
		const auto other =
			ids_of(large({.findings = 1000, .edges = 3000, .runs = 2, .order = order}));
		EXPECT_EQ(other, first) << order;
	}
}

TEST(LargeStores, RotationsOfACycleHaveOneId)
{
	const Large store = large({.findings = 200, .edges = 500, .runs = 1});
	std::size_t rings = 0;
	for (const auto &finding : store.analysis.findings) {
		if (finding.kind != FindingKind::LockOrderCycle)
			continue;
		auto classes = finding.classes;
		rings += classes.size() == 3;
		for (std::size_t i = 0; i < classes.size(); i++) {
			std::rotate(classes.begin(), classes.begin() + 1, classes.end());
			EXPECT_EQ(finding_id(store.model, finding.kind, classes), finding.id);
		}
		/* The other way round a cycle of three is another fault. */
		std::reverse(classes.begin(), classes.end());
		if (classes.size() == 3)
			EXPECT_NE(finding_id(store.model, finding.kind, classes), finding.id);
	}
	EXPECT_EQ(rings, 30u);
}

TEST(LargeStores, WhatIsLeftOutChangesNoOther)
{
	const auto all = ids_of(large({.findings = 600, .edges = 2000, .runs = 2}));
	const auto some = ids_of(large({.findings = 600, .edges = 2000, .runs = 2, .without = 3}));
	EXPECT_EQ(all.size(), 600u);
	EXPECT_EQ(some.size(), 540u);
	for (const auto &[fault, id] : some)
		EXPECT_EQ(all.at(fault), id);
}

namespace {

/// A cycle of three, of which each side is one observation; @later: on another boot, with other
/// classes and code before, sides in reverse, other tasks.
LogBuilder ring(bool later)
{
	LogBuilder log(later ? 2 : 1);
	for (int i = 0; later && i < 40; i++) {
		const std::string name = "other_" + std::to_string(i);
		const auto cls = log.add_class(name, LS_KIND_MUTEX);
		log.acquire({.pid = 700, .stack = {name + "_caller"}}, {},
			    {.cls = cls, .function = name + "_use"});
	}
	std::vector<std::string> names = {"a_lock", "&b->lock @ b_init", "c_lock"};
	std::map<std::string, std::uint32_t> classes;
	if (later)
		std::reverse(names.begin(), names.end());
	for (const auto &name : names)
		classes[name] = log.add_class(name, LS_KIND_MUTEX,
					      name[0] == '&' ? LS_ORIGIN_INIT : LS_ORIGIN_STATIC);
	std::vector<std::pair<std::string, std::string>> sides = {{"a_lock", "&b->lock @ b_init"},
								  {"&b->lock @ b_init", "c_lock"},
								  {"c_lock", "a_lock"}};
	if (later)
		std::reverse(sides.begin(), sides.end());
	std::uint32_t pid = later ? 900 : 100;
	for (const auto &[held, taken] : sides) {
		pid++;
		log.acquire(
			{.pid = pid,
			 .comm = later ? "other" : "task",
			 .cpu = static_cast<std::uint16_t>(pid % 4),
			 .stack = {"caller_of_" + taken}},
			{{.cls = classes[held], .address = pid * 64u, .function = "hold_" + held}},
			{.cls = classes[taken], .address = pid * 32u, .function = "take_" + taken});
	}
	log.fault(LS_FINDING_BAD_UNLOCK, {.pid = pid + 1}, {},
		  {.cls = classes["a_lock"], .function = "let_go"});
	return log;
}

std::set<std::string> ids_of(const LogBuilder &log)
{
	std::set<std::string> out;
	for (const auto &finding : analyse(model_of(log)).findings)
		out.insert(finding.id);
	return out;
}

} // namespace

TEST(Identifiers, OtherNumbersAddressesAndOrdersGiveTheSame)
{
	const auto first = ids_of(ring(false)), later = ids_of(ring(true));
	EXPECT_EQ(first.size(), 2u);
	EXPECT_EQ(first, later);
}
