// SPDX-License-Identifier: GPL-2.0
// Crashes as of syzkaller. Its pkg/report reads a title out of the text, so this does as well:
// selftests/console/scanners.awk has the same rules, and is the judge of these in tests.
#include "report/crash.h"

#include "report/completeness.h"
#include "report/console.h"
#include "report/formats.h"

#include "util/text.h"
#include "util/utf8.h"

#include <algorithm>
#include <cctype>
#include <string_view>

namespace lockscope {

namespace {

/// Parts of the names of functions that are never to blame, as their callers are; '^' stands
/// for the begin of a name, '$' for its end. Those of pkg/report that stacks of locks have.
constexpr std::string_view kBlameless =
	"lockdep lock_acquire lock_release lock_class mark_lock spin_lock spin_trylock spin_unlock "
	"raw_spin_rq read_lock read_trylock read_unlock write_lock write_trylock write_unlock "
	"^down$ down_read down_write down_trylock up_read up_write ^mutex_ ^__mutex_ ^rt_mutex_ "
	"osq_lock osq_unlock bh_enable bh_disable kmem_cache slab_ malloc zalloc calloc krealloc "
	"alloc_page allocate_slab ^kfree$ ^kvfree$ ^vfree$ ^free$ copy_to_user copy_from_user "
	"copy_to_iter copy_from_iter put_user get_user might_fault might_sleep __might_resched "
	"flush_work cancel_work_sync __cancel_work_timer queue_work flush_workqueue "
	"drain_workqueue destroy_workqueue wait_for_completion ^complete$ finish_wait show_stack "
	"dump_stack panic printk memcpy memset memmove strcpy strlen strcmp list_add list_del "
	"kobject_ dput lock_timer_base del_timer";

/// Further ones: of cycles; of a task that hangs, whose culprit needed something to wait for.
constexpr std::string_view kOfWork =
	"process_one_work flush_workqueue drain_workqueue destroy_workqueue";
constexpr std::string_view kOfWaiting = "sched _lock _slowlock down rwsem completion kthread wait "
					"synchronize __switch_to";
constexpr std::string_view kOfSockets = "lock_sock release_sock";

bool fits(std::string_view name, std::string_view part)
{
	const bool begin = part.front() == '^', end = part.back() == '$';
	part.remove_prefix(begin);
	part.remove_suffix(end);
	return begin && end ? name == part
	       : begin	    ? name.starts_with(part)
	       : end	    ? name.ends_with(part)
			    : name.find(part) != name.npos;
}

/// Does @name have one of the @parts?
bool has_part(std::string_view name, std::string_view parts)
{
	while (!parts.empty()) {
		const auto end = std::min(parts.find(' '), parts.size());
		if (fits(name, parts.substr(0, end)))
			return true;
		parts.remove_prefix(std::min(end + 1, parts.size()));
	}
	return false;
}

bool to_blame(std::string_view name, std::string_view further)
{
	return !name.empty() && !has_part(name, kBlameless) && !has_part(name, further);
}

/// The function that a place such as "[<0x20>] foo_put+0x20" begins with, else empty.
std::string_view leading_function(std::string_view place)
{
	if (place.starts_with("[<"))
		place.remove_prefix(std::min(place.size(), place.find("] ") + 1));
	place.remove_prefix(std::min(place.size(), place.find_first_not_of(' ')));
	std::size_t size = 0;
	while (size < place.size() &&
	       (std::isalnum(static_cast<unsigned char>(place[size])) || place[size] == '_'))
		size++;
	const bool placed = size < place.size() && (place[size] == '+' || place[size] == '.');
	return place.substr(0, placed ? size : 0);
}

class ReportText {
public:
	explicit ReportText(const std::string &text) : lines_(split(text, '\n')) {}

	/// Go to the first line from here on with @words; false: there is none.
	bool seek(std::string_view words)
	{
		while (at_ < lines_.size() && lines_[at_].find(words) == std::string::npos)
			at_++;
		return at_ < lines_.size();
	}

	/// What stands in this line from @words on.
	std::string_view rest(std::string_view words) const
	{
		return std::string_view(lines_[at_]).substr(lines_[at_].find(words));
	}

	/// The function of the next "at: ", in this line or below; the line after it is next.
	std::string_view after_at()
	{
		while (at_ < lines_.size()) {
			const std::string &line = lines_[at_++];
			for (auto at = line.find("at: "); at != line.npos;
			     at = line.find("at: ", at + 1))
				if (const auto name =
					    leading_function(std::string_view(line).substr(at + 4));
				    !name.empty())
					return name;
		}
		return {};
	}

