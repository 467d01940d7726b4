// SPDX-License-Identifier: GPL-2.0
// Stores that are not what they should be, and stores that cannot grow.
#include "support.h"

#include "store/rows.h"
#include "store/schema.h"
#include "util/guest_folder.h"

#include <fcntl.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include <csignal>
#include <filesystem>

using namespace lockscope;
using namespace lockscope::test;

namespace {

LogBuilder abba(int pairs = 1)
{
	LogBuilder log;
	for (int i = 0; i < pairs; i++) {
		const auto a = log.add_class("a" + std::to_string(i)),
			   b = log.add_class("b" + std::to_string(i));
		log.acquire({.pid = 1}, {{.cls = a}}, {.cls = b});
		log.acquire({.pid = 2}, {{.cls = b}}, {.cls = a});
	}
	return log;
}

class StoreTest : public testing::Test {
protected:
	void record(const LogBuilder &log)
	{
		auto recorded = record_image(log.image(), file);
		ASSERT_TRUE(recorded.ok()) << recorded.error().what;
	}

	/* Clear error, exit 3, a hint, the file's name. */
	void expect_refused(const char *words)
	{
		Model model;
		auto loaded = load_store(file, model);
		ASSERT_FALSE(loaded.ok());
		EXPECT_NE(loaded.error().what.find(words), std::string::npos)
			<< loaded.error().what;
		EXPECT_NE(loaded.error().what.find("store.db"), std::string::npos)
			<< loaded.error().what;
		EXPECT_EQ(loaded.error().what.find('\n'), std::string::npos);
		EXPECT_FALSE(loaded.error().hint.empty());
		EXPECT_EQ(loaded.error().exit, Exit::Environment);
	}

	void sql(const std::string &text)
	{
		auto db = Database::open(file, Access::Write);
		ASSERT_TRUE(db.ok());
		auto done = db->exec(text);
		ASSERT_TRUE(done.ok()) << done.error().what;
	}

	TempDir dir;
	std::string file = dir / "store.db";
};

} // namespace

TEST_F(StoreTest, ReadsBackWhatWasRecorded)
{
	record(abba());
	Model model;
	ASSERT_TRUE(load_store(file, model).ok());
	EXPECT_EQ(model.classes.size(), 2u);
	EXPECT_EQ(model.observations.size(), 2u);
	EXPECT_EQ(model.runs.size(), 1u);
	EXPECT_EQ(model.runs[0].release, "6.1.0-test-amd64");
	EXPECT_EQ(model.counter("acquisitions"), 2u);
}

TEST_F(StoreTest, MissingFile)
{
	expect_refused("No such file");
}

TEST_F(StoreTest, EmptyFile)
{
	spill(file, "");
	expect_refused("not a LockScope store");
}

TEST_F(StoreTest, ForeignText)
{
	spill(file, std::string(5000, 'x'));
	expect_refused("not a LockScope store");
}

TEST_F(StoreTest, ForeignDatabase)
{
	sql("CREATE TABLE notes(text)");
	expect_refused("not a LockScope store");
	/* Nor is it taken over by a recorder. */
	auto writer = StoreWriter::open(file);
	ASSERT_FALSE(writer.ok());
	EXPECT_NE(writer.error().what.find("not a LockScope store"), std::string::npos);
}

TEST_F(StoreTest, NewerSchema)
{
	record(abba());
	sql("PRAGMA user_version = 99");
	expect_refused("schema version 99");
	auto writer = StoreWriter::open(file);
	ASSERT_FALSE(writer.ok());
	EXPECT_NE(writer.error().what.find("schema version 99"), std::string::npos);
}

