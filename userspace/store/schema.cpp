// SPDX-License-Identifier: GPL-2.0
#include "store/schema.h"

#include "util/file.h"

#include <cerrno>
#include <cstring>
#include <fstream>
#include <iterator>

namespace lockscope {

namespace {

/*
 * No kernel address is stored. Instances (lock, object) are keyed hashes whose key is in
 * run.key only while the run continues, so that a restarted recorder uses the same hashes. A
 * code row is one address from its first occurrence until the module there was unloaded.
 * Blobs: stack.frames, observation.held, class_count.nested, access.guards, race.history,
 * side.locks and history.locks are arrays, see store/rows.h; the counts in nested are followed by
 * those of instances and of the ones handed over. member.lock is an enum ls_kind, 0 for members
 * that are no lock; access.place has the bits of LS_WHERE_*. A race has several rows if a later one
 * of the same functions is worse.
 */
constexpr const char *kAccessTables = R"sql(
CREATE TABLE data(run INTEGER, id INTEGER, kind INTEGER, object_size INTEGER, module TEXT,
	name TEXT, build_id TEXT, type TEXT, PRIMARY KEY(run, id)) WITHOUT ROWID;
CREATE TABLE member(run INTEGER, data INTEGER, offset INTEGER, lock INTEGER, path TEXT,
	PRIMARY KEY(run, data, offset, lock)) WITHOUT ROWID;
CREATE TABLE access(run INTEGER, id INTEGER, data INTEGER, offset INTEGER, size INTEGER,
	op INTEGER, code INTEGER, time INTEGER, place INTEGER, stack INTEGER, pid INTEGER,
	tgid INTEGER, task_flags INTEGER, cpu INTEGER, comm TEXT, guards BLOB,
	count INTEGER NOT NULL DEFAULT 0, PRIMARY KEY(run, id)) WITHOUT ROWID;
CREATE TABLE race(run INTEGER, id INTEGER, flags INTEGER, first INTEGER, second INTEGER,
	first_pid INTEGER, second_pid INTEGER, granule INTEGER, time INTEGER, history BLOB,
	PRIMARY KEY(run, id, first, second)) WITHOUT ROWID;
CREATE TABLE history(run INTEGER, n INTEGER, granule INTEGER, time INTEGER, access INTEGER,
	before INTEGER, after INTEGER, context INTEGER, candidates INTEGER, pid INTEGER,
	locks BLOB, PRIMARY KEY(run, n)) WITHOUT ROWID;
)sql";

/*
 * pointee.offset: from the target of the pointer at @via of the data to the lock; path begins
 * with its struct. alone: access sites only observed while the memory was exclusive to one
 * context. Not known before version 5.
 */
constexpr const char *kToVersion5 = R"sql(
CREATE TABLE pointee(run INTEGER, data INTEGER, via INTEGER, offset INTEGER, lock INTEGER,
	path TEXT, PRIMARY KEY(run, data, via, offset, lock)) WITHOUT ROWID;
CREATE TABLE alone(run INTEGER, access INTEGER, PRIMARY KEY(run, access)) WITHOUT ROWID;
)sql";

/*
 * Statistics by name, see model/stat.h. stat.acquired and contended are arrays by ls_level,
 * waits and holds are count, sum, max and buckets. stat_total: kStatMilliseconds, and losses.
 */
constexpr const char *kToVersion6 = R"sql(
CREATE TABLE stat(run INTEGER, class TEXT, kind INTEGER, acquired BLOB, contended BLOB,
	readers INTEGER, trylocks INTEGER, gave_up INTEGER, waits BLOB, holds BLOB,
	PRIMARY KEY(run, class, kind)) WITHOUT ROWID;
CREATE TABLE stat_site(run INTEGER, class TEXT, kind INTEGER, place TEXT, acquired INTEGER,
	contended INTEGER, wait_ns INTEGER, hold_ns INTEGER,
	PRIMARY KEY(run, class, kind, place)) WITHOUT ROWID;
CREATE TABLE stat_total(run INTEGER, name TEXT, value INTEGER,
	PRIMARY KEY(run, name)) WITHOUT ROWID;
)sql";

/*
 * run.finish is an enum RunEnd, run.problem the reason of a failed recorder. See
 * finish_of_old_run() for older runs.
 */
constexpr const char *kToVersion7 = R"sql(
ALTER TABLE run ADD COLUMN finish INTEGER NOT NULL DEFAULT 0;
ALTER TABLE run ADD COLUMN problem TEXT NOT NULL DEFAULT '';
UPDATE run SET finish = 1 WHERE EXISTS(SELECT 1 FROM primitive WHERE primitive.run = run.id);
)sql";

