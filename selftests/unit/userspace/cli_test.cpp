// SPDX-License-Identifier: GPL-2.0
// The programs as users run them: output, exit status, one line and a HINT.
#include "support.h"

#include "util/text.h"

#include <nlohmann/json.hpp>

#include <fcntl.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <thread>

using namespace lockscope;
using namespace lockscope::test;

namespace {

struct Outcome {
	int status = 0;
	std::string out, err;
};

class CliTest : public testing::Test {
protected:
	CliTest()
	{
		LogBuilder log;
		const auto foo = log.add_class("foo_lock"),
			   bar = log.add_class("bar_mutex", LS_KIND_MUTEX);
		log.acquire({.pid = 1, .stack = {"foo_open", "__x64_sys_openat"}}, {{.cls = foo}},
			    {.cls = bar});
		log.acquire({.pid = 2, .stack = {"bar_ioctl", "__x64_sys_ioctl"}}, {{.cls = bar}},
			    {.cls = foo});
		builder = log;
		spill(image, encode_image(log.image()));
	}

	/* Standard output may go elsewhere, e.g. /dev/full; @as_nobody drops root. */
	pid_t start(std::vector<std::string> command, const std::string &out, bool as_nobody)
	{
		std::vector<char *> argv;
		for (auto &word : command)
			argv.push_back(word.data());
		argv.push_back(nullptr);
		const pid_t pid = ::fork();
		if (pid == 0) {
			const int to = ::open(out.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0666);
			const int err =
				::open((dir / "err").c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0666);
			::dup2(to, 1);
			::dup2(err, 2);
			::unsetenv("COLUMNS");
			if (as_nobody && (::setgid(65534) != 0 || ::setuid(65534) != 0))
				::_exit(99);
			if (::chdir(dir.path().c_str()) != 0 && !as_nobody)
				::_exit(98);
			::execv(argv[0], argv.data());
			::_exit(97);
		}
		return pid;
	}

	Outcome wait(pid_t pid, const std::string &out)
	{
		int status = 0;
		::waitpid(pid, &status, 0);
		return {WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status),
			out == dir / "out" ? slurp(out) : "", slurp(dir / "err")};
	}

	Outcome run(std::vector<std::string> arguments,
		    const std::string &program = LOCKSCOPE_PROGRAM, const std::string &to = {},
		    bool as_nobody = false)
	{
		const std::string out = to.empty() ? dir / "out" : to;
		arguments.insert(arguments.begin(), program);
		return wait(start(arguments, out, as_nobody), out);
	}

	Outcome record(std::vector<std::string> more = {"--", "true"})
	{
		more.insert(more.begin(), {"record", "-q", "--device", image, "-o", store});
		return run(more);
	}

	/* The documented status, one line naming the thing, one HINT. */
	void expect_error(const Outcome &outcome, int status, const std::string &words)
	{
		EXPECT_EQ(outcome.status, status) << outcome.err;
		auto lines = split(outcome.err, '\n');
		ASSERT_EQ(lines.size(), 3u) << outcome.err;
		EXPECT_EQ(lines[0].rfind("lockscope", 0), 0u) << outcome.err;
		EXPECT_NE(lines[0].find(words), std::string::npos) << outcome.err;
		EXPECT_EQ(lines[1].rfind("HINT: ", 0), 0u) << outcome.err;
		EXPECT_EQ(outcome.out, "");
	}

	TempDir dir;
	LogBuilder builder;
	std::string image = dir / "image", store = dir / "store.db";
};

} // namespace

TEST_F(CliTest, RecordAndReport)
{
	auto recorded = record();
	EXPECT_EQ(recorded.status, 0) << recorded.err;
	EXPECT_EQ(recorded.err, "");
	auto report = run({"report", store});
	EXPECT_EQ(report.status, 1);
	EXPECT_NE(report.out.find("lock order: bar_mutex -> foo_lock -> bar_mutex"),
		  std::string::npos);
	EXPECT_EQ(report.err, "");
	EXPECT_EQ(run({"report", "--fail-on", "none", store}).status, 0);
	EXPECT_EQ(run({"report", "--min-confidence", "confirmed", store}).status, 0);
}