TEST_F(StoreTest, OtherSightsComeBack)
{
	LogBuilder log = abba();
	log.release({.pid = 3}, {{.cls = 1}}, {.cls = 2});
	log.fault(LS_FINDING_LONG_HOLD, {.pid = 4}, {}, {.cls = 2}, 0, 1u << 31);
	log.fault(LS_FINDING_SLEEP_ATOMIC, {.pid = 5}, {{.cls = 1}}, {}, 1);
	record(log);
	Model model;
	ASSERT_TRUE(load_store(file, model).ok());
	ASSERT_EQ(model.observations.size(), 5u);
	EXPECT_EQ(model.observations[2].what, LS_SIGHT_RELEASE);
	EXPECT_EQ(model.observations[3].what, LS_FINDING_LONG_HOLD);
	EXPECT_EQ(model.observations[3].extra, 1u << 31);
	EXPECT_EQ(model.observations[4].acquired.cls, kNoClass);
	EXPECT_EQ(model.observations[4].acquired.instance, 0u);
}

TEST_F(StoreTest, AStoreOfVersion1IsReadAsItIsAndBroughtUpToDateByARecorder)
{
	record(abba());
	age_store(file, 1);
	Model old;
	ASSERT_TRUE(load_store(file, old).ok());
	ASSERT_EQ(old.observations.size(), 2u);
	EXPECT_TRUE(old.observations[0].acquisition());
	EXPECT_EQ(analyse(old).findings.size(), 1u);

	LogBuilder more(2);
	const auto lock = more.add_class("lock");
	more.fault(LS_FINDING_DOUBLE_UNLOCK, {}, {}, {.cls = lock});
	ASSERT_TRUE(record_image(more.image(), file, "boot-2").ok());
	Model both;
	ASSERT_TRUE(load_store(file, both).ok());
	EXPECT_EQ(both.observations.size(), 3u);
	EXPECT_EQ(analyse(both).findings.size(), 2u);
	auto db = open_store(file, Access::Read);
	ASSERT_TRUE(db.ok());
	EXPECT_EQ(*schema_version(*db), kSchemaVersion);
}

TEST_F(StoreTest, AStoreOfVersion2HasNoCountsUntilARecorderBringsThem)
{
	LogBuilder log = abba();
	const auto sem = log.add_class("sem", LS_KIND_SEMAPHORE);
	log.count_semaphore(sem, 20, 17);
	record(log);
	age_store(file, 2);
	Model old;
	ASSERT_TRUE(load_store(file, old).ok());
	EXPECT_TRUE(old.counts.empty());
	EXPECT_EQ(analyse(old).findings.size(), 1u);

	record(log);
	Model updated;
	ASSERT_TRUE(load_store(file, updated).ok());
	ASSERT_EQ(updated.counts.size(), 1u);
	EXPECT_EQ(updated.counts.begin()->second.releases, 20u);
	EXPECT_EQ(updated.counts.begin()->second.unmatched_releases, 17u);
}

TEST_F(StoreTest, CountsThatMakeNoSenseAreRefused)
{
	LogBuilder log = abba();
	log.count_semaphore(1, 3, 2);
	record(log);
	sql("UPDATE class_count SET unmatched_releases = 4");
	Model model;
	EXPECT_FALSE(load_store(file, model).ok());
}

TEST_F(StoreTest, Truncated)
{
	record(abba(50));
	const auto size = std::filesystem::file_size(file);
	std::filesystem::resize_file(file, size / 2);
	expect_refused("damaged");
}

TEST_F(StoreTest, DamagedPages)
{
	record(abba(50));
	std::string bytes = slurp(file);
	for (std::size_t i = 4096; i + 4096 < bytes.size(); i += 4096)
		for (std::size_t j = 0; j < 64; j++)
			bytes[i + j] = static_cast<char>(0xa5 ^ j);
	spill(file, bytes);
	expect_refused("damaged");
}

