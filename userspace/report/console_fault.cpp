// SPDX-License-Identifier: GPL-2.0
// Faults that one observation shows, in the kernel's words; kmod/out/console/fault.c is the
// module's.
#include "report/console.h"

#include "lockclass/console_words.h"

#include <bit>

namespace lockscope {

namespace {

/// Its members have the names of the table's column splat.
class FaultWords {
public:
	FaultWords(const Model &model, const Finding &finding, Console &out)
		: finding_(finding), out_(out), edge_(finding.edges.front()),
		  x_(model.observations[edge_.shown().observation])
	{
	}

	void print()
	{
		out_.at(x_.time_ns);
		static constexpr struct {
			FindingKind kind;
			void (FaultWords::*print)();
		} table[] = {
#define LS_ROW(symbol, value, enumerator, name, shown, severity, about, title, splat, ...)         \
	{FindingKind::enumerator, &FaultWords::splat},
			LS_FINDINGS(LS_ROW)
#undef LS_ROW
		};
		for (const auto &row : table)
			if (row.kind == finding_.kind)
				(this->*row.print)();
		out_.backtrace(edge_.to_stack);
		out_.blank();
		out_.held(x_);
	}

private:
	void own()
	{
		head();
	}

	/* Most kinds: what the task did, and with which lock. */
	void lock()
	{
		head();
		out_.who_lock(x_, finding_.kind);
	}

	/* Of the preempt count no more is known than whether there is one. */
	void sleep()
	{
		const bool irqs_off = x_.acquired.val & LS_VAL_IRQ_OFF;
		const bool atomic = !irqs_off || level_of(x_.acquired.val) != LS_TASK ||
				    x_.acquired.val & LS_VAL_BH_OFF || x_.new_mask;
		out_.line("%s at %s", console_headline(finding_.kind),
			  out_.symbol(place()).c_str());
		out_.line(LS_SAY_SLEEP, atomic, irqs_off, x_.pid, x_.comm.c_str());
		if (x_.acquired.cls != kNoClass)
			out_.who_lock(x_, finding_.kind);
	}

	/* In brackets stands the offset: scanners look for an address there. */
	void unlock()
	{
		head();
		out_.line(LS_SAY_RELEASE, x_.comm.c_str(), x_.pid, out_.name(lock_class()).c_str());
		const std::string symbol = out_.symbol(place());
		const auto plus = symbol.find('+');
		if (plus == symbol.npos)
			out_.line("%s", symbol.c_str());
		else
			out_.line(
				"[<%s>] %s",
				symbol.substr(plus + 1, symbol.find(' ', plus) - plus - 1).c_str(),
				symbol.c_str());
		out_.line("%s", console_words(finding_.kind));
	}

	void freed()
	{
		head();
		out_.line(LS_SAY_FREED, x_.comm.c_str(), x_.pid, console_words(finding_.kind),
			  out_.name(lock_class()).c_str());
		out_.lock("", lock_class(), taken_of(x_, lock_class()).at);
	}

	void held()
	{
		head();
		out_.who(x_, finding_.kind);
		out_.lock("", lock_class(), taken_of(x_, lock_class()).at);
	}

	void exit()
	{
		out_.head(std::string(console_headline(finding_.kind)) + " " + x_.comm + "/" +
				  std::to_string(x_.pid) + " " + console_words(finding_.kind),
			  x_.run);
		print_kept();
	}

	void user()
	{
		head();
		out_.who(x_, finding_.kind);
		print_kept();
	}

	void not_held()
	{
		head();
		out_.line(LS_SAY_WHO " %s", x_.comm.c_str(), x_.pid, console_words(finding_.kind),
			  out_.symbol(place()).c_str());
		out_.line(LS_SAY_NOT_HOLDING, out_.name(lock_class()).c_str(),
			  out_.kind(lock_class()));
	}

	void long_hold()
	{
		const std::uint64_t owner = owners_of(x_);
		out_.line(LS_SAY_LONG, x_.comm.c_str(), x_.pid, console_headline(finding_.kind),
			  static_cast<unsigned long long>(x_.extra / 1000000000));
		out_.who_lock(x_, finding_.kind);
		const auto at = static_cast<std::size_t>(std::countr_zero(owner));
		if (owner && at < x_.held.size())
			out_.lock(LS_SAY_OWNER, lock_class(), x_.held[at].at);
	}

	void at_end()
	{
		out_.head(std::string(console_headline(finding_.kind)) + " " +
				  out_.function(place()) + "!",
			  x_.run);
		out_.who(x_, finding_.kind);
	}

	void in_freed()
	{
		ww();
		if (x_.freed_at)
			out_.line(LS_SAY_FREED_AT, out_.symbol(*x_.freed_at).c_str());
	}

	/* Log scanners take this line as the title, so it has the place. */
	void ww()
	{
		out_.head(std::string(console_headline(finding_.kind)) + " " +
				  out_.function(place()) + "!",
			  x_.run);
		out_.who_lock(x_, finding_.kind);
	}

	void head()
	{
		out_.head(console_headline(finding_.kind), x_.run);
	}

	/* The first lock that should not be held any more. */
	void print_kept()
	{
		const auto at =
			static_cast<std::size_t>(x_.new_mask ? std::countr_zero(x_.new_mask) : 0);
		if (at < x_.held.size())
			out_.lock("", x_.held[at].cls, x_.held[at].at);
	}

	CodeId place() const
	{
		return edge_.to_stack.front();
	}
	ClassId lock_class() const
	{
		return x_.acquired.cls;
	}

	const Finding &finding_;
	Console &out_;
	const FindingEdge &edge_;
	const Observation &x_;
};

} // namespace

void say_fault(const Model &model, const Finding &finding, Console &out)
{
	FaultWords(model, finding, out).print();
}

} // namespace lockscope
