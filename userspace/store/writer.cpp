// SPDX-License-Identifier: GPL-2.0
#include "store/writer.h"

#include "store/crash_note.h"
#include "store/schema.h"
#include "store/statement.h"
#include "util/file.h"
#include "util/guest_folder.h"

#include <nlohmann/json.hpp>

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <ctime>

namespace lockscope {

namespace {

std::string fixed_text(const char *data, std::size_t size)
{
	return {data, ::strnlen(data, size)};
}

std::string key_blob(const HashKey &key)
{
	return {reinterpret_cast<const char *>(key.data()), sizeof(key)};
}

/// A recorder's lock: one byte beyond the store and SQLite's own locks. Not flock(2), which 9p
/// turns into a lock of the whole file, including SQLite's bytes.
struct flock recorder_lock(short type)
{
	struct flock lock {};
	lock.l_type = type;
	lock.l_whence = SEEK_SET;
	lock.l_start = off_t{1} << 60;
	lock.l_len = 1;
	return lock;
}

} // namespace

Result<StoreWriter> StoreWriter::open(const std::string &path)
{
	StoreWriter writer;
	writer.created_ = !exists(path);
	if (!writer.created_ && guest_writes(path))
		return Error{EBUSY, path + " may be written by a guest at present",
			     "wait for it to end, or write to another file with -o",
			     Exit::Environment};
	/* SQLite's own locks are short; this one excludes a second recorder for the lifetime
	 * of the first one. */
	writer.lock_ = Fd(::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600));
	if (!writer.lock_.valid())
		return os_error(errno, "cannot write " + path, "choose another file with -o");
	struct flock lock = recorder_lock(F_WRLCK);
	if (::fcntl(writer.lock_.get(), F_OFD_SETLK, &lock) != 0 &&
	    (errno == EAGAIN || errno == EACCES))
		return Error{EBUSY, path + " is being written by another recorder",
			     "stop it, or write to another file with -o", Exit::Environment};
	auto db = open_store(path, Access::Write);
	if (!db)
		return db.error();
	writer.db_.emplace(std::move(*db));
	LS_TRY_STATUS(writer.take_crash_note());
	return writer;
}

/* The store has no writer now: what the last one left beside it belongs into it. */
Status StoreWriter::take_crash_note()
{
	const auto note = crash_note(db_->path());
	if (note) {
		LS_STATEMENT(update, "UPDATE run SET finish = ?, problem = ? WHERE id = ?"
				     " AND finish = ?");
		update.bind(0, static_cast<int>(RunEnd::Crashed)).bind(1, crash_words(*note));
		update.bind(2, note->run).bind(3, static_cast<int>(RunEnd::Open));
		LS_TRY_STATUS(update.run());
	}
	remove_crash_note(db_->path());
	return success();
}

bool is_being_written(const std::string &path)
{
	if (guest_writes(path))
		return true;
	const Fd file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
	struct flock lock = recorder_lock(F_RDLCK);
	return file.valid() && ::fcntl(file.get(), F_OFD_GETLK, &lock) == 0 &&
	       lock.l_type != F_UNLCK;
}

Result<Statement *> StoreWriter::cached(const char *sql)
{
	for (auto &[text, statement] : statements_)
		if (text == sql)
			return &statement;
	auto statement = db_->prepare(sql);
	if (!statement)
		return statement.error();
	statements_.emplace_back(sql, std::move(*statement));
	return &statements_.back().second;
}

