// SPDX-License-Identifier: GPL-2.0
#include "search.h"

#include <algorithm>
#include <optional>
#include <set>

namespace lockscope::oracle {

namespace {

enum class Mode { Exclusive, Shared, Recursive };

struct Have {
	int lock;
	Mode mode;
	bool irq_off, bh_off; ///< when it was acquired
	std::size_t at;	      ///< operation
};

/// What a context has before one of its operations.
struct Point {
	std::vector<Have> held;
	bool irq_off = false, bh_off = false;
	bool trusted = true;
};

/// A context as it runs alone: a point before each operation and one at the end.
std::vector<Point> points_of(const Program &program, const Context &context)
{
	Point now;
	now.irq_off = context.level == LS_HARDIRQ;
	now.bh_off = context.level == LS_SOFTIRQ;
	std::vector<Point> points{now};
	for (std::size_t at = 0; at < context.ops.size(); at++) {
		const Op &op = context.ops[at];
		if (op.acquires()) {
			Mode mode = Mode::Exclusive;
			if (op.reads())
				mode = program.class_of(op.lock).kind == LS_KIND_RWLOCK &&
						       (context.level != LS_TASK || now.bh_off)
					       ? Mode::Recursive
					       : Mode::Shared;
			now.held.push_back({op.lock, mode, now.irq_off, now.bh_off, at});
		} else if (op.what == Do::Unlock) {
			for (std::size_t i = now.held.size(); i-- > 0;)
				if (now.held[i].lock == op.lock) {
					now.held.erase(now.held.begin() +
						       static_cast<std::ptrdiff_t>(i));
					break;
				}
		} else if (op.what == Do::Again) {
			now.trusted = now.held.empty();
		} else if (op.what == Do::IrqOff || op.what == Do::IrqOn) {
			now.irq_off = op.what == Do::IrqOff;
		} else {
			now.bh_off = op.what == Do::BhOff;
		}
		if (now.held.empty())
			now.trusted = true;
		points.push_back(now);
	}
	return points;
}

/// Can both be held at once?
bool together(const Have &a, const Have &b)
{
	return a.lock != b.lock || (a.mode != Mode::Exclusive && b.mode != Mode::Exclusive);
}

bool together(const Point &a, const Point &b)
{
	for (const Have &x : a.held)
		for (const Have &y : b.held)
			if (!together(x, y))
				return false;
	return true;
}

/// May a context that wants the lock as @want wait for one that has it as @have?
bool waits(Mode want, Mode have)
{
	return have == Mode::Exclusive || want != Mode::Recursive;
}

/// Could interrupts of @level come at this point of @context?
bool interruptible(const Context &context, const Point &point, ls_level level)
{
	if (context.level >= level || point.irq_off)
		return false;
	return level == LS_HARDIRQ || !point.bh_off;
}

/// A place where an instance of a context may stay for ever.
struct Place {
	int context;
	std::size_t at;
	int waits_for = -1; ///< -1: it is interrupted here
	Mode mode = Mode::Exclusive;
	bool learnt = true; ///< the module has learnt that it can be interrupted here
};

class Search {
public:
	explicit Search(const Program &program) : program_(program)
	{
		for (const Context &context : program.contexts)
			points_.push_back(points_of(program, context));
		for (int c = 0; c < static_cast<int>(program.contexts.size()); c++)
			if (std::find(program.load.begin(), program.load.end(), c) !=
			    program.load.end())
				add_places(c);
	}

	Answer run()
	{
		for (std::size_t first = 0; first < places_.size(); first++) {
			ring_ = {{first, -1}};
			extend();
		}
		for (const auto &dependencies : known_)
			answer_.unreachable.erase(dependencies);
		return std::move(answer_);
	}

private:
	struct Link {
		std::size_t place;
		int held; ///< what the one before waits for; -1: it interrupts that one
	};

	const Context &context(int c) const
	{
		return program_.contexts[static_cast<std::size_t>(c)];
	}
	const std::vector<Point> &points(int c) const
	{
		return points_[static_cast<std::size_t>(c)];
	}
	const Point &point(const Place &place) const { return points(place.context)[place.at]; }

	void add_places(int c)
	{
		const auto &ops = context(c).ops;
		std::set<std::size_t> seen; ///< where it is learnt whether interrupts can come
		for (std::size_t i = 0; i < ops.size(); i++) {
			const Point &before = points(c)[i];
			if (!before.trusted)
				continue;
			if (ops[i].waits())
				places_.push_back(
					{c, i, ops[i].lock, points(c)[i + 1].held.back().mode});
			if (ops[i].acquires()) {
				seen.insert(i);
				seen.insert(i + 1);
			}
			if (ops[i].what == Do::Unlock)
				for (auto have = before.held.rbegin(); have != before.held.rend();
				     ++have)
					if (have->lock == ops[i].lock) {
						if ((have->irq_off && !before.irq_off) ||
						    (have->bh_off && !before.bh_off)) {
							seen.insert(i);
							seen.insert(i + 1);
						}
						break;
					}
		}
		for (std::size_t at = 0; at < ops.size(); at++)
			if (!points(c)[at].held.empty() &&
			    (interruptible(context(c), points(c)[at], LS_HARDIRQ) ||
			     interruptible(context(c), points(c)[at], LS_SOFTIRQ)))
				places_.push_back({c, at, -1, Mode::Exclusive, seen.contains(at)});
	}