TEST_F(CliTest, RawNestingIsLookedAtWhenAskedFor)
{
	LogBuilder log;
	const auto raw = log.add_class("raw"), spin = log.add_class("spin");
	log.acquire({.stack = {"f"}}, {{.cls = raw}}, {.cls = spin});
	spill(image, encode_image(log.image()));
	ASSERT_EQ(record().status, 0);
	/* An image has no types: everything is silent, and said to be unknown. */
	auto unknown = run({"report", "--raw-nesting", "--fail-on", "note", store});
	EXPECT_EQ(unknown.status, 0) << unknown.out;
	EXPECT_NE(unknown.out.find("types of 0 of 2 spinlock classes known"), std::string::npos);
	{
		auto db = Database::open(store, Access::Write);
		ASSERT_TRUE(db.ok());
		ASSERT_TRUE(db->exec("UPDATE class SET type = name || '_spinlock_t';"
				     "UPDATE class SET type = 'spinlock_t' WHERE name = 'spin'")
				    .ok());
	}
	EXPECT_EQ(run({"report", "--fail-on", "note", store}).status, 0);
	auto found = run({"report", "--raw-nesting", "--fail-on", "warning", store});
	EXPECT_EQ(found.status, 1) << found.out;
	EXPECT_NE(found.out.find("invalid wait context on PREEMPT_RT: spinlock_t spin taken"),
		  std::string::npos);
	EXPECT_EQ(run({"report", "--raw-nesting", store}).status, 0) << "no error by itself";
}

TEST_F(CliTest, TheDefaultStoreIsInTheCurrentFolder)
{
	ASSERT_EQ(run({"record", "-q", "--device", image, "--", "true"}).status, 0);
	EXPECT_EQ(run({"report"}).status, 1);
}

TEST_F(CliTest, RecordHandsOnTheStatus)
{
	EXPECT_EQ(record({"--", "sh", "-c", "exit 42"}).status, 42);
	EXPECT_EQ(record({"--", "sh", "-c", "kill -9 $$"}).status, 128 + 9);
}

TEST_F(CliTest, RecordOfACommandThatIsNotThere)
{
	expect_error(record({"--", "/no/such/command"}), 127, "/no/such/command");
}

TEST_F(CliTest, RecordForAWhile)
{
	EXPECT_EQ(record({"--duration", "0.2"}).status, 0);
}

TEST_F(CliTest, InterruptedRecordStoresAndSays130)
{
	const pid_t pid = start({LOCKSCOPE_PROGRAM, "record", "-q", "--device", image, "-o", store},
				dir / "out", false);
	std::this_thread::sleep_for(std::chrono::milliseconds(1500));
	::kill(pid, SIGINT);
	EXPECT_EQ(wait(pid, dir / "out").status, 130);
	EXPECT_EQ(run({"report", store}).status, 1);
}

TEST_F(CliTest, JsonOnStandardOutputAndInAFile)
{
	ASSERT_EQ(record().status, 0);
	auto report = run({"report", "--format", "json", store});
	EXPECT_EQ(nlohmann::json::parse(report.out)["findings"].size(), 1u);
	EXPECT_EQ(run({"--json", "report", store}).out, report.out);
	EXPECT_EQ(run({"report", "--json", store}).out, report.out);
	EXPECT_EQ(run({"report", "--format", "json", "-o", dir / "r.json", store}).status, 1);
	EXPECT_EQ(slurp(dir / "r.json"), report.out);
}