Result<RunState> StoreWriter::begin_run(const ls_info &info, const std::string &backend,
					const std::string &boot, const std::string &build_id)
{
	const std::string instance = hex64(info.instance);
	RunState run;
	{
		LS_STATEMENT(find, "SELECT id, log_offset, sights, key,"
				   " (SELECT max(id) FROM code WHERE run = run.id), finish,"
				   " started FROM run"
				   " WHERE instance = ? AND boot = ?");
		find.bind(0, instance).bind(1, boot);
		auto row = find.step();
		if (!row)
			return row.error();
		if (*row) {
			run.id = find.integer(0);
			run.log_offset = find.word(1);
			run.observations = static_cast<std::uint32_t>(find.integer(2));
			run.codes = static_cast<std::uint32_t>(find.integer(4));
			run.finish = static_cast<RunEnd>(find.integer(5));
			run.started = find.integer(6);
			run.resumed = true;
			if (auto key = find.blob(3); key.size() == sizeof(run.key))
				std::memcpy(run.key.data(), key.data(), sizeof(run.key));
			else
				run.key = random_key();
			find.reset();
		}
	}
	const std::int64_t now = std::time(nullptr);
	if (run.resumed) {
		LS_STATEMENT(update,
			     "UPDATE run SET key = ?, ended = NULL, updated = ? WHERE id = ?");
		update.bind_blob(0, key_blob(run.key)).bind(1, now).bind(2, run.id);
		LS_TRY_STATUS(update.run());
		LS_TRY_STATUS(end_others(run, backend, boot));
		return run;
	}
	run.key = random_key();
	LS_STATEMENT(insert, "INSERT INTO run(instance, boot, backend, release, build_id, started,"
			     " updated, log_offset, sights, key) VALUES(?,?,?,?,?,?,?,0,0,?)");
	insert.bind(0, instance).bind(1, boot).bind(2, backend);
	insert.bind(3, fixed_text(info.release, sizeof(info.release)));
	insert.bind(4, build_id).bind(5, now).bind(6, now).bind_blob(7, key_blob(run.key));
	LS_TRY_STATUS(insert.run());
	run.id = db_->last_id();
	run.started = now;
	LS_TRY_STATUS(end_others(run, backend, boot));
	return run;
}

/*
 * These have no writer any more: a store has one writer. BPF programs are gone with theirs. A
 * module may still be loaded in parallel to a recorder of another kind, if it is of this boot,
 * which is unknown for an image.
 */
Status StoreWriter::end_others(const RunState &run, const std::string &backend,
			       const std::string &boot)
{
	LS_STATEMENT(end, "UPDATE run SET key = NULL, ended = updated WHERE id <> ?"
			  " AND key IS NOT NULL"
			  " AND (backend IN (?2, 'bpf') OR (?2 <> 'image' AND boot <> ?3))");
	LS_TRY_STATUS(end.bind(0, run.id).bind(1, backend).bind(2, boot).run());
	/* By the missing key, so that it is repeated after a kill in between. */
	LS_STATEMENT(close, "UPDATE code SET hash = NULL, open = 0 WHERE open = 1"
			    " AND run IN (SELECT id FROM run WHERE key IS NULL)");
	return close.run();
}

Status StoreWriter::begin()
{
	return db_->exec("BEGIN IMMEDIATE");
}

Status StoreWriter::commit(const RunState &run)
{
	LS_STATEMENT(update, "UPDATE run SET log_offset = ?, sights = ?, updated = ? WHERE id = ?");
	update.bind(0, run.log_offset).bind(1, run.observations);
	update.bind(2, std::int64_t{std::time(nullptr)}).bind(3, run.id);
	LS_TRY_STATUS(update.run());
	return commit();
}

Status StoreWriter::commit()
{
	return db_->exec("COMMIT");
}

void StoreWriter::rollback()
{
	/* SQLite may have rolled back already, as it does on a full disk. */
	(void)db_->exec("ROLLBACK").ok();
}

Status StoreWriter::put_class(const RunState &run, const ClassRecord &record,
			      const LockField &field)
{
	LS_STATEMENT(put, "INSERT OR REPLACE INTO class VALUES(?,?,?,?,?,?,?,?,?,?,?)");
	put.bind(0, run.id).bind(1, record.id).bind(2, record.canonical);
	put.bind(3, int{record.kind}).bind(4, int{record.origin});
	put.bind(5, record.offset).bind(6, record.object_size);
	put.bind(7, record.module).bind(8, record.name).bind(9, field.path);
	return put.bind(10, field.type).run();
}

