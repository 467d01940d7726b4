// SPDX-License-Identifier: GPL-2.0
// Every filter: a case it must hide, and one it must not.
#include "support.h"

using namespace lockscope;
using namespace lockscope::test;

namespace {

const std::vector<std::string> kOpen = {"foo_open", "__x64_sys_openat"};
const std::vector<std::string> kIoctl = {"foo_ioctl", "__x64_sys_ioctl"};

class FilterTest : public testing::Test {
protected:
	FilterTest()
	{
		a = log.add_class("a");
		b = log.add_class("b");
		gate = log.add_class("gate", LS_KIND_MUTEX);
	}

	/* The classes of the first log in another one. */
	static void add_names(LogBuilder &other)
	{
		other.add_class("a");
		other.add_class("b");
		other.add_class("gate", LS_KIND_MUTEX);
	}

	void abba(const Task &one, const Task &two, std::vector<Lock> around = {})
	{
		auto held = around;
		held.push_back({.cls = a});
		log.acquire(one, held, {.cls = b});
		around.push_back({.cls = b});
		log.acquire(two, around, {.cls = a});
	}

	const Filter *applies(const char *name)
	{
		finding = only_finding(model_of(log));
		return filter(finding, name);
	}

	Task user(std::uint32_t pid, const std::vector<std::string> &stack)
	{
		return {.pid = pid, .comm = "user", .stack = stack};
	}
	Task kernel(std::uint32_t pid, const std::string &comm)
	{
		return {.pid = pid,
			.comm = comm,
			.flags = LS_TASK_KTHREAD,
			.stack = {"loop", "kthread"}};
	}
	Task softirq(const std::string &function, const std::string &dispatcher,
		     const std::string &callee = "step")
	{
		return {.pid = 1,
			.comm = "swapper/0",
			.level = LS_SOFTIRQ,
			.stack = {callee, function, dispatcher}};
	}
	Task worker(std::uint32_t pid, const std::string &function,
		    const std::string &callee = "step")
	{
		return {.pid = pid,
			.comm = "kworker/0:1",
			.flags = LS_TASK_KTHREAD | LS_TASK_WORKER,
			.stack = {callee, function, "process_one_work"}};
	}

	LogBuilder log;
	std::uint32_t a = 0, b = 0, gate = 0;
	Finding finding;
};

} // namespace

TEST_F(FilterTest, GateLockHides)
{
	abba(user(1, kOpen), user(2, kIoctl), {{.cls = gate}});
	const Filter *found = applies("gate-lock");
	ASSERT_TRUE(found);
	EXPECT_TRUE(found->hidden);
	EXPECT_NE(found->why.find("gate"), std::string::npos);
	EXPECT_EQ(finding.severity, Severity::Note);
}

TEST_F(FilterTest, GateHeldOnOneSideOnlyDoesNotHide)
{
	log.acquire(user(1, kOpen), {{.cls = gate}, {.cls = a}}, {.cls = b});
	log.acquire(user(2, kIoctl), {{.cls = b}}, {.cls = a});
	EXPECT_FALSE(applies("gate-lock"));
	EXPECT_EQ(finding.severity, Severity::Error);
}

TEST_F(FilterTest, SharedGateDoesNotHide)
{
	abba(user(1, kOpen), user(2, kIoctl), {{.cls = gate, .read = LS_SHARED}});
	EXPECT_FALSE(applies("gate-lock"));
}

TEST_F(FilterTest, GateMissingFromALaterSightDoesNotHide)
{
	abba(user(1, kOpen), user(2, kIoctl), {{.cls = gate}});
	log.acquire(user(3, kOpen), {{.cls = a}}, {.cls = b});
	EXPECT_FALSE(applies("gate-lock"));
}

TEST_F(FilterTest, GateMissingFromAChainDoesNotHide)
{
	abba(user(1, kOpen), user(2, kIoctl), {{.cls = gate}});
	log.acquire_again(user(3, kOpen), {{.cls = a}}, {.cls = b});
	EXPECT_FALSE(applies("gate-lock"));
}

TEST_F(FilterTest, GateMissingFromAChainThatWasOnlyHeldHides)
{
	abba(user(1, kOpen), user(2, kIoctl), {{.cls = gate}});
	/* What is left when the gate is released first. */
	log.acquire_again(user(1, kOpen), {{.cls = a}}, {.cls = b}, 0);
	ASSERT_TRUE(applies("gate-lock"));
	EXPECT_TRUE(finding.hidden());
}

