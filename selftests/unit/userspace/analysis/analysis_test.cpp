// SPDX-License-Identifier: GPL-2.0
// From observations to findings.
#include "support.h"

#include "analysis/orders/lockgraph.h"
#include "report/report.h"

#include <nlohmann/json.hpp>

#include <map>

using namespace lockscope;
using namespace lockscope::test;

namespace {

const std::vector<std::string> kOpen = {"foo_open", "__x64_sys_openat", "do_syscall_64"};
const std::vector<std::string> kIoctl = {"foo_ioctl", "__x64_sys_ioctl", "do_syscall_64"};

struct Sides {
	Lock held, taken;
};

/* A log with two sides run by different tasks. */
LogBuilder two_sides(ls_kind a_kind, ls_kind b_kind, ls_read a1, ls_read b1, ls_read b2, ls_read a2)
{
	LogBuilder log;
	const auto a = log.add_class("a", a_kind), b = log.add_class("b", b_kind);
	log.acquire({.pid = 1, .stack = kOpen}, {{.cls = a, .read = a1}}, {.cls = b, .read = b1});
	log.acquire({.pid = 2, .stack = kIoctl}, {{.cls = b, .read = b2}}, {.cls = a, .read = a2});
	return log;
}

std::size_t findings(const LogBuilder &log)
{
	return analyse(model_of(log)).findings.size();
}

} // namespace

TEST(Findings, AbbaIsFoundOnceWithBothSides)
{
	const Model model = model_of(two_sides(LS_KIND_SPINLOCK, LS_KIND_MUTEX, LS_EXCLUSIVE,
					       LS_EXCLUSIVE, LS_EXCLUSIVE, LS_EXCLUSIVE));
	const Finding finding = only_finding(model);
	EXPECT_EQ(finding.kind, FindingKind::LockOrderCycle);
	EXPECT_EQ(finding.severity, Severity::Error);
	EXPECT_EQ(finding.confidence, Confidence::Observed);
	EXPECT_EQ(finding.id.size(), 16u);
	EXPECT_EQ(finding.title, "lock order: a -> b -> a (lock_it)");
	ASSERT_EQ(finding.edges.size(), 2u);
	EXPECT_EQ(finding.edges[0].kind, LS_DEP_EN);
	EXPECT_TRUE(finding.filters.empty());
}

TEST(Findings, SameOrderIsSilent)
{
	LogBuilder log;
	const auto a = log.add_class("a"), b = log.add_class("b");
	log.acquire({.pid = 1}, {{.cls = a}}, {.cls = b});
	log.acquire({.pid = 2}, {{.cls = a}}, {.cls = b});
	EXPECT_EQ(findings(log), 0u);
}

TEST(Findings, RecursiveReadersAreSilent)
{
	EXPECT_EQ(findings(two_sides(LS_KIND_RWLOCK, LS_KIND_RWLOCK, LS_RECURSIVE, LS_RECURSIVE,
				     LS_RECURSIVE, LS_RECURSIVE)),
		  0u);
	EXPECT_EQ(findings(two_sides(LS_KIND_SPINLOCK, LS_KIND_RWLOCK, LS_EXCLUSIVE, LS_RECURSIVE,
				     LS_RECURSIVE, LS_EXCLUSIVE)),
		  0u);
}

TEST(Findings, ReadersThatAWriterBlocksAreFound)
{
	EXPECT_EQ(findings(two_sides(LS_KIND_RWSEM, LS_KIND_MUTEX, LS_SHARED, LS_EXCLUSIVE,
				     LS_EXCLUSIVE, LS_SHARED)),
		  1u);
	EXPECT_EQ(findings(two_sides(LS_KIND_RWLOCK, LS_KIND_SPINLOCK, LS_RECURSIVE, LS_EXCLUSIVE,
				     LS_EXCLUSIVE, LS_EXCLUSIVE)),
		  1u);
}

