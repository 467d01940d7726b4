// SPDX-License-Identifier: GPL-2.0
#include "program.h"

#include <algorithm>

namespace lockscope::oracle {

int Program::instance(int lock) const
{
	int number = 0;
	for (int i = 0; i < lock; i++)
		number +=
			locks[static_cast<std::size_t>(i)] == locks[static_cast<std::size_t>(lock)];
	return number;
}

namespace {

const char *verb(Do what)
{
	static constexpr const char *names[] = {"lock",	  "read",    "trylock", "tryread", "unlock",
						"unlock", "irq off", "irq on",	"bh off",  "bh on"};
	return names[static_cast<std::size_t>(what)];
}

const char *kind_word(ls_kind kind)
{
	return kind == LS_KIND_SPINLOCK ? "spinlock"
	       : kind == LS_KIND_RWLOCK ? "rwlock"
	       : kind == LS_KIND_RWSEM	? "rwsem"
					: "mutex";
}

} // namespace

std::string Program::text() const
{
	auto name = [&](int lock) {
		return std::string(1,
				   static_cast<char>('a' + locks[static_cast<std::size_t>(lock)])) +
		       std::to_string(instance(lock));
	};
	std::string out;
	for (std::size_t c = 0; c < classes.size(); c++) {
		out += std::string("  class ") + static_cast<char>('a' + c) + ": " +
		       (classes[c].global ? "static " : "") + kind_word(classes[c].kind) +
		       (classes[c].paired ? ", in the objects of the one before" : "") + ", locks";
		for (int lock = 0; lock < static_cast<int>(locks.size()); lock++)
			if (locks[static_cast<std::size_t>(lock)] == static_cast<int>(c))
				out += " " + name(lock);
		out += "\n";
	}
	for (std::size_t c = 0; c < contexts.size(); c++) {
		const Context &context = contexts[c];
		out += "  " + std::to_string(c) +
		       (context.level == LS_TASK      ? " task:"
			: context.level == LS_SOFTIRQ ? " softirq:"
						      : " hardirq:");
		for (std::size_t i = 0; i < context.ops.size(); i++) {
			const Op op = context.ops[i];
			out += std::string(i ? ", " : " ") + verb(op.what);
			if (op.acquires() || op.releases())
				out += " " + name(op.lock);
			if (op.what == Do::Again)
				out += " (not held)";
		}
		out += "\n";
	}
	out += "  load:";
	for (int c : load)
		out += " " + std::to_string(c);
	return out + "\n";
}

namespace {

/// What a context has, alone, before an operation.
struct Alone {
	std::vector<Op> held;
	bool irq_off = false, bh_off = false;