TEST_F(FilterTest, GateOfDifferentInstancesDoesNotHide)
{
	const auto per_object = log.add_class("cache+0x0", LS_KIND_MUTEX, LS_ORIGIN_SLAB, 0, 64);
	log.acquire(user(1, kOpen), {{.cls = per_object, .address = 0x1000}, {.cls = a}},
		    {.cls = b});
	log.acquire(user(2, kIoctl), {{.cls = per_object, .address = 0x2000}, {.cls = b}},
		    {.cls = a});
	EXPECT_FALSE(applies("gate-lock"));
	EXPECT_EQ(finding.severity, Severity::Error);
}

TEST_F(FilterTest, GateOfOneInstanceHides)
{
	const auto per_object = log.add_class("cache+0x0", LS_KIND_MUTEX, LS_ORIGIN_SLAB, 0, 64);
	abba(user(1, kOpen), user(2, kIoctl), {{.cls = per_object, .address = 0x1000}});
	ASSERT_TRUE(applies("gate-lock"));
	EXPECT_TRUE(finding.hidden());
}

/* As of directories in a rename, several of which are held at once. */
TEST_F(FilterTest, GateBesideOthersOfItsClassHides)
{
	const auto per_object = log.add_class("cache+0x0", LS_KIND_MUTEX, LS_ORIGIN_SLAB, 0, 64);
	log.acquire(user(1, kOpen), {{.cls = per_object, .address = 0x1000}, {.cls = a}},
		    {.cls = b});
	log.acquire(user(2, kIoctl),
		    {{.cls = per_object, .address = 0x2000},
		     {.cls = per_object, .address = 0x1000},
		     {.cls = b}},
		    {.cls = a});
	ASSERT_TRUE(applies("gate-lock"));
	EXPECT_TRUE(finding.hidden());
}

TEST_F(FilterTest, SeveralInstancesThatAreAllOthersHideNothing)
{
	const auto per_object = log.add_class("cache+0x0", LS_KIND_MUTEX, LS_ORIGIN_SLAB, 0, 64);
	log.acquire(user(1, kOpen), {{.cls = per_object, .address = 0x1000}, {.cls = a}},
		    {.cls = b});
	log.acquire(user(2, kIoctl),
		    {{.cls = per_object, .address = 0x2000},
		     {.cls = per_object, .address = 0x3000},
		     {.cls = b}},
		    {.cls = a});
	EXPECT_FALSE(applies("gate-lock"));
	EXPECT_EQ(finding.severity, Severity::Error);
}

/* Another lock of its class is held exclusively; that one is on one side alone. */
TEST_F(FilterTest, OneInstanceReadOnBothSidesDoesNotHide)
{
	const auto per_object = log.add_class("cache+0x0", LS_KIND_RWSEM, LS_ORIGIN_SLAB, 0, 64);
	const Lock read{.cls = per_object, .address = 0x1000, .read = LS_SHARED};
	log.acquire(user(1, kOpen), {read, {.cls = a}}, {.cls = b});
	log.acquire(user(2, kIoctl), {{.cls = per_object, .address = 0x2000}, read, {.cls = b}},
		    {.cls = a});
	EXPECT_FALSE(applies("gate-lock"));
	EXPECT_EQ(finding.severity, Severity::Error);
}

/* So is the lock in the object of a lock of the cycle, beside that of another object. */
TEST_F(FilterTest, ReadersInTheObjectOfTheCycleDoNotHide)
{
	const auto in_object = log.add_class("cache+0x0", LS_KIND_SPINLOCK, LS_ORIGIN_SLAB, 0, 64);
	const auto gate = log.add_class("cache+0x10", LS_KIND_RWLOCK, LS_ORIGIN_SLAB, 16, 64);
	const Lock outer{.cls = in_object, .address = 0x2000};
	for (const bool reads : {true, false}) {
		const Lock both{
			.cls = gate, .address = 0x2010, .read = reads ? LS_SHARED : LS_EXCLUSIVE};
		LogBuilder all = log;
		log.acquire(user(1, kOpen), {{.cls = gate, .address = 0x1010}, both, {.cls = a}},
			    outer);
		log.acquire(user(2, kIoctl), {outer, both}, {.cls = a});
		EXPECT_EQ(applies("gate-lock") == nullptr, reads);
		EXPECT_EQ(finding.severity == Severity::Error, reads);
		log = std::move(all);
	}
}

