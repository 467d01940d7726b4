// SPDX-License-Identifier: GPL-2.0
// Counts every acquisition, by BPF programs on the module's tracepoints.
#pragma once

#include "model/stat.h"
#include "record/class_names.h"
#include "source/source.h"
#include "symbolize/symbols.h"

#include <chrono>
#include <cstdint>
#include <map>
#include <memory>

struct stat_bpf;

namespace lockscope {

struct StatOptions {
	/// Room for new classes; more of them are a loss.
	std::uint32_t more_classes = 1024;
};

class StatCollector {
public:
	/// Start counting. Needs root, and a kernel with BPF; @source has to be the running
	/// module's and to outlive this. Errors contain the kernel's reason.
	static Result<std::unique_ptr<StatCollector>> begin(Source &source,
							    const StatOptions &options);
	~StatCollector();
	StatCollector(const StatCollector &) = delete;

	/// See ClassNames.
	void name_fields_by(FieldNamer fields) { names_.name_fields_by(std::move(fields)); }
	/// All counts so far. Between begin() and end() events continue, and the values of one
	/// class may be slightly inconsistent.
	Result<StatReport> read();
	/// Stop counting; read() still works, and is exact from then on.
	void end();

private:
	explicit StatCollector(Source &source) : source_(source) {}
	Result<std::map<std::uint32_t, StatClass>> read_classes();
	Status read_sites(std::map<std::uint32_t, StatClass> &classes);
	Status read_losses(StatReport &report);

	Source &source_;
	stat_bpf *bpf_ = nullptr;
	int cpus_ = 0;
	std::uint32_t room_ = 0; ///< classes 1 .. room_ - 1 have room
	ls_info before_{};	 ///< at the start of counting
	std::chrono::steady_clock::time_point began_, ended_;
	bool counting_ = false;
	ClassNames names_;
	KernelSymbols symbols_;
};

} // namespace lockscope
