// SPDX-License-Identifier: GPL-2.0
// The schema of a store file, and its checks.
#pragma once

#include "store/database.h"

namespace lockscope {

/// Incremented with every change that older programs cannot read.
inline constexpr int kSchemaVersion = 12;
/// Oldest readable version. 1: only observations of acquisitions. 2: neither counts of classes nor
/// types of spinlocks. 3: no memory accesses. 4: neither targets of pointers nor exclusive
/// accesses. 5: no statistics. 6: no end of runs. 7: races only have the first accesses at
/// their sites. 8: no verdicts. 9: no traces. 10: no deaths.
/// 11: no modules that a recording is about.
inline constexpr int kOldestSchema = 1;
/// First version with memory accesses.
inline constexpr int kAccessSchema = 4;
/// First version with the tables pointee and alone.
inline constexpr int kAloneSchema = 5;
/// First version with statistics.
inline constexpr int kStatSchema = 6;
/// First version with run.finish and run.problem.
inline constexpr int kFinishSchema = 7;
/// First version with the table side.
inline constexpr int kSideSchema = 8;
/// First version with the table verdict.
inline constexpr int kVerdictSchema = 9;
/// First version with the table trace.
inline constexpr int kTraceSchema = 10;
/// First version with the tables death and dead_context.
inline constexpr int kDeathSchema = 11;
/// First version with the tables module and lock_site.
inline constexpr int kModuleSchema = 12;
/// SQLite's application_id of a store: "LOCK".
inline constexpr int kApplicationId = 0x4c4f434b;

/// Open @path and check that it is a store with a readable schema. Access::Write creates the
/// schema in a new or empty file, migrates an older one and sets WAL mode. Access::Salvage
/// opens damaged files, as long as they can be recognised as a store. Errors: missing,
/// foreign, damaged, truncated or newer file, disk full.
Result<Database> open_store(const std::string &path, Access access);

/// The value of run.finish for a store older than kFinishSchema: only a recorder that finished
/// stored lock functions. @schema names an attached store.
std::string finish_of_old_run(const std::string &schema = "main");

/// Does @path look like a store, damaged or not? By its first bytes.
bool is_store(const std::string &path);

/// Schema version of an open store; @schema names an attached one.
Result<std::int64_t> schema_version(Database &db, const std::string &schema = "main");

} // namespace lockscope
