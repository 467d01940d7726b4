// SPDX-License-Identifier: GPL-2.0
#include "support.h"

#include "report/printer.h"
#include "util/file.h"
#include "util/modules.h"
#include "util/stop.h"
#include "util/terminal.h"
#include "util/text.h"

#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <thread>

using namespace lockscope;
using namespace lockscope::test;

TEST(Text, HexRoundTrip)
{
	EXPECT_EQ(hex64(0x0123456789abcdefu), "0123456789abcdef");
	EXPECT_EQ(parse_hex64("0123456789abcdef"), 0x0123456789abcdefu);
	EXPECT_EQ(parse_hex64("12345678901234567"), 0u);
	EXPECT_EQ(parse_hex64("xyz"), 0u);
	EXPECT_EQ(parse_hex64(""), 0u);
	EXPECT_EQ(to_hex(std::string("\x00\xff", 2)), "00ff");
}

/* Identifiers people have written down depend on it. */
TEST(Text, StableHashNeverChanges)
{
	EXPECT_EQ(hex64(stable_hash("")), "ecba3df2c3383c52");
	EXPECT_EQ(hex64(stable_hash("lock")), hex64(stable_hash("lock")));
	EXPECT_NE(stable_hash("ab"), stable_hash("ba"));
}

/* Test vector of the paper's appendix A, for the 8-byte message 00..07. */
TEST(Text, KeyedHashIsSipHash)
{
	EXPECT_EQ(keyed_hash({0x0706050403020100u, 0x0f0e0d0c0b0a0908u}, 0x0706050403020100u),
		  0x93f5f5799a932462u);
	EXPECT_NE(random_key(), random_key());
}

TEST(Text, WordsForCounts)
{
	EXPECT_EQ(with_commas(0), "0");
	EXPECT_EQ(with_commas(999), "999");
	EXPECT_EQ(with_commas(1234567), "1,234,567");
	EXPECT_EQ(counted(1, "class"), "1 class");
	EXPECT_EQ(counted(2, "class"), "2 classes");
	EXPECT_EQ(counted(2, "edge"), "2 edges");
}

TEST(File, BuildIdFromNotes)
{
	std::string notes(16 + 4, '\0');
	const std::uint32_t header[3] = {4, 4, 3};
	std::memcpy(notes.data(), header, sizeof(header));
	std::memcpy(notes.data() + 12, "GNU", 4);
	std::memcpy(notes.data() + 16, "\x12\x34\xab\xcd", 4);
	EXPECT_EQ(build_id_from_notes(notes), "1234abcd");
	for (std::size_t n = 0; n < notes.size(); n++)
		EXPECT_EQ(build_id_from_notes(notes.substr(0, n)), "");
	/* Sizes that would overflow when rounded up. */
	std::memset(notes.data(), 0xff, 8);
	EXPECT_EQ(build_id_from_notes(notes), "");
}

TEST(File, WriteReplacesAsAWhole)
{
	TempDir dir;
	ASSERT_TRUE(write_file(dir / "a", "one").ok());
	ASSERT_TRUE(write_file(dir / "a", "two").ok());
	EXPECT_EQ(slurp(dir / "a"), "two");
	auto failed = write_file(dir / "no/such/folder", "x");
	ASSERT_FALSE(failed.ok());
	EXPECT_EQ(failed.error().exit, Exit::Environment);
	EXPECT_TRUE(write_file("/dev/null", "x").ok());
	EXPECT_FALSE(write_file("/dev/full", "x").ok());
}

TEST(File, AFolderIsItsOwnersAlone)
{
	TempDir dir;
	ASSERT_TRUE(make_folder(dir / "new").ok());
	struct stat status {};
	ASSERT_EQ(::stat((dir / "new").c_str(), &status), 0);
	EXPECT_EQ(status.st_mode & 07777, 0700u);
	EXPECT_TRUE(make_folder(dir / "new").ok()) << "one that is there will do";
	auto deep = make_folder(dir / "no/such");
	ASSERT_FALSE(deep.ok());
	EXPECT_FALSE(deep.error().hint.empty());
}