/*
 * The sides of a race, for the record with that time: a race that was caught replaces the
 * earlier record. task: the full pid, tgid, task_flags and comm are known. stack 0, cpu
 * LS_CPU_UNKNOWN: not known. locks: instances for access.guards. stored: the constant that a
 * racing access stores, NULL: none, or its code cannot be read.
 */
constexpr const char *kToVersion8 = R"sql(
CREATE TABLE side(run INTEGER, race INTEGER, second INTEGER, time INTEGER, access INTEGER,
	stack INTEGER, task INTEGER, pid INTEGER, tgid INTEGER, task_flags INTEGER, cpu INTEGER,
	comm TEXT, locks BLOB, PRIMARY KEY(run, race, second)) WITHOUT ROWID;
CREATE TABLE stored(run INTEGER, access INTEGER, value INTEGER, PRIMARY KEY(run, access))
	WITHOUT ROWID;
)sql";

/*
 * Verdicts of lockscope confirm, see model/verdict.h: result is an enum VerdictResult, time is in
 * seconds since 1970, evidence a JSON object. finding is an id, which holds for all runs.
 */
constexpr const char *kToVersion9 = R"sql(
CREATE TABLE verdict(run INTEGER, finding TEXT, result INTEGER NOT NULL, reason TEXT NOT NULL,
	why TEXT NOT NULL, tries INTEGER NOT NULL, time INTEGER NOT NULL, evidence TEXT NOT NULL,
	PRIMARY KEY(run, finding)) WITHOUT ROWID;
)sql";

/*
 * Every acquisition of a part of the run, see model/trace.h. trace.events and tasks are arrays,
 * see store/rows.h; tasks are those of the events. Times are in ns, of CLOCK_MONOTONIC, and
 * real_ns of CLOCK_REALTIME at end_ns. A row that does not begin where the one before ends is of
 * another recorder. Rows are large, and the oldest ones are removed.
 */
constexpr const char *kToVersion10 = R"sql(
CREATE TABLE trace(run INTEGER, n INTEGER, begin_ns INTEGER, end_ns INTEGER, real_ns INTEGER,
	events BLOB, tasks BLOB, PRIMARY KEY(run, n));
)sql";

/*
 * How the machine of a run died, by lockscope recover. death.missing has a line for each thing that
 * its memory did not have. dead_context: what held or waited for locks then; locks is an array as
 * observation.held is, whose last element is what it waited for where waits is 1. cpu is -1 for a task
 * that slept.
 */
constexpr const char *kToVersion11 = R"sql(
CREATE TABLE death(run INTEGER PRIMARY KEY, cause TEXT NOT NULL, messages TEXT NOT NULL,
	missing TEXT NOT NULL);
CREATE TABLE dead_context(run INTEGER, n INTEGER, comm TEXT, pid INTEGER, tgid INTEGER,
	cpu INTEGER, level INTEGER, waits INTEGER, locks BLOB, PRIMARY KEY(run, n)) WITHOUT ROWID;
)sql";

/*
 * Modules that a recording was about, and their calls of lock primitives by the place that each
 * returns to. lock_site.reached: 0, 1, or NULL where nothing shows either.
 */
constexpr const char *kToVersion12 = R"sql(
CREATE TABLE module(run INTEGER, name TEXT, build_id TEXT, decoded INTEGER, instrumented INTEGER,
	PRIMARY KEY(run, name)) WITHOUT ROWID;
CREATE TABLE lock_site(run INTEGER, module TEXT, function TEXT, offset INTEGER, primitive TEXT,
	start INTEGER, reached INTEGER, PRIMARY KEY(run, module, function, offset)) WITHOUT ROWID;
)sql";

constexpr const char *kTables = R"sql(
CREATE TABLE run(
	id INTEGER PRIMARY KEY, instance TEXT NOT NULL, boot TEXT NOT NULL,
	backend TEXT NOT NULL, release TEXT NOT NULL, build_id TEXT NOT NULL,
	started INTEGER NOT NULL, updated INTEGER NOT NULL, ended INTEGER,
	log_offset INTEGER NOT NULL, sights INTEGER NOT NULL, key BLOB,
	UNIQUE(instance, boot));
CREATE TABLE counter(run INTEGER, name TEXT, value INTEGER,
	PRIMARY KEY(run, name)) WITHOUT ROWID;
