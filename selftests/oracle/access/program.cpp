// SPDX-License-Identifier: GPL-2.0
#include "program.h"

#include <algorithm>
#include <array>
#include <random>

namespace lockscope::access_oracle {

namespace {

const char *const kNames[] = {"",	   "lock",     "read",	    "unlock",	   "irq off",
			      "irq on",	   "bh off",   "bh on",	    "preempt off", "preempt on",
			      "complete",  "wait for", "queue",	    "run",	   "end",
			      "flush",	   "enter",    "leave",	    "free"};

class Generator {
public:
	explicit Generator(std::uint64_t seed) : random_(seed) {}

	Program make()
	{
		contexts();
		words();
		locks();
		places();
		habits();
		program_.completions = below(3);
		program_.works = 1;
		Machine machine(program_);
		const int length = 6 + below(below(3) ? 18 : 50);
		for (int i = 0; i < length; i++) {
			if (below(5) < 2)
				context_ = below(static_cast<int>(program_.contexts.size()));
			for (const Step &step : next(machine))
				if (machine.can(step)) {
					machine.take(step);
					program_.steps.push_back(step);
				}
		}
		return std::move(program_);
	}

private:
	int below(int n) { return static_cast<int>(random_() % static_cast<std::uint64_t>(n)); }
	template <typename T> const T &one_of(const std::vector<T> &all)
	{
		return all[static_cast<std::size_t>(below(static_cast<int>(all.size())))];
	}

	void contexts()
	{
		const int nr = 2 + below(3), cpus = 1 + below(2);
		std::set<std::pair<ls_level, int>> interrupts;
		for (int i = 0; i < nr; i++) {
			Context c;
			c.cpu = below(cpus);
			if (below(3) == 0)
				c.level = below(2) ? LS_SOFTIRQ : LS_HARDIRQ;
			/* Two handlers of one CPU are one context: they never meet. */
			if (c.level != LS_TASK && !interrupts.insert({c.level, c.cpu}).second)
				c.level = LS_TASK;
			program_.contexts.push_back(c);
		}
	}

	void words()
	{
		const int nr = 1 + below(3), kind = below(6);
		program_.objects = kind < 3 ? 1 + below(2) : 0;
		for (int i = 0; i < nr; i++) {
			Word w;
			if (kind < 3)
				w.object = below(program_.objects);
			else if (kind == 3)
				w.cpu = one_of(program_.contexts).cpu;
			program_.words.push_back(w);
			guards_.push_back(below(3));
		}
	}

	void locks()
	{
		const std::vector<ls_kind> kinds{LS_KIND_MUTEX, LS_KIND_SPINLOCK, LS_KIND_SPINLOCK,
						 LS_KIND_RWLOCK, LS_KIND_RWSEM};
		const int nr = 1 + below(3);
		for (int i = 0; i < nr; i++)
			program_.locks.push_back(
				{one_of(kinds), program_.objects && below(2) ? below(program_.objects)
									     : kNone});
		disciplined_ = below(2);
	}

	void places()
	{
		const std::vector<std::uint32_t> ops{
			LS_ACC_READ, LS_ACC_READ, LS_ACC_WRITE, LS_ACC_WRITE, LS_ACC_WRITE,
			LS_ACC_READ | LS_ACC_WRITE, LS_ACC_READ | LS_ACC_MARKED,
			LS_ACC_WRITE | LS_ACC_MARKED,
			LS_ACC_READ | LS_ACC_WRITE | LS_ACC_ATOMIC};
		const int nr = 2 + below(5), functions = 1 + below(4);
		const bool partly = below(3) == 0;
		for (int i = 0; i < nr; i++) {
			Place p;
			p.function = below(functions);
			p.word = below(static_cast<int>(program_.words.size()));
			p.size = 1 << (partly || below(4) == 0 ? below(4) : 2);
			p.offset = below(3) ? 0 : below(2) ? 4 : below(kWordBytes);
			p.offset = std::min(p.offset, kWordBytes - p.size);
			p.op = one_of(ops);
			program_.places.push_back(p);
		}
	}

