// SPDX-License-Identifier: GPL-2.0
// Crashes as of syzkaller. Its pkg/report reads a title out of the text, so this does as well.
// scripts/try-syzkaller compares the two; selftests/console/scanners.awk has the same rules for
// tests without a network.
#include "report/crash.h"

#include "report/completeness.h"
#include "report/console.h"
#include "report/formats.h"

#include "util/text.h"
#include "util/utf8.h"

#include <algorithm>
#include <cctype>
#include <regex>
#include <string_view>

namespace lockscope {

namespace {

/// Parts of the names of functions that are never to blame, as their callers are; '^' stands
/// for the begin of a name, '$' for its end. All that pkg/report has.
constexpr std::string_view kBlameless =
	/* what reports, checks and instruments */
	"__sanitizer __asan kasan hwasan __msan kmsan kcsan_setup_watchpoint check_memory_region "
	"check_heap_object check_object read_word_at_a_time once_word_nocheck panic invalid_op "
	"print_address_description report_bug fixup_bug print_report print_usage_bug do_error "
	"show_stack dump_stack walk_stack dump_backtrace warn_slowpath warn_alloc warn_bogus "
	"__warn debug_object timer_is_static_object work_is_static_object __might_fault "
	"print_unlock imbalance_bug lockdep perf_trace trace_hardirq trace_softirq assertfail "
	"__might_resched might_fault might_sleep hex_dump_to_buffer print_hex_dump "
	"stack_trace_consume_entry arch_stack_walk stack_trace_save print_tainted ^get_taint$ "
	"__fortify_report __phys_addr program_check_exception program_check_common "
	"do_kernel_fault do_translation_fault do_mem_abort el1_abort el1h_64_sync "
	"_indirect_thunk_ _trap$ do_trap "
	/* locks, references, waiting */
	"bh_enable bh_disable lock_acquire lock_release lock_class mark_lock "
	"reacquire_held_locks mark_held_locks raw_spin_rq spin_lock spin_trylock spin_unlock "
	"read_lock read_trylock write_lock write_trylock read_unlock write_unlock ^down$ "
	"down_read down_write down_trylock up_read up_write ^mutex_ ^__mutex_ ^rt_mutex_ "
	"owner_on_cpu osq_lock osq_unlock set_bit clear_bit change_bit test_bit __wake_up "
	"^refcount_ ^kref_ ref_tracker seqprop_assert finish_wait ^complete$ "
	"wait_for_completion ^unlock_page ^lock_page cleanup_srcu_struct "
	"atomic_dec atomic_inc atomic_read atomic_set atomic_or atomic_xor atomic_and "
	"atomic_add atomic_sub atomic_fetch atomic_xchg atomic_cmpxchg atomic_try "
	"atomic64_dec atomic64_inc atomic64_read atomic64_set atomic64_or atomic64_xor "
	"atomic64_and atomic64_add atomic64_sub atomic64_fetch atomic64_xchg "
	"atomic64_cmpxchg atomic64_try "
	/* memory and pages */
	"alloc_page malloc zalloc calloc krealloc kmem_cache allocate_slab "
	"__alloc_frozen_pages_noprof folio_alloc folio_unlock filemap_alloc_folio "
	"__filemap_get_folio find_or_create_page do_read_cache_folio read_cache_page "
	"pagecache_get_page grab_cache_page_write_begin slab_ ^kfree$ ^kvfree$ ^vfree$ ^free$ "
	"kfree_skb find_lock_entries truncate_inode_pages_range mark_buffer_dirty "
	/* strings, copies, lists and trees */
	"memcpy memcmp memset memchr memmove memdup strcmp strncmp strcpy strlcpy strncpy "
	"strscpy strlen strstr strnstr strnlen strchr strdup strndup copy_to_user "
	"copy_from_user copy_to_iter copy_from_iter copy_page_to_iter copy_page_from_iter "
	"copy_folio_to_iter ^copyin$ ^copyout$ put_user get_user list_add list_del "
	"list_replace list_move list_splice ^rb_ ^__rb_ string pointer snprintf scnprintf "
	"kasprintf kvasprintf printk va_format ^crc1 ^crc3 ^crc4 ^crc6 ^crc7 ^crc8 crc_itu_t ^klist_ ida_free xas_start "
	"xas_load xas_find rhashtable_lookup extract_user_to_sg extract_iter_to_sg "
	/* timers and work */
	"del_timer flush_work __cancel_work_timer cancel_work_sync try_to_grab_pending "
	"drain_workqueue destroy_workqueue queue_work kthread_stop insert_work "
	"__queue_delayed_work queue_delayed_work_on lock_timer_base __timer_delete_sync "
	"sk_stop_timer_sync __mod_timer "
	/* devices and inodes */
	"dev_info dev_notice dev_warn dev_err dev_alert dev_crit dev_emerg kobject_ "
	"add_uevent_var get_device_parent device_add device_del device_unregister "
	"device_destroy device_release devres_release_all hwrng_unregister i2c_del_adapter "
	"__unregister_client device_for_each_child rollback_registered unregister_netdev "
	"sysfs_remove device_remove_file tty_unregister_device dummy_urb_enqueue usb_kill_urb "
	"usb_kill_anchored_urbs usb_control_msg usb_hcd_submit_urb usb_submit_urb readb$ readw$ "
	"readl$ readq$ writeb$ writew$ writel$ writeq$ logic_in logic_out ^iput$ ^iput_final$ "
	"^ihold$ drop_nlink ^put_device$ dput";

/// Further ones: of cycles; under a wrong wait context.
constexpr std::string_view kOfWork =
	"process_one_work flush_workqueue drain_workqueue destroy_workqueue";
constexpr std::string_view kOfSockets = "lock_sock release_sock";
/// Of a task that hangs, whose culprit needed something to wait for. What comes first is a
/// title by itself wherever it stands in the stack; many hang for its sake.
constexpr std::string_view kCommonWaits = "rtnl_lock synchronize_rcu synchronize_srcu "
					  "synchronize_net synchronize_sched";
constexpr std::string_view kOfWaiting =
	"sched _lock _slowlock down rwsem completion kthread wait synchronize context_switch "
	"__switch_to cancel_delayed_work rcu_barrier";

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

/// The name of a function in a stack as titles have it: without the longest of these.
std::string plain_name(std::string_view function)
{
	constexpr std::string_view kEntries[] = {
		"SYSC_",     "SyS_",	  "sys_",    "__x64_",	     "__ia32_",
		"__arm64_",  "__sys_",	  "___sys_", "____sys_",     "__se_",
		"__se_sys_", "__do_sys_", "ksys_",   "compat_SYSC_", "compat_SyS_"};
	std::size_t size = 0;
	for (const auto entry : kEntries)
		if (function.starts_with(entry))
			size = std::max(size, entry.size());
	return std::string(function.substr(size));
}

/// What differs from boot to boot has no place in a title.
std::string stable_title(std::string title)
{
	static const struct {
		std::regex what;
		const char *as;
	} table[] = {
		{std::regex("syz-executor\\.?[0-9]+([/:][0-9]+)?"), "syz-executor"},
		{std::regex("syzkaller[0-9]+([/:][0-9]+)?"), "syzkaller"},
		{std::regex("([^a-zA-Z0-9])(0x)?[0-9a-f]{6,}"), "$1ADDR"},
		{std::regex("[0-9]{1,3}(\\.[0-9]{1,3}){3}"), "IP"},
		{std::regex("(\\.\\w+)(:[0-9]+)+"), "$1:LINE"},
		{std::regex("([a-zA-Z][a-zA-Z0-9_.]+)\\+0x[0-9a-z]+/0x[0-9a-z]+"), "$1"},
		{std::regex("CPU#[0-9]+"), "CPU"},
		{std::regex("(\\W)\\d+(\\W|$)"), "$1NUM$2"},
		{std::regex("\\d{7,}"), "NUM"},
	};
	for (const auto &row : table)
		for (std::string before; before != title;) {
			before = title;
			title = std::regex_replace(before, row.what, row.as);
		}
	constexpr std::size_t kLongest = 120;
	std::string out;
	for (const char byte : title.substr(0, kLongest))
		if (byte >= ' ' && byte < '\x7f' &&
		    !(byte == ' ' && (out.empty() || out.back() == ' ')))
			out += byte;
	while (out.ends_with(' '))
		out.pop_back();
	return out;
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

	/// All functions to blame in the stack here, which the next one ends.
	std::vector<std::string> stack(std::string_view further = {})
	{
		std::vector<std::string> out;
		for (; at_ < lines_.size() && !lines_[at_].starts_with("Call Trace:"); at_++)
			if (const auto name = leading_function(lines_[at_]);
			    to_blame(name, further))
				out.push_back(plain_name(name));
		return out;
	}

	/// The same of the first stack below a line with @words.
	std::vector<std::string> stack_below(std::string_view words, std::string_view further = {})
	{
		if (!seek(words))
			return {};
		at_++;
		return stack(further);
	}

	/// Of a cycle: where it closes, where the lock held was taken, else the stack below.
	std::string cycle()
	{
		for (int places = 0; places < 2; places++)
			if (const auto name = after_at(); to_blame(name, kOfWork))
				return plain_name(name);
		return first(stack(kOfWork));
	}

	/// Of a release: where, else whose caller.
	std::string release()
	{
		if (seek("[<"))
			if (const auto name = leading_function(rest("[<")); to_blame(name, {}))
				return plain_name(name);
		return first(stack_below("Call Trace:"));
	}

	/// Of a task that hangs.
	std::string hung()
	{
		const auto names = stack_below("Call Trace:");
		for (const auto &name : names)
			if (has_part(name, kCommonWaits))
				return name.find("rtnl_lock") != name.npos ? name
									   : "synchronize_rcu";
		for (const auto &name : names)
			if (!has_part(name, kOfWaiting))
				return name;
		return {};
	}

	static std::string first(const std::vector<std::string> &names)
	{
		return names.empty() ? std::string() : names.front();
	}

private:
	std::vector<std::string> lines_;
	std::size_t at_ = 0;
};

std::string titled(const char *words, std::string_view function)
{
	return function.empty() ? std::string() : std::string(words) + " " + std::string(function);
}

/// Before what differs is taken out.
std::string raw_title(FindingKind kind, const std::string &report)
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
		return titled("possible deadlock in", text.first(text.stack_below("which became")));
	case FindingKind::InconsistentIrqState:
		return titled("inconsistent lock state in",
			      text.first(text.stack_below("Call Trace:")));
	case FindingKind::InvalidWaitContext:
		return titled("WARNING: locking bug in",
			      text.first(text.stack_below("Call Trace:", kOfSockets)));
	case FindingKind::SleepInAtomic:
		return titled("BUG: sleeping function called from invalid context in",
			      text.first(text.stack_below("Call Trace:")));
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
			      text.first(text.stack_below("Call Trace:")));
	case FindingKind::LockNotInitialised:
		return titled("INFO: trying to register non-static key in",
			      text.first(text.stack_below("Call Trace:")));
	case FindingKind::LongHold:
		return titled("INFO: task hung in", text.hung());
	case FindingKind::DataRace:
		return std::string(text.rest("KCSAN: "));
	default:
		/* A headline that no rule is about is the title. */
		return std::string(text.rest(head));
	}
}

} // namespace

std::string crash_title(FindingKind kind, const std::string &report)
{
	return stable_title(raw_title(kind, report));
}

Crash crash_of(const Model &model, const Finding &finding)
{
	Crash out;
	out.report = dmesg_finding(model, finding, false);
	out.title = crash_title(finding.kind, out.report);
	if (out.title.empty())
		out.title = stable_title(plain_line(finding.title));

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