CREATE TABLE class(run INTEGER, id INTEGER, canonical INTEGER, kind INTEGER,
	origin INTEGER, offset INTEGER, object_size INTEGER, module TEXT, name TEXT, field TEXT,
	type TEXT NOT NULL DEFAULT '',
	PRIMARY KEY(run, id)) WITHOUT ROWID;
CREATE TABLE code(run INTEGER, id INTEGER, hash INTEGER, open INTEGER,
	function TEXT, offset INTEGER, module TEXT, build_id TEXT,
	PRIMARY KEY(run, id)) WITHOUT ROWID;
CREATE INDEX code_open ON code(run, hash) WHERE open = 1;
CREATE TABLE line(build_id TEXT, function TEXT, offset INTEGER, frames TEXT,
	PRIMARY KEY(build_id, function, offset)) WITHOUT ROWID;
CREATE TABLE stack(run INTEGER, id INTEGER, frames BLOB,
	PRIMARY KEY(run, id)) WITHOUT ROWID;
CREATE TABLE sight(run INTEGER, ordinal INTEGER, time INTEGER, new_mask INTEGER, code INTEGER,
	lock INTEGER, object INTEGER, val INTEGER, chain INTEGER, stack INTEGER, pid INTEGER,
	tgid INTEGER, task_flags INTEGER, cpu INTEGER, comm TEXT, held BLOB,
	what INTEGER NOT NULL DEFAULT 0, extra INTEGER NOT NULL DEFAULT 0,
	PRIMARY KEY(run, ordinal)) WITHOUT ROWID;
CREATE TABLE chain(run INTEGER, id INTEGER, parent INTEGER, val INTEGER, code INTEGER,
	count INTEGER, PRIMARY KEY(run, id)) WITHOUT ROWID;
CREATE TABLE kernel_finding(run INTEGER, id INTEGER, kind INTEGER, edges BLOB,
	PRIMARY KEY(run, id)) WITHOUT ROWID;
CREATE TABLE inversion(run INTEGER, class INTEGER, same INTEGER, first INTEGER, second INTEGER,
	PRIMARY KEY(run, class, first, second)) WITHOUT ROWID;
CREATE TABLE primitive(run INTEGER, function TEXT, kind INTEGER, state INTEGER, error INTEGER,
	PRIMARY KEY(run, function)) WITHOUT ROWID;
CREATE TABLE class_count(run INTEGER, class INTEGER, acquires INTEGER, releases INTEGER,
	unmatched_releases INTEGER, unmatched_acquires INTEGER, nested BLOB,
	PRIMARY KEY(run, class)) WITHOUT ROWID;
)sql";

/* From version 1: all of its observations were acquisitions, which are 0. */
constexpr const char *kToVersion2 = R"sql(
ALTER TABLE sight ADD COLUMN what INTEGER NOT NULL DEFAULT 0;
ALTER TABLE sight ADD COLUMN extra INTEGER NOT NULL DEFAULT 0;
)sql";

/* From version 2: without counts and types. */
constexpr const char *kToVersion3 = R"sql(
ALTER TABLE class ADD COLUMN type TEXT NOT NULL DEFAULT '';
CREATE TABLE class_count(run INTEGER, class INTEGER, acquires INTEGER, releases INTEGER,
	unmatched_releases INTEGER, unmatched_acquires INTEGER, nested BLOB,
	PRIMARY KEY(run, class)) WITHOUT ROWID;
)sql";

/// One step of a schema migration.
struct Migration {
	int from;
	const char *sql;
};
constexpr Migration kMigrations[] = {{1, kToVersion2},	 {2, kToVersion3},  {3, kAccessTables},
				     {4, kToVersion5},	 {5, kToVersion6},  {6, kToVersion7},
				     {7, kToVersion8},	 {8, kToVersion9},  {9, kToVersion10},
				     {10, kToVersion11}, {11, kToVersion12}};
static_assert(kMigrations[std::size(kMigrations) - 1].from == kSchemaVersion - 1);

Status check_version(Database &db)
{
	auto application = db.query_integer("PRAGMA application_id");
	if (!application)
		return application.error();
	if (*application != kApplicationId)
		return Error{0, db.path() + " is not a LockScope store",
			     "give a file written by lockscope record", Exit::Environment};
	auto version = schema_version(db);
	if (!version)
		return version.error();
	if (*version > kSchemaVersion || *version < kOldestSchema)
		return Error{0,
			     db.path() + " has schema version " + std::to_string(*version) +
				     ", this program reads versions " +
				     std::to_string(kOldestSchema) + " to " +
				     std::to_string(kSchemaVersion),
			     "use the lockscope that wrote it, or a newer one", Exit::Environment};
	return success();
}

