// SPDX-License-Identifier: GPL-2.0
// The report for people.
#include "report/printer.h"
#include "report/report.h"

#include "analysis/rank.h"
#include "store/rows.h"
#include "util/text.h"

#include <algorithm>
#include <set>

namespace lockscope {

namespace {

/* Frames shown of one stack in a list; `show` prints all. */
constexpr std::size_t kShortStack = 8;

enum class Detail { Short, Full };

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

std::string source_place(const SourceLine &line)
{
	if (line.file.empty())
		return {};
	return line.file + ":" + std::to_string(line.line);
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
		out_.wrap(4, std::string(name(finding_.severity)) + ", " +
				     name(finding_.confidence) + ", id " + finding_.id);
		if (detail_ == Detail::Short)
			out_.wrap(4, "ranks here because: " + reasons(), Tone::Plain, 2);
		for (const auto &filter : finding_.filters)
			out_.wrap(4,
				  std::string(filter.hidden ? "hidden: " : "doubt: ") + filter.why +
					  " (" + filter.name + ")",
				  Tone::Yellow, 2);
		print_locks();
		for (std::size_t i = 0; i < finding_.edges.size(); i++)
			print_edge(i);
		if (detail_ == Detail::Full)
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
		out_.blank();
		for (std::size_t i = 0; i < finding_.classes.size(); i++) {
			const auto &cls = model_[finding_.classes[i]];
			std::string about = kind_name(cls.kind);
			about += cls.global() ? ", global" : ", one per object";
			if (!cls.module.empty() && cls.module != "vmlinux")
				about += ", module " + cls.module;
			out_.wrap(4, "[" + letter(i) + "] " + cls.name + "  (" + about + ")",
				  Tone::Plain, 4);
		}
	}

	void print_edge(std::size_t i)
	{
		const auto &edge = finding_.edges[i];
		const auto &witness = edge.shown();
		const Sight &sight = model_.sights[witness.sight];
		const std::string from = mark(edge.from), to = mark(edge.to);
		const std::string how =
			read_of(sight.acquired.val) == LS_EXCLUSIVE ? "takes " : "reads ";
		const std::string had = read_of(sight.held[witness.position].val) == LS_EXCLUSIVE
						? "holds "
						: "holds (shared) ";

		out_.blank();
		std::string head = "side " + std::to_string(i + 1) + " " + had + from + ", " + how +
				   to + ": " + witness.context.describe();
		head += ", " + sight.comm + "-" + std::to_string(sight.pid);
		if (edge.count >= kMeasurable)
			head += ", about " + with_commas(edge.count) + " times";
		out_.wrap(4, head, Tone::Bold, 2);
		if (model_.runs.size() > 1)
			out_.wrap(6, "seen in run " + std::to_string(sight.run + 1) + ", kernel " +
					     model_.runs[sight.run].release);
		print_stacks(edge, from, to);
		if (detail_ == Detail::Full) {
			std::vector<std::string> held;
			for (const auto &entry : sight.held)
				held.push_back(entry.cls == kNoClass ? "?"
								     : model_[entry.cls].name);
			out_.wrap(6, "held, oldest first: " + join(held, "; "), Tone::Plain, 2);
			out_.wrap(6, std::string("dependency ") + dependency_name(edge.kind) +
					     ", seen at " +
					     counted(edge.witnesses.size(), "place"));
		}
	}

	/* Both acquires in one stack where the first one's function is still
	 * running, else two stacks. */
	void print_stacks(const FindingEdge &edge, const std::string &from, const std::string &to)
	{
		const bool merged = edge.depth && *edge.depth < edge.to_stack.size() &&
				    is_tail(edge.from_stack, edge.to_stack, *edge.depth);
		const std::size_t limit =
			detail_ == Detail::Full ? edge.to_stack.size() : kShortStack;
		std::size_t shown = 0;
		auto frames = [&](const std::vector<CodeId> &stack, std::size_t first,
				  std::size_t last) {
			for (std::size_t i = first; i < last; i++) {
				if (shown == limit) {
					out_.wrap(14, "... " + counted(last - i, "more frame"),
						  Tone::Dim);
					shown++;
				}
				if (shown++ < limit)
					print_frame("", stack[i]);
			}
		};
		print_frame(to + " =>", edge.to_stack.front());
		shown = 1;
		if (merged) {
			/* Never cut off before the first acquire is shown. */
			const std::size_t at = *edge.depth;
			for (std::size_t i = 1; i <= at; i++, shown++)
				print_frame("", edge.to_stack[i]);
			print_frame(from + " ->", edge.from_stack.front());
			frames(edge.to_stack, at + 1, bottom(edge.to_stack));
			return;
		}
		frames(edge.to_stack, 1, bottom(edge.to_stack));
		print_frame(from + " ->", edge.from_stack.front());
		shown = 1;
		frames(edge.from_stack, 1, bottom(edge.from_stack));
	}

	static bool is_tail(const std::vector<CodeId> &from, const std::vector<CodeId> &to,
			    std::size_t at)
	{
		return from.size() == to.size() - at &&
		       std::equal(from.begin() + 1, from.end(),
				  to.begin() + static_cast<std::ptrdiff_t>(at) + 1);
	}

	/* Frames below the entry point are the same for everybody. */
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

	/// "spin_lock" and the like, inlined: the frame below says the same.
	static bool lock_wrapper(const SourceLine &line)
	{
		const auto slash = line.file.rfind('/');
		const std::string file = line.file.substr(slash == line.file.npos ? 0 : slash + 1);
		return file.ends_with(".h") &&
		       (file.starts_with("spinlock") || file.starts_with("rwlock") ||
			file.starts_with("mutex") || file.starts_with("rwsem"));
	}

