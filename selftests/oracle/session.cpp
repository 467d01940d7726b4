// SPDX-License-Identifier: GPL-2.0
#include "session.h"

#include "run.h"

#include "analysis/findings.h"

#include <algorithm>
#include <map>

namespace lockscope::oracle {

bool Said::touches(const std::vector<Dependency> &others) const
{
	return std::any_of(dependencies.begin(), dependencies.end(), [&](const Dependency &d) {
		return std::find(others.begin(), others.end(), d) != others.end();
	});
}

bool Said::within(const std::vector<Dependency> &others) const
{
	return std::all_of(dependencies.begin(), dependencies.end(), [&](const Dependency &d) {
		return std::find(others.begin(), others.end(), d) != others.end();
	});
}

namespace {

constexpr std::uint32_t kObjectSize = 0x100, kMemberSize = 0x10; // bytes
/// Programs that have places of their own: more than one session has.
constexpr std::uint64_t kPlaces = 1u << 16;

/// Program @job as number @index of a session.
class Load {
public:
	Load(Module &module, const Job &job, std::uint32_t index)
		: module_(module), program_(job.program), index_(index)
	{
		const std::uint64_t place = job.salt % kPlaces;
		std::size_t type = 0;
		std::uint32_t member = 0;
		for (std::size_t c = 0; c < program_.classes.size(); c++) {
			const Class &cls = program_.classes[c];
			if (!cls.paired)
				type = c, member = 0;
			else
				member++;
			Module::ClassInfo info;
			info.kind = cls.kind;
			info.global = cls.global;
			info.name = name_of(type);
			if (cls.global) {
				bases_.push_back(0xffffffff82000000u + (place * 4 + c) * 64);
			} else {
				info.offset = member * kMemberSize;
				info.object_size = kObjectSize;
				info.name +=
					"+0x" +
					std::string(member ? std::to_string(member) + "0" : "0");
				bases_.push_back(0xffff888000000000u + (place * 4 + type) * 0x1000 +
						 info.offset);
			}
			names_.push_back(info.name);
			ids_.push_back(module.add_class(info));
		}
	}

	void run()
	{
		for (int c : program_.load) {
			const Context &context = program_.contexts[static_cast<std::size_t>(c)];
			Runner runner;
			runner.level = context.level;
			runner.pid = 100 + index_ * 8 + static_cast<std::uint32_t>(c);
			runner.function = "p" + std::to_string(index_) + "_" + std::to_string(c);
			runner.caller = context.level == LS_SOFTIRQ ? "__napi_poll"
					: context.level == LS_HARDIRQ
						? "__flush_smp_call_function_queue"
						: "";
			module_.run(runner);
			run(context);
			module_.work();
		}
	}

	/// Class of this program, nothing when it is another one's.
	std::optional<int> find(std::uint32_t id) const { return position(ids_, id); }
	std::optional<int> find(const std::string &name) const { return position(names_, name); }
	std::size_t classes() const { return ids_.size(); }

private:
	template <typename T>
	static std::optional<int> position(const std::vector<T> &in, const T &what)
	{
		const auto at = std::find(in.begin(), in.end(), what);
		return at == in.end() ? std::nullopt
				      : std::optional(static_cast<int>(at - in.begin()));
	}

	std::string name_of(std::size_t cls) const
	{
		return "p" + std::to_string(index_) + "_" + static_cast<char>('a' + cls);
	}

	void run(const Context &context)
	{
		bool irq_off = false, bh_off = false;
		for (std::uint32_t i = 0; i < context.ops.size(); i++) {
			const Op &op = context.ops[i];
			const auto cls = static_cast<std::size_t>(
				program_.locks[static_cast<std::size_t>(op.lock)]);
			const std::uint64_t lock =
				bases_[cls] +
				static_cast<std::uint64_t>(program_.instance(op.lock)) *
					(program_.classes[cls].global ? 0 : kObjectSize);
			if (op.acquires())
				module_.acquire(lock, ids_[cls], op.reads(), op.tries(), i + 1);
			else if (op.releases())
				module_.release(lock, ids_[cls], op.reads(), i + 1);
			else if (op.what == Do::IrqOff || op.what == Do::IrqOn)
				irq_off = op.what == Do::IrqOff;
			else
				bh_off = op.what == Do::BhOff;
			module_.interrupts(irq_off, bh_off);
		}
	}

