// SPDX-License-Identifier: GPL-2.0
// Every acquisition, release and wait with its time, by BPF programs on the module's tracepoints.
#pragma once

#include "record/trace.h"
#include "util/mapped.h"
#include "util/result.h"

#include <cstdint>
#include <memory>
#include <unordered_map>
#include <vector>

struct trace_bpf;

namespace lockscope {

class Tracer {
public:
	/// Start tracing, without the locks of this process. Needs root, the running module, and
	/// a kernel with BPF. Errors contain the kernel's reason.
	static Result<std::unique_ptr<Tracer>> begin();
	~Tracer();
	Tracer(const Tracer &) = delete;

	/// What is in the rings. To be called many times a second: a ring that is full loses
	/// events. A batch without events is one to be left out.
	TraceBatch take();
	/// Stop tracing. The next take() has all of the rest and is the last one; it has to be
	/// stored even without events, since it is the end of the trace.
	void end();

private:
	Tracer() = default;
	Status load();
	void take_ring(std::uint16_t cpu, TraceBatch &batch);
	std::uint64_t missed() const;

	trace_bpf *bpf_ = nullptr;
	Mapped<const ls_trace_event> events_;
	Mapped<ls_trace_ring> rings_;
	int cpus_ = 0;
	std::uint32_t slots_ = 0;
	bool tracing_ = false;
	std::uint64_t begin_ns_ = 0;
	std::vector<std::uint64_t> lost_; ///< so far, by CPU
	struct Task {
		TracedTask task;
		std::uint64_t named_ns = 0;
	};
	std::unordered_map<std::uint32_t, Task> tasks_; ///< by pid
};

} // namespace lockscope