TEST_F(CliTest, ShowTakesTheFirstDigits)
{
	ASSERT_EQ(record().status, 0);
	const auto report = nlohmann::json::parse(run({"report", "--json", store}).out);
	const std::string id = report["findings"][0]["id"];
	auto shown = run({"show", id.substr(0, 4), store});
	EXPECT_EQ(shown.status, 0);
	EXPECT_NE(shown.out.find(id), std::string::npos);
	EXPECT_NE(shown.out.find("score"), std::string::npos);
	EXPECT_EQ(nlohmann::json::parse(run({"show", "--json", id, store}).out)["id"], id);
	expect_error(run({"show", "zzzz", store}), 2, "no finding");
}

TEST_F(CliTest, ColourAndWidth)
{
	ASSERT_EQ(record().status, 0);
	EXPECT_EQ(run({"report", store}).out.find('\033'), std::string::npos);
	EXPECT_NE(run({"report", "--color", "always", store}).out.find('\033'), std::string::npos);
	expect_error(run({"report", "--color", "sometimes", store}), 2, "sometimes");
}

TEST_F(CliTest, MergeAndReportOfSeveral)
{
	ASSERT_EQ(record().status, 0);
	EXPECT_EQ(run({"-q", "merge", store, "-o", dir / "all.db"}).status, 0);
	EXPECT_EQ(run({"report", store, dir / "all.db"}).out, run({"report", store}).out);
	expect_error(run({"merge", store}), 2, "--output");
}

TEST_F(CliTest, SuppressedFindingsFailNothing)
{
	ASSERT_EQ(record().status, 0);
	const std::string list = dir / "list";
	const std::string id =
		nlohmann::json::parse(run({"report", "--json", store}).out)["findings"][0]["id"];
	auto added = run({"suppress", id, "--reason", "known", "--suppressions", list});
	EXPECT_EQ(added.status, 0) << added.err;
	EXPECT_EQ(added.err, "lockscope: id " + id + " added to " + list + "\n");
	auto report = run({"report", "--suppressions", list, store});
	EXPECT_EQ(report.status, 0) << report.out;
	EXPECT_NE(report.out.find("1 suppressed"), std::string::npos) << report.out;
	EXPECT_NE(run({"show", id, store, "--suppressions", list}).out.find("known (suppressed)"),
		  std::string::npos);
	EXPECT_EQ(run({"report", "--no-suppressions", store}).status, 1);
	expect_error(run({"report", "--no-suppressions", "--suppressions", list, store}), 2,
		     "suppressions");
	expect_error(run({"suppress", id, "--reason", "again", "--suppressions", list}), 2,
		     "already, line 2");

	spill(list, "idd=1 reason=x\n");
	for (const char *command : {"report", "show"}) {
		std::vector<std::string> words = {command, "--suppressions", list};
		if (words[0] == "show")
			words.push_back(id);
		words.push_back(store);
		expect_error(run(words), 3, "list:1: unknown key idd");
	}
	expect_error(run({"report", "--suppressions", dir / "none", store}), 3, "none");
}

TEST_F(CliTest, DiffAppliesTheSuppressionsOfStores)
{
	ASSERT_EQ(record().status, 0);
	ASSERT_EQ(run({"diff", "--write-baseline", dir / "known", store}).status, 0);
	const std::string list = dir / "list", none = dir / "none";
	spill(none, R"({"schema":"lockscope-baseline/1","findings":[]})");
	EXPECT_EQ(run({"diff", none, store}).status, 1);
	ASSERT_EQ(run({"suppress", "--kind", "lock-order-cycle", "--reason", "known",
		       "--suppressions", list})
			  .status,
		  0);
	auto hidden = run({"diff", none, store, "--suppressions", list});
	EXPECT_EQ(hidden.status, 0) << hidden.out;
	EXPECT_NE(hidden.out.find("0 new"), std::string::npos);
	auto better = run({"diff", dir / "known", store, "--suppressions", list});
	EXPECT_EQ(better.status, 0) << better.out;
	EXPECT_NE(better.out.find("hidden now, suppressed: known"), std::string::npos)
		<< better.out;
	spill(list, "idd=1 reason=x\n");
	expect_error(run({"diff", none, store, "--suppressions", list}), 3, "unknown key idd");
}