TEST(Findings, TryingNeverWaits)
{
	LogBuilder log;
	const auto a = log.add_class("a"), b = log.add_class("b");
	log.acquire({.pid = 1}, {{.cls = a}}, {.cls = b});
	log.acquire({.pid = 2}, {{.cls = b}}, {.cls = a, .try_lock = true});
	EXPECT_EQ(findings(log), 0u);
	/* But a lock taken by trying is held like any other. */
	log.acquire({.pid = 3}, {{.cls = b, .try_lock = true}}, {.cls = a});
	EXPECT_EQ(findings(log), 1u);
}

TEST(Findings, LongCyclesWithTheirEdgesInOrder)
{
	LogBuilder log;
	std::vector<std::uint32_t> locks;
	for (const char *name : {"a", "b", "c", "d"})
		locks.push_back(log.add_class(name));
	for (std::uint32_t i = 0; i < 4; i++)
		log.acquire({.pid = i + 1}, {{.cls = locks[i]}}, {.cls = locks[(i + 1) % 4]});
	const Model model = model_of(log);
	const Finding finding = only_finding(model);
	ASSERT_EQ(finding.classes.size(), 4u);
	for (std::size_t i = 0; i < 4; i++) {
		EXPECT_EQ(finding.edges[i].from, finding.classes[i]);
		EXPECT_EQ(finding.edges[i].to, finding.classes[(i + 1) % 4]);
	}
}

TEST(Findings, NestingWithinAClassIsNoCycle)
{
	LogBuilder log;
	const auto a = log.add_class("a");
	log.acquire({.pid = 1}, {{.cls = a, .address = 0x10}}, {.cls = a, .address = 0x20});
	EXPECT_EQ(findings(log), 0u);
}

TEST(Findings, BothInstanceOrdersAreARecursiveLock)
{
	LogBuilder log;
	const auto a = log.add_class("node_lock");
	const auto first = log.acquire({.pid = 1, .stack = {"up"}},
				       {{.cls = a, .address = 0x10, .function = "up"}},
				       {.cls = a, .address = 0x20, .function = "up"});
	const auto second = log.acquire({.pid = 2, .stack = {"down"}},
					{{.cls = a, .address = 0x20, .function = "down"}},
					{.cls = a, .address = 0x10, .function = "down"});
	log.inversion(a, false, first, second);
	log.inversion(a, false, first, second);
	const Model model = model_of(log);
	const Finding finding = only_finding(model);
	EXPECT_EQ(finding.kind, FindingKind::RecursiveLock);
	EXPECT_EQ(finding.title, "recursive lock: two node_lock taken in both orders (up vs down)");
	EXPECT_EQ(finding.edges.size(), 2u);
	EXPECT_EQ(finding.confidence, Confidence::Observed);
}

/* Each dependency is in a shorter cycle, which a gate of its own hides. */
TEST(Findings, ALongerCycleIsShownWhereTheShortestAreHidden)
{
	LogBuilder log;
	std::uint32_t pid = 0;
	const std::vector<std::uint32_t> locks{log.add_class("a"), log.add_class("b"),
					       log.add_class("c")};
	for (std::size_t i = 0; i < 3; i++) {
		const Lock gate{.cls = log.add_class("gate" + std::to_string(i))};
		const Lock one{.cls = locks[i]}, two{.cls = locks[(i + 1) % 3]};
		log.acquire({.pid = ++pid}, {gate, one}, two);
		log.acquire({.pid = ++pid}, {gate, two}, one);
	}
	const auto visible = [&] {
		std::size_t count = 0;
		for (const auto &finding : analyse(model_of(log)).findings)
			if (!finding.hidden()) {
				EXPECT_EQ(finding.classes.size(), 3u);
				EXPECT_EQ(finding.severity, Severity::Error);
				count++;
			}
		return count;
	};
	/* The ring may be gone through either way. */
	EXPECT_EQ(visible(), 2u);
	/* The module may report it as well. */
	log.finding(locks);
	EXPECT_EQ(visible(), 2u);
}