	void print_frame(const std::string &what, CodeId frame)
	{
		const auto &code = model_[frame];
		std::string mark =
			std::string(what.size() < 6 ? 6 - what.size() : 0, ' ') + what + " ";
		const Tone tone = what.empty() ? Tone::Plain : Tone::Cyan;
		std::string place;
		for (const auto &line : code.lines) {
			if (!line.inlined) {
				place = source_place(line);
			} else if (!lock_wrapper(line)) {
				print_columns(mark, line.function + " (inlined)",
					      source_place(line), tone);
				mark.assign(mark.size(), ' ');
			}
		}
		print_columns(mark, place_name(code), place, tone);
	}

	void print_columns(const std::string &mark, const std::string &function,
			   const std::string &place, Tone tone)
	{
		constexpr std::size_t indent = 7, column = 36;
		std::string line = std::string(indent, ' ') + mark + function;
		if (!place.empty()) {
			/* Beside the function where it fits, else below it. */
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
		auto at = std::find(finding_.classes.begin(), finding_.classes.end(), cls);
		return "[" + letter(static_cast<std::size_t>(at - finding_.classes.begin())) + "]";
	}

	const Model &model_;
	const Finding &finding_;
	Printer &out_;
	Detail detail_;
};

void print_header(const Model &model, const Analysis &analysis,
		  const std::vector<const Finding *> &shown, Printer &out)
{
	std::set<std::string> releases;
	for (const auto &run : model.runs)
		releases.insert(run.release);
	out.wrap(0,
		 "LockScope: kernel " + join({releases.begin(), releases.end()}, ", ") + ", " +
			 counted(model.runs.size(), "run") + ", " +
			 with_commas(model.counter("acquisitions")) + " acquisitions",
		 Tone::Bold);
	std::size_t count[3] = {};
	for (const auto *finding : shown)
		count[static_cast<int>(finding->severity)]++;
	std::string summary = counted(shown.size(), "finding") + " (" + counted(count[2], "error") +
			      ", " + counted(count[1], "warning") + ", " +
			      counted(count[0], "note") + ")";
	const auto hidden = static_cast<std::size_t>(
		std::count_if(analysis.findings.begin(), analysis.findings.end(),
			      [](const Finding &f) { return f.hidden(); }));
	const std::size_t listed_hidden = static_cast<std::size_t>(std::count_if(
		shown.begin(), shown.end(), [](const Finding *f) { return f->hidden(); }));
	if (hidden > listed_hidden)
		summary += "; " + std::to_string(hidden - listed_hidden) +
			   " hidden by filters, --all shows them";
	const std::size_t rest = analysis.findings.size() - shown.size() - (hidden - listed_hidden);
	if (rest)
		summary += "; " + std::to_string(rest) +
			   " more left out by --limit or --min-confidence";
	out.wrap(0, summary, Tone::Plain, 2);
}

void print_footer(const Model &model, const Analysis &analysis, Printer &out)
{
	std::vector<std::string> losses;
	for (const char *loss : kLossNames)
		if (auto n = model.counter(loss))
			losses.push_back(std::string(loss) + " " + with_commas(n));
	if (auto n = model.counter(kMalformedCounter))
		losses.push_back(std::string(kMalformedCounter) + " " + with_commas(n));
	out.blank();
	if (losses.empty())
		out.wrap(0, "Losses: none");
	else
		out.wrap(0, "Losses: " + join(losses, ", ") + ": findings may be missing",
			 Tone::Yellow, 2);
	std::size_t chains = 0;
	std::vector<std::string> levels;
	for (const auto &run : model.runs)
		chains += run.chains.empty() ? 0 : run.chains.size() - 1;
	for (const char *level : {"task", "softirq", "hardirq", "nmi"})
		if (model.counter(level))
			levels.push_back(level);
	out.wrap(0,
		 "Seen: " + counted(model.classes.size(), "lock class") + ", " +
			 counted(analysis.edges, "order edge") + ", " + counted(chains, "chain") +
			 (levels.empty() ? "" : "; contexts " + join(levels, ", ")),
		 Tone::Plain, 2);
	std::set<std::string> absent, failed;
	for (const auto &run : model.runs)
		for (const auto &primitive : run.primitives) {
			if (primitive.state == LS_PRIM_ABSENT)
				absent.insert(primitive.function);
			if (primitive.state == LS_PRIM_FAILED)
				failed.insert(primitive.function);
		}
	if (!failed.empty())
		out.wrap(0,
			 "Not watched, hooking failed: " +
				 join({failed.begin(), failed.end()}, ", "),
			 Tone::Yellow, 2);
	if (!absent.empty())
		out.wrap(0, "Not in this kernel: " + join({absent.begin(), absent.end()}, ", "),
			 Tone::Plain, 2);
	out.wrap(0, "Not seen on any kernel: " + join(blind_spots(), "; "), Tone::Plain, 2);
	for (const auto &note : analysis.self_check)
		out.wrap(0, "Self-check: " + note, Tone::Yellow, 2);
}

} // namespace

std::string text_report(const Model &model, const Analysis &analysis, const ReportOptions &options,
			const TextStyle &style)
{
	Printer out(style);
	const auto shown = select_findings(analysis, options);
	print_header(model, analysis, shown, out);
	for (std::size_t i = 0; i < shown.size(); i++) {
		out.blank();
		FindingText(model, *shown[i], out, Detail::Short).print(i + 1);
	}
	print_footer(model, analysis, out);
	return out.take();
}

std::string text_finding(const Model &model, const Finding &finding, const TextStyle &style)
{
	Printer out(style);
	FindingText(model, finding, out, Detail::Full).print(0);
	return out.take();
}

} // namespace lockscope
