// SPDX-License-Identifier: GPL-2.0
#include "report/trace_slices.h"

#include <algorithm>
#include <map>
#include <tuple>
#include <utility>

namespace lockscope {

namespace {

/* Of a context: the module knows no more locks held. Hostile traces have any number. */
constexpr std::size_t kMostOpen = LS_MAX_DEPTH;

struct OpenHold {
	std::uint64_t begin_ns;
	std::uint32_t event;
};

struct HoldingContext {
	LockTrack track;
	std::vector<OpenHold> open; ///< oldest first
	std::vector<std::uint32_t> slices;
};

class Slicer {
public:
	Slicer(const LockTrace &trace, const std::function<bool(ClassId)> &wanted)
		: trace_(trace), wanted_(wanted)
	{
	}

	TraceSlices take()
	{
		std::size_t first = 0;
		for (const auto &span : trace_.spans) {
			span_ = span;
			for (std::size_t i = first; i < first + span.events; i++)
				add(static_cast<std::uint32_t>(i));
			first += span.events;
			close_all();
		}
		for (auto &[key, context] : contexts_)
			draw(context);
		/* Stable: edges of one track are in order already. */
		std::stable_sort(
			out_.edges.begin(), out_.edges.end(),
			[](const auto &a, const auto &b) { return a.time_ns < b.time_ns; });
		return std::move(out_);
	}

private:
	HoldingContext &context_of(const TraceEvent &event)
	{
		const auto level = level_of(event.val);
		const bool task = level == LS_TASK && trace_.tasks[event.task].pid != 0;
		const std::uint32_t number = task ? event.task : event.cpu;
		const auto [at, added] = contexts_.try_emplace({level, !task, number});
		if (added)
			at->second.track = {level, event.task, event.cpu, 0};
		return at->second;
	}

	void add(std::uint32_t number)
	{
		const TraceEvent &event = trace_.events[number];
		if (event.kind == LS_TRACE_LOST) {
			/* A release may be among them. */
			for (auto &[key, context] : contexts_)
				context.open.clear();
			return;
		}
		if (!wanted_(event.cls))
			return;
		HoldingContext &context = context_of(event);
		if (event.kind == LS_TRACE_ACQUIRED)
			acquired(context, event, number);
		else if (event.kind == LS_TRACE_RELEASED)
			released(context, event, number);
		else
			waited(context, event, number);
	}

	std::vector<OpenHold>::iterator find(HoldingContext &context, const TraceEvent &event)
	{
		auto at = context.open.end();
		while (at != context.open.begin())
			if (trace_.events[(--at)->event].instance == event.instance)
				return at;
		return context.open.end();
	}

	void acquired(HoldingContext &context, const TraceEvent &event, std::uint32_t number)
	{
		/* Held already: its release was by another context, as of a semaphore. */
		if (const auto at = find(context, event);
		    at != context.open.end() && read_of(event.val) == LS_EXCLUSIVE)
			context.open.erase(at);
		if (context.open.size() == kMostOpen)
			context.open.erase(context.open.begin());
		context.open.push_back({event.time_ns, number});
	}

	std::uint64_t before(const TraceEvent &event) const
	{
		return event.time_ns - std::min(event.ns, event.time_ns);
	}

	void released(HoldingContext &context, const TraceEvent &event, std::uint32_t number)
	{
		LockSlice slice{.end_ns = event.time_ns};
		if (const auto at = find(context, event); at != context.open.end()) {
			slice.begin_ns = at->begin_ns;
			slice.event = at->event;
			context.open.erase(at);
		} else {
			slice.begin_ns = std::max(before(event), span_.begin_ns);
			slice.since_before = before(event) < span_.begin_ns;
			slice.event = number;
		}
		put(context, slice);
	}

	/*
	 * A function that cannot fail reports the acquisition first, and then how long it waits. At
	 * the end of the wait the lock inside a mutex may be held as well.
	 */
	void waited(HoldingContext &context, const TraceEvent &event, std::uint32_t number)
	{
		LockSlice slice{.begin_ns = std::max(before(event), span_.begin_ns),
				.end_ns = event.time_ns,
				.event = number,
				.kind = event.kind == LS_TRACE_GAVE_UP ? SliceKind::GaveUp
								       : SliceKind::Wait};
		if (const auto hold = find(context, event); hold != context.open.end()) {
			slice.begin_ns = std::max(slice.begin_ns, hold->begin_ns);
			if (event.kind == LS_TRACE_WAITED)
				hold->begin_ns = event.time_ns;
		}
		put(context, slice);
	}

	void put(HoldingContext &context, const LockSlice &slice)
	{
		context.slices.push_back(static_cast<std::uint32_t>(out_.slices.size()));
		out_.slices.push_back(slice);
	}

	void close_all()
	{
		for (auto &[key, context] : contexts_) {
			for (const auto &hold : context.open)
				put(context, {.begin_ns = hold.begin_ns,
					      .end_ns = span_.end_ns,
					      .event = hold.event,
					      .still_held = true});
			context.open.clear();
		}
	}

	/// A track of a context, and the slices on it that have not ended, outermost first.
	struct Lane {
		std::uint32_t track;
		std::vector<std::uint32_t> inside;
		std::vector<SliceEdge> edges;
	};

	void end_until(Lane &lane, std::uint64_t time)
	{
		while (!lane.inside.empty()) {
			const std::uint32_t slice = lane.inside.back();
			const std::uint64_t end = out_.slices[slice].end_ns;
			if (end > time)
				return;
			lane.edges.push_back({end, slice, lane.track, false});
			lane.inside.pop_back();
		}
	}

	/* Each slice goes to the first track where it lies within, or after, those before. */
	void draw(HoldingContext &context)
	{
		const auto &slices = out_.slices;
		std::stable_sort(context.slices.begin(), context.slices.end(),
				 [&](std::uint32_t a, std::uint32_t b) {
					 return std::pair(slices[a].begin_ns, slices[b].end_ns) <
						std::pair(slices[b].begin_ns, slices[a].end_ns);
				 });
		std::vector<Lane> lanes;
		for (const auto number : context.slices) {
			const LockSlice &slice = slices[number];
			Lane *lane = nullptr;
			for (auto &one : lanes) {
				end_until(one, slice.begin_ns);
				if (one.inside.empty() ||
				    slices[one.inside.back()].end_ns >= slice.end_ns) {
					lane = &one;
					break;
				}
			}
			if (!lane && lanes.size() == kMostOpen) {
				out_.not_drawn++;
				continue;
			}
			if (!lane) {
				LockTrack track = context.track;
				track.lane = static_cast<std::uint32_t>(lanes.size());
				lanes.push_back(
					{static_cast<std::uint32_t>(out_.tracks.size()), {}, {}});
				out_.tracks.push_back(track);
				lane = &lanes.back();
			}
			lane->edges.push_back({slice.begin_ns, number, lane->track, true});
			lane->inside.push_back(number);
		}
		for (auto &lane : lanes) {
			end_until(lane, ~std::uint64_t{0});
			out_.edges.insert(out_.edges.end(), lane.edges.begin(), lane.edges.end());
		}
	}

	const LockTrace &trace_;
	const std::function<bool(ClassId)> &wanted_;
	TraceSpan span_;
	/// By level, whether it is by CPU, and number.
	std::map<std::tuple<ls_level, bool, std::uint32_t>, HoldingContext> contexts_;
	TraceSlices out_;
};

} // namespace

TraceSlices slices_of(const LockTrace &trace, const std::function<bool(ClassId)> &wanted)
{
	return Slicer(trace, wanted).take();
}

} // namespace lockscope
