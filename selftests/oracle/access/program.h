// SPDX-License-Identifier: GPL-2.0
// Small programs of memory accesses: what tasks and interrupts did, one step after the other.
#pragma once

#include "lockclass/abi.h"

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

namespace lockscope::access_oracle {

enum class Do : std::uint8_t {
	Access, ///< of a place
	Lock,
	Read,
	Unlock,
	IrqOff,
	IrqOn,
	BhOff,
	BhOn,
	PreemptOff,
	PreemptOn,
	Complete, ///< a completion; the start of a thread and its end are ones as well
	Wait,
	Queue, ///< an item of work
	Run,
	End,
	Flush,
	Enter, ///< an interrupt comes
	Leave,
	Reuse, ///< an object is freed, and its memory is another one
};

struct Step {
	int context = 0;
	Do what = Do::Access;
	int arg = 0; ///< place, lock, completion, item of work or object
};

constexpr int kNone = -1;
constexpr int kWordBytes = 16; ///< two granules

/// Memory of kWordBytes bytes: static, of an object, or of one CPU.
struct Word {
	int object = kNone;
	int cpu = kNone;
};

/// A place in the code that accesses memory.
struct Place {
	int function = 0, word = 0;
	int offset = 0, size = 8; ///< bytes, in the word
	std::uint32_t op = LS_ACC_READ;
	bool writes() const { return op & LS_ACC_WRITE; }
	bool marked() const { return op & (LS_ACC_MARKED | LS_ACC_ATOMIC); }
};

struct Lock {
	ls_kind kind = LS_KIND_MUTEX;
	int object = kNone; ///< it lies in one
	bool spins() const { return kind == LS_KIND_SPINLOCK || kind == LS_KIND_RWLOCK; }
	bool has_readers() const { return kind == LS_KIND_RWLOCK || kind == LS_KIND_RWSEM; }
};

struct Context {
	ls_level level = LS_TASK;
	int cpu = 0;
};

struct Program {
	std::vector<Context> contexts;
	std::vector<Word> words;
	std::vector<Place> places;
	std::vector<Lock> locks;
	int objects = 0, completions = 0, works = 0;
	std::vector<Step> steps;

	const Place &place(const Step &step) const
	{
		return places[static_cast<std::size_t>(step.arg)];
	}
	std::string text() const;
};

/// Where everything is between two steps.
class Machine {
public:
	explicit Machine(const Program &program);

	struct Cpu {
		bool irq_off = false, bh_off = false, preempt_off = false;
		bool inside = false; ///< an interrupt: it has come
		std::map<int, bool> held; ///< locks; exclusively?
		int run = kNone;	  ///< item of work
		bool cannot_sleep() const { return irq_off || bh_off || preempt_off; }
	};

	/// Can the step come next? Tasks of one CPU take turns; an interrupt keeps its CPU.
	bool can(const Step &step) const;
	void take(const Step &step);
	const Cpu &operator[](int context) const { return at(context); }

private:
	const Cpu &at(int context) const { return contexts_[static_cast<std::size_t>(context)]; }
	bool runs(int context) const;

	const Program &program_;
	std::vector<Cpu> contexts_;
	std::set<int> completed_, queued_, running_, ended_;
};

/// The program of this number.
Program generate(std::uint64_t seed);

/// Can its steps come one after the other? Those of a smaller one may not.
bool well_formed(const Program &program);

/// Programs that are smaller, the smallest first.
std::vector<Program> smaller(const Program &program);

} // namespace lockscope::access_oracle
