// SPDX-License-Identifier: GPL-2.0
#pragma once

#include "model/model.h"
#include "util/result.h"

#include <cstdint>
#include <string>
#include <vector>

namespace lockscope {

/// Add everything in the store at @path to @model. Of two recordings of one run (same load of
/// the module) the longer one is kept. Errors as for open_store(), and invalid rows.
/// Damage::Salvage: load the readable part of a damaged store, see Model::damaged. Traces::Load:
/// Run::trace as well, which is large.
enum class Damage { Refuse, Salvage };
enum class Traces { Leave, Load };
Status load_store(const std::string &path, Model &model, Damage damage = Damage::Refuse,
		  Traces traces = Traces::Leave);

/// Load several stores into one model.
Result<Model> load_stores(const std::vector<std::string> &paths, Damage damage = Damage::Refuse,
			  Traces traces = Traces::Leave);

class StoreWriter;
/// What @store has by now, through its own connection, between two of its transactions. For the
/// process that writes the store: load_store() opens and closes the file, and a process that
/// closes a file loses its locks on it, SQLite's included [fcntl(2)]. Another reader is then the
/// last one to close the store, and removes the write-ahead log that is still in use.
Result<Model> load_written(StoreWriter &store);

/// Size of the store at @path with its write-ahead log; 0 if it does not exist.
std::uint64_t store_bytes(const std::string &path);

} // namespace lockscope