	/// What the context does next, if it can: a section, an access, something else.
	std::vector<Step> next(const Machine &machine)
	{
		const int c = context_;
		const auto &at = machine[c];
		const bool interrupt = program_.contexts[static_cast<std::size_t>(c)].level != LS_TASK;
		if (interrupt && !at.inside)
			return {{c, Do::Enter, 0}};
		switch (habit()) {
		case Section:
			if (!at.held.empty() && below(2))
				return {{c, Do::Unlock, std::next(at.held.begin(),
								  below(static_cast<int>(at.held.size())))
								->first}};
			return {{c, below(3) ? Do::Lock : Do::Read, any_lock()}};
		case Interrupts:
			return {{c, at.irq_off ? Do::IrqOn : Do::IrqOff, 0}};
		case Preemption:
			if (below(2))
				return {{c, at.bh_off ? Do::BhOn : Do::BhOff, 0}};
			return {{c, at.preempt_off ? Do::PreemptOn : Do::PreemptOff, 0}};
		case Handover:
			return handover(machine);
		case Work:
			if (at.run != kNone)
				return {{c, Do::End, at.run}};
			return any_of(machine, {{c, Do::Queue, 0}, {c, Do::Run, 0}, {c, Do::Flush, 0}});
		case Life:
			if (!program_.objects)
				break;
			return {{c, Do::Reuse, below(program_.objects)}};
		case Return:
			if (!interrupt)
				break;
			return {{c, Do::Leave, 0}};
		default:
			break;
		}
		return access(at);
	}

	enum Habit : std::uint8_t { Access, Section, Interrupts, Preemption, Handover, Work, Life, Return };
	/// Programs differ in what is done often.
	void habits()
	{
		habits_ = {Access, Access, Access, Section, Return};
		for (auto habit : {Access, Section, Interrupts, Preemption, Handover, Work, Life})
			for (int often = below(5) > 1 ? 0 : 1 + below(3); often > 0; often--)
				habits_.push_back(habit);
		if (below(2))
			std::erase(habits_, Life);
	}
	Habit habit() { return one_of(habits_); }

	/// One of those that can come next.
	std::vector<Step> any_of(const Machine &machine, std::vector<Step> steps)
	{
		std::erase_if(steps, [&](const Step &step) { return !machine.can(step); });
		return steps.empty() ? steps : std::vector<Step>{one_of(steps)};
	}

	/// Something is complete, and as a rule what goes on waits for it.
	std::vector<Step> handover(const Machine &machine)
	{
		const int k = below(2);
		std::vector<Step> out = any_of(machine, {{context_, Do::Complete, k}, {context_, Do::Wait, k}});
		if (!out.empty() && out[0].what == Do::Complete && below(4)) {
			context_ = below(static_cast<int>(program_.contexts.size()));
			out.push_back({context_, Do::Wait, k});
		}
		return out;
	}

	int any_lock() { return below(static_cast<int>(program_.locks.size())); }

	std::vector<Step> access(const Machine::Cpu &at)
	{
		const int c = context_, p = below(static_cast<int>(program_.places.size()));
		const Place &place = program_.places[static_cast<std::size_t>(p)];
		const int guard = guards_[static_cast<std::size_t>(place.word)] %
				  static_cast<int>(program_.locks.size());
		if (!disciplined_ || at.held.contains(guard) || below(12) == 0)
			return {{c, Do::Access, p}};
		return {{c, place.writes() || below(2) ? Do::Lock : Do::Read, guard},
			{c, Do::Access, p},
			{c, Do::Unlock, guard}};
	}