TEST_F(CliTest, DiffRefusesWhatItCannotRead)
{
	ASSERT_EQ(record().status, 0);
	expect_error(run({"diff", store, dir / "missing.db"}), 3, "missing.db");
	expect_error(run({"diff", dir.path(), store}), 3, "Is a directory");
	expect_error(run({"diff", store}), 2, "two files");
	expect_error(run({"diff", "--fail-on", "fatal", store, store}), 2, "fatal");
	spill(dir / "deep", "{\"a\":" + std::string(1000000, '['));
	expect_error(run({"diff", dir / "deep", store}), 3, "deep");
	expect_error(run({"diff", store, store}, LOCKSCOPE_PROGRAM, "/dev/full"), 3,
		     "standard output");
}

TEST_F(CliTest, ReportSelects)
{
	ASSERT_EQ(record().status, 0);
	EXPECT_EQ(run({"report", "--kind", "lock-order-cycle", store}).status, 1);
	auto other = run({"report", "--kind", "long-hold", "--kind", "deadlock", store});
	EXPECT_EQ(other.status, 0);
	EXPECT_NE(other.out.find("1 other finding left out"), std::string::npos) << other.out;
	expect_error(run({"report", "--kind", "nonsense", dir / "missing.db"}), 2, "nonsense");
	expect_error(run({"report", "--since", "7", store}), 2, "no run 7");
	EXPECT_EQ(run({"report", "--since", "last", "--new", store}).status, 1);
}

TEST_F(CliTest, SuppressByKindAndClassUntilADay)
{
	ASSERT_EQ(record().status, 0);
	const std::string list = dir / "list";
	const std::vector<std::string> base = {"-q", "suppress", "--suppressions",
					       list, "--reason", "a \"b\""};
	auto suppress = [&](std::vector<std::string> more) {
		more.insert(more.begin(), base.begin(), base.end());
		return run(more);
	};
	EXPECT_EQ(
		suppress({"--kind", "lock-order-cycle", "--class", "bar*", "--until", "2999-12-31"})
			.err,
		"");
	EXPECT_EQ(run({"report", "--suppressions", list, store}).status, 0);
	EXPECT_NE(slurp(list).find("kind=lock-order-cycle class=\"bar*\" reason=\"a \\\"b\\\"\""
				   " until=2999-12-31\n"),
		  std::string::npos)
		<< slurp(list);
	expect_error(suppress({}), 2, "neither id nor kind nor class");
	expect_error(suppress({"0123"}), 2, "16 hex digits");
	expect_error(suppress({"0123456789abcdef", "--kind", "long-hold"}), 2, "no kind or class");
	expect_error(suppress({"--kind", "no-such"}), 2, "no-such");
	expect_error(suppress({"0123456789abcdef", "--until", "soon"}), 2, "soon");
	expect_error(run({"suppress", "0123456789abcdef"}), 2, "reason");
	EXPECT_EQ(suppress({"0123456789ABCDEF", "--until", "2001-01-01"}).status, 0);
	auto report = run({"report", "--suppressions", list, store});
	EXPECT_NE(report.out.find("expired: id 0123456789abcdef"), std::string::npos);
}

TEST_F(CliTest, UsageErrors)
{
	expect_error(run({"report", "--no-such-option"}), 2, "--no-such-option");
	expect_error(run({"no-such-command"}), 2, "no subcommand no-such-command");
	expect_error(run({"help", "no-such-command"}), 2, "no subcommand no-such-command");
	expect_error(run({"help", "record", "more"}), 2, "no subcommand more");
	expect_error(run({"vm", "walk"}), 2, "no subcommand walk");
	expect_error(run({}), 2, "subcommand");
	expect_error(run({"report", "--format", "pdf"}), 2, "pdf");
	expect_error(run({"report", "--limit", "many"}), 2, "many");
	expect_error(run({"record", "--duration", "-3"}), 2, "duration");
	expect_error(run({"record", "--probes", "0"}), 2, "probes");
	expect_error(run({"record", "--budget", "101"}), 2, "budget");
	expect_error(run({"record", "--watch"}), 2, "watch");
	expect_error(run({"show"}), 2, "ID");
	expect_error(run({"--bogus"}, LOCKSCOPED_PROGRAM), 2, "--bogus");
}

