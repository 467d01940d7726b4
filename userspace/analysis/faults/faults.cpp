// SPDX-License-Identifier: GPL-2.0
#include "analysis/faults/faults.h"

#include "analysis/rank.h"
#include "util/text.h"

#include <algorithm>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>

namespace lockscope {

namespace {

bool marked(const Observation &observation, std::uint32_t position)
{
	return position < 64 && (observation.new_mask >> position & 1);
}

/* Faults about a lock that is still held. */
bool about_held_lock(FindingKind kind)
{
	return kind == FindingKind::HeldLockFreed || kind == FindingKind::HeldLockInitialised ||
	       kind == FindingKind::HeldAtExit || kind == FindingKind::HeldAtReturnToUser;
}

/// Position of the fault's lock in the held-lock stack; kOwnLock when it is not held, or the
/// fault is about none.
std::uint32_t position_of(const Observation &observation, FindingKind kind)
{
	const Held &lock = observation.acquired;
	for (auto i = static_cast<std::uint32_t>(observation.held.size()); i-- > 0;) {
		const Held &held = observation.held[i];
		if (lock.cls == kNoClass ? about_held_lock(kind) && marked(observation, i)
					 : held.cls == lock.cls && held.instance == lock.instance)
			return i;
	}
	return kOwnLock;
}

/// The innermost held lock that makes it a fault, other than @position.
const Held *cause(const Observation &observation, std::uint32_t position)
{
	for (auto i = static_cast<std::uint32_t>(observation.held.size()); i-- > 0;)
		if (i != position && marked(observation, i) && observation.held[i].cls != kNoClass)
			return &observation.held[i];
	return nullptr;
}

std::string lock_name(const Model &model, ClassId cls)
{
	return cls == kNoClass ? "a lock" : short_name(model[cls]);
}

std::string kind_and_name(const Model &model, ClassId cls)
{
	return cls == kNoClass
		       ? "a lock"
		       : std::string(kind_name(model[cls].kind)) + " " + short_name(model[cls]);
}

/// Why sleeping is not allowed: "under spinlock foo", "in softirq"... @position is that of the
/// sleeping lock, or of the one it is about.
std::string atomic_because(const Model &model, const Observation &observation,
			   std::uint32_t position)
{
	if (const Held *held = cause(observation, position))
		return "under " + kind_and_name(model, held->cls);
	if (position != kOwnLock)
		return "under " + kind_and_name(model, observation.held[position].cls);
	const std::uint32_t val = observation.acquired.val;
	if (level_of(val) != LS_TASK)
		return std::string("in ") + level_name(val);
	if (val & LS_VAL_IRQ_OFF)
		return "with interrupts off";
	return val & LS_VAL_BH_OFF ? "with softirqs off"
				   : "with preemption off or in an RCU read side";
}

std::string seconds(std::uint64_t ns)
{
	const std::uint64_t ms = (ns + 500000) / 1000000;
	std::string fraction = std::to_string(ms % 1000);
	fraction.insert(0, 3 - fraction.size(), '0');
	return with_commas(ms / 1000) + "." + fraction + " s";
}

/// The title of a fault: the words of its kind, and in place of each word in braces what
/// that says of this one.
std::string fault_title(const Model &model, const Finding &finding, const std::string &function)
{
	const Witness &witness = finding.edges.front().shown();
	const Observation &observation = model.observations[witness.observation];
	const ClassId cls = finding.edges.front().to;
	const auto fill = [&](std::string_view word) -> std::string {
		if (word == "lock")
			return lock_name(model, cls);
		if (word == "kind and lock")
			return kind_and_name(model, cls);
		if (word == "where")
			return atomic_because(model, observation, witness.position);
		if (word == "seconds")
			return seconds(observation.extra);
		/* sleeper: none if a lock that is held is meant, or no lock: something else sleeps. */
		return cls == kNoClass || witness.position != kOwnLock
			       ? ""
			       : kind_and_name(model, cls) + " ";
	};
	const char *words = title_words(finding.kind);
	const std::string unknown = "fault of kind " +
				    std::to_string(static_cast<std::uint32_t>(finding.kind)) +
				    ": {lock}";
	std::string_view rest = words ? std::string_view(words) : unknown;
	std::string out;
	for (auto open = rest.find('{'); open != rest.npos; open = rest.find('{')) {
		const auto close = rest.find('}', open);
		out += std::string(rest.substr(0, open)) +
		       fill(rest.substr(open + 1, close - open - 1));
		rest.remove_prefix(close + 1);
	}
	return out + std::string(rest) + " (" + function + ")";
}

/* Functions that sleep on behalf of their callers: allocators, waits, user copies, the page
 * fault path. The fault is the caller's. */
constexpr std::string_view kSleepsForOthers[] = {
	"__alloc_pages",
	"__cancel_work",
	"__cond_resched",
	"__copy_user",
	"__flush_work",
	"__get_free_pages",
	"__get_user",
	"__kmalloc",
	"__kmem_cache_",
	"__might_",
	"__put_user",
	"__vmalloc",
	"__wait_for_",
	"_copy_",
	"alloc_pages",
	"asm_exc_page_fault",
	"cancel_delayed_",
	"cancel_work_sync",
	"clear_user",
	"copy_user_",
	"do_user_addr_",
	"exc_page_fault",
	"flush_work",
	"get_zeroed_page",
	"handle_mm_fault",
	"kmalloc",
	"kmem_cache_alloc",
	"kvfree",
	"kvmalloc",
	"lock_mm_and_find_",
	"might_",
	"msleep",
	"raw_copy_",
	"rep_",
	"schedule",
	"start_flush_work",
	"strncpy_from_",
	"synchronize_",
	"vfree",
	"vmalloc",
	"vzalloc",
	"wait_for_",
};

bool sleeps_for_others(const std::string &function)
{
	return std::any_of(std::begin(kSleepsForOthers), std::end(kSleepsForOthers),
			   [&](auto prefix) { return function.starts_with(prefix); });
}

/// The innermost function of @stack that does not sleep on behalf of its callers.
std::string culprit(const Model &model, const std::vector<CodeId> &stack)
{
	for (auto frame : stack)
		if (const auto &code = model[frame];
		    !code.function.empty() && !sleeps_for_others(code.function))
			return code.function;
	return {};
}

/// Place of a fault. For those that are only noticed later, at the same place for all, the
/// acquire site of the lock; for functions that sleep on behalf of callers, the caller.
std::string function_of_fault(const Model &model, FindingKind kind, const Observation &observation,
			      std::uint32_t position)
{
	std::string function;
	if ((kind == FindingKind::HeldAtExit || kind == FindingKind::HeldAtReturnToUser) &&
	    position != kOwnLock)
		function = model[observation.held[position].at].function;
	if (kind == FindingKind::SleepInAtomic && observation.at(position).cls == kNoClass)
		function = culprit(model, observation.stack);
	if (function.empty() && !observation.stack.empty())
		function = model[observation.stack.front()].function;
	if (function.empty())
		function = model[observation.acquired.at].function;
	return function.empty() ? "?" : plain_function(function);
}

void add_stacks(const Model &model, Finding &finding, const ObservationsByPlace &by_place,
		const ObservationsByClass &by_class)
{
	auto &edge = finding.edges.front();
	fill_stacks(model, edge, by_place);
	const Witness &witness = edge.shown();
	const Observation &observation = model.observations[witness.observation];
	finding.stacks.push_back({"where", witness.observation, edge.to_stack});
	if (witness.position != kOwnLock) {
		finding.stacks.push_back(
			{"taken", edge.borrowed.value_or(witness.observation), edge.from_stack});
		return;
	}
	if (const Observation *before =
		    taken_before(model, observation, observation.acquired, by_class)) {
		edge.from_stack = before->stack;
		if (edge.from_stack.empty())
			edge.from_stack.push_back(before->acquired.at);
		finding.stacks.push_back(
			{"taken-before",
			 static_cast<std::size_t>(before - model.observations.data()),
			 edge.from_stack});
	}
}

} // namespace

std::vector<Finding> faults(const Model &model, const ObservationsByPlace &by_place,
			    const ObservationsByClass &by_class)
{
	std::map<std::tuple<FindingKind, ClassId, std::string>, Finding> found;
	for (std::size_t i = 0; i < model.observations.size(); i++) {
		const Observation &observation = model.observations[i];
		if (!observation.fault())
			continue;
		const auto kind = static_cast<FindingKind>(observation.what);
		const std::uint32_t position = position_of(observation, kind);
		const ClassId cls = observation.at(position).cls;
		const std::string function = function_of_fault(model, kind, observation, position);
		auto &finding = found[{kind, cls, function}];
		if (finding.edges.empty()) {
			finding.kind = kind;
			finding.id = fault_id(model, kind, cls, function);
			if (cls != kNoClass)
				finding.classes.push_back(cls);
			finding.edges.push_back({});
			finding.edges.front().from = finding.edges.front().to = cls;
			finding.edges.front().kind = LS_DEP_EN;
		}
		finding.edges.front().witnesses.push_back(make_witness(model, i, position));
	}

	std::vector<Finding> out;
	for (auto &[key, finding] : found) {
		auto &edge = finding.edges.front();
		edge.count = edge.witnesses.size();
		/* The longest wait, else the most informative one. */
		auto best = std::max_element(
			edge.witnesses.begin(), edge.witnesses.end(),
			[&](const Witness &a, const Witness &b) {
				const Observation &sa = model.observations[a.observation],
						  &sb = model.observations[b.observation];
				return std::tuple(sa.extra, sa.stack.size()) <
				       std::tuple(sb.extra, sb.stack.size());
			});
		std::rotate(edge.witnesses.begin(), best, best + 1);
		add_stacks(model, finding, by_place, by_class);
		/* It happened, and needs no second context. */
		finding.confidence = Confidence::Observed;
		finding.title = fault_title(model, finding, std::get<2>(key));
		rank_finding(model, finding);
		out.push_back(std::move(finding));
	}
	return out;
}

} // namespace lockscope
