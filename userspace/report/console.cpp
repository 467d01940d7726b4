// SPDX-License-Identifier: GPL-2.0
// What all console reports share; kmod/out/console/text.c is the module's.
#include "report/console.h"

#include "report/formats.h"

#include "lockclass/console_words.h"
#include "util/text.h"
#include "util/utf8.h"

#include <algorithm>
#include <cstdarg>
#include <cstdio>
#include <iterator>

namespace lockscope {

namespace {

struct KindWords {
	FindingKind kind;
	const char *head, *words;
};

constexpr KindWords kKindWords[] = {
#define LS_ROW(symbol, value, enumerator, name, shown, severity, about, title, splat, head, words) \
	{FindingKind::enumerator, head, words},
	LS_FINDINGS(LS_ROW)
#undef LS_ROW
};

const KindWords &words_of(FindingKind kind)
{
	return *std::find_if(std::begin(kKindWords), std::end(kKindWords),
			     [&](const KindWords &row) { return row.kind == kind; });
}

} // namespace

const char *console_headline(FindingKind kind)
{
	return words_of(kind).head;
}

const char *console_words(FindingKind kind)
{
	return words_of(kind).words;
}

void Console::line(const char *format, ...)
{
	std::va_list values, again;
	va_start(values, format);
	va_copy(again, values);
	const int size = std::vsnprintf(nullptr, 0, format, values);
	va_end(values);
	std::string text(size > 0 ? static_cast<std::size_t>(size) + 1 : 1, '\0');
	std::vsnprintf(text.data(), text.size(), format, again);
	va_end(again);
	text.pop_back();
	char time[40] = "";
	if (stamped_)
		std::snprintf(time, sizeof(time), "[%5llu.%06llu] ",
			      static_cast<unsigned long long>(time_ns_ / 1000000000),
			      static_cast<unsigned long long>(time_ns_ / 1000 % 1000000));
	out_ += time + plain_line(std::move(text)) + '\n';
}

void Console::head(const std::string &warning, std::uint32_t run)
{
	blank();
	line(LS_SAY_RULER);
	line("%s", warning.c_str());
	line("%s", model_.runs[run].release.c_str());
	line(LS_SAY_LINE);
}

void Console::lock(const std::string &lead, ClassId cls, CodeId at)
{
	line(LS_SAY_LOCK, lead.c_str(), prefix(cls), name(cls).c_str(), kind(cls),
	     symbol(at).c_str());
}

void Console::frames(const char *indent, const std::vector<CodeId> &stack)
{
	for (const CodeId at : stack)
		line("%s%s", indent, symbol(at).c_str());
}

void Console::backtrace(const std::vector<CodeId> &stack)
{
	line(LS_SAY_TRACE);
	line(LS_SAY_TASK);
	frames("  ", stack);
	line(LS_SAY_END_TASK);
}

void Console::held(const Observation &observation)
{
	const std::uint64_t others = owners_of(observation);
	const auto &held = observation.held;
	std::size_t count = 0;
	for (std::size_t i = 0; i < held.size(); i++)
		count += !(others >> i & 1);
	line(LS_SAY_HELD, static_cast<unsigned>(count), count == 1 ? "" : "s",
	     observation.comm.c_str(), observation.pid);
	count = 0;
	for (std::size_t i = 0; i < held.size(); i++)
		if (!(others >> i & 1))
			lock(" #" + std::to_string(count++) + ": ", held[i].cls, held[i].at);
}

void Console::who(const Observation &observation, FindingKind kind)
{
	line(LS_SAY_WHO, observation.comm.c_str(), observation.pid, console_words(kind));
}

void Console::who_lock(const Observation &observation, FindingKind kind)
{
	lock(observation.comm + "/" + std::to_string(observation.pid) + " " + console_words(kind) +
		     " ",
	     observation.acquired.cls, observation.acquired.at);
}

std::string Console::function(CodeId at) const
{
	const auto &function = model_[at].function;
	return function.empty() ? "(unloaded" : function.substr(0, function.find('#'));
}

std::string Console::symbol(CodeId at) const
{
	const auto &code = model_[at];
	if (code.function.empty())
		return "(unloaded code)";
	char offset[24];
	std::snprintf(offset, sizeof(offset), "+0x%llx",
		      static_cast<unsigned long long>(code.offset));
	const bool module = !code.module.empty() && code.module != "vmlinux";
	return function(at) + offset + (module ? " [" + code.module + "]" : "");
}

std::string Console::name(ClassId cls) const
{
	return cls == kNoClass ? "?" : model_[cls].name;
}

const char *Console::kind(ClassId cls) const
{
	return cls == kNoClass	   ? "lock"
	       : is_interrupt(cls) ? "interrupt"
				   : kind_name(model_[cls].kind);
}

bool Console::awaited(ClassId cls) const
{
	return cls != kNoClass && !is_interrupt(cls) && lockscope::awaited(model_[cls].kind);
}

bool Console::queue(ClassId cls) const
{
	return awaited(cls) && model_[cls].kind == LS_KIND_WAITQUEUE;
}

const char *Console::prefix(ClassId cls) const
{
	return !awaited(cls) ? "" : queue(cls) ? LS_SAY_QUEUE : LS_SAY_COMPLETION;
}

Held taken_of(const Observation &observation, ClassId cls)
{
	if (!observation.acquisition() || observation.acquired.cls != cls)
		for (std::size_t i = observation.held.size(); i-- > 0;)
			if (observation.held[i].cls == cls)
				return observation.held[i];
	return observation.acquired;
}

std::uint64_t owners_of(const Observation &observation)
{
	const std::size_t nr = observation.held.size();
	if (nr && observation.held.back().val & LS_VAL_QUIET)
		return std::uint64_t{1} << (nr - 1);
	return observation.what == LS_FINDING_LONG_HOLD ? observation.new_mask : 0;
}

std::string dmesg_finding(const Model &model, const Finding &finding, bool stamped)
{
	Console out(model, stamped);
	if (finding.about_memory())
		say_accesses(model, finding, out);
	else if (finding.single())
		say_fault(model, finding, out);
	else
		say_order(model, finding, out);
	out.line("lockscope: %s, %s, score %ld, id %s", name(finding.severity),
		 name(finding.confidence), static_cast<long>(finding.score), finding.id.c_str());
	return out.take();
}

std::string dmesg_report(const Model &model, const Analysis &analysis, const ReportOptions &options)
{
	std::string out;
	for (const auto *finding : select_findings(analysis, options))
		out += dmesg_finding(model, *finding, true);
	return out;
}

} // namespace lockscope