TEST_F(CliTest, NumbersThatMakeNoSense)
{
	const std::pair<const char *, const char *> options[] = {
		{"report", "--limit"},	 {"stat", "--limit"},	 {"stat", "--sites"},
		{"stat", "--classes"},	 {"stat", "--duration"}, {"top", "--count"},
		{"top", "--interval"},	 {"record", "--probes"}, {"record", "--budget"},
		{"record", "--duration"}};
	for (const auto &[command, option] : options)
		for (const char *number : {"-1", "99999999999999999999", "nan"}) {
			SCOPED_TRACE(std::string(command) + " " + option + " " + number);
			expect_error(run({command, option, number}), 2, option);
		}
	for (const char *option : {"--smp", "--memory", "--timeout"})
		expect_error(run({"vm", "run", option, "-1", "--", "true"}), 2, option);
}

TEST_F(CliTest, AnImageHasNoCodeToWatch)
{
	const auto outcome = record({"--watch", "vfs_*", "--", "true"});
	EXPECT_EQ(outcome.status, 3) << outcome.err;
	EXPECT_NE(outcome.err.find("HINT:"), std::string::npos) << outcome.err;
}

TEST_F(CliTest, GlobalOptionsMayStandBehindVmRun)
{
	/* Refused for the kernel that is not there, not for the options. */
	expect_error(run({"vm", "run", "-q", "--json", "--color", "never", "--kernel", dir / "none",
			  "--", "true"}),
		     3, "none");
}

TEST_F(CliTest, StatReadsTheDefaultStoreWhereNoModuleIs)
{
	if (::access("/sys/module/lockscope", F_OK) == 0)
		GTEST_SKIP() << "the module is loaded here";
	ASSERT_EQ(run({"record", "-q", "--device", image, "--", "true"}).status, 0);
	auto stat = run({"stat"});
	EXPECT_EQ(stat.status, 0) << stat.err;
	EXPECT_EQ(stat.out, run({"stat", "lockscope.db"}).out);
	EXPECT_NE(stat.out.find("foo_lock"), std::string::npos) << stat.out;
	/* A duration implies the running kernel. */
	EXPECT_EQ(run({"stat", "--duration", "0.1", "--module", dir / "none.ko"}).status, 3);
}

TEST_F(CliTest, AStoppedModuleSeesNobodyWait)
{
	builder.info().active = 0;
	spill(image, encode_image(builder.image()));
	expect_error(run({"waits", "--device", image}), 3, "stopped");
}

TEST_F(CliTest, FilesThatAreNotStores)
{
	expect_error(run({"report", dir / "missing.db"}), 3, "missing.db");
	ASSERT_EQ(record().status, 0);
	expect_error(run({"report", "--weights", dir / "none", store}), 3, "none");
	expect_error(run({"show", "00", dir / "missing.db"}), 3, "missing.db");
	spill(dir / "text.db",
	      "a text of some length that is no database at all, whatever its name says");
	expect_error(run({"report", dir / "text.db"}), 3, "not a LockScope store");
	expect_error(run({"merge", dir / "text.db", "-o", dir / "x.db"}), 3,
		     "not a LockScope store");
	expect_error(run({"record", "-q", "--device", image, "-o", dir / "text.db", "--", "true"}),
		     3, "not a LockScope store");
	EXPECT_EQ(slurp(dir / "text.db").rfind("a text", 0), 0u);
}

TEST_F(CliTest, AStoreWithoutRunsIsNoEmptyReport)
{
	ASSERT_TRUE(StoreWriter::open(store).ok());
	expect_error(run({"report", store}), 3, "nothing was recorded");
}

