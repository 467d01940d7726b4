// SPDX-License-Identifier: GPL-2.0
// A recording from start to end, for `record` and the daemon: device, store,
// symbols and recorder under one owner.
#pragma once

#include "record/own_modules.h"
#include "record/recorder.h"
#include "source/source.h"
#include "store/load.h"
#include "store/writer.h"
#include "symbolize/class_field.h"
#include "symbolize/data_names.h"
#include "symbolize/fields.h"
#include "symbolize/lines.h"
#include "symbolize/symbols.h"

#include <cerrno>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace lockscope {

/// Does the error mean that the device is gone, or another one by now?
inline bool module_gone(const Error &error)
{
	return error.code == ENODEV || error.code == ENXIO;
}

struct SessionOptions {
	std::string device = kDevicePath;
	std::string store = "lockscope.db";
	std::vector<std::string> symbol_dirs; ///< more folders of modules with debug information
	Hold hold = Hold::Always;
	bool bpf = false; ///< without the module: no device
	/// That this is about, see OwnModules; nullopt: it does not matter.
	std::optional<std::vector<std::string>> modules = std::nullopt;
	bool watch_sites = false; ///< see OwnModules::begin()
};

/// A kernel that is not the running one: what names its code and fields.
struct OtherSystem {
	std::string folder; ///< with proc and sys of that kernel
	std::string boot;   ///< its boot id; may be empty
};

class Session {
public:
	/// Open the device, then the store, and find the log offset to continue from. A
	/// stopped module is started again.
	static Result<std::unique_ptr<Session>> open(const SessionOptions &options);
	/// The same for a source that is open, of another kernel; the device is not used.
	static Result<std::unique_ptr<Session>> open(const SessionOptions &options,
						     std::unique_ptr<Source> source,
						     const OtherSystem &system);

	Recorder &recorder() { return *recorder_; }
	Source &source() { return *source_; }
	/// What is stored by now; not between begin() and commit() of the store.
	Result<Model> stored() { return load_written(*store_); }
	/// Names fields of classes as in the store; empty where they have none. It lives as
	/// long as the session.
	FieldNamer fields();
	/// Store the log. With Hold::Briefly an error for which module_gone() is true means
	/// that this session is over.
	Status drain();
	/// Wait until the module has processed all events, then store everything: log, chains,
	/// counters, source lines.
	Status finish();
	/// The module is being, or was, unloaded: end the run.
	Status end() { return recorder_->end(); }

	/// From here on the run counts as unfinished, even if its recorder is killed.
	Status begin();
	/// Recording is over: completely after finish(), or as @end says.
	Status close(RunEnd end = RunEnd::Finished);
	/// Nothing is to be recorded: the store is left unchanged.
	void cancel();
	/// The recorder fails. Before begin() nothing of this run stays in the store; later
	/// the reason is stored, if there is disk space.
	void give_up(const Error &error);

private:
	Session(const SessionOptions &options, std::string folder);
	Status attach(const std::string &boot);

	SessionOptions options_;
	std::string folder_;		   ///< of proc and sys; empty: the running kernel's
	std::optional<LineFinder> finder_; ///< fields_ uses its files
	std::optional<OwnModules> modules_;
	std::unique_ptr<Source> source_;
	std::optional<StoreWriter> store_;
	std::unique_ptr<SymbolSource> symbols_;
	FieldNames fields_{folder_ + "/sys/kernel/btf", folder_ + "/sys/kernel/slab"};
	ClassFields classes_{fields_};
	DataNames names_{fields_, classes_};
	std::unique_ptr<Recorder> recorder_;
	bool named_ = false; ///< code and fields have names
	bool begun_ = false;
	bool closed_ = false;
};

} // namespace lockscope
