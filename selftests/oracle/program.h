// SPDX-License-Identifier: GPL-2.0
// Small programs of locks: what tasks and interrupts do, one straight line each.
#pragma once

#include "lockclass/abi.h"

#include <cstdint>
#include <string>
#include <vector>

namespace lockscope::oracle {

enum class Do : std::uint8_t {
	Lock,
	Read,
	TryLock,
	TryRead,
	Unlock,
	Again, ///< unlock of what this context does not hold
	IrqOff,
	IrqOn,
	BhOff,
	BhOn,
};

struct Op {
	Do what = Do::Lock;
	int lock = 0; ///< index into Program::locks; of no meaning for interrupts on and off

	bool tries() const { return what == Do::TryLock || what == Do::TryRead; }
	bool reads() const { return what == Do::Read || what == Do::TryRead; }
	bool waits() const { return what == Do::Lock || what == Do::Read; }
	bool acquires() const { return tries() || waits(); }
	bool releases() const { return what == Do::Unlock || what == Do::Again; }
};

struct Class {
	ls_kind kind = LS_KIND_MUTEX;
	bool global = false; ///< a static lock: the class has one instance
	bool paired = false; ///< its instances lie in the objects of the class before it
};

struct Context {
	ls_level level = LS_TASK;
	std::vector<Op> ops;
};

struct Program {
	std::vector<Class> classes;
	std::vector<int> locks; ///< class of each
	std::vector<Context> contexts;
	/// Each context runs alone, in this order, before anything runs at once.
	std::vector<int> load;

	const Class &class_of(int lock) const
	{
		return classes[static_cast<std::size_t>(locks[static_cast<std::size_t>(lock)])];
	}
	/// Number of the lock within its class, as it is laid out in memory.
	int instance(int lock) const;
	std::string text() const;
};

/// The program of this number.
Program generate(std::uint64_t seed);

/// Could every context run alone to its end? A smaller program may not.
bool well_formed(const Program &program);

/// Programs that are one step smaller, the smallest first.
std::vector<Program> smaller(const Program &program);

} // namespace lockscope::oracle