/* a and b, and b and c are in visible cycles of their own, a and c only in a hidden one. */
TEST(Findings, LongerCyclesAreShownForDependenciesThatNoOtherShows)
{
	LogBuilder log;
	const Lock a{.cls = log.add_class("a")}, b{.cls = log.add_class("b")},
		c{.cls = log.add_class("c")}, gate{.cls = log.add_class("gate")};
	std::uint32_t pid = 0;
	for (const auto &[one, two] : {std::pair(a, b), std::pair(b, c)}) {
		log.acquire({.pid = ++pid}, {one}, two);
		log.acquire({.pid = ++pid}, {two}, one);
	}
	log.acquire({.pid = ++pid}, {gate, c}, a);
	log.acquire({.pid = ++pid}, {gate, a}, c);
	std::map<std::size_t, int> visible;
	for (const auto &finding : analyse(model_of(log)).findings)
		if (!finding.hidden()) {
			visible[finding.classes.size()]++;
			EXPECT_EQ(finding.cause.empty(), finding.classes.size() == 2);
		}
	EXPECT_EQ(visible, (std::map<std::size_t, int>{{2, 2}, {3, 2}}));
}

TEST(Findings, OneInstanceTwiceIsAnErrorEvenWithOneTask)
{
	LogBuilder log;
	const auto a = log.add_class("a");
	const auto sight =
		log.acquire({.pid = 1, .flags = LS_TASK_KTHREAD}, {{.cls = a}}, {.cls = a});
	log.inversion(a, true, sight, sight);
	const Model model = model_of(log);
	const Finding finding = only_finding(model);
	EXPECT_EQ(finding.severity, Severity::Error);
	EXPECT_EQ(finding.edges.size(), 1u);
	EXPECT_FALSE(finding.hidden());
}

TEST(Findings, AReaderThatReadsAgainWaitsForNoWriterThatOnlyTries)
{
	for (bool waits : {false, true}) {
		LogBuilder log;
		const auto a = log.add_class("a", LS_KIND_RWSEM);
		const auto sight = log.acquire({.pid = 1}, {{.cls = a, .read = LS_SHARED}},
					       {.cls = a, .read = LS_SHARED});
		log.acquire_again({.pid = 2}, {}, {.cls = a, .try_lock = true});
		if (waits)
			log.acquire_again({.pid = 3}, {}, {.cls = a});
		log.inversion(a, true, sight, sight);
		const Model model = model_of(log);
		EXPECT_EQ(only_finding(model).severity, waits ? Severity::Error : Severity::Note);
	}
}

TEST(Findings, AReaderThatReadsAgainIsAnErrorWhereNoWriterWasSeen)
{
	LogBuilder log;
	const auto a = log.add_class("a", LS_KIND_RWSEM);
	const auto sight = log.acquire({.pid = 1}, {{.cls = a, .read = LS_SHARED}},
				       {.cls = a, .read = LS_SHARED});
	log.inversion(a, true, sight, sight);
	const Model model = model_of(log);
	EXPECT_EQ(only_finding(model).severity, Severity::Error);
}

TEST(Findings, InversionWhoseSightsAreGoneIsLeftOut)
{
	LogBuilder log;
	const auto a = log.add_class("a");
	log.inversion(a, false, 100, 200);
	EXPECT_EQ(findings(log), 0u);
}

TEST(Findings, OneKernelThreadAloneIsOnlyPossible)
{
	for (const bool kernel : {true, false}) {
		LogBuilder log;
		const auto a = log.add_class("a"), b = log.add_class("b");
		const std::uint32_t flags = kernel ? LS_TASK_KTHREAD : 0;
		log.acquire({.pid = 1, .flags = flags, .stack = kOpen}, {{.cls = a}}, {.cls = b});
		log.acquire({.pid = 1, .flags = flags, .stack = kIoctl}, {{.cls = b}}, {.cls = a});
		EXPECT_EQ(only_finding(model_of(log)).confidence,
			  kernel ? Confidence::Possible : Confidence::Observed);
	}
}

TEST(Findings, ATaskAndTheTimerThatInterruptsItAreTwoContexts)
{
	LogBuilder log;
	const auto a = log.add_class("a"), b = log.add_class("b");
	log.acquire({.pid = 1, .stack = kOpen, .bh_off = true}, {{.cls = a}}, {.cls = b});
	log.acquire({.pid = 1, .level = LS_SOFTIRQ, .stack = {"tick", "call_timer_fn"}},
		    {{.cls = b}}, {.cls = a});
	EXPECT_EQ(only_finding(model_of(log)).confidence, Confidence::Observed);
}

