// SPDX-License-Identifier: GPL-2.0
#include "store/database.h"

#include "util/file.h"
#include "util/guest_folder.h"
#include "util/printable.h"

#include <sys/resource.h>
#include <sys/statvfs.h>

#include <cerrno>

namespace lockscope {

namespace {

/* SQLite does not always keep the errno of a failure; then check the file system itself. */
bool out_of_space(const std::string &path, int cause)
{
	if (cause != 0)
		return cause == ENOSPC || cause == EFBIG || cause == EDQUOT;
	rlimit limit{};
	if (::getrlimit(RLIMIT_FSIZE, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY)
		return true;			    /* a limit by ulimit -f looks the same */
	constexpr std::uint64_t least = 256 * 1024; /* a write-ahead log and its index */
	struct statvfs fs {};
	const auto slash = path.rfind('/');
	const std::string dir = slash == path.npos ? "." : path.substr(0, slash + 1);
	return ::statvfs(dir.c_str(), &fs) == 0 && std::uint64_t{fs.f_bavail} * fs.f_frsize < least;
}

} // namespace

Error database_error(sqlite3 *db, const std::string &path)
{
	const int code = sqlite3_errcode(db) & 0xff;
	const int cause = sqlite3_system_errno(db);
	if (code == SQLITE_FULL ||
	    ((code == SQLITE_IOERR || code == SQLITE_CANTOPEN) && out_of_space(path, cause)))
		return Error{cause ? cause : ENOSPC, "cannot write " + path + ": disk full",
			     "free some space and start again: what is stored so far is kept",
			     Exit::Environment};
	switch (code) {
	case SQLITE_NOTADB:
		return Error{0, path + " is not a LockScope store",
			     "give a file written by lockscope record", Exit::Environment};
	case SQLITE_CORRUPT:
		return Error{0, path + " is damaged",
			     "record again, or take a copy made before the damage",
			     Exit::Environment};
	case SQLITE_BUSY:
	case SQLITE_LOCKED:
		return Error{EBUSY, path + " is in use by another program",
			     "wait for it to finish, or write to another file with -o",
			     Exit::Environment};
	case SQLITE_READONLY:
	case SQLITE_PERM:
		return Error{EACCES, "cannot write " + path + ": permission denied",
			     "choose another file with -o", Exit::Environment};
	case SQLITE_CANTOPEN:
		if (cause)
			return os_error(cause, "cannot open " + path);
		break;
	}
	const char *hint =
		code == SQLITE_IOERR
			? "see dmesg for what the disk says, or use a file on another one"
		: code == SQLITE_NOMEM
			? "free some memory and start again"
			: "it is not as lockscope record leaves it: record again, or take "
			  "an earlier copy";
	return Error{cause, "cannot use " + path + ": " + sqlite3_errmsg(db), hint,
		     Exit::Environment};
}

namespace {

Error statement_error(sqlite3_stmt *stmt)
{
	sqlite3 *db = sqlite3_db_handle(stmt);
	const char *path = sqlite3_db_filename(db, "main");
	return database_error(db, path && *path ? path : "the store");
}

} // namespace

Statement &Statement::bind(int index, std::int64_t value)
{
	sqlite3_bind_int64(stmt_.get(), index + 1, value);
	return *this;
}

Statement &Statement::bind(int index, std::string_view text)
{
	sqlite3_bind_text(stmt_.get(), index + 1, text.data() ? text.data() : "",
			  static_cast<int>(text.size()), SQLITE_TRANSIENT);
	return *this;
}

Statement &Statement::bind_blob(int index, std::string_view bytes)
{
	/* A null pointer would store NULL, not an empty blob. */
	sqlite3_bind_blob(stmt_.get(), index + 1, bytes.data() ? bytes.data() : "",
			  static_cast<int>(bytes.size()), SQLITE_TRANSIENT);
	return *this;
}

Statement &Statement::bind_null(int index)
{
	sqlite3_bind_null(stmt_.get(), index + 1);
	return *this;
}

Result<bool> Statement::step()
{
	const int rc = sqlite3_step(stmt_.get());
	if (rc == SQLITE_ROW)
		return true;
	if (rc == SQLITE_DONE) {
		sqlite3_reset(stmt_.get());
		return false;
	}
	Error error = statement_error(stmt_.get());
	sqlite3_reset(stmt_.get());
	return error;
}

Status Statement::run()
{
	auto more = step();
	if (!more)
		return more.error();
	reset();
	return success();
}

void Statement::reset()
{
	sqlite3_reset(stmt_.get());
}

std::int64_t Statement::integer(int column) const
{
	return sqlite3_column_int64(stmt_.get(), column);
}

std::string Statement::text(int column) const
{
	const auto *data = reinterpret_cast<const char *>(sqlite3_column_text(stmt_.get(), column));
	return data ? printable(std::string(data, static_cast<std::size_t>(sqlite3_column_bytes(
							  stmt_.get(), column))))
		    : std::string();
}

std::string_view Statement::blob(int column) const
{
	const auto *data = static_cast<const char *>(sqlite3_column_blob(stmt_.get(), column));
	return {data,
		data ? static_cast<std::size_t>(sqlite3_column_bytes(stmt_.get(), column)) : 0};
}

bool Statement::is_null(int column) const
{
	return sqlite3_column_type(stmt_.get(), column) == SQLITE_NULL;
}

Result<Database> Database::open(const std::string &path, Access access)
{
	Database database;
	database.path_ = std::make_unique<std::string>(path);
	auto connect = [&](const std::string &name, int flags) {
		sqlite3 *db = nullptr;
		const int rc = sqlite3_open_v2(name.c_str(), &db, flags, nullptr);
		database.db_.reset(db);
		if (rc != SQLITE_OK)
			return rc;
		sqlite3_busy_timeout(db, 10000);
		/* Only tables of a store are used: views, triggers and functions that a
		 * foreign schema may contain have no effect. */
		for (int off : {SQLITE_DBCONFIG_ENABLE_TRIGGER, SQLITE_DBCONFIG_ENABLE_VIEW,
				SQLITE_DBCONFIG_TRUSTED_SCHEMA})
			sqlite3_db_config(db, off, 0, nullptr);
		sqlite3_db_config(db, SQLITE_DBCONFIG_DEFENSIVE, 1, nullptr);
		return rc;
	};
	if (access == Access::Write) {
		if (connect(path, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE) != SQLITE_OK)
			return database_error(database.db_.get(), path);
		return database;
	}

	if (guest_writes(path)) {
		auto copy = LiveCopy::make(path);
		if (!copy)
			return copy.error();
		database.copy_ = std::move(*copy);
	}
	const std::string file = database.copy_ ? database.copy_->path() : path;
	if (access == Access::Salvage) {
		database.salvaging_ = true;
		if (connect(file, SQLITE_OPEN_READWRITE) != SQLITE_OK)
			return database_error(database.db_.get(), path);
		/* Otherwise a truncated file is refused, and so is one with an unreadable
		 * schema entry. The damage is not repaired. */
		sqlite3 *db = database.db_.get();
		sqlite3_db_config(db, SQLITE_DBCONFIG_DEFENSIVE, 0, nullptr);
		sqlite3_db_config(db, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1, nullptr);
		LS_TRY_STATUS(database.exec("PRAGMA writable_schema = ON"));
		return database;
	}
	auto readable = [&] {
		return sqlite3_exec(database.db_.get(), "SELECT count(*) FROM sqlite_schema",
				    nullptr, nullptr, nullptr) == SQLITE_OK;
	};
	if (connect(file, SQLITE_OPEN_READWRITE) == SQLITE_OK && readable())
		return database;
	const int code = sqlite3_errcode(database.db_.get()) & 0xff;
	if (code == SQLITE_NOTADB || code == SQLITE_CORRUPT || code == SQLITE_BUSY)
		return database_error(database.db_.get(), path);

	/* A reader in WAL mode has to create an index file next to the store. On a full disk
	 * the index can be in memory, for a single reader; on a read-only file system none is
	 * needed if there is no -wal. */
	if (connect(file, SQLITE_OPEN_READWRITE) == SQLITE_OK &&
	    sqlite3_exec(database.db_.get(), "PRAGMA locking_mode = EXCLUSIVE", nullptr, nullptr,
			 nullptr) == SQLITE_OK &&
	    readable())
		return database;
	std::string uri = "file:";
	for (char c : file)
		uri += c == '%' ? "%25" : c == '?' ? "%3f" : c == '#' ? "%23" : std::string(1, c);
	uri += exists(file + "-wal") ? "" : "?immutable=1";
	if (connect(uri, SQLITE_OPEN_READONLY | SQLITE_OPEN_URI) != SQLITE_OK)
		return database_error(database.db_.get(), path);
	return database;
}

Status Database::exec(const std::string &sql)
{
	if (sqlite3_exec(db_.get(), sql.c_str(), nullptr, nullptr, nullptr) != SQLITE_OK)
		return database_error(db_.get(), path());
	return success();
}

Result<Statement> Database::prepare(const std::string &sql)
{
	sqlite3_stmt *stmt = nullptr;
	if (sqlite3_prepare_v2(db_.get(), sql.c_str(), static_cast<int>(sql.size()), &stmt,
			       nullptr) != SQLITE_OK)
		return database_error(db_.get(), path());
	return Statement(stmt);
}

Result<std::int64_t> Database::query_integer(const std::string &sql)
{
	auto statement = prepare(sql);
	if (!statement)
		return statement.error();
	auto row = statement->step();
	if (!row)
		return row.error();
	return *row ? statement->integer(0) : 0;
}

} // namespace lockscope
