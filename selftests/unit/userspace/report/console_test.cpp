// SPDX-License-Identifier: GPL-2.0
// Findings as console reports, against golden files; selftests/cli/dmesg has them read by what
// testing services look for. UPDATE_GOLDEN=1 in the environment rewrites the files.
#include "report/logs.h"
#include "support.h"

#include "report/console.h"
#include "report/formats.h"
#include "util/text.h"
#include "util/utf8.h"

#include <cstdlib>

using namespace lockscope;
using namespace lockscope::test;

namespace {

std::string dmesg_of(const LogBuilder &log)
{
	const Model model = model_of(log);
	return dmesg_report(model, analyse(model), {});
}

void expect_console(const std::string &name, const std::string &text)
{
	const std::string path = std::string(GOLDEN_DIR) + "/" + name;
	if (std::getenv("UPDATE_GOLDEN"))
		spill(path, text);
	EXPECT_EQ(slurp(path), text) << "UPDATE_GOLDEN=1 accepts the change";
}

bool has_line(const std::string &text, const std::string &line)
{
	return (text + "\n").find("] " + line + "\n") != std::string::npos;
}

} // namespace

TEST(ConsoleReport, GoldenOfCycles)
{
	expect_console("dmesg.txt", dmesg_of(small_log()));
}

TEST(ConsoleReport, GoldenOfOtherKinds)
{
	expect_console("dmesg-other-kinds.txt", dmesg_of(other_kinds()));
}

TEST(ConsoleReport, GoldenOfARace)
{
	expect_console("dmesg-race.txt", dmesg_of(race_log()));
}

TEST(ConsoleReport, EveryKindHasItsHeadline)
{
	for (const auto kind : finding_kinds())
		EXPECT_FALSE(std::string(console_headline(kind)).empty()) << name(kind);
	const std::string text = dmesg_of(every_kind());
	for (const char *line :
	     {"WARNING: deadlock detected in left_wait!",
	      "WARNING: guard violation: drv_limit written without global.drv:spare_lock (drv_reset)"})
		EXPECT_TRUE(has_line(text, line)) << line << "\n" << text;
}

TEST(ConsoleReport, TheTaskThatCameLastAsks)
{
	const std::string text = dmesg_of(small_log());
	EXPECT_TRUE(has_line(text, "kworker/0:1/9 is trying to acquire lock:")) << text;
	EXPECT_TRUE(has_line(text, "(foo:foo_lock){spinlock}, at: foo_notify+0x20"));
	EXPECT_TRUE(has_line(text, "(&dev->bar_mutex @ bar_probe){mutex}, at: bar_work+0x10"));
}

TEST(ConsoleReport, FaultsOfTasksAndUnlocks)
{
	LogBuilder log;
	const auto lock =
		log.add_class("foo:foo_lock", LS_KIND_SPINLOCK, LS_ORIGIN_STATIC, 0, 0, "foo");
	const Task task = {.pid = 7, .comm = "leaver", .stack = {"foo_read", "__x64_sys_read"}};
	const Lock held = {.cls = lock, .function = "foo_read"};
	log.fault(LS_FINDING_DOUBLE_UNLOCK, task, {}, {.cls = lock, .function = "foo_put"});
	log.fault(LS_FINDING_HELD_EXIT, task, {held}, {.cls = lock, .function = "do_exit"}, 1);
	log.fault(LS_FINDING_HELD_USER, task, {held}, {.cls = lock, .function = "exit_user"}, 1);
	log.fault(LS_FINDING_NOT_HELD, task, {}, {.cls = lock, .function = "foo_nest"});
	log.fault(LS_FINDING_WW, task, {}, {.cls = lock, .function = "foo_ww"});
	const std::string text = dmesg_of(log);
	for (const char *line :
	     {"WARNING: bad unlock balance detected!",
	      "leaver/7 is trying to release lock (foo:foo_lock) at:", "[<0x20>] foo_put+0x20",
	      "but there are no more locks to release!", "WARNING: leaver/7 still has locks held!",
	      "(foo:foo_lock){spinlock}, at: foo_read+0x10",
	      "WARNING: lock held when returning to user space!",
	      "leaver/7 is leaving the kernel with locks still held!",
	      "WARNING: Nested lock was not taken", "leaver/7 relies on a lock at: foo_nest+0x20",
	      "but this task is not holding: (foo:foo_lock){spinlock}",
	      "WARNING: ww_mutex rules broken in foo_ww!", "1 lock held by leaver/7:"})
		EXPECT_TRUE(has_line(text, line)) << line << "\n" << text;
}

TEST(ConsoleReport, LinesStayLines)
{
	const std::string text = dmesg_of(hostile_log());
	EXPECT_EQ(text, valid_utf8(text));
	EXPECT_EQ(text.find('\033'), std::string::npos);
	for (const auto &line : split(text, '\n'))
		if (!line.empty()) {
			EXPECT_EQ(line.find("["), 0u) << line;
			EXPECT_EQ(line.find("] second line"), std::string::npos);
		}
	const Model model = model_of(hostile_log());
	const std::string bare = dmesg_finding(model, analyse(model).findings.at(0), false);
	EXPECT_EQ(bare.find("[    0."), std::string::npos);
}