/* Every page is valid, but a search for a row goes the wrong way. */
TEST_F(StoreTest, RowsOutOfOrder)
{
	record(abba(50));
	sqlite3 *db = nullptr;
	ASSERT_EQ(sqlite3_open(file.c_str(), &db), SQLITE_OK);
	const char *turned =
		"CREATE TABLE turned(run INTEGER, id INTEGER, canonical INTEGER, kind INTEGER,"
		" origin INTEGER, offset INTEGER, object_size INTEGER, module TEXT, name TEXT,"
		" field TEXT, type TEXT, PRIMARY KEY(run, id DESC)) WITHOUT ROWID;"
		"INSERT INTO turned SELECT * FROM class;"
		"PRAGMA writable_schema = ON;"
		"UPDATE sqlite_schema SET rootpage = (SELECT sum(rootpage) FROM sqlite_schema"
		" WHERE name IN ('class', 'turned')) - rootpage WHERE name IN ('class', 'turned');";
	ASSERT_EQ(sqlite3_exec(db, turned, nullptr, nullptr, nullptr), SQLITE_OK)
		<< sqlite3_errmsg(db);
	sqlite3_close(db);
	{
		auto quick = Database::open(file, Access::Read);
		ASSERT_TRUE(quick.ok());
		auto check = quick->prepare("PRAGMA quick_check(1)");
		ASSERT_TRUE(check.ok());
		ASSERT_TRUE(check->step().ok());
		EXPECT_EQ(check->text(0), "ok");
	}
	expect_refused("damaged");
}

TEST_F(StoreTest, ErrorsNobodyThoughtOfHaveAHint)
{
	record(abba());
	sql("DROP TABLE sight");
	expect_refused("no such table");
}

TEST_F(StoreTest, RowsThatMakeNoSense)
{
	for (const char *spoil :
	     {"UPDATE class SET kind = 99", "UPDATE class SET origin = 99",
	      "UPDATE sight SET what = 3", "UPDATE sight SET what = 99",
	      "UPDATE stack SET frames = x'00'", "UPDATE sight SET held = x'0011'",
	      "UPDATE chain SET parent = id", "UPDATE kernel_finding SET edges = x'0011'",
	      "UPDATE primitive SET state = 77"}) {
		std::filesystem::remove(file);
		LogBuilder log = abba();
		log.finding({1, 2});
		log.prims().push_back({});
		record(log);
		sql(spoil);
		SCOPED_TRACE(spoil);
		expect_refused("makes no sense");
	}
}

/* A foreign schema: a view in place of a table would run its query. */
TEST_F(StoreTest, ViewsAndTriggersHaveNoEffect)
{
	record(abba());
	sqlite3 *db = nullptr;
	ASSERT_EQ(sqlite3_open(file.c_str(), &db), SQLITE_OK);
	const char *planted = "CREATE TRIGGER t AFTER UPDATE ON run BEGIN DELETE FROM sight; END;"
			      "ALTER TABLE chain RENAME TO other;"
			      "CREATE VIEW chain AS SELECT * FROM other;";
	ASSERT_EQ(sqlite3_exec(db, planted, nullptr, nullptr, nullptr), SQLITE_OK)
		<< sqlite3_errmsg(db);
	sqlite3_close(db);
	Model model;
	EXPECT_FALSE(load_store(file, model).ok());
	sql("UPDATE run SET updated = updated + 1");
	auto reopened = Database::open(file, Access::Write);
	ASSERT_TRUE(reopened.ok());
	auto sights = reopened->query_integer("SELECT count(*) FROM sight");
	ASSERT_TRUE(sights.ok());
	EXPECT_GT(*sights, 0);
}

TEST_F(StoreTest, TextCannotSteerATerminal)
{
	record(abba());
	sql("UPDATE class SET name = char(27) || '[2J' || char(155) || 'x' || char(10) || 'y'");
	auto db = Database::open(file, Access::Read);
	ASSERT_TRUE(db.ok());
	auto row = db->prepare("SELECT name FROM class LIMIT 1");
	ASSERT_TRUE(row.ok());
	ASSERT_TRUE(row->step().ok());
	EXPECT_EQ(row->text(0), "?[2J??x\ny");
}