	/// Go on with all rings that begin with ring_; the first place is the smallest one.
	void extend()
	{
		const std::size_t first = ring_.front().place;
		const Place &last = places_[ring_.back().place];
		for (std::size_t next = first; next < places_.size(); next++) {
			const bool closes = next == first;
			if (closes ? false
				   : ring_.size() == kMostSides ||
					     std::any_of(
						     ring_.begin(), ring_.end(),
						     [&](const Link &link) {
							     return link.place == next ||
								    !together(
									    point(places_[link.place]),
									    point(places_[next]));
						     }))
				continue;
			for (int held : ways(last, places_[next])) {
				if (closes) {
					const int before = ring_.front().held;
					ring_.front().held = held;
					judge();
					ring_.front().held = before;
					continue;
				}
				ring_.push_back({next, held});
				extend();
				ring_.pop_back();
			}
		}
	}

	/// How @a can wait for @b: the lock, or -1 when @b interrupts it.
	std::vector<int> ways(const Place &a, const Place &b) const
	{
		if (a.waits_for < 0) {
			/* What an interrupt of an interrupt waits for, that of the task does. */
			if (b.waits_for >= 0 && context(b.context).level != LS_TASK &&
			    interruptible(context(a.context), point(a), context(b.context).level))
				return {-1};
			return {};
		}
		for (const Have &have : point(b).held)
			if (have.lock == a.waits_for && waits(a.mode, have.mode))
				return {have.lock};
		return {};
	}

	int class_of(int lock) const { return program_.locks[static_cast<std::size_t>(lock)]; }

	void judge()
	{
		Deadlock deadlock;
		for (std::size_t i = 0; i < ring_.size(); i++) {
			const Place &place = places_[ring_[i].place];
			const Place &next = places_[ring_[(i + 1) % ring_.size()].place];
			auto interrupt = [&](const Place &of) {
				return context(of.context).level == LS_HARDIRQ ? kHardirq
									       : kSoftirq;
			};
			deadlock.sides.push_back(
				{place.context, place.at, place.waits_for, ring_[i].held});
			deadlock.dependencies.push_back(
				{ring_[i].held < 0 ? interrupt(place) : class_of(ring_[i].held),
				 place.waits_for < 0 ? interrupt(next)
						     : class_of(place.waits_for)});
		}
		deadlock.dependencies = canonical(std::move(deadlock.dependencies));
		if (known_.contains(deadlock.dependencies))
			return;
		if (!is_learnt() && answer_.unseen.contains(deadlock.dependencies))
			return;
		bool blocked = false;
		if (!reachable(deadlock.sides, false, blocked)) {
			if (reachable(deadlock.sides, true, blocked))
				answer_.unseen.insert(deadlock.dependencies);
			else
				answer_.unreachable[deadlock.dependencies] |= blocked;
			return;
		}
		if (!is_learnt()) {
			answer_.unseen.insert(std::move(deadlock.dependencies));
			return;
		}
		known_.insert(deadlock.dependencies);
		answer_.can.push_back(std::move(deadlock));
	}

	bool is_learnt() const
	{
		return std::all_of(ring_.begin(), ring_.end(),
				   [&](const Link &link) { return places_[link.place].learnt; });
	}

	/// How far the sides are: the next operation of each, and its trylocks that failed, a bit
	/// each.
	struct State {
		std::vector<std::size_t> next;
		std::vector<std::uint64_t> failed;
		auto operator<=>(const State &) const = default; // NOLINT(modernize-use-nullptr)
	};

	/// Does some order of steps lead all of them to their places? @pass_tries: when a
	/// trylock fails, the code goes on in the same way. @blocked: set when some can block
	/// each other before.
	bool reachable(const std::vector<Side> &sides, bool pass_tries, bool &blocked) const
	{
		std::set<State> seen;
		std::vector<State> open{{std::vector<std::size_t>(sides.size()),
					 std::vector<std::uint64_t>(sides.size())}};
		while (!open.empty()) {
			const State now = std::move(open.back());
			open.pop_back();
			if (!seen.insert(now).second)
				continue;
			bool there = true;
			for (std::size_t i = 0; i < sides.size(); i++) {
				if (now.next[i] == sides[i].at)
					continue;
				there = false;
				if (sides[i].held < 0 && !interrupts(sides, now, i))
					continue;
				const bool free = can_step(sides, now, i);
				if (!free && !(pass_tries && next_op(sides, now, i).tries()))
					continue;
				open.push_back(now);
				if (!free)
					open.back().failed[i] |= 1ull << now.next[i];
				open.back().next[i]++;
			}
			if (there)
				return true;
			blocked |= has_ring(sides, now);
		}
		return false;
	}

