// SPDX-License-Identifier: GPL-2.0
#include "report/perfetto.h"

#include "model/counters.h"
#include "report/perfetto_packets.h"
#include "report/trace_slices.h"

#include "util/text.h"

#include <algorithm>
#include <map>
#include <set>

namespace lockscope {

namespace {

using perfetto::Argument;
using perfetto::EventText;

Argument text_argument(const char *name, std::string text)
{
	return {name, Argument::Type::Text, 0, std::move(text)};
}

Argument number_argument(const char *name, std::uint64_t number)
{
	return {name, Argument::Type::Number, number};
}

Argument flag_argument(const char *name)
{
	return {name, Argument::Type::Bool, 1};
}

const char *mode_name(std::uint32_t val)
{
	switch (read_of(val)) {
	case LS_SHARED:
		return "read";
	case LS_RECURSIVE:
		return "recursive read";
	case LS_EXCLUSIVE:
		break;
	}
	return "write";
}

class Exporter {
public:
	Exporter(const Model &model, const Run &run, const std::function<bool(ClassId)> &wanted,
		 const Sink &sink)
		: model_(model), run_(run), trace_(*run.trace), packets_(sink),
		  slices_(slices_of(trace_, wanted)),
		  uuids_(stable_hash("trace of " + run.instance + run.boot) << 32)
	{
		find_gaps();
	}

	void write()
	{
		packets_.begin(trace_.spans.front().end_ns, trace_.spans.front().real_ns);
		for (const auto &track : slices_.tracks)
			tracks_.push_back(describe(track));
		const std::uint64_t losses = gaps_.empty() ? 0 : new_uuid();
		if (losses)
			packets_.track(losses, 0, "losses");
		auto gap = gaps_.begin();
		auto put_gaps = [&](std::uint64_t until) {
			for (; gap != gaps_.end() && gap->first <= until; ++gap)
				packets_.instant(gap->first, losses, gap->second);
		};
		for (const auto &edge : slices_.edges) {
			put_gaps(edge.time_ns);
			if (edge.begins)
				begin(edge);
			else
				packets_.slice_end(edge.time_ns, tracks_[edge.track]);
		}
		put_gaps(~std::uint64_t{0});
	}

private:
	std::uint64_t new_uuid() { return uuids_ | ++nr_uuids_; }

	/* What a context did not fit on is a track below it. */
	std::uint64_t describe(const LockTrack &track)
	{
		const std::uint64_t base = base_of(track);
		if (track.lane == 0)
			return base;
		const std::uint64_t uuid = new_uuid();
		packets_.track(uuid, base, "overlapping locks");
		return uuid;
	}

	std::uint64_t base_of(const LockTrack &track)
	{
		const TraceTask &task = trace_.tasks[track.task];
		if (track.level == LS_TASK && task.pid)
			return thread_of(track.task);
		const auto [at, added] = cpu_tracks_.try_emplace({track.cpu, track.level});
		if (added) {
			const std::uint64_t cpu = cpu_of(track.cpu);
			at->second = new_uuid();
			packets_.track(at->second, cpu,
				       track.level == LS_TASK
					       ? "idle task"
					       : level_name(static_cast<std::uint32_t>(track.level)
							    << LS_VAL_LEVEL_SHIFT));
		}
		return at->second;
	}

	std::uint64_t cpu_of(std::uint16_t cpu)
	{
		const auto [at, added] = cpus_.try_emplace(cpu);
		if (added) {
			at->second = new_uuid();
			packets_.track(at->second, 0, "CPU " + std::to_string(cpu));
		}
		return at->second;
	}

	std::uint64_t thread_of(std::uint32_t number)
	{
		const auto [at, added] = threads_.try_emplace(number);
		if (added) {
			const TraceTask &task = trace_.tasks[number];
			const std::uint64_t process = process_of(task);
			at->second = new_uuid();
			packets_.thread(at->second, process, task.tgid, task.pid, task.comm);
		}
		return at->second;
	}

	/* Its name is that of its first thread, if that is in the trace. */
	std::uint64_t process_of(const TraceTask &task)
	{
		const auto [at, added] = processes_.try_emplace(task.tgid);
		if (added) {
			const auto leader = std::find_if(trace_.tasks.begin(), trace_.tasks.end(),
							 [&](const TraceTask &one) {
								 return one.pid == task.tgid &&
									one.tgid == task.tgid;
							 });
			at->second = new_uuid();
			packets_.process(at->second, task.tgid,
					 leader == trace_.tasks.end() ? task.comm : leader->comm);
		}
		return at->second;
	}

	std::string name_of(ClassId cls) const { return cls == kNoClass ? "?" : model_[cls].name; }

	/// Instances of a class count from 1, in the order of their slices.
	std::uint64_t number_of_instance(const TraceEvent &event)
	{
		auto &numbers = instances_[event.cls];
		return numbers.try_emplace(event.instance, numbers.size() + 1).first->second;
	}