	Module &module_;
	const Program &program_;
	std::uint32_t index_;
	std::vector<std::uint64_t> bases_;
	std::vector<std::uint32_t> ids_;
	std::vector<std::string> names_;
};

bool is_order(FindingKind kind)
{
	return kind == FindingKind::LockOrderCycle || kind == FindingKind::RecursiveLock ||
	       kind == FindingKind::IrqInversion || kind == FindingKind::InconsistentIrqState;
}

/// Program and class of a lock; interrupts belong to all programs.
struct Where {
	std::optional<std::size_t> program;
	int cls = 0;
};

/// @classes: the ends of each dependency. The program that they are of, and @said of it.
template <typename Find>
std::optional<std::size_t> locate(const std::vector<std::pair<Where, Where>> &classes, Find &&add)
{
	std::optional<std::size_t> program;
	std::vector<Dependency> dependencies;
	for (const auto &[from, to] : classes) {
		for (const Where *end : {&from, &to})
			if (end->program)
				program = end->program;
		dependencies.push_back({from.cls, to.cls});
	}
	if (program)
		add(*program, canonical(std::move(dependencies)));
	return program;
}

std::string describe(const Finding &finding)
{
	std::string out = std::string(name(finding.severity)) + ", " + name(finding.confidence) +
			  (finding.hidden() ? ", hidden: " : ": ") + finding.title;
	for (const auto &filter : finding.filters)
		out += " [" + filter.name + ": " + filter.why + "]";
	return out;
}

std::string filters_of(const Finding &finding)
{
	std::string out;
	for (const auto &filter : finding.filters)
		out += (out.empty() ? "" : " ") + filter.name;
	return out;
}

} // namespace

Result<std::vector<Outcome>> run_session(const std::vector<Job> &jobs, const std::string &folder)
{
	auto module = std::make_unique<Module>();
	std::vector<Load> loads;
	loads.reserve(jobs.size());
	std::vector<Outcome> outcomes(jobs.size());
	for (std::size_t i = 0; i < jobs.size(); i++) {
		loads.emplace_back(*module, jobs[i], static_cast<std::uint32_t>(i));
		const auto cut = module->cut_searches();
		loads.back().run();
		outcomes[i].cut = module->cut_searches() != cut;
		outcomes[i].unlocks.resize(loads.back().classes());
	}

	auto by_id = [&](std::uint32_t id) -> Where {
		if (id >= LS_CLASS_HARDIRQ)
			return {{}, id == LS_CLASS_HARDIRQ ? kHardirq : kSoftirq};
		for (std::size_t i = 0; i < loads.size(); i++)
			if (auto cls = loads[i].find(id))
				return {i, *cls};
		return {};
	};
	for (const auto &told : module->told) {
		if (!is_order(static_cast<FindingKind>(told.kind)))
			continue;
		std::vector<std::pair<Where, Where>> classes;
		for (const auto &edge : told.edges)
			classes.push_back({by_id(edge.from), by_id(edge.to)});
		locate(classes, [&](std::size_t program, std::vector<Dependency> dependencies) {
			outcomes[program].judge.push_back(
				{static_cast<FindingKind>(told.kind), std::move(dependencies)});
		});
	}

	auto model = through_store(module->finish(), folder);
	if (!model)
		return model.error();
	std::map<std::string, Where> names;
	for (const auto &cls : model->classes)
		for (std::size_t i = 0; i < loads.size(); i++)
			if (auto number = loads[i].find(cls.name))
				names[cls.name] = {i, *number};
	auto by_class = [&](ClassId id) -> Where {
		if (is_interrupt(id))
			return {{}, id == kHardirqClass ? kHardirq : kSoftirq};
		return names[(*model)[id].name];
	};
	for (const auto &finding : analyse(*model).findings) {
		if (finding.kind == FindingKind::DoubleUnlock) {
			const Where at = by_class(finding.classes.front());
			outcomes[*at.program].unlocks[static_cast<std::size_t>(at.cls)] = true;
		}
		if (!is_order(finding.kind))
			continue;
		std::vector<std::pair<Where, Where>> classes;
		for (const auto &edge : finding.edges)
			classes.push_back({by_class(edge.from), by_class(edge.to)});
		if (finding.kind == FindingKind::RecursiveLock)
			classes.resize(1);
		locate(classes, [&](std::size_t program, std::vector<Dependency> dependencies) {
			outcomes[program].report.push_back(
				{finding.kind, std::move(dependencies), finding.severity,
				 finding.hidden(), describe(finding), filters_of(finding)});
		});
	}
	return outcomes;
}

} // namespace lockscope::oracle
