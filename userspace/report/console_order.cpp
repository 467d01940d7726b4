// SPDX-License-Identifier: GPL-2.0
// Cycles, inversions and deadlocks in lockdep's words; kmod/out/console/order.c is the module's.
#include "report/console.h"

#include "lockclass/console_words.h"

#include <algorithm>
#include <cstdio>
#include <optional>

namespace lockscope {

namespace {

class OrderWords {
public:
	OrderWords(const Model &model, const Finding &finding, Console &out)
		: model_(model), finding_(finding), out_(out), edges_(finding.edges)
	{
	}

	void print()
	{
		if (edges_.empty())
			return;
		switch (finding_.kind) {
		case FindingKind::RecursiveLock:
			return print_recursion();
		case FindingKind::Deadlock:
			return print_deadlock();
		case FindingKind::IrqInversion:
		case FindingKind::InconsistentIrqState:
			/* The interrupt first. */
			std::rotate(edges_.begin(), edges_.end() - 1, edges_.end());
			return print_interrupt();
		default:
			return print_cycle();
		}
	}

private:
	const Observation &sight(const FindingEdge &edge) const
	{
		return model_.observations[edge.shown().observation];
	}

	const Observation &begin(const FindingEdge &edge)
	{
		out_.at(sight(edge).time_ns);
		return sight(edge);
	}

	/// Index of the edge with the latest observation of its run, of a task that waits if
	/// @waits. Those of other runs cannot be compared.
	std::size_t latest(bool waits = false) const
	{
		std::optional<std::size_t> out;
		for (std::size_t i = 0; i < edges_.size(); i++) {
			const auto &here = sight(edges_[i]);
			if (waits && here.completion())
				continue;
			if (!out || (here.run == sight(edges_[*out]).run &&
				     here.ordinal > sight(edges_[*out]).ordinal))
				out = i;
		}
		return out.value_or(0);
	}

	std::string name(ClassId cls) const { return out_.name(cls); }

	void second_cpu(const char *what, ClassId cls)
	{
		out_.line(LS_SAY_SECOND_CPU, what, name(cls).c_str());
	}
	void first_cpu(const char *what, ClassId cls)
	{
		out_.line(LS_SAY_FIRST_CPU, what, name(cls).c_str());
	}

	void print_two_cpus()
	{
		out_.line(LS_SAY_CPUS);
		out_.line(LS_SAY_CPUS_LINE);
	}

	void print_deadlock_line()
	{
		out_.blank();
		out_.line(LS_SAY_DEADLOCK);
		out_.blank();
	}

	void print_scenario()
	{
		const std::size_t n = edges_.size();
		out_.line(LS_SAY_SCENARIO);
		out_.blank();
		if (n > 2) {
			out_.line(LS_SAY_CHAIN_EXISTS);
			for (const auto &edge : edges_)
				out_.line("  %s%s -->", out_.prefix(edge.to),
					  name(edge.to).c_str());
			out_.blank();
		}
		print_two_cpus();
		first_cpu("lock", edges_[0].from);
		if (out_.awaited(edges_[0].to)) {
			const bool queue = out_.queue(edges_[0].to);
			second_cpu("lock", edges_[1 % n].to);
			second_cpu(queue ? "wake_up" : "complete", edges_[0].to);
			first_cpu(queue ? "wait_event" : "wait_for_completion", edges_[0].to);
		} else {
			second_cpu("lock", edges_[0].to);
			second_cpu("lock", edges_[1 % n].to);
			first_cpu("lock", edges_[0].to);
		}
		print_deadlock_line();
	}

	/* What the task waits for comes first, then the lock that it holds. */
	void print_now(const Observation &now, const FindingEdge &edge)
	{
		out_.head(console_headline(finding_.kind), now.run);
		out_.who(now, finding_.kind);
		out_.lock("", edge.to, now.acquired.at);
		out_.blank();
		out_.line(LS_SAY_HOLDING);
		out_.lock("", edge.from, now.at(edge.shown().position).at);
	}

