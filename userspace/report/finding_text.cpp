// SPDX-License-Identifier: GPL-2.0
// Text of one finding.
#include "report/finding_text.h"

#include "report/race_text.h"
#include "report/report.h"
#include "report/sides.h"
#include "report/text_parts.h"
#include "report/verdict_text.h"

#include "analysis/evidence.h"
#include "analysis/faults/faults.h"
#include "analysis/filters/annotations.h"
#include "analysis/filters/beliefs.h"
#include "analysis/rank.h"
#include "analysis/verdicts.h"
#include "util/text.h"

#include <algorithm>
#include <set>

namespace lockscope {

namespace {

/*
 * Frames shown of one stack in a list, with its outermost ones: from there it is known what began
 * it, a system call say. `show` prints all.
 */
constexpr std::size_t kShortStack = 16, kOutermost = 2;

std::string letter(std::size_t i)
{
	return i < 26 ? std::string(1, static_cast<char>('A' + i)) : std::to_string(i);
}

Tone severity_tone(Severity severity)
{
	return severity == Severity::Error     ? Tone::Red
	       : severity == Severity::Warning ? Tone::Yellow
					       : Tone::Dim;
}

class FindingText {
public:
	FindingText(const Model &model, const Finding &finding, Printer &out, Detail detail)
		: model_(model), finding_(finding), out_(out), detail_(detail)
	{
	}

	void print(std::size_t rank)
	{
		const std::string number = rank ? std::to_string(rank) + ". " : "";
		out_.wrap(0, number + finding_.title, severity_tone(finding_.severity),
			  number.size());
		out_.wrap(
			4,
			std::string(name(finding_.severity)) + ", " + name(finding_.confidence) +
				(unrefuted(finding_) > finding_.severity
					 ? " (exit status: " +
						   std::string(name(unrefuted(finding_))) + ")"
					 : "") +
				", id " + finding_.id +
				(finding_.cause.empty() ? ""
							: ", same cause as " + finding_.cause) +
				(finding_.fresh.value_or(false)
					 ? ", new in run " + std::to_string(*finding_.first_run + 1)
					 : ""));
		if (finding_.verdict)
			print_verdict(*finding_.verdict, out_);
		if (finding_.consequences)
			out_.wrap(4,
				  counted(finding_.consequences, "consequence") +
					  " of it hidden, --all shows them",
				  Tone::Yellow, 2);
		if (detail_ == Detail::Short)
			out_.wrap(4, "ranks here because: " + reasons(), Tone::Plain, 2);
		for (const auto &filter : finding_.filters)
			if (filter.name != kRefuted) /* the verdict */
				out_.wrap(4,
					  std::string(filter.hidden ? "hidden: " : "doubt: ") +
						  filter.why + " (" + filter.name + ")",
					  Tone::Yellow, 2);
		print_locks();
		if (finding_.race)
			print_race();
		else if (finding_.violation)
			print_violation();
		else if (finding_.single())
			print_fault();
		else
			print_sides();
		if (detail_ != Detail::Full)
			return;
		print_legend();
		if (finding_.verdict)
			print_evidence(*finding_.verdict, out_);
		print_rank();
	}

private:
	std::string reasons() const
	{
		std::vector<std::string> parts;
		for (const auto &feature : finding_.features)
			if (feature.points > 0 && feature.name != "novelty")
				parts.push_back(feature.why);
		return join(parts, "; ");
	}

	void print_locks()
	{
		const auto locks = finding_.locks();
		if (!locks.empty())
			out_.blank();
		for (std::size_t i = 0; i < locks.size(); i++) {
			const auto &cls = model_[locks[i]];
			std::string about = kind_name(cls.kind);
			about += cls.global() ? ", global" : ", one per object";
			if (!cls.module.empty() && cls.module != "vmlinux")
				about += ", module " + cls.module;
			out_.wrap(4, "[" + letter(i) + "] " + cls.name + "  (" + about + ")",
				  Tone::Plain, 4);
			const auto *counts = semaphore_counts(model_, locks[i]);
			if (counts && detail_ == Detail::Full)
				out_.wrap(8, describe_semaphore(*counts), Tone::Plain, 2);
		}
	}

	/* For a deadlock with an interrupt, the interrupt is printed first. */
	void print_sides()
	{
		const std::size_t n = finding_.edges.size();
		const std::size_t first = n && from_interrupt(finding_.edges.back()) ? n - 1 : 0;
		if (finding_.about_interrupt()) {
			out_.blank();
			out_.wrap(4,
				  interrupt_words(finding_, [&](ClassId cls) { return mark(cls); }),
				  Tone::Plain, 2);
		}
		for (std::size_t i = 0; i < n; i++)
			print_edge(finding_.edges[(first + i) % n], i + 1);
	}