	/// Is the one that side @i interrupts in its place? It begins then.
	static bool interrupts(const std::vector<Side> &sides, const State &now, std::size_t i)
	{
		const std::size_t below = (i + sides.size() - 1) % sides.size();
		return now.next[below] == sides[below].at;
	}

	const Op &next_op(const std::vector<Side> &sides, const State &now, std::size_t i) const
	{
		return context(sides[i].context).ops[now.next[i]];
	}

	/// What the next operation of side @i acquires.
	const Have &wanted_by(const std::vector<Side> &sides, const State &now, std::size_t i) const
	{
		return points(sides[i].context)[now.next[i] + 1].held.back();
	}

	/// Does @test hold for something that side @k holds?
	template <typename Test>
	bool any_held(const std::vector<Side> &sides, const State &now, std::size_t k,
		      Test &&test) const
	{
		const auto &held = points(sides[k].context)[now.next[k]].held;
		return std::any_of(held.begin(), held.end(), [&](const Have &have) {
			return !(now.failed[k] >> have.at & 1) && test(have);
		});
	}

	/// May side @i wait for what side @k has, or be interrupted by it?
	bool is_blocked(const std::vector<Side> &sides, const State &now, std::size_t i,
			std::size_t k) const
	{
		if (now.next[i] == sides[i].at && sides[i].waits_for < 0)
			return k == (i + 1) % sides.size();
		if (!next_op(sides, now, i).waits() ||
		    !points(sides[i].context)[now.next[i]].trusted ||
		    (sides[i].held < 0 && !interrupts(sides, now, i)))
			return false;
		const Have &wanted = wanted_by(sides, now, i);
		return any_held(sides, now, k, [&](const Have &have) {
			return have.lock == wanted.lock && waits(wanted.mode, have.mode);
		});
	}

	/// Does each of some sides wait for another of them?
	bool has_ring(const std::vector<Side> &sides, const State &now) const
	{
		for (std::size_t first = 0; first < sides.size(); first++) {
			std::vector<bool> behind(sides.size());
			std::vector<std::size_t> open{first};
			while (!open.empty()) {
				const std::size_t i = open.back();
				open.pop_back();
				for (std::size_t k = 0; k < sides.size(); k++) {
					if (behind[k] || !is_blocked(sides, now, i, k))
						continue;
					if (k == first)
						return true;
					behind[k] = true;
					open.push_back(k);
				}
			}
		}
		return false;
	}

	bool can_step(const std::vector<Side> &sides, const State &now, std::size_t i) const
	{
		if (!next_op(sides, now, i).acquires())
			return true;
		const Have &wanted = wanted_by(sides, now, i);
		for (std::size_t k = 0; k < sides.size(); k++)
			if (any_held(sides, now, k,
				     [&](const Have &have) { return !together(wanted, have); }))
				return false;
		return true;
	}

	const Program &program_;
	std::vector<std::vector<Point>> points_;
	std::vector<Place> places_;
	std::vector<Link> ring_;
	std::set<std::vector<Dependency>> known_;
	Answer answer_;
};

std::string class_name(int cls)
{
	return cls == kHardirq	 ? "<hardirq>"
	       : cls == kSoftirq ? "<softirq>"
				 : std::string(1, static_cast<char>('a' + cls));
}

} // namespace

std::vector<Dependency> canonical(std::vector<Dependency> dependencies)
{
	auto best = dependencies;
	for (std::size_t i = 1; i < dependencies.size(); i++) {
		std::rotate(dependencies.begin(), dependencies.begin() + 1, dependencies.end());
		best = std::min(best, dependencies);
	}
	return best;
}

Answer search(const Program &program)
{
	return Search(program).run();
}

std::string text(const Program &program, const Deadlock &deadlock)
{
	auto lock = [&](int number) {
		return class_name(program.locks[static_cast<std::size_t>(number)]) +
		       std::to_string(program.instance(number));
	};
	std::string out;
	for (const auto &d : deadlock.dependencies)
		out += class_name(d.from) + " -> " + class_name(d.to) + " ";
	out += "(";
	for (std::size_t i = 0; i < deadlock.sides.size(); i++) {
		const Side &side = deadlock.sides[i];
		out += std::string(i ? "; " : "") + std::to_string(side.context) +
		       " before operation " + std::to_string(side.at + 1) +
		       (side.waits_for < 0 ? " interrupted" : " waits for " + lock(side.waits_for));
	}
	return out + ")";
}

} // namespace lockscope::oracle