	void print_cycle()
	{
		const auto first = static_cast<std::ptrdiff_t>(latest(true));
		std::rotate(edges_.begin(), edges_.begin() + first, edges_.end());
		const Observation &now = begin(edges_[0]);
		print_now(now, edges_[0]);
		out_.blank();
		out_.line(LS_SAY_DEPENDS);
		out_.backtrace(edges_[0].to_stack);
		out_.blank();
		out_.line(LS_SAY_CHAIN);
		for (std::size_t i = edges_.size(); i-- > 0;) {
			const auto &edge = edges_[i];
			out_.blank();
			out_.line(LS_SAY_LINK, static_cast<unsigned>(i), out_.prefix(edge.to),
				  name(edge.to).c_str(), out_.kind(edge.to));
			if (i && out_.awaited(edge.from))
				out_.line(LS_SAY_NEEDED,
					  out_.queue(edge.from) ? "wakes" : "completes",
					  out_.prefix(edge.from), name(edge.from).c_str());
			out_.frames("       ", edge.to_stack);
		}
		out_.blank();
		out_.line(LS_SAY_OTHER_INFO);
		out_.blank();
		print_scenario();
		out_.held(now);
		const ClassId awaited = edges_[0].to;
		out_.line(LS_SAY_CYCLE, static_cast<unsigned>(edges_.size()),
			  !out_.awaited(awaited) ? ""
			  : out_.queue(awaited)	 ? ", wait queues among them"
						 : ", completions among them");
	}

	void print_one_cpu(ClassId cls, bool interrupt)
	{
		out_.line(LS_SAY_SCENARIO);
		out_.blank();
		out_.line(LS_SAY_CPU);
		out_.line(LS_SAY_CPU_LINE);
		first_cpu("lock", cls);
		if (interrupt) {
			out_.line("  %s", LS_SAY_INTERRUPT);
			out_.line(LS_SAY_NESTED_CALL, "lock", name(cls).c_str());
		} else {
			first_cpu("lock", cls);
		}
		print_deadlock_line();
	}

	void print_recursion()
	{
		const std::size_t last = latest();
		const FindingEdge &edge = edges_[last];
		const Observation &now = begin(edge);
		/* Of one instance it is not asked whether instances meet. */
		const bool same = !finding_.meeting;
		print_now(now, edge);
		out_.backtrace(edge.to_stack);
		out_.blank();
		if (!same && edges_.size() > 1) {
			out_.line(LS_SAY_OTHER_ORDER);
			out_.frames("       ", edges_[last ? last - 1 : 1].to_stack);
			out_.blank();
		}
		out_.line(LS_SAY_OTHER_INFO);
		print_one_cpu(edge.to, false);
		if (!same) {
			out_.line(LS_SAY_NESTING);
			out_.blank();
		}
		out_.held(now);
	}

	/* Log scanners take the first line as the title, so it has a place: of all tasks' the one
	 * whose name sorts first, whichever task was the last to wait. */
	void print_deadlock()
	{
		std::string place = out_.function(sight(edges_[0]).acquired.at);
		for (const auto &edge : edges_)
			place = std::min(place, out_.function(sight(edge).acquired.at));
		begin(edges_[latest()]);
		out_.head(std::string(console_headline(finding_.kind)) + " " + place + "!",
			  sight(edges_[0]).run);
		for (std::size_t i = 0; i < edges_.size(); i++) {
			const Observation &task = sight(edges_[i]);
			out_.line(LS_SAY_HAS, task.comm.c_str(), task.pid,
				  console_words(finding_.kind),
				  i + 1 < edges_.size() ? "the next one" : "the first one");
			out_.lock("", edges_[i].to, task.acquired.at);
			out_.backtrace(edges_[i].to_stack);
			out_.held(task);
			out_.blank();
		}
	}

	static char mode(std::uint32_t val) { return val & LS_VAL_READ_MASK ? 'R' : 'W'; }