TEST_F(StoreTest, DanglingReferencesAreNotFollowed)
{
	record(abba());
	sql("DELETE FROM class; DELETE FROM code; DELETE FROM stack");
	Model model;
	ASSERT_TRUE(load_store(file, model).ok());
	EXPECT_TRUE(analyse(model).findings.empty());
}

TEST_F(StoreTest, OneWriterAtATime)
{
	auto first = StoreWriter::open(file);
	ASSERT_TRUE(first.ok());
	auto second = StoreWriter::open(file);
	ASSERT_FALSE(second.ok());
	EXPECT_NE(second.error().what.find("another recorder"), std::string::npos);
	EXPECT_FALSE(second.error().hint.empty());
}

TEST_F(StoreTest, RunsThatNobodyCanGoOnWithLoseTheirKey)
{
	auto record_and_die = [&](std::uint64_t instance, const char *backend, const char *boot) {
		auto writer = StoreWriter::open(file);
		ASSERT_TRUE(writer.ok());
		ls_info info{};
		info.instance = instance;
		auto run = writer->begin_run(info, backend, boot, "");
		ASSERT_TRUE(run.ok()) << run.error().what;
		EXPECT_TRUE(writer->add_code(*run, 1, std::nullopt).ok());
	};
	auto count = [&](const std::string &what) {
		auto db = open_store(file, Access::Read);
		return db ? *db->query_integer("SELECT count(*) FROM " + what) : -1;
	};
	const char *open_runs = "run WHERE key IS NOT NULL AND ended IS NULL";
	record_and_die(1, "kmod", "boot-1");
	/* The module is still there, and so is what it saw. */
	record_and_die(2, "bpf", "boot-1");
	EXPECT_EQ(count(open_runs), 2);
	record_and_die(3, "image", "image");
	EXPECT_EQ(count(open_runs), 2);
	EXPECT_EQ(count("run WHERE key IS NULL AND backend = 'bpf'"), 1);
	/* Loaded again: its first load is no more. */
	record_and_die(4, "kmod", "boot-1");
	EXPECT_EQ(count("run WHERE key IS NULL AND ended = updated AND instance = '" + hex64(1) +
			"'"),
		  1);
	record_and_die(5, "kmod", "boot-2");
	EXPECT_EQ(count(open_runs), 1);
	EXPECT_EQ(count("run WHERE key IS NULL AND ended IS NOT NULL"), 4);
	EXPECT_EQ(count("code WHERE hash IS NOT NULL"), 1);
}

TEST_F(StoreTest, AKeyThatIsDroppedIsOverwritten)
{
	HashKey key{};
	{
		auto writer = StoreWriter::open(file);
		ASSERT_TRUE(writer.ok());
		auto run = writer->begin_run({}, "kmod", "boot-1", "");
		ASSERT_TRUE(run.ok());
		key = run->key;
	}
	const std::string bytes(reinterpret_cast<const char *>(key.data()), sizeof(key));
	EXPECT_NE(slurp(file).find(bytes), std::string::npos);
	{
		auto writer = StoreWriter::open(file);
		ASSERT_TRUE(writer.ok());
		ASSERT_TRUE(writer->begin_run({}, "kmod", "boot-2", "").ok());
	}
	EXPECT_EQ(slurp(file).find(bytes), std::string::npos);
}

TEST_F(StoreTest, WhatAResetForgetsIsForgottenEverywhere)
{
	auto writer = StoreWriter::open(file);
	ASSERT_TRUE(writer.ok());
	auto run = writer->begin_run({}, "kmod", "boot-1", "");
	ASSERT_TRUE(run.ok());
	ASSERT_TRUE(writer->put_pointee(run->id, 1, 8, 16, LS_KIND_MUTEX, "struct x.lock").ok());
	ASSERT_TRUE(writer->set_access_count(*run, 1, 5, true).ok());
	ASSERT_TRUE(writer->forget(*run).ok());
	auto db = open_store(file, Access::Read);
	ASSERT_TRUE(db.ok());
	for (const char *table : {"pointee", "alone"})
		EXPECT_EQ(*db->query_integer(std::string("SELECT count(*) FROM ") + table), 0)
			<< table;
}