	std::size_t places(const FindingEdge &edge) const
	{
		std::set<CodeId> at;
		for (const auto &witness : edge.witnesses)
			at.insert(model_.observations[witness.observation].acquired.at);
		return at.size();
	}

	bool completes(const FindingEdge &edge) const
	{
		return model_.observations[edge.shown().observation].completion();
	}

	/// Text of a side: "holds [A], takes [B]".
	std::string what_it_does(const FindingEdge &edge) const
	{
		return side_words(model_, edge, [&](ClassId cls) { return mark(cls); });
	}

	void print_head(const std::string &what, const Witness &witness, std::uint64_t count)
	{
		const Observation &observation = model_.observations[witness.observation];
		std::string head = what + ": " + witness.context.describe();
		head += ", " + observation.comm + "-" + std::to_string(observation.pid);
		if (count >= kMeasurable)
			head += ", about " + with_commas(count) + " times";
		out_.wrap(4, head, Tone::Bold, 2);
		if (model_.runs.size() > 1)
			out_.wrap(6, "seen in run " + std::to_string(observation.run + 1) + ", " +
					     system_name(model_.runs[observation.run].release));
	}

	void print_edge(const FindingEdge &edge, std::size_t number)
	{
		const auto &witness = edge.shown();
		const Observation &observation = model_.observations[witness.observation];
		out_.blank();
		print_head("side " + std::to_string(number) + " " + what_it_does(edge), witness,
			   edge.count);
		if (from_interrupt(edge))
			print_stack(mark(edge.to) + " =>", edge.to_stack);
		else if (to_interrupt(edge) && witness.position == kOwnLock)
			print_stack(mark(edge.from) + " =>", edge.to_stack);
		else if (completes(edge))
			print_stacks(edge, mark(edge.to), mark(edge.from));
		else
			print_stacks(edge, mark(edge.from),
				     to_interrupt(edge) ? "on" : mark(edge.to));
		if (detail_ == Detail::Full) {
			const auto held = names_of(observation.held);
			out_.wrap(6,
				  "held, oldest first: " +
					  (held.empty() ? "nothing else" : join(held, "; ")),
				  Tone::Plain, 2);
			out_.wrap(6, std::string("dependency ") + dependency_name(edge.kind) +
					     ", seen at " + counted(places(edge), "place"));
			dependencies_.insert(edge.kind);
		}
	}

	/// Names in order, a class that is held several times in a row once.
	std::vector<std::string> names_of(const std::vector<Held> &held) const
	{
		std::vector<std::string> out;
		for (const auto &lock : held)
			out.push_back(held_name(model_, lock));
		return neighbours_once(out);
	}

	static std::string times(std::size_t n)
	{
		return n > 1 ? " (" + std::to_string(n) + " times)" : "";
	}

	/* The names are lockdep's; not everyone reads them every day. */
	void print_legend()
	{
		if (!dependencies_.empty())
			out_.blank();
		for (const auto kind : dependencies_)
			out_.wrap(4,
				  std::string(dependency_name(kind)) + ": " +
					  dependency_words(kind),
				  Tone::Dim, 4);
	}

	void print_fault()
	{
		const auto &edge = finding_.edges.front();
		const Observation &observation = model_.observations[edge.shown().observation];
		for (const auto &stack : finding_.stacks) {
			const Witness witness =
				make_witness(model_, stack.observation, edge.shown().position);
			out_.blank();
			if (stack.role == "where") {
				/* The module records a fault once in each way to it. */
				print_head(edge.count > 1
						   ? "seen in " + counted(edge.count, "way") +
							     ", one of them"
						   : "first seen",
					   witness, 0);
				print_stack("=>", stack.stack);
				print_held(observation);
				print_sleepers();
			} else if (stack.role == "freed") {
				out_.wrap(4, "the memory of " + mark(edge.to) + " was freed here",
					  Tone::Bold, 2);
				print_stack(mark(edge.to) + " <-", stack.stack);
			} else if (stack.role == "taken") {
				out_.wrap(4,
					  finding_.kind == FindingKind::LongHold
						  ? "who has " + mark(edge.from) + " took it here"
						  : mark(edge.from) + " was taken here",
					  Tone::Bold, 2);
				print_stack(mark(edge.from) + " ->", stack.stack,
					    edge.borrowed ? another_time(*edge.borrowed) : "");
			} else {
				const auto instance =
					model_.observations[stack.observation].acquired.instance;
				const bool other = instance && observation.acquired.instance &&
						   instance != observation.acquired.instance;
				print_head((other ? "another instance of " : "") + mark(edge.from) +
						   " was taken earlier",
					   witness, 0);
				print_stack(mark(edge.from) + " ->", stack.stack);
			}
		}
	}

