// SPDX-License-Identifier: GPL-2.0
#include "store/merge.h"

#include "store/crash_note.h"
#include "store/load.h"
#include "store/schema.h"
#include "store/writer.h"

#include <filesystem>

namespace lockscope {

namespace {

constexpr const char *kVerdictColumns = "finding, result, reason, why, tries, time, evidence";

/// A table whose rows belong to a run, and its other columns. Stores older than version @since
/// lack @later, or the table if it has no other columns; the defaults are equivalent.
struct RunTable {
	const char *name, *columns, *later = "";
	int since = 1;
};
constexpr RunTable kRunTables[] = {
	{"counter", "name, value"},
	{"class", "id, canonical, kind, origin, offset, object_size, module, name, field", ", type",
	 3},
	{"code", "id, hash, open, function, offset, module, build_id"},
	{"stack", "id, frames"},
	{"sight",
	 "ordinal, time, new_mask, code, lock, object, val, chain, stack, pid, tgid, task_flags,"
	 " cpu, comm, held",
	 ", what, extra", 2},
	{"chain", "id, parent, val, code, count"},
	{"kernel_finding", "id, kind, edges"},
	{"inversion", "class, same, first, second"},
	{"primitive", "function, kind, state, error"},
	{"class_count", "",
	 "class, acquires, releases, unmatched_releases, unmatched_acquires, nested", 3},
	{"data", "", "id, kind, object_size, module, name, build_id, type", kAccessSchema},
	{"member", "", "data, offset, lock, path", kAccessSchema},
	{"access", "",
	 "id, data, offset, size, op, code, time, place, stack, pid, tgid, task_flags, cpu, comm,"
	 " guards, count",
	 kAccessSchema},
	{"race", "", "id, flags, first, second, first_pid, second_pid, granule, time, history",
	 kAccessSchema},
	{"side", "",
	 "race, second, time, access, stack, task, pid, tgid, task_flags, cpu, comm, locks",
	 kSideSchema},
	{"history", "", "n, granule, time, access, before, after, context, candidates, pid, locks",
	 kAccessSchema},
	{"pointee", "", "data, via, offset, lock, path", kAloneSchema},
	{"alone", "", "access", kAloneSchema},
	{"stored", "", "access, value", kSideSchema},
	{"stat", "", "class, kind, acquired, contended, readers, trylocks, gave_up, waits, holds",
	 kStatSchema},
	{"stat_site", "", "class, kind, place, acquired, contended, wait_ns, hold_ns", kStatSchema},
	{"stat_total", "", "name, value", kStatSchema},
	{"verdict", "", kVerdictColumns, kVerdictSchema},
	{"module", "", "name, build_id, decoded, instrumented", kModuleSchema},
	{"lock_site", "", "module, function, offset, primitive, start, reached", kModuleSchema},
	{"trace", "", "n, begin_ns, end_ns, real_ns, events, tasks", kTraceSchema},
	{"death", "", "cause, messages, missing", kDeathSchema},
	{"dead_context", "", "n, comm, pid, tgid, cpu, level, waits, locks", kDeathSchema},
};

/// Owner of the verdicts of a run that is being replaced.
constexpr std::int64_t kNoRun = -1;

Status remove_run(Database &db, std::int64_t run)
{
	for (const auto &table : kRunTables)
		LS_TRY_STATUS(db.exec(std::string("DELETE FROM main.") + table.name +
				      " WHERE run = " + std::to_string(run)));
	return db.exec("DELETE FROM main.run WHERE id = " + std::to_string(run));
}

/* Of two verdicts on one finding the one that holds, as in holds_over(). */
Status add_verdicts(Database &db, const std::string &schema, std::int64_t from, std::int64_t to)
{
	return db.exec(std::string("INSERT INTO main.verdict(run, ") + kVerdictColumns +
		       ") SELECT " + std::to_string(to) + ", " + kVerdictColumns + " FROM " +
		       schema + ".verdict WHERE run = " + std::to_string(from) +
		       " ON CONFLICT(run, finding) DO UPDATE SET result = excluded.result,"
		       " reason = excluded.reason, why = excluded.why, tries = excluded.tries,"
		       " time = excluded.time, evidence = excluded.evidence"
		       " WHERE excluded.result < verdict.result OR"
		       " (excluded.result = verdict.result AND excluded.time > verdict.time)");
}

/* Of two copies of a run one is kept, but the verdicts of both are. */
Status keep_verdicts(Database &db, std::int64_t run)
{
	return db.exec("UPDATE main.verdict SET run = " + std::to_string(kNoRun) +
		       " WHERE run = " + std::to_string(run));
}

Status take_kept_verdicts(Database &db, std::int64_t run)
{
	LS_TRY_STATUS(add_verdicts(db, "main", kNoRun, run));
	return db.exec("DELETE FROM main.verdict WHERE run = " + std::to_string(kNoRun));
}

/* The key is not copied: no recorder continues in a merged store. */
Result<std::int64_t> copy_run(Database &db, std::int64_t from)
{
	const std::string id = std::to_string(from);
	auto version = schema_version(db, "input");
	if (!version)
		return version.error();
	LS_TRY_STATUS(db.exec(
		"INSERT INTO main.run(instance, boot, backend, release, build_id, started,"
		" updated, ended, log_offset, sights, finish, problem) SELECT instance, boot,"
		" backend, release, build_id, started, updated, coalesce(ended, updated),"
		" log_offset, sights, " +
		(*version >= kFinishSchema ? "finish, problem"
					   : finish_of_old_run("input") + ", ''") +
		" FROM input.run WHERE id = " + id));
	const std::int64_t run = db.last_id();
	const std::string to = std::to_string(run);
	for (const auto &table : kRunTables) {
		const std::string columns =
			std::string(table.columns) + (*version >= table.since ? table.later : "");
		if (columns.empty())
			continue;
		LS_TRY_STATUS(db.exec(std::string("INSERT INTO main.") + table.name + "(run, " +
				      columns + ") SELECT " + to + ", " + columns + " FROM input." +
				      table.name + " WHERE run = " + id));
	}
	LS_TRY_STATUS(db.exec("UPDATE main.code SET hash = NULL, open = 0 WHERE run = " + to));
	return run;
}

/* What the recorder of @run left beside its store. */
Status take_crash(Database &db, const CrashNote &crash, std::int64_t run)
{
	auto update = db.prepare("UPDATE main.run SET finish = ?, problem = ?"
				 " WHERE id = ? AND finish = ?");
	if (!update)
		return update.error();
	update->bind(0, static_cast<int>(RunEnd::Crashed)).bind(1, crash_words(crash));
	return update->bind(2, run).bind(3, static_cast<int>(RunEnd::Open)).run();
}

Status copy_new_runs(Database &db, const std::optional<CrashNote> &crash)
{
	struct Match {
		std::int64_t from, known;
		bool longer;
	};
	std::vector<Match> matches;
	auto version = schema_version(db, "input");
	if (!version)
		return version.error();
	/* Of two equally long ones the finished one is more complete. */
	const std::string finished = *version >= kFinishSchema ? "i.finish = 1" : "0";
	auto runs =
		db.prepare("SELECT i.id, m.id, i.log_offset > m.log_offset OR (i.log_offset ="
			   " m.log_offset AND m.finish <> 1 AND " +
			   finished +
			   ") FROM input.run i"
			   " LEFT JOIN main.run m ON m.instance = i.instance AND m.boot = i.boot"
			   " ORDER BY i.id");
	if (!runs)
		return runs.error();
	for (;;) {
		auto more = runs->step();
		if (!more)
			return more.error();
		if (!*more)
			break;
		matches.push_back({runs->integer(0), runs->is_null(1) ? -1 : runs->integer(1),
				   runs->integer(2) != 0});
	}
	for (const auto &match : matches) {
		if (match.known >= 0 && !match.longer) {
			if (*version >= kVerdictSchema)
				LS_TRY_STATUS(add_verdicts(db, "input", match.from, match.known));
			continue;
		}
		if (match.known >= 0) {
			LS_TRY_STATUS(keep_verdicts(db, match.known));
			LS_TRY_STATUS(remove_run(db, match.known));
		}
		auto copied = copy_run(db, match.from);
		if (!copied)
			return copied.error();
		LS_TRY_STATUS(take_kept_verdicts(db, *copied));
		if (crash && crash->run == match.from)
			LS_TRY_STATUS(take_crash(db, *crash, *copied));
	}
	return db.exec("INSERT OR IGNORE INTO main.line SELECT * FROM input.line");
}

} // namespace

Status merge_stores(const std::vector<std::string> &inputs, const std::string &out)
{
	for (const auto &input : inputs) {
		std::error_code error;
		if (std::filesystem::equivalent(input, out, error))
			return usage_error("cannot merge " + input + " into itself",
					   "choose another file with -o");
		/*
		 * All inputs are read before the first is copied: with one row that makes no sense
		 * nothing of the merged store could be read.
		 */
		if (auto readable = load_stores({input}); !readable)
			return readable.error();
	}
	/* Held during the merge: excludes a recorder. */
	auto lock = StoreWriter::open(out);
	if (!lock)
		return lock.error();
	auto db = open_store(out, Access::Write);
	if (!db)
		return db.error();
	for (const auto &input : inputs) {
		auto attach = db->prepare("ATTACH ? AS input");
		if (!attach)
			return attach.error();
		LS_TRY_STATUS(attach->bind(0, input).run());
		LS_TRY_STATUS(db->exec("BEGIN IMMEDIATE"));
		if (auto copied = copy_new_runs(*db, crash_note(input)); !copied) {
			(void)db->exec("ROLLBACK").ok();
			return copied.error();
		}
		LS_TRY_STATUS(db->exec("COMMIT"));
		LS_TRY_STATUS(db->exec("DETACH input"));
	}
	return success();
}

} // namespace lockscope