/* One side holds what another one takes part with: a and b are in a cycle, all three not. */
TEST_F(FilterTest, ALockOfTheCycleKeepsSidesApart)
{
	const auto c = log.add_class("c");
	log.acquire(user(1, kOpen), {{.cls = a}}, {.cls = b});
	log.acquire(user(2, kIoctl), {{.cls = b}}, {.cls = c});
	log.acquire(user(3, kOpen), {{.cls = b}, {.cls = c}}, {.cls = a});
	std::size_t longer = 0;
	for (const auto &found : analyse(model_of(log)).findings) {
		const bool three = found.classes.size() == 3;
		longer += three;
		EXPECT_EQ(found.hidden(), three) << found.title;
	}
	EXPECT_EQ(longer, 1u);
}

TEST_F(FilterTest, ALockOfTheCycleThatIsReadKeepsNothingApart)
{
	const auto c = log.add_class("c");
	const Lock read{.cls = b, .read = LS_SHARED};
	log.acquire(user(1, kOpen), {{.cls = a}}, read);
	log.acquire(user(2, kIoctl), {read}, {.cls = c});
	log.acquire(user(3, kOpen), {read, {.cls = c}}, {.cls = a});
	for (const auto &found : analyse(model_of(log)).findings)
		EXPECT_FALSE(found.hidden()) << found.title;
}

/* What a recursive reader does without the gate closes no cycle with a reader. */
TEST_F(FilterTest, AGateMissingWhereNothingWaitsHides)
{
	const Lock read{.cls = b, .read = LS_RECURSIVE};
	log.acquire(user(1, kOpen), {{.cls = gate}, {.cls = a}}, {.cls = b});
	log.acquire(user(2, kIoctl), {{.cls = gate}, {.cls = b, .read = LS_SHARED}}, {.cls = a});
	log.acquire(user(3, kOpen), {{.cls = a}}, read);
	ASSERT_TRUE(applies("gate-lock"));
	EXPECT_TRUE(finding.hidden());
}

TEST_F(FilterTest, GateInTheObjectOfTheLocksItGuardsHides)
{
	const auto g = log.add_class("cache+0x0", LS_KIND_MUTEX, LS_ORIGIN_SLAB, 0, 64);
	const auto x = log.add_class("cache+0x8", LS_KIND_MUTEX, LS_ORIGIN_SLAB, 8, 64);
	log.acquire(user(1, kOpen), {{.cls = g, .address = 0x1000}, {.cls = x, .address = 0x1008}},
		    {.cls = b});
	log.acquire(user(2, kIoctl), {{.cls = g, .address = 0x2000}, {.cls = b}},
		    {.cls = x, .address = 0x2008});
	ASSERT_TRUE(applies("gate-lock"));
	EXPECT_TRUE(finding.hidden());
}

TEST_F(FilterTest, GateOfUnknownInstanceDemotes)
{
	const auto per_object = log.add_class("cache+0x0", LS_KIND_MUTEX, LS_ORIGIN_SLAB, 0, 64);
	LogBuilder other(2);
	add_names(other);
	other.add_class("cache+0x0", LS_KIND_MUTEX, LS_ORIGIN_SLAB, 0, 64);
	log.acquire(user(1, kOpen), {{.cls = per_object, .address = 0x1000}, {.cls = a}},
		    {.cls = b});
	other.acquire(user(2, kIoctl), {{.cls = per_object, .address = 0x1000}, {.cls = b}},
		      {.cls = a});
	finding = only_finding(model_of({&log, &other}));
	const Filter *found = filter(finding, "gate-lock");
	ASSERT_TRUE(found);
	EXPECT_FALSE(found->hidden);
	EXPECT_EQ(finding.severity, Severity::Warning);
}