Status StoreWriter::put_class_count(const RunState &run, const ls_class_counts &counts)
{
	LS_STATEMENT(put, "INSERT OR REPLACE INTO class_count VALUES(?,?,?,?,?,?,?)");
	put.bind(0, run.id).bind(1, counts.id).bind(2, std::uint64_t{counts.acquires});
	put.bind(3, std::uint64_t{counts.releases});
	put.bind(4, std::uint64_t{counts.unmatched_releases});
	put.bind(5, std::uint64_t{counts.unmatched_acquires});
	std::vector<std::uint32_t> words(std::begin(counts.nested), std::end(counts.nested));
	words.insert(words.end(), {counts.instances, counts.handed});
	return put.bind_blob(6, pack(std::span<const std::uint32_t>(words))).run();
}

Status StoreWriter::put_stack(const RunState &run, std::uint32_t id,
			      const std::vector<std::uint32_t> &code)
{
	LS_STATEMENT(put, "INSERT OR REPLACE INTO stack VALUES(?,?,?)");
	return put.bind(0, run.id).bind(1, id).bind_blob(2, pack(code)).run();
}

Status StoreWriter::put_observation(const RunState &run, const ObservationRecord &observation,
				    std::uint32_t code, std::uint64_t lock, std::uint64_t object,
				    const std::vector<HeldRow> &held)
{
	LS_STATEMENT(put,
		     "INSERT OR REPLACE INTO sight VALUES(?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?)");
	put.bind(0, run.id)
		.bind(1, run.observations)
		.bind(2, observation.time_ns)
		.bind(3, observation.new_mask);
	put.bind(4, code)
		.bind(5, lock)
		.bind(6, object)
		.bind(7, observation.val)
		.bind(8, observation.chain);
	put.bind(9, observation.stack).bind(10, observation.pid).bind(11, observation.tgid);
	put.bind(12, observation.task_flags)
		.bind(13, int{observation.cpu})
		.bind(14, observation.comm);
	put.bind_blob(15, pack(held)).bind(16, observation.what).bind(17, observation.extra);
	return put.run();
}

Status StoreWriter::put_finding(const RunState &run, const FindingRecord &record)
{
	std::vector<std::uint32_t> words;
	for (const auto &edge : record.edges)
		words.insert(words.end(), {edge.from, edge.to, edge.kinds, edge.sight});
	LS_STATEMENT(put, "INSERT OR REPLACE INTO kernel_finding VALUES(?,?,?,?)");
	return put.bind(0, run.id)
		.bind(1, record.id)
		.bind(2, int{record.kind})
		.bind_blob(3, pack(words))
		.run();
}

Status StoreWriter::put_inversion(const RunState &run, const InversionRecord &record)
{
	LS_STATEMENT(put, "INSERT OR REPLACE INTO inversion VALUES(?,?,?,?,?)");
	put.bind(0, run.id).bind(1, record.class_id).bind(2, int{record.same_instance});
	return put.bind(3, record.first).bind(4, record.second).run();
}

Status StoreWriter::put_chain(const RunState &run, std::uint32_t id, const ls_chain &chain,
			      std::uint32_t code)
{
	LS_STATEMENT(put, "INSERT OR REPLACE INTO chain VALUES(?,?,?,?,?,?)");
	put.bind(0, run.id).bind(1, id).bind(2, chain.parent).bind(3, chain.val).bind(4, code);
	return put.bind(5, chain.count).run();
}

Status StoreWriter::put_counter(const RunState &run, const std::string &name, std::uint64_t value)
{
	LS_STATEMENT(put, "INSERT OR REPLACE INTO counter VALUES(?,?,?)");
	return put.bind(0, run.id).bind(1, name).bind(2, value).run();
}