TEST(Result, EveryErrorOfTheSystemHasAHint)
{
	for (int code = 0; code < 134; code++)
		EXPECT_FALSE(os_error(code, "x").hint.empty()) << code;
	EXPECT_EQ(os_error(ENOENT, "x", "try y").hint, "try y");
}

/* In a process of its own: the signals stay caught. */
TEST(Stop, ASignalEndsANap)
{
	const pid_t pid = ::fork();
	if (pid == 0) {
		catch_signals();
		nap(std::chrono::minutes(1));
		::_exit(stop_signal());
	}
	std::this_thread::sleep_for(std::chrono::milliseconds(500));
	const auto start = std::chrono::steady_clock::now();
	::kill(pid, SIGTERM);
	int status = 0;
	::waitpid(pid, &status, 0);
	ASSERT_TRUE(WIFEXITED(status));
	EXPECT_EQ(WEXITSTATUS(status), SIGTERM);
	/* Some 20 ms where nothing else runs. */
	EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(2));
}

TEST(Stop, ANapWithoutASignalIsAsLongAsAskedFor)
{
	const auto start = std::chrono::steady_clock::now();
	nap(std::chrono::milliseconds(70));
	EXPECT_GE(std::chrono::steady_clock::now() - start, std::chrono::milliseconds(70));
}

TEST(Terminal, ColumnsAndColour)
{
	::setenv("COLUMNS", "123", 1);
	EXPECT_EQ(terminal_width(-1), 123u);
	::setenv("COLUMNS", "3", 1);
	EXPECT_EQ(terminal_width(-1), 40u);
	::setenv("COLUMNS", "junk", 1);
	EXPECT_EQ(terminal_width(-1), 80u);
	::unsetenv("COLUMNS");
	EXPECT_TRUE(use_color(ColorMode::Always, -1));
	EXPECT_FALSE(use_color(ColorMode::Never, -1));
	EXPECT_FALSE(use_color(ColorMode::Auto, -1));
	EXPECT_EQ(parse_color_mode("sometimes"), std::nullopt);
}

TEST(Printer, WrapsAtSpacesAndNeverBreaksWords)
{
	Printer out({20, false});
	out.wrap(2, "one two three four five-and-a-very-long-word six", Tone::Red, 2);
	EXPECT_EQ(out.take(), "  one two three four\n    five-and-a-very-long-word\n    six\n");
}

TEST(Printer, ColoursWhereWanted)
{
	EXPECT_EQ(Printer({80, true}).tone("x", Tone::Bold), "\033[1mx\033[0m");
	EXPECT_EQ(Printer({80, false}).tone("x", Tone::Bold), "x");
}

TEST(Modules, TheNameOfAFile)
{
	EXPECT_EQ(module_name("/lib/modules/6.1/kernel/fs/ext4/ext4.ko"), "ext4");
	EXPECT_EQ(module_name("snd-pcm.ko.xz"), "snd_pcm");
	EXPECT_EQ(module_name("8250_base.ko.debug"), "8250_base");
	EXPECT_EQ(module_name("vmlinux"), "");
	EXPECT_EQ(module_name("notes.koala"), "");
	EXPECT_EQ(module_name(".ko"), "");
}

TEST(Modules, WhatDepmodLists)
{
	const TempDir folder;
	EXPECT_TRUE(listed_modules(folder.path()).empty());
	std::ofstream(folder / "modules.dep")
		<< "kernel/fs/jbd2/jbd2.ko:\n"
		   "kernel/fs/ext4/ext4.ko: kernel/fs/mbcache.ko kernel/fs/jbd2/jbd2.ko\n"
		   "not a line of it\n";
	const auto listed = listed_modules(folder.path());
	ASSERT_EQ(listed.size(), 2u);
	EXPECT_EQ(listed[0].path, "kernel/fs/jbd2/jbd2.ko");
	EXPECT_TRUE(listed[0].needs.empty());
	EXPECT_EQ(listed[1].needs,
		  (std::vector<std::string>{"kernel/fs/mbcache.ko", "kernel/fs/jbd2/jbd2.ko"}));
}