TEST(Identity, SameAcrossBootsIdsAndCycleStart)
{
	auto log = [](bool reversed) {
		LogBuilder out(reversed ? 2 : 1);
		if (reversed)
			out.add_class("other");
		const auto first = out.add_class(reversed ? "b" : "a"),
			   second = out.add_class(reversed ? "a" : "b");
		out.acquire({.pid = 1}, {{.cls = first}}, {.cls = second});
		out.acquire({.pid = 2}, {{.cls = second}}, {.cls = first});
		return out;
	};
	EXPECT_EQ(only_finding(model_of(log(false))).id, only_finding(model_of(log(true))).id);
	EXPECT_EQ(only_finding(model_of(log(false))).title,
		  only_finding(model_of(log(true))).title);
}

TEST(Identity, FieldsOutliveALayout)
{
	LockClass before, after;
	before.name = "cache+0x10 struct foo.lock";
	after.name = "cache+0x18 struct foo.lock";
	before.stable = after.stable = "cache struct foo.lock";
	Model one, two;
	const auto a = one.intern(before), b = two.intern(after);
	EXPECT_EQ(finding_id(one, FindingKind::RecursiveLock, {a}),
		  finding_id(two, FindingKind::RecursiveLock, {b}));
	EXPECT_NE(finding_id(one, FindingKind::RecursiveLock, {a}),
		  finding_id(one, FindingKind::LockOrderCycle, {a}));
}

TEST(Identity, ShortNames)
{
	auto short_of = [](const char *name, ls_origin origin, const char *module = "ext4") {
		LockClass cls;
		cls.name = name;
		cls.origin = origin;
		cls.module = module;
		return short_name(cls);
	};
	EXPECT_EQ(short_of("ext4:foo_lock", LS_ORIGIN_STATIC), "foo_lock");
	EXPECT_EQ(short_of("Account.java:17", LS_ORIGIN_STATIC, ""), "Account.java:17")
		<< "of a trace";
	EXPECT_EQ(short_of("&sb->s_umount @ alloc_super", LS_ORIGIN_INIT), "&sb->s_umount");
	EXPECT_EQ(short_of("ext4_inode_cache+0x1a8 struct ext4_inode_info.i_data_sem",
			   LS_ORIGIN_SLAB),
		  "ext4_inode_info.i_data_sem");
	EXPECT_EQ(short_of("kmalloc-64+0x8 @ foo_alloc", LS_ORIGIN_ALLOC),
		  "kmalloc-64+0x8 @ foo_alloc");
}

TEST(Stacks, FirstAcquireIsFoundInTheStackOfTheSecond)
{
	LogBuilder log;
	const auto a = log.add_class("a"), b = log.add_class("b");
	log.acquire({.pid = 1, .stack = {"middle", "outer", "__x64_sys_read"}},
		    {{.cls = a, .function = "outer"}}, {.cls = b, .function = "inner"});
	log.acquire({.pid = 2, .stack = kIoctl}, {{.cls = b}}, {.cls = a});
	const Model model = model_of(log);
	const Finding finding = only_finding(model);
	const auto &edge = finding.edges[0];
	EXPECT_EQ(edge.depth, 2u);
	ASSERT_EQ(edge.from_stack.size(), 2u);
	EXPECT_EQ(model[edge.from_stack[0]].function, "outer");
	EXPECT_EQ(model[edge.from_stack[0]].offset, 16u);
	EXPECT_EQ(model[edge.from_stack[1]].function, "__x64_sys_read");
}

TEST(Stacks, AReturnedFunctionIsFoundInAnotherSight)
{
	LogBuilder log;
	const auto x = log.add_class("x"), a = log.add_class("a"), b = log.add_class("b");
	/* The helper that takes `a` has returned when `b` is taken. */
	log.acquire({.pid = 1, .stack = {"caller"}}, {{.cls = x}},
		    {.cls = a, .function = "helper"});
	ls_rec_stack unused{};
	(void)unused;
	log.acquire({.pid = 1, .stack = {"caller"}}, {{.cls = a, .function = "helper"}},
		    {.cls = b, .function = "late"});
	log.acquire({.pid = 2, .stack = kIoctl}, {{.cls = b}}, {.cls = a});
	const Model model = model_of(log);
	const Finding finding = only_finding(model);
	EXPECT_EQ(model[finding.edges[0].from_stack[0]].function, "helper");
}