TEST_F(StoreTest, ReadableWhileBeingWritten)
{
	record(abba());
	auto writer = StoreWriter::open(file);
	ASSERT_TRUE(writer.ok());
	ASSERT_TRUE(writer->begin().ok());
	Model model;
	EXPECT_TRUE(load_store(file, model).ok());
	EXPECT_EQ(model.observations.size(), 2u);
	writer->rollback();
}

TEST_F(StoreTest, ReadByItsWriterWithoutAnotherConnection)
{
	record(abba());
	auto writer = StoreWriter::open(file);
	ASSERT_TRUE(writer.ok());
	auto model = load_written(*writer);
	ASSERT_TRUE(model.ok()) << model.error().what;
	EXPECT_EQ(model->observations.size(), 2u);
	EXPECT_TRUE(model->runs.front().writing);
	/* SQLite's lock as a reader of the file, which another process would see. */
	const Fd probe(::open(file.c_str(), O_RDONLY | O_CLOEXEC));
	struct flock lock {};
	lock.l_type = F_WRLCK;
	lock.l_whence = SEEK_SET;
	lock.l_start = 0x40000002;
	lock.l_len = 510;
	ASSERT_EQ(::fcntl(probe.get(), F_OFD_GETLK, &lock), 0);
	EXPECT_EQ(lock.l_type, F_RDLCK);
	/* The snapshot is over. */
	EXPECT_TRUE(writer->begin().ok());
	EXPECT_TRUE(writer->commit().ok());
}

TEST_F(StoreTest, WhatAGuestWritesIsReadFromACopy)
{
	record(abba());
	auto writer = StoreWriter::open(file);
	ASSERT_TRUE(writer.ok());
	ASSERT_TRUE(writer->database().exec("INSERT INTO line VALUES('f', 1, 'b', '')").ok());
	const auto inode = [](const std::string &path) {
		struct stat status {};
		return ::stat(path.c_str(), &status) == 0 ? status.st_ino : 0;
	};
	const auto log = inode(file + "-wal"), shared = inode(file + "-shm");
	ASSERT_NE(log, 0u);
	{
		const GuestFolder guest(dir.path());
		EXPECT_TRUE(guest_writes(file));
		EXPECT_TRUE(is_being_written(file));
		auto db = Database::open(file, Access::Read);
		ASSERT_TRUE(db.ok()) << db.error().what;
		EXPECT_EQ(db->path(), file);
		auto own = db->query_integer("SELECT count(*) FROM pragma_database_list"
					     " WHERE file LIKE '%lockscope-store-%'");
		ASSERT_TRUE(own.ok());
		EXPECT_EQ(*own, 1);
		auto lines = db->query_integer("SELECT count(*) FROM line");
		ASSERT_TRUE(lines.ok());
		EXPECT_EQ(*lines, 1); /* from the log */
		EXPECT_FALSE(StoreWriter::open(file).ok());
	}
	EXPECT_FALSE(guest_writes(file));
	EXPECT_EQ(inode(file + "-wal"), log);
	EXPECT_EQ(inode(file + "-shm"), shared);
}

TEST_F(StoreTest, ACrashOfTheRecorderIsSaidAsSuch)
{
	record(abba());
	sql("UPDATE run SET finish = 0");
	spill(file + "-crash", "1 11\n");
	Model model;
	ASSERT_TRUE(load_store(file, model).ok());
	EXPECT_EQ(model.runs.front().end, RunEnd::Crashed);
	EXPECT_EQ(model.runs.front().problem, "signal 11, Segmentation fault");
	/* The next writer takes it into the store. */
	ASSERT_TRUE(StoreWriter::open(file).ok());
	EXPECT_FALSE(std::filesystem::exists(file + "-crash"));
	Model later;
	ASSERT_TRUE(load_store(file, later).ok());
	EXPECT_EQ(later.runs.front().end, RunEnd::Crashed);
	EXPECT_EQ(later.runs.front().problem, "signal 11, Segmentation fault");

	/* Of another run, or no note at all. */
	sql("UPDATE run SET finish = 0");
	for (const char *text : {"7 11\n", "1 0\n", "1 4000\n", "x", ""}) {
		spill(file + "-crash", text);
		Model other;
		ASSERT_TRUE(load_store(file, other).ok());
		EXPECT_EQ(other.runs.front().end, RunEnd::Open) << text;
	}
}