	/* Where else it slept, under the same lock and below the same function. */
	void print_sleepers()
	{
		const auto places = sleepers(model_, finding_);
		if (places.size() > 1)
			out_.wrap(6,
				  "sleeps here at " + counted(places.size(), "place") + ": " +
					  join(places, "; "),
				  Tone::Plain, 2);
	}

	void print_race()
	{
		print_variable(*finding_.race, out_);
		const auto &sides = finding_.race->sides;
		print_side("", sides[0], &sides[1]);
		print_side("", sides[1], &sides[0]);
		if (detail_ == Detail::Full)
			print_histories(model_, *finding_.race, out_);
	}

	void print_violation()
	{
		const auto &violation = *finding_.violation;
		out_.blank();
		out_.wrap(4, "variable: " + violation.variable.name, Tone::Plain, 2);
		out_.wrap(4,
			  "rule: " + std::to_string(violation.holds) + " of " +
				  std::to_string(violation.of) + " hold " + violation.guard +
				  (violation.exclusive ? ", exclusively to write" : ""),
			  Tone::Plain, 2);
		for (const auto &side : violation.sides)
			print_side("breaks it: ", side);
		if (violation.example)
			print_side("keeps it: ", *violation.example);
	}

	void print_side(const std::string &what, const AccessSide &side,
			const AccessSide *other = nullptr)
	{
		const auto &access = model_.accesses[side.access];
		out_.blank();
		out_.wrap(4, what + side_head(model_, side), Tone::Bold, 2);
		print_stack("=>", side.stack, stack_origin(model_, side));
		for (std::size_t i = 0; i < access.guards.size(); i++) {
			const auto &guard = access.guards[i];
			print_taken(guard.name, guard.val, guard.at,
				    other ? instance_note(model_, side, i, *other) : "");
		}
		for (const auto &lock : annotations::asserted(
			     model_, model_.runs[access.run].release, known_part(side)))
			out_.wrap(6, "the code asserts " + lock, Tone::Plain, 2);
	}

	/* All held locks with their acquire sites. */
	void print_held(const Observation &observation)
	{
		const auto held = own_locks(observation);
		if (held.empty())
			out_.wrap(6, "no lock held");
		const auto same = [](const Held &a, const Held &b) {
			return a.cls == b.cls && a.val == b.val && a.at == b.at;
		};
		for (std::size_t i = 0, end = 0; i < held.size(); i = end) {
			for (end = i + 1; end < held.size() && same(held[i], held[end]);)
				end++;
			print_taken(held[i].cls == kNoClass
					    ? "a lock"
					    : std::string(kind_name(model_[held[i].cls].kind)) +
						      " " + model_[held[i].cls].name,
				    held[i].val, held[i].at, times(end - i));
		}
	}

	void print_taken(const std::string &lock, std::uint32_t val, CodeId at,
			 const std::string &note = "")
	{
		out_.wrap(6, "holds " + taken_words(model_, lock, val, at) + note, Tone::Plain, 2);
	}

	/// One stack, its first frame marked; @callers is printed before the others.
	void print_stack(const std::string &what, const std::vector<CodeId> &stack,
			 const std::string &callers = "")
	{
		if (stack.empty())
			return;
		print_frame(what, stack.front());
		if (!callers.empty() && bottom(stack) > 1)
			out_.wrap(14, callers, Tone::Dim);
		print_frames(stack, 1, bottom(stack), 1);
	}

	/// Frames @first to @last of @stack, of which @shown were printed before: not those in the
	/// middle where there are too many.
	void print_frames(const std::vector<CodeId> &stack, std::size_t first, std::size_t last,
			  std::size_t shown)
	{
		const std::size_t all = last - std::min(first, last);
		const std::size_t room =
			std::max(kShortStack - std::min(shown, kShortStack), kOutermost + 1);
		const bool whole = detail_ == Detail::Full || all <= room;
		const std::size_t inner = whole ? all : room - kOutermost;
		for (std::size_t i = 0; i < inner; i++)
			print_frame("", stack[first + i]);
		if (whole)
			return;
		out_.wrap(14, "... " + counted(all - room, "more frame"), Tone::Dim);
		for (std::size_t i = last - kOutermost; i < last; i++)
			print_frame("", stack[i]);
	}