TEST(Stacks, CallersOfAnotherAcquisitionAreMarked)
{
	LogBuilder log;
	const auto x = log.add_class("x"), a = log.add_class("a"), b = log.add_class("b");
	for (std::uint32_t pid : {3, 1, 4})
		log.acquire({.pid = pid, .comm = "t", .stack = {"caller" + std::to_string(pid)}},
			    {{.cls = x}}, {.cls = a, .function = "helper"});
	log.acquire({.pid = 1, .stack = {"caller1"}}, {{.cls = a, .function = "helper"}},
		    {.cls = b, .function = "late"});
	log.acquire({.pid = 2, .stack = kIoctl}, {{.cls = b}}, {.cls = a});
	Model model = model_of(log);
	/* One place, as an acquisition and as what is held later. */
	for (int i : {0, 1, 2})
		model.observations[i].acquired.at = model.observations[i].stack[0] =
			model.observations[3].held[0].at;
	const Finding finding = only_finding(model);
	const auto &edge = finding.edges[0];
	ASSERT_TRUE(edge.borrowed);
	EXPECT_EQ(*edge.borrowed, 1u) << "the same task's is nearest";
	EXPECT_EQ(model[edge.from_stack[1]].function, "caller1");
	EXPECT_FALSE(finding.edges[1].borrowed);
	const Analysis analysis = analyse(model);
	const auto json = nlohmann::json::parse(json_report(model, analysis, {}));
	const auto &edges = json["findings"][0]["edges"];
	EXPECT_EQ(edges[0]["from_stack_of"], "another-acquisition");
	EXPECT_EQ(edges[1]["from_stack_of"], "acquisition");
	EXPECT_NE(text_report(model, analysis, {}, {200, false})
			  .find("callers as another time it was taken there, by t-1:"),
		  std::string::npos);
}

TEST(Evidence, TheObservationsShownAreThoseWhoseInstancesClose)
{
	LogBuilder log;
	const auto a = log.add_class("a_cache+0x0", LS_KIND_MUTEX, LS_ORIGIN_SLAB, 0, 64),
		   b = log.add_class("b_cache+0x0", LS_KIND_MUTEX, LS_ORIGIN_SLAB, 0, 64);
	const auto nest = [&](std::uint32_t pid, std::uint32_t from, std::uint64_t outer,
			      std::uint32_t to, std::uint64_t inner) {
		log.acquire({.pid = pid}, {{.cls = from, .address = outer}},
			    {.cls = to, .address = inner});
	};
	nest(1, a, 0x1000, b, 0x2000);
	nest(2, b, 0x2100, a, 0x1100);
	nest(3, a, 0x1200, b, 0x2200);
	nest(4, b, 0x2200, a, 0x1200);
	const Model model = model_of(log);
	const auto json = nlohmann::json::parse(json_report(model, analyse(model), {}));
	const auto &edges = json["findings"][0]["edges"];
	ASSERT_EQ(edges.size(), 2u);
	EXPECT_EQ(edges[0]["task"], "task-3");
	EXPECT_EQ(edges[1]["task"], "task-4");
	EXPECT_EQ(edges[0]["from_instance"], edges[1]["to_instance"]);
	EXPECT_EQ(edges[0]["to_instance"], edges[1]["from_instance"]);
	EXPECT_NE(edges[0]["to_instance"], edges[0]["from_instance"]);
}

