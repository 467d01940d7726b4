// SPDX-License-Identifier: GPL-2.0
// What a recorder writes. All calls between begin() and commit() become
// visible together, with the log offset that goes with them, so that a killed
// recorder has either stored a batch and its offset or neither.
#pragma once

#include "log/log.h"
#include "model/model.h"
#include "model/stat.h"
#include "model/symbols.h"
#include "store/database.h"
#include "store/rows.h"
#include "util/fd.h"
#include "util/text.h"

#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

namespace lockscope {

/// Where a run's recording stands.
struct RunState {
	std::int64_t id = 0;
	std::uint64_t log_offset = 0;
	std::uint32_t sights = 0; ///< ordinal of the next sight
	std::uint32_t codes = 0;  ///< highest code row
	HashKey key{};
	bool resumed = false;
	RunEnd finish = RunEnd::Open; ///< what an earlier recorder left
};

/// Does a StoreWriter have the store at @path open now?
bool is_being_written(const std::string &path);

class StoreWriter {
public:
	/// Open or create the store; one writer at a time.
	static Result<StoreWriter> open(const std::string &path);

	/// Find the run of this load of the module, or add one. Runs that nobody can go
	/// on with, because their recorder was killed, are ended.
	Result<RunState> begin_run(const ls_info &info, const std::string &backend,
				   const std::string &boot, const std::string &build_id);

	Status begin();
	Status commit(const RunState &run);
	/// Commit what belongs to no run.
	Status commit();
	void rollback();

	Status put_class(const RunState &run, const ClassRecord &record, const LockField &field);
	Status put_class_count(const RunState &run, const ls_class_counts &counts);
	Status put_stack(const RunState &run, std::uint32_t id,
			 const std::vector<std::uint32_t> &code);
	Status put_sight(const RunState &run, const SightRecord &sight, std::uint32_t code,
			 std::uint64_t lock, std::uint64_t object,
			 const std::vector<HeldRow> &held);
	Status put_finding(const RunState &run, const FindingRecord &record);
	Status put_inversion(const RunState &run, const InversionRecord &record);
	Status put_chain(const RunState &run, std::uint32_t id, const ls_chain &chain,
			 std::uint32_t code);
	Status put_counter(const RunState &run, const std::string &name, std::uint64_t value);
	Status put_primitive(const RunState &run, const ls_prim_info &primitive);
	Result<std::uint64_t> counter(const RunState &run, const std::string &name);
	/// Class id -> offset in its object, of classes that lie in one.
	Result<std::unordered_map<std::uint32_t, std::uint32_t>>
	object_offsets(const RunState &run);
	Result<std::unordered_map<std::uint32_t, ls_kind>> class_kinds(const RunState &run);

	/// @build_id is that of the module, empty when it is not known.
	Status put_data(const RunState &run, const DataRecord &record, const std::string &build_id,
			const std::string &type);
	/// What lies at @offset of the data: @lock says which kind of lock, or none.
	/// An empty @path is what nobody could name yet.
	Status put_member(std::int64_t run, std::uint32_t data, std::uint32_t offset,
			  ls_kind lock, const std::string &path);
	Status put_access(const RunState &run, const AccessRecord &record, std::uint32_t code,
			  const std::vector<GuardRow> &guards);
	/// The lock of that kind @offset bytes from where the pointer at @via of the
	/// data leads to: "struct foo.lock", or empty.
	Status put_pointee(std::int64_t run, std::uint32_t data, std::uint32_t via,
			   std::uint32_t offset, ls_kind lock, const std::string &path);
	/// @alone: only ever while nobody else had had the memory.
	Status set_access_count(const RunState &run, std::uint32_t id, std::uint32_t count,
				bool alone);
	Status put_race(const RunState &run, const RaceRecord &record, std::uint64_t granule);
	/// @locks: keyed hashes, 0 not known.
	Status put_side(const RunState &run, const SideRecord &record,
			const std::vector<std::uint64_t> &locks);
	Status put_history(const RunState &run, const HistoryRecord &record,
			   std::uint64_t granule, const std::vector<std::uint64_t> &locks);
	/// Every data the run has so far, with its build id, by id.
	Result<std::unordered_map<std::uint32_t, DataRecord>> data(const RunState &run);

	/// Statistics of the run as last put; nothing when nobody counted.
	Result<std::optional<StatReport>> stat(const RunState &run);
	/// In place of what was put before; names and kinds are unique in @report, and so
	/// are the places of a class.
	Status put_stat(const RunState &run, const StatReport &report);

	/// The module forgot everything but its classes and stacks.
	Status forget(const RunState &run);

	/// The open code row of the address with this hash.
	Result<std::optional<std::uint32_t>> find_code(const RunState &run, std::uint64_t hash);
	Result<std::uint32_t> add_code(RunState &run, std::uint64_t hash,
				       const std::optional<Location> &location);
	/// Name a row; @final closes it: the address means something else from now on.
	Status set_code(const RunState &run, std::uint32_t id, const Location &location,
			bool final);

	/// Rows that still lack source lines, and the cache that fills them.
	struct Unlined {
		std::string build_id, module, function;
		std::uint64_t offset = 0;
	};
	Result<std::vector<Unlined>> unlined();
	Status put_lines(const Unlined &place, const std::vector<SourceLine> &lines);

	/// Plain stores of races whose code was not read yet, and what it stores.
	struct Store {
		std::int64_t run = 0;
		std::uint32_t access = 0, size = 0;
		Unlined at;
	};
	Result<std::vector<Store>> unread();
	Status put_stored(const Store &store, std::optional<std::uint64_t> value);

	/// Variables without a type, of modules whose debug information may know it,
	/// and the places in them that want a name.
	struct Untyped {
		std::int64_t run = 0;
		std::uint32_t id = 0;
		std::string module, build_id, symbol;
		std::vector<std::pair<std::uint32_t, ls_kind>> places; ///< offset, lock
	};
	Result<std::vector<Untyped>> untyped();
	Status put_type(const Untyped &data, const std::string &type);

	/// The run is over: its hash key is erased.
	Status end_run(const RunState &run);
	/// How its recording ended, or RunEnd::Open as long as it goes on.
	Status set_finish(const RunState &run, RunEnd end, const std::string &problem = {});
	/// Forget a run from which nothing is to be kept.
	Status remove_run(const RunState &run);
	/// Did open() make the file?
	bool created() const { return created_; }
	/// Close the store and delete its files; nothing else may be called after that.
	void remove();

private:
	Result<Statement *> cached(const char *sql);
	Status end_others(const RunState &run, const std::string &backend,
			  const std::string &boot);

	/* Declared before the database: the lock is let go last. */
	Fd lock_;
	std::optional<Database> db_;
	bool created_ = false;
	std::deque<std::pair<const char *, Statement>> statements_; // addresses stay
};

/// Source lines as the line.frames column holds them (JSON), and back; damaged
/// text gives no lines.
std::string encode_lines(const std::vector<SourceLine> &lines);
std::vector<SourceLine> decode_lines(const std::string &text);

} // namespace lockscope
