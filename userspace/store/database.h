// SPDX-License-Identifier: GPL-2.0
// SQLite with ownership and errors as values.
#pragma once

#include "store/live_copy.h"
#include "util/fd.h"
#include "util/result.h"

#include <sqlite3.h>

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace lockscope {

/// A prepared statement. Columns and parameters count from 0.
class Statement {
public:
	Statement() = default;
	explicit Statement(sqlite3_stmt *stmt) : stmt_(stmt) {}

	Statement &bind(int index, std::int64_t value);
	Statement &bind(int index, std::uint64_t value)
	{
		return bind(index, static_cast<std::int64_t>(value));
	}
	Statement &bind(int index, std::uint32_t value) { return bind(index, std::int64_t{value}); }
	Statement &bind(int index, int value) { return bind(index, std::int64_t{value}); }
	Statement &bind(int index, std::string_view text);
	Statement &bind_blob(int index, std::string_view bytes);
	Statement &bind_null(int index);

	/// true: there is a row; false: done, and ready to be bound again.
	Result<bool> step();
	/// Run a statement that returns no rows.
	Status run();
	void reset();

	std::int64_t integer(int column) const;
	std::uint64_t word(int column) const { return static_cast<std::uint64_t>(integer(column)); }
	std::string text(int column) const;
	std::string_view blob(int column) const; ///< valid until the next step
	bool is_null(int column) const;

private:
	struct Finalize {
		void operator()(sqlite3_stmt *stmt) const { sqlite3_finalize(stmt); }
	};
	std::unique_ptr<sqlite3_stmt, Finalize> stmt_;
};

/// Salvage: the readable part of a damaged file; never writes.
enum class Access { Read, Write, Salvage };

/// An open database file.
class Database {
public:
	/// Opens @path, creating it with Access::Write, or a copy where a guest is writing it, see
	/// LiveCopy. Does not check the content; see open_store().
	static Result<Database> open(const std::string &path, Access access);

	Status exec(const std::string &sql);
	Result<Statement> prepare(const std::string &sql);
	Result<std::int64_t> query_integer(const std::string &sql);
	std::int64_t last_id() const { return sqlite3_last_insert_rowid(db_.get()); }
	const std::string &path() const { return *path_; }
	bool salvaging() const { return salvaging_; }
	/// Tables that each_row() could only read in part, since the last call.
	std::vector<std::string> take_unread() { return std::exchange(unread_, {}); }
	void add_unread(std::string table) { unread_.push_back(std::move(table)); }

private:
	struct Close {
		void operator()(sqlite3 *db) const { sqlite3_close_v2(db); }
	};
	std::unique_ptr<LiveCopy> copy_; ///< of a store that a guest writes; closed before
	/* Errors name the file: statements refer to the path through the handle's owner, so it
	 * must not move with the object. */
	std::unique_ptr<std::string> path_;
	std::unique_ptr<sqlite3, Close> db_;
	bool salvaging_ = false;
	std::vector<std::string> unread_;
};

/// The present error of @db, and its meaning for @path.
Error database_error(sqlite3 *db, const std::string &path);

} // namespace lockscope