TEST(Evidence, OfACycleThatDoesNotCloseTheObservationsThatMatchAreShown)
{
	LogBuilder log;
	const auto a = log.add_class("a_cache+0x0", LS_KIND_MUTEX, LS_ORIGIN_SLAB, 0, 64),
		   b = log.add_class("b_cache+0x0", LS_KIND_MUTEX, LS_ORIGIN_SLAB, 0, 64);
	log.acquire({.pid = 1}, {{.cls = a, .address = 0x1000}}, {.cls = b, .address = 0x2000});
	log.acquire({.pid = 2}, {{.cls = b, .address = 0x2100}}, {.cls = a, .address = 0x1100});
	log.acquire({.pid = 3}, {{.cls = a, .address = 0x1200}}, {.cls = b, .address = 0x2200});
	log.acquire({.pid = 4}, {{.cls = b, .address = 0x2200}}, {.cls = a, .address = 0x1300});
	const Model model = model_of(log);
	const auto json = nlohmann::json::parse(json_report(model, analyse(model), {}));
	const auto &edges = json["findings"][0]["edges"];
	ASSERT_EQ(edges.size(), 2u);
	EXPECT_EQ(edges[0]["task"], "task-3");
	EXPECT_EQ(edges[1]["task"], "task-4");
	EXPECT_EQ(edges[0]["to_instance"], edges[1]["from_instance"]);
	EXPECT_NE(edges[1]["to_instance"], edges[0]["from_instance"]);
}

TEST(Chains, CountAcquisitionsUnderALock)
{
	LogBuilder log;
	const auto a = log.add_class("a"), b = log.add_class("b"), c = log.add_class("c");
	log.acquire({.pid = 1}, {{.cls = a}}, {.cls = b});
	log.acquire({.pid = 2}, {{.cls = b}}, {.cls = a});
	log.acquire_again({.pid = 1}, {{.cls = a}}, {.cls = b}, 999);
	log.acquire_again({.pid = 1}, {{.cls = a}, {.cls = c}}, {.cls = b}, 500);
	const Finding finding = only_finding(model_of(log));
	EXPECT_EQ(finding.edges[0].count, 1500u);
	EXPECT_EQ(finding.edges[1].count, 1u);
}

TEST(SelfCheck, AKernelFindingThatCannotBeRebuiltIsSaid)
{
	LogBuilder log;
	const auto a = log.add_class("a"), b = log.add_class("b");
	log.finding({a, b});
	auto analysis = analyse(model_of(log));
	ASSERT_EQ(analysis.self_check.missing.size(), 1u);
	EXPECT_NE(analysis.self_check.missing[0].find("cannot be rebuilt"), std::string::npos);
}

TEST(SelfCheck, AFindingTheKernelMissedIsSaid)
{
	LogBuilder log = two_sides(LS_KIND_MUTEX, LS_KIND_MUTEX, LS_EXCLUSIVE, LS_EXCLUSIVE,
				   LS_EXCLUSIVE, LS_EXCLUSIVE);
	EXPECT_EQ(analyse(model_of(log)).self_check.only_here.size(), 1u);
	log.finding({1, 2});
	EXPECT_TRUE(analyse(model_of(log)).self_check.empty());
}

/* What other modules call by the same function's name is another lock. */
TEST(Analysis, EqualNamesOfTwoModulesAreTwoClasses)
{
	LogBuilder log;
	auto of = [&](const char *module) {
		return log.add_class("&priv->lock @ probe", LS_KIND_MUTEX, LS_ORIGIN_INIT, 0, 0,
				     module);
	};
	const auto foo = of("foo"), bar = of("bar"), mid = log.add_class("mid", LS_KIND_MUTEX);
	log.acquire({.pid = 1}, {{.cls = foo}}, {.cls = mid});
	log.acquire({.pid = 2}, {{.cls = mid}}, {.cls = bar});
	EXPECT_TRUE(analyse(model_of(log)).findings.empty());
	log.acquire({.pid = 3}, {{.cls = mid}}, {.cls = foo});
	EXPECT_EQ(only_finding(model_of(log)).classes.size(), 2u);
}

TEST(Analysis, LocksWithoutASymbolAreNotOne)
{
	LogBuilder log;
	const char *nameless = "static lock without a symbol";
	const auto a = log.add_class(nameless), b = log.add_class(nameless),
		   mid = log.add_class("mid");
	log.acquire({.pid = 1}, {{.cls = a}}, {.cls = mid});
	log.acquire({.pid = 2}, {{.cls = mid}}, {.cls = b});
	EXPECT_TRUE(analyse(model_of(log)).findings.empty());
}
