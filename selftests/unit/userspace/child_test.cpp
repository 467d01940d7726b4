// SPDX-License-Identifier: GPL-2.0
// Commands that run beside a program, and how they are ended.
#include "support.h"

#include "cli/child.h"
#include "util/file.h"

#include <signal.h>

#include <chrono>
#include <thread>

using namespace lockscope;
using namespace lockscope::test;
using cli::Child;
using namespace std::chrono_literals;

namespace {

/// Does the process run? One that has ended may be a zombie for long, for want of a parent.
bool runs(pid_t pid)
{
	const std::string stat = read_line("/proc/" + std::to_string(pid) + "/stat");
	const auto name = stat.rfind(") ");
	return name != stat.npos && stat[name + 2] != 'Z';
}

bool within(std::chrono::seconds most, const std::function<bool()> &done)
{
	const auto start = std::chrono::steady_clock::now();
	while (!done()) {
		if (std::chrono::steady_clock::now() - start > most)
			return false;
		std::this_thread::sleep_for(5ms);
	}
	return true;
}

/// Ends a shell that has started another program, and returns whether that one ended as well.
bool ends_both(Child::Group group)
{
	TempDir folder;
	const std::string file = folder / "pid";
	auto child = Child::start({"sh", "-c",
				   "sleep 600 & echo $! > " + file + ".part; mv " + file +
					   ".part " + file + "; wait"},
				  group);
	EXPECT_TRUE(child);
	EXPECT_TRUE(within(20s, [&] { return exists(file); }));
	const auto other = static_cast<pid_t>(std::stol("0" + read_line(file)));
	EXPECT_TRUE(other > 1 && runs(other));
	child->stop();
	EXPECT_TRUE(child->poll());
	const bool ended = within(2s, [&] { return !runs(other); });
	if (!ended)
		::kill(other, SIGKILL);
	return ended;
}

TEST(Child, OwnGroupEndsAsAWhole)
{
	EXPECT_TRUE(ends_both(Child::Group::Own));
}

TEST(Child, SharedGroupLosesTheCommandAlone)
{
	EXPECT_FALSE(ends_both(Child::Group::Shared));
}

TEST(Child, MembersThatIgnoreTheSignalAreKilled)
{
	TempDir folder;
	const std::string file = folder / "ready";
	auto child = Child::start({"sh", "-c", "trap '' TERM; : > " + file + "; sleep 600 & wait"},
				  Child::Group::Own);
	ASSERT_TRUE(child);
	EXPECT_TRUE(within(20s, [&] { return exists(file); }));
	child->stop();
	EXPECT_TRUE(child->poll());
	EXPECT_EQ(child->status(), 128 + SIGKILL);
}

TEST(Child, StatusOfTheCommand)
{
	auto child = Child::start({"sh", "-c", "exit 3"});
	ASSERT_TRUE(child);
	EXPECT_TRUE(within(20s, [&] { return child->poll(); }));
	EXPECT_EQ(child->status(), 3);
	EXPECT_FALSE(Child::start({"no-such-program-at-all"}));
}

} // namespace