Result<std::uint64_t> StoreWriter::counter(const RunState &run, const std::string &name)
{
	LS_STATEMENT(get, "SELECT value FROM counter WHERE run = ? AND name = ?");
	auto row = get.bind(0, run.id).bind(1, name).step();
	if (!row)
		return row.error();
	const std::uint64_t value = *row ? get.word(0) : 0;
	get.reset();
	return value;
}

Result<std::unordered_map<std::uint32_t, std::uint32_t>>
StoreWriter::object_offsets(const RunState &run)
{
	LS_STATEMENT(get, "SELECT id, offset FROM class WHERE run = ? AND offset < object_size");
	get.bind(0, run.id);
	std::unordered_map<std::uint32_t, std::uint32_t> out;
	for (;;) {
		auto row = get.step();
		if (!row)
			return row.error();
		if (!*row)
			return out;
		out[static_cast<std::uint32_t>(get.word(0))] =
			static_cast<std::uint32_t>(get.word(1));
	}
}

Status StoreWriter::put_primitive(const RunState &run, const ls_prim_info &primitive)
{
	LS_STATEMENT(put, "INSERT OR REPLACE INTO primitive VALUES(?,?,?,?,?)");
	put.bind(0, run.id).bind(1, fixed_text(primitive.function, sizeof(primitive.function)));
	return put.bind(2, int{primitive.kind})
		.bind(3, int{primitive.state})
		.bind(4, primitive.error)
		.run();
}

Status StoreWriter::forget(const RunState &run)
{
	/* Statistics and verdicts are by name, and a trace has only classes and code: they stay. */
	for (const char *table :
	     {"sight", "chain", "kernel_finding", "inversion", "class_count", "data", "member",
	      "access", "race", "side", "history", "pointee", "alone", "stored"})
		LS_TRY_STATUS(db_->exec(std::string("DELETE FROM ") + table +
					" WHERE run = " + std::to_string(run.id)));
	return success();
}

Result<std::optional<std::uint32_t>> StoreWriter::find_code(const RunState &run, std::uint64_t hash)
{
	/* By default SQLite uses the primary key and reads the whole run. */
	LS_STATEMENT(find, "SELECT id FROM code INDEXED BY code_open"
			   " WHERE run = ? AND hash = ? AND open = 1");
	find.bind(0, run.id).bind(1, hash);
	auto row = find.step();
	if (!row)
		return row.error();
	std::optional<std::uint32_t> id;
	if (*row)
		id = static_cast<std::uint32_t>(find.integer(0));
	find.reset();
	return id;
}

Result<std::uint32_t> StoreWriter::add_code(RunState &run, std::uint64_t hash,
					    const std::optional<Location> &location)
{
	LS_STATEMENT(add, "INSERT INTO code(run, id, hash, open) VALUES(?,?,?,1)");
	const std::uint32_t id = run.codes + 1;
	LS_TRY_STATUS(add.bind(0, run.id).bind(1, id).bind(2, hash).run());
	run.codes = id;
	if (location)
		LS_TRY_STATUS(set_code(run, id, *location, false));
	return id;
}

Status StoreWriter::set_code(const RunState &run, std::uint32_t id, const Location &location,
			     bool final)
{
	/* A closed row needs no hash. The module's symbols of unloaded code have no build id;
	 * an earlier look-up may have it. */
	LS_STATEMENT(
		set,
		"UPDATE code SET build_id = CASE WHEN ?4 = '' AND module = ?3 AND function = ?1"
		" THEN build_id ELSE ?4 END, function = ?1, offset = ?2, module = ?3,"
		" open = ?5, hash = CASE ?5 WHEN 1 THEN hash END"
		" WHERE run = ?7 AND id = ?6");
	set.bind(0, location.function).bind(1, location.offset).bind(2, location.module);
	return set.bind(3, location.build_id)
		.bind(4, final ? 0 : 1)
		.bind(5, id)
		.bind(6, run.id)
		.run();
}

