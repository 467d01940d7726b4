// SPDX-License-Identifier: GPL-2.0
#include "reference.h"

#include <algorithm>

namespace lockscope::access_oracle {

namespace {

/* Beside the program's locks. */
constexpr int kWork = 100, kPreemption = 200, kSoftirqs = 201, kHardirqs = 202;

void join(Clock &clock, const Clock &other)
{
	for (const auto &[context, time] : other)
		clock[context] = std::max(clock[context], time);
}

bool apart(const Locks &a, const Locks &b)
{
	return std::any_of(a.begin(), a.end(), [&](const auto &lock) {
		const auto other = b.find(lock.first);
		return other != b.end() && (lock.second || other->second);
	});
}

bool writes(std::uint32_t op)
{
	return op & LS_ACC_WRITE;
}

bool marked(std::uint32_t op)
{
	return op & (LS_ACC_MARKED | LS_ACC_ATOMIC);
}

struct Granule {
	ls_shadow_state state = LS_VIRGIN;
	int owner = kNone;
	bool passed_on = false;
	std::optional<std::set<int>> candidates; ///< none: all there are
	std::vector<Touched> history;		 ///< since it was last handed over
	std::vector<Touched> all;
};

class Reference {
public:
	Reference(const Program &program, bool transitive, bool sections)
		: program_(program), transitive_(transitive), sections_(sections),
		  machine_(program), knows_(program.contexts.size()), section_(knows_.size())
	{
	}

	std::vector<Racing> run()
	{
		for (std::size_t i = 0; i < program_.steps.size(); i++) {
			const Step &step = program_.steps[i];
			machine_.take(step);
			knows(step.context).all[step.context]++;
			switch (step.what) {
			case Do::Access:
				access(static_cast<int>(i));
				break;
			case Do::Complete:
			case Do::Queue:
			case Do::End:
				release(step);
				break;
			case Do::Wait:
			case Do::Run:
			case Do::Flush:
				wait(step);
				break;
			case Do::Reuse:
				reuse(step.arg);
				break;
			default:
				break;
			}
		}
		return std::move(races_);
	}

private:
	Knowledge &knows(int context) { return knows_[static_cast<std::size_t>(context)]; }

	/// Completions, the queueing of work and its end are all things to wait for.
	static std::pair<Do, int> what(const Step &step)
	{
		return {step.what == Do::Wait	 ? Do::Complete
			: step.what == Do::Run	 ? Do::Queue
			: step.what == Do::Flush ? Do::End
						 : step.what,
			step.arg};
	}

	void release(const Step &step)
	{
		released_[what(step)].join(passed(step.context, knows(step.context)));
	}

	/// What others learn of @all that @context knows.
	Knowledge passed(int context, const Knowledge &all) const
	{
		return transitive_ ? all : Knowledge{{{context, all.all.at(context)}}, {}};
	}

	void wait(const Step &step) { knows(step.context).join(released_[what(step)]); }

	/// What goes from context to context as one, and where what is known of it counts.
	struct Way {
		int unit = kNone, group = kNone;
	};
	Way way_of(const Place &place) const
	{
		const Word &word = program_.words[static_cast<std::size_t>(place.word)];
		if (word.object != kNone)
			return {word.object, word.object};
		if (word.cpu != kNone)
			return {1000 + place.word * 2 + place.offset / 8, 1000 + place.word * 2};
		return {};
	}

	/// The last one had it under a lock that this one has as well: it is handed over.
	void pass(const Way &way, int context, const Locks &held)
	{
		if (way.unit == kNone)
			return;
		auto &last = last_[way.unit];
		if (last.context != kNone && last.context != context && apart(last.held, held)) {
			auto &mine = knows(context).of[way.group];
			join(mine, passed(last.context, last.knew).all);
			if (const auto of = last.knew.of.find(way.group); of != last.knew.of.end())
				join(mine, of->second);
		}
		last = {context, held, knows(context)};
		auto &section = section_[static_cast<std::size_t>(context)];
		if (section.held != held)
			section = {held, {}};
		section.units.insert(way.unit);
		for (int unit : section.units)
			if (sections_ && !held.empty() && last_[unit].context == context)
				last_[unit].knew = knows(context);
	}

	bool ordered(const Touched &before, int context, const Way &way)
	{
		const auto knew = [&](const Clock &clock) {
			const auto at = clock.find(before.context);
			return at != clock.end() && at->second >= before.time;
		};
		const Knowledge &mine = knows(context);
		const auto of = mine.of.find(way.group);
		return knew(mine.all) || (of != mine.of.end() && knew(of->second));
	}