	void begin(const SliceEdge &edge)
	{
		const LockSlice &slice = slices_.slices[edge.slice];
		const TraceEvent &event = trace_.events[slice.event];
		const Code &at = model_[event.at];
		const bool hold = slice.kind == SliceKind::Hold;
		EventText text{hold ? "hold" : "wait",
			       (hold ? "" : "wait: ") + name_of(event.cls),
			       {text_argument("mode", mode_name(event.val)),
				text_argument("site", place_name(at)),
				number_argument("cpu", event.cpu)},
			       at.lines.empty() ? nullptr : &at.lines.front()};
		auto &arguments = text.arguments;
		if (event.cls != kNoClass) {
			arguments.push_back(
				text_argument("kind", kind_name(model_[event.cls].kind)));
			arguments.push_back(text_argument("module", model_[event.cls].module));
		}
		if (event.instance)
			arguments.push_back(number_argument("instance", number_of_instance(event)));
		if (text.line)
			arguments.push_back(text_argument(
				"line", text.line->file + ":" + std::to_string(text.line->line)));
		if (event.val & LS_VAL_TRY &&
		    (event.cls == kNoClass || model_[event.cls].kind != LS_KIND_WORK))
			arguments.push_back(flag_argument("trylock"));
		if (event.val & LS_VAL_IRQ_OFF)
			arguments.push_back(flag_argument("interrupts off"));
		if (slice.kind == SliceKind::GaveUp)
			arguments.push_back(flag_argument("gave up"));
		if (slice.since_before)
			arguments.push_back(flag_argument("held before the trace"));
		if (slice.still_held)
			arguments.push_back(flag_argument("still held at the end of the trace"));
		packets_.slice_begin(edge.time_ns, tracks_[edge.track], text);
	}

	void add_gap(std::uint64_t time, const char *what, std::uint64_t events, const char *why)
	{
		if (events)
			gaps_.emplace(time, EventText{"loss",
						      what,
						      {number_argument("events", events),
						       text_argument("why", why)}});
	}

	std::uint64_t counter(ls_trace_loss loss) const
	{
		const auto at = run_.counters.find(kTraceLosses[loss].name);
		return at == run_.counters.end() ? 0 : at->second;
	}

	void find_gaps()
	{
		const char *const full = kTraceLosses[LS_TRACE_LOSS_OVERFLOW].why;
		std::uint64_t lost = 0;
		for (const auto &event : trace_.events) {
			if (event.kind != LS_TRACE_LOST)
				continue;
			lost += event.ns;
			gaps_.emplace(event.time_ns, EventText{"loss",
							       "events lost",
							       {number_argument("events", event.ns),
								number_argument("cpu", event.cpu),
								text_argument("why", full)}});
		}
		const std::uint64_t first = trace_.spans.front().begin_ns,
				    last = trace_.spans.back().end_ns;
		/* Of rows that were removed. */
		const std::uint64_t all = counter(LS_TRACE_LOSS_OVERFLOW);
		add_gap(first, "events lost", all > lost ? all - lost : 0, full);
		add_gap(first, "events removed", counter(LS_TRACE_LOSS_SIZE),
			kTraceLosses[LS_TRACE_LOSS_SIZE].why);
		add_gap(last, "events lost", counter(LS_TRACE_LOSS_MISSED),
			kTraceLosses[LS_TRACE_LOSS_MISSED].why);
		add_gap(last, "slices not drawn", slices_.not_drawn, "too many overlap");
		for (std::size_t i = 1; i < trace_.spans.size(); i++)
			gaps_.emplace(
				trace_.spans[i - 1].end_ns,
				EventText{"loss", "nothing was recorded until the next slice"});
	}

	const Model &model_;
	const Run &run_;
	const LockTrace &trace_;
	perfetto::Packets packets_;
	const TraceSlices slices_;
	const std::uint64_t uuids_; ///< upper half of them
	std::uint64_t nr_uuids_ = 0;
	std::vector<std::uint64_t> tracks_;			     ///< uuids by number in slices_
	std::map<std::uint32_t, std::uint64_t> threads_, processes_; ///< by task; by tgid
	std::map<std::uint16_t, std::uint64_t> cpus_;
	std::map<std::pair<std::uint16_t, ls_level>, std::uint64_t> cpu_tracks_;
	std::map<ClassId, std::map<std::uint64_t, std::uint64_t>> instances_;
	std::multimap<std::uint64_t, EventText> gaps_;
};

} // namespace

void perfetto_trace(const Model &model, const Run &run, const std::function<bool(ClassId)> &wanted,
		    const Sink &sink)
{
	Exporter(model, run, wanted, sink).write();
}

} // namespace lockscope