TEST_F(StoreTest, ReadableInAReadOnlyFolder)
{
	record(abba());
	std::filesystem::permissions(file, std::filesystem::perms::owner_read);
	std::filesystem::permissions(dir.path(), std::filesystem::perms::owner_read |
							 std::filesystem::perms::owner_exec);
	Model model;
	auto loaded = load_store(file, model);
	std::filesystem::permissions(dir.path(), std::filesystem::perms::owner_all);
	ASSERT_TRUE(loaded.ok()) << loaded.error().what;
	EXPECT_EQ(model.observations.size(), 2u);
}

TEST_F(StoreTest, FullDiskIsAnErrorAndTheStoreStaysValid)
{
	record(abba(5));
	rlimit before{};
	::getrlimit(RLIMIT_FSIZE, &before);
	std::signal(SIGXFSZ, SIG_IGN);
	rlimit small{256 * 1024, before.rlim_max};
	::setrlimit(RLIMIT_FSIZE, &small);
	LogBuilder more(2);
	for (int i = 0; i < 3000; i++) {
		const auto a = more.add_class("more-a" + std::to_string(i)),
			   b = more.add_class("more-b" + std::to_string(i));
		more.acquire({}, {{.cls = a}}, {.cls = b});
	}
	auto recorded = record_image(more.image(), file, "boot-2");
	::setrlimit(RLIMIT_FSIZE, &before);
	ASSERT_FALSE(recorded.ok());
	EXPECT_NE(recorded.error().what.find("disk full"), std::string::npos)
		<< recorded.error().what;
	EXPECT_FALSE(recorded.error().hint.empty());

	Model model;
	auto loaded = load_store(file, model);
	ASSERT_TRUE(loaded.ok()) << loaded.error().what;
	EXPECT_GE(model.classes.size(), 10u);

	/* With room again, the same run goes on and is complete. */
	auto again = record_image(more.image(), file, "boot-2");
	ASSERT_TRUE(again.ok()) << again.error().what;
	Model complete;
	ASSERT_TRUE(load_store(file, complete).ok());
	EXPECT_EQ(complete.classes.size(), 10u + 6000u);
}

TEST(Rows, PackedColumnsAreCheckedForSize)
{
	const std::vector<HeldRow> held = {{1, 2, 3, 4}, {5, 6, 7, 8}};
	auto back = unpack_held(pack(held));
	ASSERT_TRUE(back);
	EXPECT_EQ((*back)[1].object, 8u);
	EXPECT_FALSE(unpack_held(std::string(23, 'x')));
	EXPECT_FALSE(unpack_held(std::string(24 * (2 * LS_MAX_DEPTH + 1), 'x')));
	EXPECT_FALSE(unpack_words(std::string(5, 'x'), 10));
	EXPECT_FALSE(unpack_words(std::string(44, 'x'), 10));
}

TEST(Rows, DamagedLinesGiveNone)
{
	const std::vector<SourceLine> lines = {{"f", "a.c", 3, true}, {"g", "b.c", 4, false}};
	EXPECT_EQ(decode_lines(encode_lines(lines)), lines);
	for (const char *text : {"", "{", "{}", "[1]", "[[1,2,3,4]]", "[[\"f\",\"a.c\",-1,true]]"})
		EXPECT_TRUE(decode_lines(text).empty()) << text;
}
