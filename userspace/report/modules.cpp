// SPDX-License-Identifier: GPL-2.0
#include "report/modules.h"

#include "report/sides.h"

#include "analysis/selection.h"
#include "util/text.h"

#include <algorithm>
#include <map>
#include <set>
#include <tuple>

namespace lockscope {

namespace {

constexpr const char *kLockScope = "lockscope";
/* Unless everything is asked for. */
constexpr std::size_t kMostLocks = 20, kMostSites = 12;

/// What was listed in several runs is one site.
void unite(OwnModule &into, const OwnModule &more)
{
	into.decoded |= more.decoded;
	into.instrumented |= more.instrumented;
	if (into.build_id.empty())
		into.build_id = more.build_id;
	for (const auto &site : more.sites) {
		const auto same = std::find_if(
			into.sites.begin(), into.sites.end(), [&](const OwnSite &known) {
				return known.place.function == site.place.function &&
				       known.place.offset == site.place.offset &&
				       known.place.build_id == site.place.build_id;
			});
		if (same == into.sites.end())
			into.sites.push_back(site);
		else if (site.reached && !same->reached.value_or(false))
			same->reached = site.reached;
	}
}

/// Of one lock over all chains.
struct Use {
	std::uint64_t acquisitions = 0;
	std::set<int> levels;
	std::set<ClassId> before, after;
	std::set<std::string> takers;		    ///< modules
	std::map<std::string, std::uint64_t> taken; ///< by each of them
};

std::map<ClassId, Use> uses_of(const Model &model)
{
	std::map<ClassId, Use> uses;
	for (const auto &run : model.runs)
		for (const auto &chain : run.chains) {
			if (chain.cls == kNoClass)
				continue;
			Use &use = uses[chain.cls];
			use.acquisitions += chain.count;
			use.levels.insert(level_of(chain.val));
			const auto &module = model[chain.at].module;
			use.takers.insert(module);
			use.taken[module] += chain.count;
			for (auto at = chain.parent; at; at = run.chains[at].parent) {
				const ClassId outer = run.chains[at].cls;
				if (outer == kNoClass || outer == chain.cls)
					continue;
				use.before.insert(outer);
				uses[outer].after.insert(chain.cls);
			}
		}
	return uses;
}

void add_locks(const Model &model, const std::map<ClassId, Use> &uses, ModuleReport &report)
{
	static constexpr const char *levels[] = {LS_LEVEL_NAMES};
	const std::string &name = report.module.name;
	for (const auto &[cls, use] : uses) {
		ModuleLock lock;
		lock.cls = cls;
		lock.own = model[cls].module == name;
		if (!lock.own && !use.takers.count(name))
			continue;
		lock.acquisitions = use.acquisitions;
		for (const int level : use.levels)
			lock.contexts.emplace_back(levels[level]);
		lock.before = use.before.size();
		lock.after = use.after.size();
		const auto by_it = use.taken.find(name);
		report.acquisitions += lock.own			  ? lock.acquisitions
				       : by_it == use.taken.end() ? 0
								  : by_it->second;
		report.locks.push_back(std::move(lock));
	}
	std::stable_sort(report.locks.begin(), report.locks.end(),
			 [](const ModuleLock &a, const ModuleLock &b) {
				 return std::tuple(!a.own, b.acquisitions) <
					std::tuple(!b.own, a.acquisitions);
			 });
}

void print_locks(const Model &model, const ModuleReport &report, bool all, Printer &out)
{
	std::size_t shown = 0, own = 0, others = 0;
	for (const auto &lock : report.locks) {
		(lock.own ? own : others)++;
		if (!lock.own || (!all && shown == kMostLocks))
			continue;
		shown++;
		out.wrap(4,
			 model[lock.cls].name + " (" + kind_name(model[lock.cls].kind) +
				 "): about " + counted(lock.acquisitions, "acquisition") + " in " +
				 join(lock.contexts, ", ") + "; " + std::to_string(lock.before) +
				 " held before it, " + std::to_string(lock.after) +
				 " taken under it",
			 Tone::Plain, 2);
	}
	if (own > shown)
		out.wrap(4, counted(own - shown, "more lock") + " of its own; --all lists them");
	if (others)
		out.wrap(4, counted(others, "lock") + " of others taken by its code, at least",
			 Tone::Plain, 2);
}

std::string took_line(const ModuleReport &report)
{
	/* Chains come last: a recording that ended early may have none. */
	if (report.locks.empty() && report.reached)
		return report.module.name + ": which locks it took was not recorded";
	if (report.locks.empty())
		return report.module.name + " took no lock at all";
	const auto own = std::count_if(report.locks.begin(), report.locks.end(),
				       [](const ModuleLock &lock) { return lock.own; });
	return report.module.name + ": " + counted(static_cast<std::uint64_t>(own), "lock") +
	       " of its own, about " + counted(report.acquisitions, "acquisition");
}

std::string sites_line(const ModuleReport &report)
{
	if (!report.module.decoded)
		return "Calls of lock functions in it are not known: its file was not found. Give "
		       "it to vm run or record by --module FILE.ko";
	std::string line = "Calls of lock functions in its code: " +
			   std::to_string(report.module.sites.size()) + ", reached " +
			   std::to_string(report.reached) + ", not reached " +
			   std::to_string(report.unreached.size());
	if (report.unknown)
		line += ", not known " + std::to_string(report.unknown);
	if (report.unknown && report.unreached.empty())
		line += " (record --sites watches each)";
	return line;
}

/* Empty: nothing is known of them. */
std::string accesses_line(const ModuleReport &report)
{
	if (report.module.instrumented)
		return counted(report.accesses, "access") + " of its code seen";
	if (report.module.decoded)
		return "Its accesses to memory were not seen: it is not instrumented. lockscope "
		       "instrument DIR builds it so, and --accesses all records them";
	return {};
}

void print_unreached(const ModuleReport &report, bool all, Printer &out)
{
	const std::size_t most = all ? report.unreached.size() : kMostSites;
	for (std::size_t i = 0; i < report.unreached.size() && i < most; i++)
		out.wrap(6,
			 "not reached: " + report.unreached[i]->primitive + "() at " +
				 site_name(*report.unreached[i]),
			 Tone::Plain, 2);
	if (report.unreached.size() > most)
		out.wrap(6, std::to_string(report.unreached.size() - most) +
				    " more not reached; --all lists them");
}

} // namespace

std::vector<ModuleReport> module_reports(const Model &model, const Selection &selection)
{
	std::map<std::string, ModuleReport> found;
	for (const auto &run : model.runs)
		for (const auto &module : run.modules) {
			auto &report = found[module.name];
			report.module.name = module.name;
			unite(report.module, module);
		}
	/* A pattern like "*" means no list of all modules. */
	const auto &wanted = selection.modules;
	const bool any = std::find(wanted.begin(), wanted.end(), "*") != wanted.end();
	for (const auto &code : model.code)
		if (!any && !code.module.empty() && code.module != "vmlinux" &&
		    code.module != kLockScope)
			for (const auto &glob : wanted)
				if (module_matches(glob, code.module))
					found[code.module].module.name = code.module;
	std::vector<ModuleReport> out;
	if (found.empty())
		return out;
	const auto uses = uses_of(model);
	for (auto &entry : found) {
		const std::string &name = entry.first;
		ModuleReport &report = entry.second;
		if (!wanted.empty() &&
		    std::none_of(wanted.begin(), wanted.end(),
				 [&](const auto &glob) { return module_matches(glob, name); }))
			continue;
		add_locks(model, uses, report);
		for (const auto &access : model.accesses)
			if (model[access.at].module == name)
				report.accesses += std::max<std::uint64_t>(access.count, 1);
		out.push_back(std::move(report));
		/* Sites do not move from here on. */
		ModuleReport &last = out.back();
		for (const auto &site : last.module.sites)
			if (site.reached.value_or(false))
				last.reached++;
			else if (!site.reached)
				last.unknown++;
			else
				last.unreached.push_back(&site);
	}
	return out;
}

std::string site_name(const OwnSite &site)
{
	for (const auto &frame : frames_of(site.place))
		if (frame.line && frame.line->line)
			return frame.line->file + ":" + std::to_string(frame.line->line) + " " +
			       frame.function + "()";
	return place_name(site.place);
}

std::vector<std::string> summary_lines(const ModuleReport &report)
{
	std::vector<std::string> out{took_line(report), sites_line(report)};
	if (std::string line = accesses_line(report); !line.empty())
		out.push_back(std::move(line));
	return out;
}

void print_modules(const Model &model, const std::vector<ModuleReport> &modules, bool all,
		   Printer &out)
{
	if (modules.empty())
		return;
	out.blank();
	out.wrap(0, modules.size() == 1 ? "Your module:" : "Your modules:", Tone::Bold);
	for (const auto &report : modules) {
		out.wrap(2, took_line(report), report.locks.empty() ? Tone::Yellow : Tone::Plain,
			 2);
		print_locks(model, report, all, out);
		out.wrap(4, sites_line(report), report.module.decoded ? Tone::Plain : Tone::Yellow,
			 2);
		print_unreached(report, all, out);
		if (const std::string line = accesses_line(report); !line.empty())
			out.wrap(4, line, Tone::Plain, 2);
	}
}

Json modules_json(const Model &model, const std::vector<ModuleReport> &modules)
{
	Json out = Json::array();
	for (const auto &report : modules) {
		Json locks = Json::array(), sites = Json::array();
		for (const auto &lock : report.locks)
			locks.push_back({{"name", model[lock.cls].name},
					 {"kind", kind_name(model[lock.cls].kind)},
					 {"own", lock.own},
					 {"acquisitions", lock.acquisitions},
					 {"contexts", lock.contexts},
					 {"before", lock.before},
					 {"after", lock.after}});
		for (const auto &site : report.module.sites) {
			Json lines = Json::array();
			for (const auto &line : site.place.lines)
				lines.push_back({{"function", line.function},
						 {"file", line.file},
						 {"line", line.line},
						 {"inlined", line.inlined}});
			sites.push_back({{"primitive", site.primitive},
					 {"function", site.place.function},
					 {"offset", site.place.offset},
					 {"start", site.start},
					 {"reached", site.reached ? Json(*site.reached) : Json()},
					 {"lines", std::move(lines)}});
		}
		out.push_back({{"name", report.module.name},
			       {"build_id", report.module.build_id},
			       {"decoded", report.module.decoded},
			       {"instrumented", report.module.instrumented},
			       {"acquisitions", report.acquisitions},
			       {"accesses", report.accesses},
			       {"locks", std::move(locks)},
			       {"sites", std::move(sites)}});
	}
	return out;
}

} // namespace lockscope