	bool holds(int lock) const
	{
		return std::any_of(held.begin(), held.end(),
				   [&](const Op &op) { return op.lock == lock; });
	}
	/// An acquisition that would hang, or a trylock that would fail.
	bool blocks(const Op &op) const
	{
		return std::any_of(held.begin(), held.end(), [&](const Op &have) {
			return have.lock == op.lock && !(have.reads() && op.reads());
		});
	}
	bool spins(const Program &p) const
	{
		return std::any_of(held.begin(), held.end(), [&](const Op &op) {
			const ls_kind kind = p.class_of(op.lock).kind;
			return kind == LS_KIND_SPINLOCK || kind == LS_KIND_RWLOCK;
		});
	}
	void run(const Op &op)
	{
		switch (op.what) {
		case Do::Unlock:
			for (std::size_t i = held.size(); i-- > 0;)
				if (held[i].lock == op.lock) {
					held.erase(held.begin() + static_cast<std::ptrdiff_t>(i));
					break;
				}
			break;
		case Do::Again:
			break;
		case Do::IrqOff:
		case Do::IrqOn:
			irq_off = op.what == Do::IrqOff;
			break;
		case Do::BhOff:
		case Do::BhOn:
			bh_off = op.what == Do::BhOff;
			break;
		default:
			held.push_back(op);
		}
	}
};

bool sleeping(ls_kind kind)
{
	return kind == LS_KIND_MUTEX || kind == LS_KIND_RWSEM;
}

bool reads_at_once(ls_kind kind)
{
	return kind == LS_KIND_RWLOCK || kind == LS_KIND_RWSEM;
}

/// May @op be the next one of a context that has @alone?
bool allowed(const Program &p, const Context &context, const Alone &alone, const Op &op)
{
	if (op.acquires()) {
		const ls_kind kind = p.class_of(op.lock).kind;
		if (alone.blocks(op) || (op.reads() && !reads_at_once(kind)))
			return false;
		return !sleeping(kind) || (context.level == LS_TASK && !alone.irq_off &&
					   !alone.bh_off && !alone.spins(p));
	}
	if (op.what == Do::Unlock)
		return alone.holds(op.lock);
	if (op.what == Do::Again)
		return !alone.holds(op.lock);
	/* As the interrupted code has them they stay. */
	if (context.level == LS_HARDIRQ)
		return false;
	if (op.what == Do::IrqOff || op.what == Do::IrqOn)
		return alone.irq_off == (op.what == Do::IrqOn);
	return context.level == LS_TASK && !alone.irq_off && alone.bh_off == (op.what == Do::BhOn);
}

} // namespace

bool well_formed(const Program &program)
{
	for (const Context &context : program.contexts) {
		Alone alone;
		for (const Op &op : context.ops) {
			if (!allowed(program, context, alone, op))
				return false;
			alone.run(op);
		}
		if (!alone.held.empty() || alone.irq_off || alone.bh_off)
			return false;
	}
	return true;
}

namespace {

class Random {
public:
	explicit Random(std::uint64_t seed) : state_(seed * 0x9e3779b97f4a7c15u + 1) { next(); }
	std::uint64_t next()
	{
		std::uint64_t z = state_ += 0x9e3779b97f4a7c15u;
		z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
		z = (z ^ z >> 27) * 0x94d049bb133111ebu;
		return z ^ z >> 31;
	}
	int below(int n) { return static_cast<int>(next() % static_cast<std::uint64_t>(n)); }
	int from(int least, int most) { return least + below(most - least + 1); }
	bool percent(int p) { return below(100) < p; }

private:
	std::uint64_t state_;
};

/// How a program is likely to be.
struct Taste {
	bool interrupts = false;
	int ordered = 0; ///< percent of acquisitions that keep the order of the locks' numbers
	int shared = 0;	 ///< percent of readers where there can be
	int tries = 0;	 ///< percent
	int careful = 0; ///< percent of tasks' acquisitions that turn interrupts off before
	int untidy = 0;	 ///< percent of releases that are not of the latest lock
	int errors = 0;	 ///< percent of steps
	int gate = 0;	 ///< percent of contexts that begin with a lock of the last class
};

Taste taste(Random &random)
{
	Taste t;
	t.interrupts = random.percent(45);
	t.ordered = random.percent(50) ? 95 : 50;
	t.shared = random.percent(50) ? 40 : 10;
	t.tries = random.percent(30) ? 25 : 0;
	t.careful = random.percent(50) ? 95 : 50;
	t.untidy = random.percent(40) ? 40 : 0;
	t.errors = random.percent(15) ? 10 : 0;
	t.gate = random.percent(40) ? 80 : 0;
	return t;
}

Op acquisition(Random &random, const Taste &t, const Program &p, int lock)
{
	const bool read = reads_at_once(p.class_of(lock).kind) && random.percent(t.shared);
	const bool tries = random.percent(t.tries);
	return {tries ? (read ? Do::TryRead : Do::TryLock) : (read ? Do::Read : Do::Lock), lock};
}

Context context(Random &random, const Taste &t, const Program &p, ls_level level)
{
	Context out{level, {}};
	Alone alone;
	auto run = [&](const Op &op) {
		if (!allowed(p, out, alone, op))
			return false;
		out.ops.push_back(op);
		alone.run(op);
		return true;
	};
	auto release = [&] {
		std::size_t i = alone.held.size() - 1;
		if (random.percent(t.untidy))
			i = static_cast<std::size_t>(random.below(static_cast<int>(i) + 1));
		run({Do::Unlock, alone.held[i].lock});
	};
	const int locks = static_cast<int>(p.locks.size());
	const int steps = random.from(3, 9);
	if (random.percent(t.gate)) {
		std::vector<int> gates;
		for (int lock = 0; lock < locks; lock++)
			if (p.locks[static_cast<std::size_t>(lock)] + 1 ==
			    static_cast<int>(p.classes.size()))
				gates.push_back(lock);
		run(acquisition(random, t, p,
				gates[static_cast<std::size_t>(
					random.below(static_cast<int>(gates.size())))]));
	}
	for (int step = 0; step < steps; step++) {
		const int depth = static_cast<int>(alone.held.size());
		if (random.percent(t.errors) && run({Do::Again, random.below(locks)}))
			continue;
		if (depth && (depth > 3 || random.percent(depth * 18))) {
			release();
			if (alone.held.empty() || random.percent(20)) {
				if (alone.irq_off && random.percent(70))
					run({Do::IrqOn, 0});
				if (alone.bh_off && random.percent(70))
					run({Do::BhOn, 0});
			}
			continue;
		}
		int lock = random.below(locks);
		if (random.percent(t.ordered))
			for (const Op &have : alone.held)
				if (have.lock > lock)
					lock = random.from(std::min(have.lock + 1, locks - 1),
							   locks - 1);
		if (t.interrupts && level != LS_HARDIRQ && !sleeping(p.class_of(lock).kind) &&
		    random.percent(t.careful))
			run({level == LS_TASK && random.percent(30) ? Do::BhOff : Do::IrqOff, 0});
		run(acquisition(random, t, p, lock));
	}
	while (!alone.held.empty())
		release();
	run({Do::IrqOn, 0});
	run({Do::BhOn, 0});
	return out;
}

} // namespace

Program generate(std::uint64_t seed)
{
	Random random(seed);
	const Taste t = taste(random);
	Program p;
	const int classes = random.from(1, 4);
	for (int c = 0; c < classes; c++) {
		static constexpr ls_kind kinds[] = {LS_KIND_MUTEX, LS_KIND_RWSEM, LS_KIND_SPINLOCK,
						    LS_KIND_RWLOCK};
		Class cls;
		cls.kind = kinds[t.interrupts && random.percent(80) ? random.from(2, 3)
								    : random.below(4)];
		cls.global = random.percent(30);
		cls.paired = c && !cls.global && !p.classes.back().global && random.percent(30);
		p.classes.push_back(cls);
	}
	/* Every class has a lock, further ones are in classes of several. */
	const int locks = random.from(std::max(2, classes), 6);
	for (int c = 0; c < classes; c++)
		p.locks.push_back(c);
	for (int i = classes; i < locks; i++) {
		const int c = random.below(classes);
		if (!p.classes[static_cast<std::size_t>(c)].global)
			p.locks.push_back(c);
	}
	const int contexts = random.from(2, 4);
	for (int c = 0; c < contexts; c++) {
		const ls_level level = !t.interrupts || c == 0 || random.percent(50) ? LS_TASK
				       : random.percent(50)			     ? LS_SOFTIRQ
										     : LS_HARDIRQ;
		p.contexts.push_back(context(random, t, p, level));
	}
	const int rounds = random.from(1, 2);
	for (int round = 0; round < rounds; round++) {
		std::vector<int> order;
		for (int c = 0; c < contexts; c++)
			order.insert(order.begin() + random.below(c + 1), c);
		p.load.insert(p.load.end(), order.begin(), order.end());
	}
	return p;
}

namespace {

Program without_context(Program p, std::size_t c)
{
	p.contexts.erase(p.contexts.begin() + static_cast<std::ptrdiff_t>(c));
	std::erase(p.load, static_cast<int>(c));
	for (int &run : p.load)
		run -= run > static_cast<int>(c);
	return p;
}

/// Nothing names the lock; its class goes with its last lock.
Program without_lock(Program p, int lock)
{
	const int cls = p.locks[static_cast<std::size_t>(lock)];
	p.locks.erase(p.locks.begin() + lock);
	for (auto &context : p.contexts)
		for (auto &op : context.ops)
			op.lock -= op.lock > lock;
	if (std::find(p.locks.begin(), p.locks.end(), cls) != p.locks.end())
		return p;
	p.classes.erase(p.classes.begin() + cls);
	if (cls < static_cast<int>(p.classes.size()))
		p.classes[static_cast<std::size_t>(cls)].paired = false;
	for (int &of : p.locks)
		of -= of > cls;
	return p;
}

bool names(const Program &p, int lock)
{
	for (const auto &context : p.contexts)
		for (const auto &op : context.ops)
			if ((op.acquires() || op.releases()) && op.lock == lock)
				return true;
	return false;
}

} // namespace

std::vector<Program> smaller(const Program &p)
{
	std::vector<Program> out;
	for (std::size_t c = 0; p.contexts.size() > 1 && c < p.contexts.size(); c++)
		out.push_back(without_context(p, c));
	for (std::size_t i = 0; p.load.size() > 1 && i < p.load.size(); i++) {
		out.push_back(p);
		out.back().load.erase(out.back().load.begin() + static_cast<std::ptrdiff_t>(i));
	}
	for (int lock = 0; p.locks.size() > 1 && lock < static_cast<int>(p.locks.size()); lock++)
		if (!names(p, lock))
			out.push_back(without_lock(p, lock));
	/* One operation alone, or two: a lock and its release, interrupts off and on. */
	for (std::size_t c = 0; c < p.contexts.size(); c++) {
		const auto &ops = p.contexts[c].ops;
		for (std::size_t i = 0; i < ops.size(); i++) {
			Program one = p;
			auto &left = one.contexts[c].ops;
			left.erase(left.begin() + static_cast<std::ptrdiff_t>(i));
			out.push_back(one);
			for (std::size_t k = i; k < left.size(); k++) {
				Program two = one;
				auto &rest = two.contexts[c].ops;
				rest.erase(rest.begin() + static_cast<std::ptrdiff_t>(k));
				out.push_back(std::move(two));
			}
			/* A plain lock says more than a reader or one that tries. */
			if (ops[i].acquires() && ops[i].what != Do::Lock) {
				out.push_back(p);
				out.back().contexts[c].ops[i].what = Do::Lock;
			}
		}
	}
	for (std::size_t c = 0; c < p.classes.size(); c++)
		if (p.classes[c].paired) {
			out.push_back(p);
			out.back().classes[c].paired = false;
		} else if (!p.classes[c].global &&
			   std::count(p.locks.begin(), p.locks.end(), static_cast<int>(c)) == 1) {
			out.push_back(p);
			out.back().classes[c].global = true;
		}
	std::erase_if(out, [](const Program &smaller) { return !well_formed(smaller); });
	return out;
}

} // namespace lockscope::oracle