	/* One lock, acquired in an interrupt and with that interrupt enabled. */
	void print_irq_state(const std::string &irq)
	{
		const ClassId cls = edges_[0].to;
		const Observation &in = sight(edges_[0]), &on = sight(edges_.back());
		const Held in_at = taken_of(in, cls), on_at = taken_of(on, cls);
		const std::string in_state = "IN-" + irq + "-" + mode(in_at.val),
				  on_state = irq + "-ON-" + mode(on_at.val);
		const bool now_in = in.time_ns > on.time_ns;
		const Observation &now = now_in ? in : on;
		const std::string &before = now_in ? on_state : in_state;
		out_.at(now.time_ns);
		out_.head(console_headline(finding_.kind), now.run);
		out_.line(LS_SAY_IRQ_USAGE, before.c_str(), (now_in ? in_state : on_state).c_str());
		out_.who(now, finding_.kind);
		out_.lock("", cls, now_in ? in_at.at : on_at.at);
		out_.backtrace(edges_[now_in ? 0 : edges_.size() - 1].to_stack);
		out_.blank();
		out_.line(LS_SAY_IRQ_REGISTERED, before.c_str());
		out_.frames("  ", edges_[now_in ? edges_.size() - 1 : 0].to_stack);
		out_.blank();
		out_.line(LS_SAY_OTHER_INFO);
		print_one_cpu(cls, true);
		out_.held(now);
	}

	void print_irq_scenario(ClassId unsafe, ClassId safe, ClassId next)
	{
		out_.line(LS_SAY_IRQ_SCENARIO);
		out_.blank();
		print_two_cpus();
		first_cpu("lock", unsafe);
		out_.line(LS_SAY_SECOND_CPU, "local_irq_disable", "");
		second_cpu("lock", safe);
		second_cpu("lock", next);
		out_.line("  %s", LS_SAY_INTERRUPT);
		out_.line(LS_SAY_NESTED_CALL, "lock", name(safe).c_str());
		print_deadlock_line();
	}

	/* edges_[0] leads from the interrupt to the lock that it acquires, the last one from the
	 * lock that is held with the interrupt enabled into it. */
	void print_interrupt()
	{
		const std::string irq = edges_[0].from == kHardirqClass ? "HARDIRQ" : "SOFTIRQ";
		if (finding_.kind == FindingKind::InconsistentIrqState || edges_.size() < 3)
			return print_irq_state(irq);
		const std::size_t n = edges_.size(), last = latest();
		const ClassId safe = edges_[0].to, unsafe = edges_[n - 1].from;
		const Observation &now = begin(edges_[last]);
		char head[80];
		std::snprintf(head, sizeof(head), LS_SAY_IRQ_ORDER, irq.c_str(), irq.c_str(),
			      console_headline(finding_.kind));
		out_.head(head, now.run);
		out_.who(now, finding_.kind);
		const ClassId wanted = last < n - 1 ? edges_[last].to : unsafe;
		out_.lock("", wanted, taken_of(now, wanted).at);
		if (last && last < n - 1) {
			out_.line(LS_SAY_IRQ_HOLDING);
			out_.lock("", edges_[last].from, taken_of(now, edges_[last].from).at);
		}
		out_.backtrace(edges_[last].to_stack);
		out_.blank();
		out_.line(LS_SAY_IRQ_SAFE, irq.c_str());
		out_.lock("", safe, taken_of(sight(edges_[0]), safe).at);
		out_.line(LS_SAY_IRQ_SAFE_AT, irq.c_str());
		out_.frames("  ", edges_[0].to_stack);
		out_.blank();
		out_.line(LS_SAY_IRQ_UNSAFE, irq.c_str());
		out_.lock("", unsafe, taken_of(sight(edges_[n - 1]), unsafe).at);
		out_.line(LS_SAY_IRQ_UNSAFE_AT, irq.c_str());
		out_.frames("  ", edges_[n - 1].to_stack);
		out_.blank();
		for (std::size_t i = 1; i + 1 < n; i++) {
			out_.line(LS_SAY_IRQ_LINK, static_cast<unsigned>(i),
				  name(edges_[i].to).c_str(), out_.kind(edges_[i].to),
				  name(edges_[i].from).c_str());
			out_.frames("       ", edges_[i].to_stack);
		}
		out_.line(LS_SAY_OTHER_INFO);
		print_irq_scenario(unsafe, safe, edges_[1].to);
		out_.held(now);
	}

	const Model &model_;
	const Finding &finding_;
	Console &out_;
	std::vector<FindingEdge> edges_;
};

} // namespace

void say_order(const Model &model, const Finding &finding, Console &out)
{
	OrderWords(model, finding, out).print();
}

} // namespace lockscope
