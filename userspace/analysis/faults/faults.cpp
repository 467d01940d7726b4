// SPDX-License-Identifier: GPL-2.0
#include "analysis/faults/faults.h"

#include "analysis/owner.h"
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

/// Nanoseconds, 0 for what is no wait.
std::uint64_t waited(const Observation &observation)
{
	return observation.what == LS_FINDING_LONG_HOLD ? observation.extra : 0;
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
	if (val & LS_VAL_BH_OFF)
		return "with softirqs off";
	/* Records of earlier modules do not say which. */
	static constexpr const char *words[] = {"with preemption off or in an RCU read side",
						"with preemption off", "in an RCU read side",
						"with preemption off and in an RCU read side"};
	return words[observation.extra & (LS_ATOMIC_PREEMPT | LS_ATOMIC_RCU)];
}

/// What a function left behind: "preemption off and an RCU read side".
std::string left_behind(std::uint64_t what)
{
	static constexpr std::pair<unsigned int, const char *> words[] = {
		{LS_ATOMIC_PREEMPT, "preemption off"},
		{LS_ATOMIC_BH, "softirqs off"},
		{LS_ATOMIC_IRQ, "interrupts off"},
		{LS_ATOMIC_RCU, "an RCU read side"}};
	std::string out;
	for (const auto &[bit, word] : words)
		if (what & bit)
			out += std::string(out.empty() ? "" : " and ") + word;
	return out.empty() ? "?" : out;
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
		if (word == "left")
			return left_behind(observation.extra);
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

/// Place of a fault in its title. For those that are only noticed later, at the same place for
/// all, the acquire site of the lock; else the frame that a maintainer owns.
std::string function_of_fault(const Model &model, FindingKind kind, const Observation &observation,
			      std::uint32_t position)
{
	std::string function;
	if ((kind == FindingKind::HeldAtExit || kind == FindingKind::HeldAtReturnToUser) &&
	    position != kOwnLock)
		function = model[observation.held[position].at].function;
	/* Its function has returned, and is not on the stack. */
	if (kind == FindingKind::AtomicAtEnd)
		function = model[observation.acquired.at].function;
	if (function.empty() && !observation.stack.empty()) {
		const auto frames =
			own_frames(model, observation.stack, context_of(model, observation));
		std::vector<ClassId> classes{observation.at(position).cls};
		if (const Held *hold = cause(observation, position))
			classes.push_back(hold->cls);
		function = model[frames[owner_frame(model, frames, modules_of(model, classes))]]
				   .function;
	}
	if (function.empty())
		function = model[observation.acquired.at].function;
	return function.empty() ? "?" : plain_function(function);
}

bool about_sleep(FindingKind kind)
{
	return kind == FindingKind::InvalidWaitContext || kind == FindingKind::SleepInAtomic;
}

/// Kinds that leave a task atomic that should not be, or make the kernel repair its count.
bool breaks_count(FindingKind kind)
{
	return about_sleep(kind) || kind == FindingKind::AtomicAtEnd;
}

/// What makes two observations one finding: kind, lock and function. For what sleeps the hold
/// under which it does and the function below it: what sleeps first depends on memory and luck.
struct Key {
	FindingKind kind;
	ClassId cls;
	std::string function;
	ls_level level = LS_TASK;
	bool repaired = false;

	auto operator<=>(const Key &) const = default; // NOLINT(modernize-use-nullptr)
};

Key key_of(const Model &model, const Observation &observation)
{
	const auto kind = static_cast<FindingKind>(observation.what);
	const std::uint32_t position = position_of(observation, kind);
	const bool repaired = observation.task_flags & LS_TASK_REPAIRED;
	Key key{kind, observation.at(position).cls, {}, LS_TASK, repaired};
	if (about_sleep(kind)) {
		const Held *hold = cause(observation, kOwnLock);
		key.kind = FindingKind::SleepInAtomic;
		key.cls = hold ? hold->cls : kNoClass;
		if (!hold)
			key.level = level_of(observation.acquired.val);
		if (hold && !observation.stack.empty())
			key.function = function_below(model,
						      own_frames(model, observation.stack,
								 context_of(model, observation)),
						      *hold);
	}
	if (key.function.empty())
		key.function = function_of_fault(model, kind, observation, position);
	return key;
}

std::string id_of(const Model &model, const Key &key)
{
	std::string function = key.function;
	if (key.level != LS_TASK)
		function += std::string("\nin ") +
			    level_name(static_cast<std::uint32_t>(key.level) << LS_VAL_LEVEL_SHIFT);
	if (key.repaired)
		function += "\nrepaired";
	return fault_id(model, key.kind, key.cls, function);
}

/// Number of the observation in which the task's preemption count was wrong by itself, before
/// @number, in which the kernel had repaired it; that of any task where another one was reported
/// at the same place. nullopt if it was not recorded.
std::optional<std::size_t> repaired_after(const Model &model, std::size_t number)
{
	const Observation &observation = model.observations[number];
	std::optional<std::size_t> best;
	const auto value = [&](std::size_t i) {
		const Observation &other = model.observations[i];
		return std::tuple(other.pid == observation.pid, other.ordinal);
	};
	for (std::size_t i = 0; i < model.observations.size(); i++) {
		const Observation &other = model.observations[i];
		if (other.fault() && breaks_count(static_cast<FindingKind>(other.what)) &&
		    !(other.task_flags & LS_TASK_REPAIRED) && other.run == observation.run &&
		    other.ordinal < observation.ordinal && (!best || value(*best) < value(i)))
			best = i;
	}
	return best;
}

/// A fault of a task whose preemption count the kernel had repaired: what made that necessary is
/// the finding. Without it, it stands for itself.
void fold_repaired(const Model &model, Finding &finding)
{
	const auto before = repaired_after(model, finding.edges.front().shown().observation);
	if (!before)
		return;
	finding.cause = id_of(model, key_of(model, model.observations[*before]));
	finding.filters.push_back(
		{kConsequence, true,
		 "the preemption count of this task was wrong before, or repaired by the kernel: a "
		 "consequence of " +
			 finding.cause});
}

void count_consequences(std::vector<Finding> &findings)
{
	std::map<std::string_view, Finding *> by_id;
	for (auto &finding : findings)
		by_id.emplace(finding.id, &finding);
	for (const auto &finding : findings)
		if (const auto at = by_id.find(finding.cause); at != by_id.end())
			at->second->consequences += finding.edges.front().count;
}

void add_stacks(const Model &model, Finding &finding, const ObservationsByPlace &by_place,
		const ObservationsByClass &by_class)
{
	auto &edge = finding.edges.front();
	fill_stacks(model, edge, by_place);
	const Witness &witness = edge.shown();
	const Observation &observation = model.observations[witness.observation];
	finding.stacks.push_back({"where", witness.observation, edge.to_stack});
	if (observation.freed_at)
		finding.stacks.push_back({"freed", witness.observation, {*observation.freed_at}});
	if (witness.position != kOwnLock) {
		borrow_callers(model, edge);
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

std::vector<std::string> sleepers(const Model &model, const Finding &finding)
{
	std::vector<std::string> out;
	if (!about_sleep(finding.kind))
		return out;
	for (const auto &witness : finding.edges.front().witnesses) {
		const Observation &observation = model.observations[witness.observation];
		const ClassId cls = observation.acquired.cls;
		const CodeId at = observation.stack.empty() ? observation.acquired.at
							    : observation.stack.front();
		std::string what = plain_function(model[at].function);
		if (what.empty())
			what = "?";
		if (cls != kNoClass && witness.position == kOwnLock)
			what = kind_and_name(model, cls) + " in " + what;
		if (std::find(out.begin(), out.end(), what) == out.end())
			out.push_back(std::move(what));
	}
	return out;
}

std::vector<Finding> faults(const Model &model, const ObservationsByPlace &by_place,
			    const ObservationsByClass &by_class)
{
	std::map<Key, std::vector<Witness>> found;
	for (std::size_t i = 0; i < model.observations.size(); i++) {
		const Observation &observation = model.observations[i];
		if (!observation.fault())
			continue;
		found[key_of(model, observation)].push_back(make_witness(
			model, i,
			position_of(observation, static_cast<FindingKind>(observation.what))));
	}

	std::vector<Finding> out;
	for (auto &[key, witnesses] : found) {
		Finding finding;
		finding.id = id_of(model, key);
		/* Of what sleeps the first one with a stack; else the longest wait, or the most
		 * informative. */
		const bool sleep = about_sleep(key.kind);
		auto best = std::max_element(
			witnesses.begin(), witnesses.end(),
			[&](const Witness &a, const Witness &b) {
				const Observation &sa = model.observations[a.observation],
						  &sb = model.observations[b.observation];
				if (sleep)
					return sa.stack.empty() && !sb.stack.empty();
				return std::tuple(waited(sa), sa.stack.size()) <
				       std::tuple(waited(sb), sb.stack.size());
			});
		std::rotate(witnesses.begin(), best, best + 1);
		const Witness &shown = witnesses.front();
		const Observation &observation = model.observations[shown.observation];
		finding.kind = static_cast<FindingKind>(observation.what);
		FindingEdge edge;
		edge.from = edge.to = observation.at(shown.position).cls;
		edge.kind = LS_DEP_EN;
		edge.count = witnesses.size();
		if (edge.to != kNoClass)
			finding.classes.push_back(edge.to);
		const std::string function =
			function_of_fault(model, finding.kind, observation, shown.position);
		edge.witnesses = std::move(witnesses);
		finding.edges.push_back(std::move(edge));
		add_stacks(model, finding, by_place, by_class);
		/* It happened, and needs no second context. */
		finding.confidence = Confidence::Observed;
		finding.title = fault_title(model, finding, function);
		if (key.repaired)
			fold_repaired(model, finding);
		rank_finding(model, finding);
		out.push_back(std::move(finding));
	}
	count_consequences(out);
	return out;
}

} // namespace lockscope