Status set_version(Database &db)
{
	return db.exec("PRAGMA user_version = " + std::to_string(kSchemaVersion));
}

Status create(Database &db)
{
	LS_TRY_STATUS(db.exec("BEGIN IMMEDIATE"));
	LS_TRY_STATUS(db.exec(kTables));
	LS_TRY_STATUS(db.exec(kAccessTables));
	LS_TRY_STATUS(db.exec(kToVersion5));
	LS_TRY_STATUS(db.exec(kToVersion6));
	LS_TRY_STATUS(db.exec(kToVersion7));
	LS_TRY_STATUS(db.exec(kToVersion8));
	LS_TRY_STATUS(db.exec(kToVersion9));
	LS_TRY_STATUS(db.exec(kToVersion10));
	LS_TRY_STATUS(db.exec(kToVersion11));
	LS_TRY_STATUS(db.exec(kToVersion12));
	LS_TRY_STATUS(db.exec("PRAGMA application_id = " + std::to_string(kApplicationId)));
	LS_TRY_STATUS(set_version(db));
	return db.exec("COMMIT");
}

/* In one transaction: after a kill the store has the old version or the new one. */
Status migrate(Database &db)
{
	auto version = schema_version(db);
	if (!version)
		return version.error();
	if (*version == kSchemaVersion)
		return success();
	LS_TRY_STATUS(db.exec("BEGIN IMMEDIATE"));
	Status changed = success();
	for (const auto &step : kMigrations)
		if (changed && *version <= step.from)
			changed = db.exec(step.sql);
	if (changed)
		changed = set_version(db);
	if (changed)
		return db.exec("COMMIT");
	(void)db.exec("ROLLBACK").ok();
	return changed;
}

} // namespace

bool is_store(const std::string &path)
{
	static constexpr char magic[] = "SQLite format 3";
	char bytes[sizeof(magic)] = {};
	std::ifstream file(path, std::ios::binary);
	return file.read(bytes, sizeof(bytes)) && std::memcmp(bytes, magic, sizeof(magic)) == 0;
}

Result<std::int64_t> schema_version(Database &db, const std::string &schema)
{
	return db.query_integer("PRAGMA " + schema + ".user_version");
}

std::string finish_of_old_run(const std::string &schema)
{
	return "EXISTS(SELECT 1 FROM " + schema + ".primitive p WHERE p.run = run.id)";
}

Result<Database> open_store(const std::string &path, Access access)
{
	if (access != Access::Write && !exists(path))
		return os_error(ENOENT, "cannot open " + path,
				"record first: lockscope record -o " + path);
	/* SQLite would say "disk I/O error". */
	if (is_folder(path))
		return os_error(EISDIR, "cannot open " + path,
				"give a file in it that lockscope record wrote, or another one");
	auto opened = Database::open(path, access);
	if (!opened)
		return opened.error();
	Database db = std::move(*opened);

	if (access == Access::Write) {
		auto tables = db.query_integer("SELECT count(*) FROM sqlite_schema");
		if (!tables)
			return tables.error();
		auto application = db.query_integer("PRAGMA application_id");
		if (!application)
			return application.error();
		/* WAL keeps the store readable while it is written; with
		 * synchronous=NORMAL a killed writer loses no commit. */
		if (*tables == 0 && *application == 0) {
			LS_TRY_STATUS(db.exec("PRAGMA journal_mode = WAL"));
			LS_TRY_STATUS(create(db));
		}
		LS_TRY_STATUS(check_version(db));
		LS_TRY_STATUS(db.exec("PRAGMA journal_mode = WAL"));
		LS_TRY_STATUS(db.exec("PRAGMA synchronous = NORMAL"));
		/* The key of an ended run must not remain in a free part of a page. */
		LS_TRY_STATUS(db.exec("PRAGMA secure_delete = ON"));
		LS_TRY_STATUS(migrate(db));
		return db;
	}

	LS_TRY_STATUS(check_version(db));
	if (access == Access::Salvage)
		return db;
	/* A page lost in the middle would only be noticed when it is read; rows out of order,
	 * which quick_check does not detect, never. */
	auto check = db.prepare("PRAGMA integrity_check(1)");
	if (!check)
		return check.error();
	auto row = check->step();
	if (!row || !*row || check->text(0) != "ok")
		return Error{0, path + " is damaged",
			     "record again, or take a copy made before the damage",
			     Exit::Environment};
	return db;
}

} // namespace lockscope