	void access(int number)
	{
		const Step &step = program_.steps[static_cast<std::size_t>(number)];
		const Place &place = program_.place(step);
		const Word &word = program_.words[static_cast<std::size_t>(place.word)];
		Touched now{number, step.context, knows(step.context).all[step.context],
			    place.offset, place.offset + place.size - 1, place.op,
			    guards_of(program_, machine_, step.context, word)};
		const Way way = way_of(place);
		pass(way, step.context, now.held);

		for (int g = now.first / 8; g <= now.last / 8; g++) {
			Granule &granule = granules_[{place.word, g}];
			std::map<int, bool> found; ///< step of the other one: does it count?
			for (const Touched &before : granule.all)
				if (conflict(before, now, g) && !ordered(before, now.context, way))
					found[before.step] = false;
			for (int other : judge(granule, now, g, way))
				found[other] = true;
			for (const auto &[other, counts] : found)
				races_.push_back({other, number, g, counts});
		}
	}

	static bool conflict(const Touched &a, const Touched &b, int granule)
	{
		return a.context != b.context &&
		       std::max({a.first, b.first, granule * 8}) <=
			       std::min({a.last, b.last, granule * 8 + 7}) &&
		       (writes(a.op) || writes(b.op)) && !(marked(a.op) && marked(b.op)) &&
		       !apart(a.held, b.held);
	}

	/// Eraser's figure 4; steps with which @now races.
	std::vector<int> judge(Granule &g, Touched now, int number, const Way &way)
	{
		std::vector<int> out;
		const bool others_done =
			std::all_of(g.history.begin(), g.history.end(), [&](const Touched &before) {
				return before.context == now.context ||
				       ordered(before, now.context, way);
			});
		if (g.state == LS_VIRGIN) {
			g.state = LS_EXCLUSIVE_TO;
			g.owner = now.context;
		} else if (g.state == LS_EXCLUSIVE_TO && g.owner == now.context) {
			/* as before */
		} else if (others_done) {
			const auto all = std::move(g.all);
			g = {LS_EXCLUSIVE_TO, now.context, true, {}, {}, all};
		} else if (g.state == LS_EXCLUSIVE_TO && writes(now.op) && !g.passed_on) {
			g.owner = now.context;
			g.passed_on = true;
		} else {
			if (writes(now.op))
				g.state = LS_SHARED_MODIFIED;
			else if (g.state == LS_EXCLUSIVE_TO)
				g.state = LS_SHARED_READ;
			refine(g, now);
			if (g.state == LS_SHARED_MODIFIED && g.candidates->empty())
				for (const Touched &before : g.history)
					if (conflict(before, now, number) &&
					    !ordered(before, now.context, way) &&
					    (!before.initial || g.passed_on))
						out.push_back(before.step);
		}
		now.initial = g.state == LS_EXCLUSIVE_TO;
		g.history.push_back(now);
		g.all.push_back(now);
		return out;
	}

	static void refine(Granule &g, const Touched &now)
	{
		std::set<int> held;
		for (const auto &[lock, exclusively] : now.held)
			if ((exclusively || !writes(now.op)) &&
			    (!g.candidates || g.candidates->contains(lock)))
				held.insert(lock);
		g.candidates = held;
	}

	void reuse(int object)
	{
		for (std::size_t w = 0; w < program_.words.size(); w++)
			if (program_.words[w].object == object)
				for (int g = 0; g < 2; g++)
					granules_.erase({static_cast<int>(w), g});
		last_.erase(object);
		for (Knowledge &one : knows_)
			one.of.erase(object);
	}

	struct Last {
		int context = kNone;
		Locks held;
		Knowledge knew;
	};

	const Program &program_;
	const bool transitive_, sections_;
	Machine machine_;
	std::vector<Knowledge> knows_;
	/// What a context touched with the same locks, one after the other.
	struct Section {
		Locks held;
		std::set<int> units;
	};
	std::vector<Section> section_;
	std::map<std::pair<Do, int>, Knowledge> released_;
	std::map<int, Last> last_; ///< of each unit
	std::map<std::pair<int, int>, Granule> granules_;
	std::vector<Racing> races_;
};

} // namespace

void Knowledge::join(const Knowledge &other)
{
	access_oracle::join(all, other.all);
	for (const auto &[object, clock] : other.of)
		access_oracle::join(of[object], clock);
}

Locks guards_of(const Program &program, const Machine &machine, int context, const Word &word)
{
	const auto &state = machine[context];
	const Context &me = program.contexts[static_cast<std::size_t>(context)];
	Locks held(state.held.begin(), state.held.end());
	if (state.run != kNone)
		held[kWork + state.run] = true;
	if (word.cpu == kNone || word.cpu != me.cpu)
		return held;
	/* Of one CPU: what cannot come while the access goes on. */
	if (me.level == LS_TASK && state.cannot_sleep())
		held[kPreemption] = true;
	if (me.level == LS_SOFTIRQ || (me.level == LS_TASK && (state.irq_off || state.bh_off)))
		held[kSoftirqs] = true;
	if (me.level == LS_HARDIRQ || state.irq_off)
		held[kHardirqs] = true;
	return held;
}

Races races_of(const Program &program)
{
	return {Reference(program, false, true).run(), Reference(program, false, false).run(),
		Reference(program, true, true).run()};
}

} // namespace lockscope::access_oracle