TEST_F(CliTest, PlacesThatCannotBeWritten)
{
	expect_error(
		run({"record", "-q", "--device", image, "-o", dir / "no/such/x.db", "--", "true"}),
		3, "no/such");
	ASSERT_EQ(record().status, 0);
	expect_error(run({"report", store, "-o", dir / "no/such/r.txt"}), 3, "no/such");
	expect_error(run({"--device", image, "-o", dir / "no/such/x.db"}, LOCKSCOPED_PROGRAM), 3,
		     "no/such");
	expect_error(run({"report", store}, LOCKSCOPE_PROGRAM, "/dev/full"), 3, "standard output");
}

TEST_F(CliTest, ModuleOfAnotherAbi)
{
	builder.info().abi_major = 99;
	spill(image, encode_image(builder.image()));
	expect_error(record(), 3, "ABI 99");
	EXPECT_TRUE(slurp(store).empty());
	expect_error(run({"--device", image, "-o", store}, LOCKSCOPED_PROGRAM), 3, "ABI 99");
}

TEST_F(CliTest, DamagedLog)
{
	Image damaged = builder.image();
	damaged.log.resize(damaged.log.size() - 4);
	spill(image, encode_image(damaged));
	expect_error(record(), 3, "damaged at byte");
	EXPECT_EQ(run({"report", store}).status, 1);
}

TEST_F(CliTest, DeviceThatIsNone)
{
	expect_error(run({"record", "--device", dir / "none", "-o", store, "--", "true"}), 3,
		     "none");
	spill(image, "junk");
	expect_error(record(), 3, "neither the LockScope device");
}

TEST_F(CliTest, NotRoot)
{
	if (::geteuid() != 0)
		GTEST_SKIP() << "cannot drop root without having it";
	/* A program below root's home cannot be started by user nobody. */
	Outcome outcome = run({"record", "-o", "/tmp/nobody.db", "--", "true"}, LOCKSCOPE_PROGRAM,
			      dir / "out", true);
	if (outcome.status == 97)
		GTEST_SKIP() << "the build is out of reach for other users";
	outcome.err = slurp(dir / "err");
	expect_error(outcome, 3, "root");
}

TEST_F(CliTest, WhatThisBuildCannotDo)
{
	expect_error(run({"record", "--backend", "bpf", "--", "true"}), 3, "bpf");
	expect_error(run({"record", "--backend", "bpf", "--stat", "--", "true"}), 2, "statistics");
	/* The image is that of a module that does not watch accesses. */
	expect_error(record({"--accesses", "all", "--", "true"}), 3, "accesses");
	EXPECT_EQ(record({"--accesses", "off", "--", "true"}).status, 0);
	expect_error(record({"--log-variable", "a:b:c:8", "--", "true"}), 2, "colons");
	expect_error(record({"--log-variable", "jiffies+x", "--", "true"}), 2, "offset");
	expect_error(record({"--log-variable", "jiffies:5000", "--", "true"}), 2, "4096");
	expect_error(record({"--log-variable", "jiffies", "--", "true"}), 3, "image");
}

TEST_F(CliTest, HelpHasAnExampleForEverySubcommand)
{
	for (const char *command :
	     {"record", "report", "show", "diff", "rules", "merge", "suppress", "doctor"}) {
		auto help = run({command, "--help"});
		EXPECT_EQ(help.status, 0);
		EXPECT_NE(help.out.find("Example"), std::string::npos) << command;
	}
	EXPECT_NE(run({"--help"}).out.find("Example"), std::string::npos);
	EXPECT_EQ(run({"help"}).out, run({"--help"}).out);
	EXPECT_EQ(run({"help", "record"}).out, run({"record", "--help"}).out);
	EXPECT_EQ(run({"help", "vm", "run"}).out, run({"vm", "run", "--help"}).out);
	EXPECT_NE(run({"vm", "run", "--help"}).out.find("lockscope vm run"), std::string::npos);
	EXPECT_NE(run({"--help"}, LOCKSCOPED_PROGRAM).out.find("Example"), std::string::npos);
	EXPECT_EQ(run({"--version"}).out.rfind("lockscope ", 0), 0u);
}