/* Instances of two runs are not compared with each other, those within each are. */
TEST_F(FilterTest, GatesAreComparedRunByRun)
{
	LogBuilder other(2);
	for (auto *run : {&log, &other}) {
		if (run == &other)
			add_names(other);
		const auto cls = run->add_class("cache+0x0", LS_KIND_MUTEX, LS_ORIGIN_SLAB, 0, 64);
		const Lock held{.cls = cls, .address = run == &log ? 0x1000u : 0x2000u};
		run->acquire(user(1, kOpen), {held, {.cls = a}}, {.cls = b});
		run->acquire(user(2, kIoctl), {held, {.cls = b}}, {.cls = a});
	}
	finding = only_finding(model_of({&log, &other}));
	const Filter *found = filter(finding, "gate-lock");
	ASSERT_TRUE(found);
	EXPECT_TRUE(found->hidden);
}

TEST_F(FilterTest, AnotherGateInOneRunDoesNotHide)
{
	LogBuilder other(2);
	for (auto *run : {&log, &other}) {
		if (run == &other)
			add_names(other);
		const auto cls = run->add_class("cache+0x0", LS_KIND_MUTEX, LS_ORIGIN_SLAB, 0, 64);
		const Lock first{.cls = cls, .address = 0x1000};
		const Lock second{.cls = cls, .address = run == &log ? 0x1000u : 0x3000u};
		run->acquire(user(1, kOpen), {first, {.cls = a}}, {.cls = b});
		run->acquire(user(2, kIoctl), {second, {.cls = b}}, {.cls = a});
	}
	finding = only_finding(model_of({&log, &other}));
	EXPECT_FALSE(filter(finding, "gate-lock"));
	EXPECT_EQ(finding.severity, Severity::Error);
}

TEST_F(FilterTest, OneKernelThreadHides)
{
	abba(kernel(7, "housekeeper"), kernel(7, "housekeeper"));
	const Filter *found = applies("one-context-only");
	ASSERT_TRUE(found);
	EXPECT_TRUE(found->hidden);
}

TEST_F(FilterTest, TwoKernelThreadsDoNotHide)
{
	abba(kernel(7, "side one"), kernel(8, "side two"));
	EXPECT_FALSE(applies("one-context-only"));
	EXPECT_EQ(finding.severity, Severity::Error);
}

TEST_F(FilterTest, OneOfManyKernelThreadsDemotes)
{
	abba(kernel(7, "kswapd0"), kernel(7, "kswapd0"));
	const Filter *found = applies("one-context-only");
	ASSERT_TRUE(found);
	EXPECT_FALSE(found->hidden);
}

/* Any number of processes can do the same. */
TEST_F(FilterTest, OneUserTaskIsNoDoubt)
{
	abba(user(1, kOpen), user(1, kIoctl));
	EXPECT_FALSE(applies("one-context-only"));
	EXPECT_EQ(finding.severity, Severity::Error);
	EXPECT_EQ(finding.confidence, Confidence::Observed);
}

/* One kernel thread is another task in each boot. */
TEST_F(FilterTest, OneKernelThreadHidesInTwoRuns)
{
	LogBuilder other(2);
	add_names(other);
	for (auto *run : {&log, &other}) {
		const auto thread = kernel(run == &log ? 7u : 9u, "housekeeper");
		run->acquire(thread, {{.cls = a}}, {.cls = b});
		run->acquire(thread, {{.cls = b}}, {.cls = a});
	}
	finding = only_finding(model_of({&log, &other}));
	const Filter *found = filter(finding, "one-context-only");
	ASSERT_TRUE(found);
	EXPECT_TRUE(found->hidden);
}

TEST_F(FilterTest, InitCodeOfTheOwnerHides)
{
	const auto own = log.add_class("mod:own", LS_KIND_MUTEX, LS_ORIGIN_STATIC, 0, 0, "vmlinux");
	(void)own;
	LogBuilder module;
	const auto x = module.add_class("mod:x", LS_KIND_MUTEX, LS_ORIGIN_STATIC, 0, 0, "mod");
	const auto y = module.add_class("y", LS_KIND_MUTEX);
	module.acquire({.pid = 1, .stack = {"mod_init", "do_one_initcall"}}, {{.cls = x}},
		       {.cls = y, .function = "register_it"});
	module.acquire(user(2, kIoctl), {{.cls = y}}, {.cls = x});
	Image image = module.image();
	/* Say that mod_init lies in the module. */
	std::size_t at = 0;
	while (at < image.log.size()) {
		auto *record = reinterpret_cast<ls_rec_symbol *>(image.log.data() + at);
		if (record->hdr.type == LS_REC_SYMBOL &&
		    std::string(record->function) == "mod_init")
			std::snprintf(record->module, sizeof(record->module), "mod");
		at += record->hdr.len;
	}
	TempDir dir;
	ASSERT_TRUE(record_image(image, dir / "x.db").ok());
	auto model = load_stores({dir / "x.db"});
	ASSERT_TRUE(model.ok());
	finding = only_finding(*model);
	const Filter *found = filter(finding, "initialisation-only");
	ASSERT_TRUE(found);
	EXPECT_TRUE(found->hidden);
}

