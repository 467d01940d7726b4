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
	for (const Op &op : context.ops) {
		if (op.acquires()) {
			Mode mode = Mode::Exclusive;
			if (op.reads())
				mode = program.class_of(op.lock).kind == LS_KIND_RWLOCK &&
						       (context.level != LS_TASK || now.bh_off)
					       ? Mode::Recursive
					       : Mode::Shared;
			now.held.push_back({op.lock, mode, now.irq_off, now.bh_off});
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
		for (std::size_t at : seen)
			if (!points(c)[at].held.empty() &&
			    (interruptible(context(c), points(c)[at], LS_HARDIRQ) ||
			     interruptible(context(c), points(c)[at], LS_SOFTIRQ)))
				places_.push_back({c, at});
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
		if (!reachable(deadlock.sides)) {
			answer_.unreachable.insert(deadlock.dependencies);
			return;
		}
		known_.insert(deadlock.dependencies);
		answer_.can.push_back(std::move(deadlock));
	}

	/// Does some order of steps lead all of them to their places?
	bool reachable(const std::vector<Side> &sides) const
	{
		std::set<std::vector<std::size_t>> seen;
		std::vector<std::vector<std::size_t>> open{std::vector<std::size_t>(sides.size())};
		while (!open.empty()) {
			const auto now = std::move(open.back());
			open.pop_back();
			if (!seen.insert(now).second)
				continue;
			bool there = true;
			for (std::size_t i = 0; i < sides.size(); i++) {
				if (now[i] == sides[i].at)
					continue;
				there = false;
				/* It begins when the one that it interrupts is in its place. */
				const std::size_t below = (i + sides.size() - 1) % sides.size();
				if (sides[i].held < 0 && now[below] != sides[below].at)
					continue;
				if (!can_step(sides, now, i))
					continue;
				open.push_back(now);
				open.back()[i]++;
			}
			if (there)
				return true;
		}
		return false;
	}

	bool can_step(const std::vector<Side> &sides, const std::vector<std::size_t> &now,
		      std::size_t i) const
	{
		if (!context(sides[i].context).ops[now[i]].acquires())
			return true;
		const Have wanted = points(sides[i].context)[now[i] + 1].held.back();
		for (std::size_t k = 0; k < sides.size(); k++)
			for (const Have &have : points(sides[k].context)[now[k]].held)
				if (!together(wanted, have))
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