Result<std::vector<StoreWriter::Unlined>> StoreWriter::unlined(bool again)
{
	LS_STATEMENT(find,
		     "SELECT DISTINCT c.build_id, c.module, c.function, c.offset FROM code c"
		     " LEFT JOIN line l ON l.build_id = c.build_id AND l.function = c.function"
		     " AND l.offset = c.offset"
		     " WHERE c.build_id <> '' AND c.function <> '' AND c.module <> 'lockscope'"
		     " AND (l.frames IS NULL OR ?1 AND l.frames = '[]')"
		     " UNION SELECT m.build_id, m.name, s.function, s.offset FROM lock_site s"
		     " JOIN module m ON m.run = s.run AND m.name = s.module"
		     " LEFT JOIN line l ON l.build_id = m.build_id AND l.function = s.function"
		     " AND l.offset = s.offset"
		     " WHERE m.build_id <> '' AND (l.frames IS NULL OR ?1 AND l.frames = '[]')");
	find.bind(0, again ? 1 : 0);
	std::vector<Unlined> out;
	for (;;) {
		auto row = find.step();
		if (!row)
			return row.error();
		if (!*row)
			return out;
		out.push_back({find.text(0), find.text(1), find.text(2), find.word(3)});
	}
}

Status StoreWriter::put_lines(const Unlined &place, const std::vector<SourceLine> &lines)
{
	LS_STATEMENT(put, "INSERT OR REPLACE INTO line VALUES(?,?,?,?)");
	put.bind(0, place.build_id).bind(1, place.function).bind(2, place.offset);
	return put.bind(3, encode_lines(lines)).run();
}

Result<std::vector<StoreWriter::Store>> StoreWriter::unread()
{
	LS_STATEMENT(find, "SELECT DISTINCT a.run, a.id, a.size, c.build_id, c.module, c.function,"
			   " c.offset FROM race r"
			   " JOIN access a ON a.run = r.run AND a.id IN (r.first, r.second)"
			   " JOIN code c ON c.run = a.run AND c.id = a.code"
			   " LEFT JOIN stored s ON s.run = a.run AND s.access = a.id"
			   " WHERE a.op & ?1 = ?2 AND c.build_id <> '' AND c.function <> ''"
			   " AND s.access IS NULL");
	/* A block is not a single store, and a probe is located before its instruction. */
	constexpr int others =
		LS_ACC_READ | LS_ACC_ATOMIC | LS_ACC_RANGE | LS_ACC_PROBE | LS_ACC_TRAP;
	find.bind(0, LS_ACC_WRITE | others).bind(1, int{LS_ACC_WRITE});
	std::vector<Store> out;
	for (;;) {
		auto row = find.step();
		if (!row)
			return row.error();
		if (!*row)
			return out;
		out.push_back({find.integer(0),
			       static_cast<std::uint32_t>(find.word(1)),
			       static_cast<std::uint32_t>(find.word(2)),
			       {find.text(3), find.text(4), find.text(5), find.word(6)}});
	}
}

Status StoreWriter::put_stored(const Store &store, std::optional<std::uint64_t> value)
{
	LS_STATEMENT(put, "INSERT OR REPLACE INTO stored VALUES(?,?,?)");
	put.bind(0, store.run).bind(1, store.access);
	return (value ? put.bind(2, *value) : put.bind_null(2)).run();
}

Status StoreWriter::end_run(const RunState &run)
{
	LS_STATEMENT(end, "UPDATE run SET key = NULL, ended = ?, updated = ?1 WHERE id = ?");
	LS_TRY_STATUS(end.bind(0, std::int64_t{std::time(nullptr)}).bind(1, run.id).run());
	LS_STATEMENT(close, "UPDATE code SET hash = NULL, open = 0 WHERE run = ?");
	return close.bind(0, run.id).run();
}

Status StoreWriter::set_finish(const RunState &run, RunEnd end, const std::string &problem)
{
	LS_STATEMENT(set, "UPDATE run SET finish = ?, problem = ?, updated = ? WHERE id = ?");
	set.bind(0, static_cast<int>(end)).bind(1, problem);
	return set.bind(2, std::int64_t{std::time(nullptr)}).bind(3, run.id).run();
}