TEST_F(FilterTest, InitCodeWithForeignLocksDemotes)
{
	abba({.pid = 1, .stack = {"other_init", "do_one_initcall"}}, user(2, kIoctl));
	const Filter *found = applies("initialisation-only");
	ASSERT_TRUE(found);
	EXPECT_FALSE(found->hidden);
}

TEST_F(FilterTest, InitCodeThatIsNotAloneDoesNotHide)
{
	abba({.pid = 1, .stack = {"other_init", "do_one_initcall"}}, user(2, kIoctl));
	log.acquire(user(3, kOpen), {{.cls = a}}, {.cls = b});
	EXPECT_FALSE(applies("initialisation-only"));
	EXPECT_EQ(finding.severity, Severity::Error);
}

namespace {

/* Locks x and y in objects of one type; addresses are those of the objects. */
struct Objects {
	explicit Objects(LogBuilder &log) : log(log)
	{
		x = log.add_class("cache+0x8", LS_KIND_MUTEX, LS_ORIGIN_SLAB, 8, 64);
		y = log.add_class("cache+0x20", LS_KIND_MUTEX, LS_ORIGIN_SLAB, 32, 64);
	}
	void xy(std::uint64_t first, std::uint64_t second, std::uint32_t pid)
	{
		log.acquire({.pid = pid}, {{.cls = x, .address = first + 8}},
			    {.cls = y, .address = second + 32});
	}
	void yx(std::uint64_t first, std::uint64_t second, std::uint32_t pid)
	{
		log.acquire({.pid = pid}, {{.cls = y, .address = first + 32}},
			    {.cls = x, .address = second + 8});
	}
	LogBuilder &log;
	std::uint32_t x, y;
};

/* f2fs: quota_sem is read while a work item is waited for that reads it. */
TEST_F(FilterTest, ReadersMeetWhereNoWriterWaits)
{
	for (auto [held, acquired, waits] : {std::tuple{LS_SHARED, LS_SHARED, false},
					     {LS_SHARED, LS_SHARED, true},
					     {LS_EXCLUSIVE, LS_SHARED, false},
					     {LS_SHARED, LS_EXCLUSIVE, false}}) {
		log = LogBuilder();
		a = log.add_class("a", LS_KIND_RWSEM);
		b = log.add_class("b");
		log.acquire({.pid = 1, .stack = kOpen}, {{.cls = a, .read = held}}, {.cls = b});
		log.acquire({.pid = 2, .stack = kIoctl}, {{.cls = b}},
			    {.cls = a, .read = acquired});
		log.acquire_again({.pid = 3}, {}, {.cls = a, .try_lock = true});
		if (waits)
			log.acquire_again({.pid = 4}, {}, {.cls = a});
		const bool none = held == LS_SHARED && acquired == LS_SHARED && !waits;
		EXPECT_EQ(applies("no-writer-waits") != nullptr, none);
		EXPECT_EQ(finding.severity == Severity::Note, none);
	}
}

} // namespace

TEST_F(FilterTest, ObjectsThatNeverMeetHide)
{
	Objects objects(log);
	objects.xy(0x1000, 0x1000, 1);
	objects.yx(0x1000, 0x2000, 2);
	objects.yx(0x3000, 0x4000, 2);
	const Filter *found = applies("same-instance-excluded");
	ASSERT_TRUE(found);
	EXPECT_TRUE(found->hidden);
}

TEST_F(FilterTest, ObjectsSeenApartOnceOnlyDemote)
{
	Objects objects(log);
	objects.xy(0x1000, 0x1000, 1);
	objects.yx(0x1000, 0x2000, 2);
	const Filter *found = applies("same-instance-excluded");
	ASSERT_TRUE(found);
	EXPECT_FALSE(found->hidden);
}