TEST_F(CliTest, DoctorSaysWhatItFound)
{
	auto doctor = run({"doctor"});
	EXPECT_TRUE(doctor.status == 0 || doctor.status == 3);
	EXPECT_NE(doctor.out.find("kernel"), std::string::npos);
	EXPECT_TRUE(nlohmann::json::parse(run({"doctor", "--json"}).out).is_array());
}

TEST_F(CliTest, DaemonWaitsRecordsAndEndsCleanly)
{
	const std::string device = dir / "device";
	const pid_t pid =
		start({LOCKSCOPED_PROGRAM, "--device", device, "-o", store, "--interval", "20"},
		      dir / "out", false);
	std::this_thread::sleep_for(std::chrono::milliseconds(700));
	spill(device, encode_image(builder.image()));
	for (int i = 0; i < 100 && slurp(dir / "err").find("new run") == std::string::npos; i++)
		std::this_thread::sleep_for(std::chrono::milliseconds(100));
	std::this_thread::sleep_for(std::chrono::milliseconds(300));
	::kill(pid, SIGTERM);
	auto ended = wait(pid, dir / "out");
	EXPECT_EQ(ended.status, 0) << ended.err;
	EXPECT_NE(ended.err.find("waiting for"), std::string::npos);
	EXPECT_EQ(run({"report", store}).status, 1);
}

TEST_F(CliTest, DaemonEndsAtOnceHoweverLongItsInterval)
{
	const pid_t pid =
		start({LOCKSCOPED_PROGRAM, "--device", image, "-o", store, "--interval", "60000"},
		      dir / "out", false);
	for (int i = 0; i < 100 && slurp(dir / "err").find("new run") == std::string::npos; i++)
		std::this_thread::sleep_for(std::chrono::milliseconds(100));
	std::this_thread::sleep_for(std::chrono::milliseconds(300));
	const auto asked = std::chrono::steady_clock::now();
	::kill(pid, SIGTERM);
	EXPECT_EQ(wait(pid, dir / "out").status, 0);
	/* What is left is stored, which sanitizers and a busy machine make long. */
	EXPECT_LT(std::chrono::steady_clock::now() - asked, std::chrono::seconds(20));
}

TEST_F(CliTest, DaemonSurvivesAReloadOfTheModule)
{
	const std::string device = dir / "device";
	spill(device, encode_image(builder.image()));
	const pid_t pid =
		start({LOCKSCOPED_PROGRAM, "--device", device, "-o", store, "--interval", "20"},
		      dir / "out", false);
	auto runs = [&] {
		for (int i = 0; i < 100; i++) {
			const std::string err = slurp(dir / "err");
			std::size_t n = 0, at = 0;
			while ((at = err.find("new run", at)) != err.npos)
				n++, at++;
			if (n == 2)
				return true;
			if (n == 1 && i > 5)
				return false;
			std::this_thread::sleep_for(std::chrono::milliseconds(100));
		}
		return false;
	};
	EXPECT_FALSE(runs());
	::unlink(device.c_str());
	std::this_thread::sleep_for(std::chrono::milliseconds(700));
	builder.info().instance++;
	spill(device + ".new", encode_image(builder.image()));
	::rename((device + ".new").c_str(), device.c_str());
	for (int i = 0; i < 50 && !runs(); i++)
		std::this_thread::sleep_for(std::chrono::milliseconds(100));
	::kill(pid, SIGTERM);
	EXPECT_EQ(wait(pid, dir / "out").status, 0);
	Model model;
	ASSERT_TRUE(load_store(store, model).ok());
	EXPECT_EQ(model.runs.size(), 2u);
}