	/// The first function to blame in the stack here, which the next one ends.
	std::string_view stack(std::string_view further = {})
	{
		for (; at_ < lines_.size() && !lines_[at_].starts_with("Call Trace:"); at_++)
			if (const auto name = leading_function(lines_[at_]);
			    to_blame(name, further))
				return name;
		return {};
	}

	/// The same of the first stack below a line with @words.
	std::string_view stack_below(std::string_view words, std::string_view further = {})
	{
		if (!seek(words))
			return {};
		at_++;
		return stack(further);
	}

	/// Of a cycle: where it closes, where the lock held was taken, else the stack below.
	std::string_view cycle()
	{
		for (int places = 0; places < 2; places++)
			if (const auto name = after_at(); to_blame(name, kOfWork))
				return name;
		return stack(kOfWork);
	}

	/// Of a release: where, else whose caller.
	std::string_view release()
	{
		if (seek("[<"))
			if (const auto name = leading_function(rest("[<")); to_blame(name, {}))
				return name;
		return stack_below("Call Trace:");
	}

private:
	std::vector<std::string> lines_;
	std::size_t at_ = 0;
};

std::string titled(const char *words, std::string_view function)
{
	for (const std::string_view entry :
	     {"__x64_", "__ia32_", "____sys_", "___sys_", "__sys_", "sys_"})
		if (function.starts_with(entry)) {
			function.remove_prefix(entry.size());
			break;
		}
	return function.empty() ? std::string() : std::string(words) + " " + std::string(function);
}

} // namespace

std::string crash_title(FindingKind kind, const std::string &report)
{
	ReportText text(report);
	const std::string head = console_headline(kind);
	/* What comes before is no part of the report. */
	if (head.empty() || !text.seek(head))
		return {};
	switch (kind) {
	case FindingKind::LockOrderCycle:
		return titled("possible deadlock in", text.cycle());
	case FindingKind::RecursiveLock:
		return titled("possible deadlock in", text.after_at());
	case FindingKind::IrqInversion:
		return titled("possible deadlock in", text.stack_below("which became"));
	case FindingKind::InconsistentIrqState:
		return titled("inconsistent lock state in", text.stack_below("Call Trace:"));
	case FindingKind::InvalidWaitContext:
		return titled("WARNING: locking bug in",
			      text.stack_below("Call Trace:", kOfSockets));
	case FindingKind::SleepInAtomic:
		return titled("BUG: sleeping function called from invalid context in",
			      text.stack_below("Call Trace:"));
	case FindingKind::BadUnlock:
	case FindingKind::DoubleUnlock:
		return titled("WARNING: bad unlock balance in", text.release());
	case FindingKind::HeldLockFreed:
	case FindingKind::HeldLockInitialised:
		return titled("WARNING: held lock freed in", text.after_at());
	case FindingKind::HeldAtExit:
		return titled("WARNING: still has locks held in", text.after_at());
	case FindingKind::HeldAtReturnToUser:
		return titled("WARNING: lock held when returning to user space in",
			      text.after_at());
	case FindingKind::NestedLockNotHeld:
		return titled("WARNING: nested lock was not taken in",
			      text.stack_below("Call Trace:"));
	case FindingKind::LongHold:
		return titled("INFO: task hung in", text.stack_below("Call Trace:", kOfWaiting));
	case FindingKind::DataRace:
		return std::string(text.rest("KCSAN: "));
	default:
		/* A headline that no rule is about is the title. */
		return std::string(text.rest(head));
	}
}

Crash crash_of(const Model &model, const Finding &finding)
{
	Crash out;
	out.report = dmesg_finding(model, finding, false);
	out.title = crash_title(finding.kind, out.report);
	if (out.title.empty())
		out.title = plain_line(finding.title);

	/* Without a time, so that pkg/report does not take it for a part of the report. */
	Console about(model, false);
	for (const auto &run : model.runs)
		about.line("lockscope: recorded by %s on %s", run.backend.c_str(),
			   run.release.c_str());
	for (const auto &loss : losses_of(model))
		about.line("lockscope: %s: findings may be missing", loss.c_str());
	out.log = about.take() + dmesg_finding(model, finding, true);
	for (const auto &line : split(text_finding(model, finding, {100, false}), '\n'))
		about.line("lockscope: %s", line.c_str());
	out.log += about.take();
	return out;
}

} // namespace lockscope