/* Four tasks: two that take both locks of their object, and one from each object to the other. */
TEST_F(FilterTest, ObjectsThatCrossBothWaysDoNotHide)
{
	Objects objects(log);
	objects.xy(0x1000, 0x1000, 1);
	objects.yx(0x1000, 0x2000, 2);
	objects.yx(0x2000, 0x1000, 2);
	EXPECT_FALSE(applies("same-instance-excluded"));
	EXPECT_FALSE(finding.hidden());
}

/* The same with three objects, of which no two were crossed both ways. */
TEST_F(FilterTest, ObjectsThatCrossInARingDoNotHide)
{
	Objects objects(log);
	objects.xy(0x1000, 0x1000, 1);
	objects.yx(0x1000, 0x2000, 2);
	objects.yx(0x2000, 0x3000, 2);
	objects.yx(0x3000, 0x1000, 2);
	EXPECT_FALSE(applies("same-instance-excluded"));
	EXPECT_FALSE(finding.hidden());
	EXPECT_EQ(finding.severity, Severity::Warning);
}

TEST_F(FilterTest, ObjectsInALineHide)
{
	Objects objects(log);
	objects.xy(0x1000, 0x1000, 1);
	objects.yx(0x1000, 0x2000, 2);
	objects.yx(0x2000, 0x3000, 2);
	ASSERT_TRUE(applies("same-instance-excluded"));
	EXPECT_TRUE(finding.hidden());
}

TEST_F(FilterTest, LocksOfOneObjectInBothOrdersDoNotHide)
{
	Objects objects(log);
	objects.xy(0x1000, 0x1000, 1);
	objects.yx(0x1000, 0x1000, 2);
	EXPECT_FALSE(applies("same-instance-excluded"));
	EXPECT_EQ(finding.severity, Severity::Error);
}

TEST_F(FilterTest, TwoObjectsEachWayDoNotHide)
{
	Objects objects(log);
	objects.xy(0x1000, 0x2000, 1);
	objects.yx(0x2000, 0x1000, 2);
	EXPECT_FALSE(applies("same-instance-excluded"));
}

TEST_F(FilterTest, OneTimerHides)
{
	abba(softirq("my_timer", "call_timer_fn"), softirq("my_timer", "call_timer_fn"));
	const Filter *found = applies("cannot-run-in-parallel");
	ASSERT_TRUE(found);
	EXPECT_TRUE(found->hidden);
}

TEST_F(FilterTest, TwoTimersDoNotHide)
{
	abba(softirq("my_timer", "call_timer_fn"), softirq("your_timer", "call_timer_fn"));
	EXPECT_FALSE(applies("cannot-run-in-parallel"));
	EXPECT_EQ(finding.severity, Severity::Error);
	EXPECT_EQ(finding.confidence, Confidence::Observed);
}

TEST_F(FilterTest, OneDispatcherForTwoTimersOnlyDemotes)
{
	abba(softirq("run_job", "call_timer_fn", "one"),
	     softirq("run_job", "call_timer_fn", "two"));
	const Filter *found = applies("cannot-run-in-parallel");
	ASSERT_TRUE(found);
	EXPECT_FALSE(found->hidden);
}

TEST_F(FilterTest, OneWorkFunctionDemotesAsItemsMayBeMany)
{
	abba(worker(1, "foo_work"), worker(2, "foo_work"));
	const Filter *found = applies("cannot-run-in-parallel");
	ASSERT_TRUE(found);
	EXPECT_FALSE(found->hidden);
	EXPECT_EQ(finding.severity, Severity::Warning);
}

TEST_F(FilterTest, TwoWorkFunctionsOfOneWorkerDoNotHide)
{
	abba(worker(1, "foo_work"), worker(1, "bar_work"));
	EXPECT_TRUE(only_finding(model_of(log)).filters.empty());
	EXPECT_EQ(only_finding(model_of(log)).confidence, Confidence::Observed);
}

TEST_F(FilterTest, TaskAgainstTimerDoesNotHide)
{
	Task task = user(1, kOpen);
	task.bh_off = true;
	abba(task, softirq("my_timer", "call_timer_fn"));
	EXPECT_TRUE(only_finding(model_of(log)).filters.empty());
}