	/// Header for callers on a stack that belong to another acquisition.
	std::string another_time(std::size_t observation) const
	{
		const Observation &other = model_.observations[observation];
		return "callers as another time it was taken there, by " + other.comm + "-" +
		       std::to_string(other.pid) + ":";
	}

	/* Both acquires in one stack if the function of the first one has not returned, else
	 * two stacks. */
	void print_stacks(const FindingEdge &edge, const std::string &from, const std::string &to)
	{
		print_frame(to + " =>", edge.to_stack.front());
		if (on_one_stack(edge)) {
			/* Never truncated before the first acquire. */
			const std::size_t at = *edge.depth;
			for (std::size_t i = 1; i <= at; i++)
				print_frame("", edge.to_stack[i]);
			print_frame(from + " ->", edge.from_stack.front());
			print_frames(edge.to_stack, at + 1, bottom(edge.to_stack), at + 2);
			return;
		}
		print_frames(edge.to_stack, 1, bottom(edge.to_stack), 1);
		print_frame(from + " ->", edge.from_stack.front());
		if (edge.borrowed && edge.from_stack.size() > 1)
			out_.wrap(14, another_time(*edge.borrowed), Tone::Dim);
		print_frames(edge.from_stack, 1, bottom(edge.from_stack), 1);
	}

	/* Frames below the entry point are the same on every stack. */
	std::size_t bottom(const std::vector<CodeId> &stack) const
	{
		if (detail_ == Detail::Full)
			return stack.size();
		static const std::set<std::string> common = {"entry_SYSCALL_64_after_hwframe",
							     "do_syscall_64",
							     "ret_from_fork",
							     "ret_from_fork_asm",
							     "kthread",
							     "process_one_work",
							     "worker_thread",
							     "__x64_sys_finit_module"};
		std::size_t n = stack.size();
		while (n > 1 && common.count(plain_function(model_[stack[n - 1]].function)))
			n--;
		return n;
	}

	void print_frame(const std::string &what, CodeId frame)
	{
		const auto &code = model_[frame];
		std::string mark =
			std::string(what.size() < 6 ? 6 - what.size() : 0, ' ') + what + " ";
		const Tone tone = what.empty() ? Tone::Plain : Tone::Cyan;
		for (const auto &line : frames_of(code)) {
			const std::string place = line.line ? source_place(*line.line) : "";
			print_columns(mark,
				      line.inlined ? line.function + " (inlined)"
						   : place_name(code),
				      place, tone);
			mark.assign(mark.size(), ' ');
		}
	}

	void print_columns(const std::string &mark, const std::string &function,
			   const std::string &place, Tone tone)
	{
		constexpr std::size_t indent = 7, column = 36;
		std::string line = std::string(indent, ' ') + mark + function;
		if (!place.empty()) {
			/* Next to the function if it fits, else below it. */
			const std::size_t gap =
				function.size() < column ? column - function.size() : 2;
			if (line.size() + gap + place.size() <= out_.width())
				line += std::string(gap, ' ') + place;
			else
				line += "\n" + std::string(indent + mark.size() + 2, ' ') + place;
		}
		out_.line(out_.tone(line, tone));
	}

	void print_rank()
	{
		out_.blank();
		out_.wrap(4, "score " + std::to_string(static_cast<long>(finding_.score)) + ":",
			  Tone::Bold);
		for (const auto &feature : finding_.features) {
			std::string points = std::to_string(static_cast<long>(feature.points));
			points.insert(0, points.size() < 6 ? 6 - points.size() : 0, ' ');
			out_.line(
				"    " + points + "  " + feature.name +
				std::string(feature.name.size() < 12 ? 12 - feature.name.size() : 1,
					    ' ') +
				feature.why);
		}
		if (finding_.filters.empty())
			out_.wrap(4, "no filter applies");
	}

	std::string mark(ClassId cls) const
	{
		const auto locks = finding_.locks();
		auto at = std::find(locks.begin(), locks.end(), cls);
		return "[" + letter(static_cast<std::size_t>(at - locks.begin())) + "]";
	}

	const Model &model_;
	const Finding &finding_;
	Printer &out_;
	Detail detail_;
	std::set<std::uint32_t> dependencies_; ///< LS_DEP_* bits that were named
};

} // namespace

void print_finding(const Model &model, const Finding &finding, Printer &out, Detail detail,
		   std::size_t rank)
{
	FindingText(model, finding, out, detail).print(rank);
}

} // namespace lockscope