Status StoreWriter::remove_run(const RunState &run)
{
	auto tables = db_->prepare("SELECT s.name FROM sqlite_schema s, pragma_table_info(s.name) c"
				   " WHERE s.type = 'table' AND c.name = 'run'");
	if (!tables)
		return tables.error();
	const std::string id = std::to_string(run.id);
	std::string sql = "BEGIN IMMEDIATE; DELETE FROM run WHERE id = " + id + ";";
	for (;;) {
		auto more = tables->step();
		if (!more)
			return more.error();
		if (!*more)
			break;
		sql += "DELETE FROM \"" + tables->text(0) + "\" WHERE run = " + id + ";";
	}
	auto done = db_->exec(sql + "COMMIT");
	if (!done)
		rollback();
	return done;
}

void StoreWriter::remove()
{
	const std::string path = db_->path();
	statements_.clear();
	db_.reset();
	for (const char *suffix : {"-wal", "-shm", ""})
		::unlink((path + suffix).c_str());
}

std::string encode_lines(const std::vector<SourceLine> &lines)
{
	auto out = nlohmann::json::array();
	for (const auto &line : lines)
		out.push_back({line.function, line.file, line.line, line.inlined});
	return out.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

namespace {

/* One string without escapes, or a number or word, as encode_lines() writes them; the rest of
 * @text follows. Empty: it is none of these. */
std::string_view next_plain(std::string_view &text, char end)
{
	const bool quoted = text.starts_with('"');
	const auto stop = text.find(quoted ? '"' : end, quoted);
	if (stop == text.npos)
		return {};
	const auto item = text.substr(quoted, stop - quoted);
	text.remove_prefix(stop + quoted);
	if (!text.starts_with(end) || std::any_of(item.begin(), item.end(), [](char c) {
		    return c < ' ' || c == '\\' || c == '\x7f';
	    }))
		return {};
	text.remove_prefix(1);
	return item;
}

/* What most lines look like, since parsing JSON takes longer than all else of loading. */
std::optional<std::vector<SourceLine>> decode_plain(std::string_view text)
{
	std::vector<SourceLine> out;
	if (!text.starts_with('[') || !text.ends_with(']'))
		return std::nullopt;
	text = text.substr(1, text.size() - 2);
	while (!text.empty()) {
		if (!text.starts_with("[\""))
			return std::nullopt;
		text.remove_prefix(1);
		SourceLine line;
		line.function = next_plain(text, ',');
		if (!text.starts_with('"'))
			return std::nullopt;
		line.file = next_plain(text, ',');
		const auto number = next_plain(text, ','), inlined = next_plain(text, ']');
		const auto parsed =
			std::from_chars(number.data(), number.data() + number.size(), line.line);
		if (line.function.empty() || line.file.empty() || parsed.ec != std::errc() ||
		    parsed.ptr != number.data() + number.size() ||
		    (inlined != "true" && inlined != "false"))
			return std::nullopt;
		line.inlined = inlined == "true";
		out.push_back(std::move(line));
		if (text.starts_with(",["))
			text.remove_prefix(1);
		else if (!text.empty())
			return std::nullopt;
	}
	return out;
}

} // namespace

std::vector<SourceLine> decode_lines(const std::string &text)
{
	if (auto plain = decode_plain(text))
		return std::move(*plain);
	std::vector<SourceLine> out;
	auto parsed = nlohmann::json::parse(text, nullptr, false);
	if (!parsed.is_array())
		return out;
	for (const auto &item : parsed) {
		if (!item.is_array() || item.size() != 4 || !item[0].is_string() ||
		    !item[1].is_string() || !item[2].is_number_unsigned() || !item[3].is_boolean())
			return {};
		out.push_back({item[0], item[1], item[2], item[3]});
	}
	return out;
}

} // namespace lockscope