	std::mt19937_64 random_;
	Program program_;
	std::vector<int> guards_; ///< of each word
	std::vector<Habit> habits_;
	bool disciplined_ = false;
	int context_ = 0;
};

} // namespace

Machine::Machine(const Program &program) : program_(program), contexts_(program.contexts.size()) {}

/// Does its CPU run it now, or may it from here on?
bool Machine::runs(int context) const
{
	const Context &mine = program_.contexts[static_cast<std::size_t>(context)];
	for (std::size_t i = 0; i < contexts_.size(); i++) {
		const Context &other = program_.contexts[i];
		const Cpu &state = contexts_[i];
		if (static_cast<int>(i) == context || other.cpu != mine.cpu)
			continue;
		/* Only what is above interrupts it. */
		const bool keeps = other.level == LS_TASK ? state.cannot_sleep() : state.inside;
		if (!keeps)
			continue;
		if (mine.level <= other.level)
			return false;
		/* It has come already, or would have to come now. */
		if (!at(context).inside &&
		    (state.irq_off || (mine.level == LS_SOFTIRQ && state.bh_off)))
			return false;
	}
	return true;
}

bool Machine::can(const Step &step) const
{
	const Context &context = program_.contexts[static_cast<std::size_t>(step.context)];
	const Cpu &state = at(step.context);
	const bool interrupt = context.level != LS_TASK;
	if (!runs(step.context) || (interrupt && state.inside != (step.what != Do::Enter)))
		return false;
	auto lock = [&] { return program_.locks[static_cast<std::size_t>(step.arg)]; };
	auto sleeps = [&] { return !interrupt && !state.cannot_sleep(); };
	switch (step.what) {
	case Do::Access:
		return true;
	case Do::Lock:
	case Do::Read:
		if (state.held.contains(step.arg) || (!lock().spins() && !sleeps()) ||
		    (step.what == Do::Read && !lock().has_readers()))
			return false;
		return std::all_of(contexts_.begin(), contexts_.end(), [&](const Cpu &other) {
			const auto held = other.held.find(step.arg);
			return held == other.held.end() ||
			       (step.what == Do::Read && !held->second);
		});
	case Do::Unlock:
		return state.held.contains(step.arg);
	case Do::IrqOff:
		return !state.irq_off && context.level != LS_HARDIRQ;
	case Do::IrqOn:
		return state.irq_off && context.level != LS_HARDIRQ;
	case Do::BhOff:
		return !interrupt && !state.bh_off && !state.irq_off;
	case Do::BhOn:
		return !interrupt && state.bh_off && !state.irq_off;
	case Do::PreemptOff:
		return !interrupt && !state.preempt_off;
	case Do::PreemptOn:
		return !interrupt && state.preempt_off && state.held.empty();
	case Do::Complete:
		return step.arg < program_.completions;
	case Do::Wait:
		return sleeps() && completed_.contains(step.arg);
	case Do::Queue:
		return step.arg < program_.works && !queued_.contains(step.arg);
	case Do::Run:
		return sleeps() && state.held.empty() && state.run == kNone &&
		       queued_.contains(step.arg) && !running_.contains(step.arg);
	case Do::End:
		return sleeps() && state.held.empty() && state.run == step.arg;
	case Do::Flush:
		return sleeps() && state.run == kNone && ended_.contains(step.arg) &&
		       !queued_.contains(step.arg) && !running_.contains(step.arg);
	case Do::Enter:
		return interrupt;
	case Do::Leave:
		return interrupt && state.held.empty() && !state.irq_off;
	case Do::Reuse:
		/* Nothing that is held lies in it. */
		for (const Cpu &other : contexts_)
			for (const auto &[held, exclusive] : other.held)
				if (program_.locks[static_cast<std::size_t>(held)].object == step.arg)
					return false;
		return true;
	}
	return false;
}

void Machine::take(const Step &step)
{
	Cpu &state = contexts_[static_cast<std::size_t>(step.context)];
	switch (step.what) {
	case Do::Lock:
	case Do::Read:
		state.held[step.arg] = step.what == Do::Lock;
		/* What spins is not preempted. */
		state.preempt_off |= program_.locks[static_cast<std::size_t>(step.arg)].spins();
		break;
	case Do::Unlock:
		state.held.erase(step.arg);
		if (program_.locks[static_cast<std::size_t>(step.arg)].spins())
			state.preempt_off = std::any_of(
				state.held.begin(), state.held.end(), [&](const auto &held) {
					return program_.locks[static_cast<std::size_t>(held.first)]
						.spins();
				});
		break;
	case Do::IrqOff:
	case Do::IrqOn:
		state.irq_off = step.what == Do::IrqOff;
		break;
	case Do::BhOff:
	case Do::BhOn:
		state.bh_off = step.what == Do::BhOff;
		break;
	case Do::PreemptOff:
	case Do::PreemptOn:
		state.preempt_off = step.what == Do::PreemptOff;
		break;
	case Do::Complete:
		completed_.insert(step.arg);
		break;
	case Do::Queue:
		queued_.insert(step.arg);
		break;
	case Do::Run:
		queued_.erase(step.arg);
		running_.insert(step.arg);
		state.run = step.arg;
		break;
	case Do::End:
		running_.erase(step.arg);
		ended_.insert(step.arg);
		state.run = kNone;
		break;
	case Do::Enter:
	case Do::Leave:
		state.inside = step.what == Do::Enter;
		/* A hardirq handler runs with interrupts off. */
		state.irq_off = state.inside &&
				program_.contexts[static_cast<std::size_t>(step.context)].level ==
					LS_HARDIRQ;
		break;
	case Do::Access:
	case Do::Wait:
	case Do::Flush:
	case Do::Reuse:
		break;
	}
}

Program generate(std::uint64_t seed)
{
	return Generator(seed).make();
}

bool well_formed(const Program &program)
{
	Machine machine(program);
	for (const Step &step : program.steps) {
		if (!machine.can(step))
			return false;
		machine.take(step);
	}
	return true;
}

std::vector<Program> smaller(const Program &program)
{
	std::vector<Program> out;
	auto add = [&](Program candidate) {
		if (well_formed(candidate))
			out.push_back(std::move(candidate));
	};
	const auto &steps = program.steps;
	/* A half, a quarter, ..., two that belong together, one. */
	for (std::size_t length = steps.size() / 2; length; length /= 2)
		for (std::size_t from = 0; from + length <= steps.size(); from++) {
			Program p = program;
			const auto at = p.steps.begin() + static_cast<std::ptrdiff_t>(from);
			p.steps.erase(at, at + static_cast<std::ptrdiff_t>(length));
			add(std::move(p));
		}
	for (std::size_t i = 0; i < steps.size(); i++)
		for (std::size_t k = i + 1; k < steps.size(); k++) {
			if (steps[i].context != steps[k].context || steps[i].what == Do::Access ||
			    steps[k].what == Do::Access)
				continue;
			Program p = program;
			p.steps.erase(p.steps.begin() + static_cast<std::ptrdiff_t>(k));
			p.steps.erase(p.steps.begin() + static_cast<std::ptrdiff_t>(i));
			add(std::move(p));
		}
	return out;
}

std::string Program::text() const
{
	std::string out;
	auto number = [](int n) { return std::to_string(n); };
	for (std::size_t i = 0; i < contexts.size(); i++)
		out += "  context " + std::to_string(i) + ": " +
		       (contexts[i].level == LS_TASK	  ? "task"
			: contexts[i].level == LS_SOFTIRQ ? "softirq"
							  : "hardirq") +
		       " on cpu " + number(contexts[i].cpu) + "\n";
	for (std::size_t i = 0; i < words.size(); i++)
		out += "  word " + std::to_string(i) +
		       (words[i].object != kNone ? " of object " + number(words[i].object)
			: words[i].cpu != kNone	 ? " of cpu " + number(words[i].cpu)
						 : "") +
		       "\n";
	for (std::size_t i = 0; i < steps.size(); i++) {
		const Step &step = steps[i];
		out += "  " + std::to_string(i) + ": " + std::string(static_cast<std::size_t>(step.context) * 4, ' ') +
		       number(step.context) + " " + kNames[static_cast<std::size_t>(step.what)];
		if (step.what == Do::Access) {
			const Place &p = place(step);
			out += (p.op & LS_ACC_ATOMIC   ? "atomic "
				: p.op & LS_ACC_MARKED ? "marked "
						       : "");
			out += p.op & LS_ACC_READ ? p.writes() ? "read-write" : "read" : "write";
			out += " word " + number(p.word) + " bytes " + number(p.offset) + "-" +
			       number(p.offset + p.size - 1) + " at place " + number(step.arg) + " of f" +
			       number(p.function);
		} else if (step.what == Do::Lock || step.what == Do::Read || step.what == Do::Unlock) {
			const auto &lock = locks[static_cast<std::size_t>(step.arg)];
			out += " " + number(step.arg) + (lock.object != kNone ? " in object " + number(lock.object) : "");
		} else if (step.what == Do::Complete || step.what == Do::Wait ||
			   (step.what >= Do::Queue && step.what <= Do::Flush) || step.what == Do::Reuse) {
			out += " " + number(step.arg);
		}
		out += "\n";
	}
	return out;
}

} // namespace lockscope::access_oracle
