// SPDX-License-Identifier: GPL-2.0
#include "analysis/rules/protection.h"

#include <algorithm>
#include <map>

namespace lockscope {

namespace {

bool starts_with(const std::string &text, const char *prefix)
{
	return text.rfind(prefix, 0) == 0;
}

/// "struct.member" of "cache+0x10 struct foo.lock", else the unchanged name.
std::string of_struct(const std::string &name)
{
	const auto at = name.find(" struct ");
	return at == name.npos ? name : name.substr(at + 8);
}

} // namespace

Protections::Protections(const Model &model) : model_(model)
{
	std::map<std::pair<std::uint32_t, ClassId>, std::uint64_t> seen;
	for (const auto &access : model.accesses)
		for (const auto &guard : access.guards) {
			if (!guard.place.empty() && guard.cls != kNoClass) {
				auto [at, added] = places_.try_emplace(guard.cls, guard.place);
				if (!added && at->second != guard.place)
					at->second.clear();
			}
			if (guard.relation != LS_REL_STATIC || guard.cls == kNoClass)
				continue;
			auto [at, added] =
				seen.try_emplace({access.run, guard.cls}, guard.instance);
			if (!added && at->second != guard.instance)
				several_.insert(guard.cls);
		}
}

std::string Protections::term(const MemoryAccess &access, const Guard &guard) const
{
	switch (guard.relation) {
	case LS_REL_SELF:
		return guard.name; /* "self.lock", "self+0x10" */
	case LS_REL_VIA: {
		/* "via i_sb .s_lock": the parts are names or offsets. */
		std::string out = guard.name;
		if (auto blank = out.find(' '); blank != out.npos)
			out[blank] = '.';
		if (auto blank = out.find(' '); blank != out.npos)
			out.replace(blank, out[blank + 1] == '.' ? 2 : 1, ".");
		return out;
	}
	case LS_REL_STATIC: {
		/* A lock inside the variable itself counts like one in the object. */
		const std::string *own =
			access.data == kNoData ? nullptr : &model_[access.data].name;
		if (own && model_[access.data].global() && starts_with(guard.name, own->c_str()) &&
		    guard.name.size() > own->size() &&
		    (guard.name[own->size()] == '+' || guard.name[own->size()] == '.'))
			return "self" + guard.name.substr(own->size());
		return "global." + guard.name;
	}
	case LS_REL_PERCPU:
		return "percpu." +
		       (starts_with(guard.name, "percpu:") ? guard.name.substr(7) : guard.name);
	default:
		return of_class(guard);
	}
}

std::string Protections::of_class(const Guard &guard) const
{
	if (auto at = places_.find(guard.cls); at != places_.end() && !at->second.empty())
		return "other." + at->second;
	if (guard.cls == kNoClass)
		return "other." + of_struct(guard.name);
	return "other." + of_struct(model_[guard.cls].name);
}

std::vector<Protection> Protections::of(const MemoryAccess &access) const
{
	std::vector<Protection> out;
	for (std::size_t i = 0; i < access.guards.size(); i++) {
		const Guard &guard = access.guards[i];
		Protection held;
		held.term = term(access, guard);
		held.exclusive = guard.exclusive();
		held.relation = guard.relation;
		held.taken = guard.at;
		held.nesting = i;
		switch (guard.relation) {
		case LS_REL_OTHER:
			held.checked = false;
			break;
		case LS_REL_SELF:
		case LS_REL_VIA:
			held.of_class = of_class(guard);
			break;
		case LS_REL_STATIC:
			held.checked = !several_.count(guard.cls);
			break;
		case LS_REL_PERCPU:
			/* The CPU is not known: valid for data of the same CPU. */
			held.checked = access.data != kNoData &&
				       model_[access.data].kind == LS_DATA_PERCPU;
			break;
		default:
			break;
		}
		auto same = std::find_if(out.begin(), out.end(),
					 [&](const auto &p) { return p.term == held.term; });
		if (same == out.end())
			out.push_back(std::move(held));
		else
			same->exclusive |= held.exclusive;
	}
	auto context = [&](const char *term, bool held) {
		if (held)
			out.push_back({.term = term, .lock = false});
	};
	/* An interrupt level excludes those below it [Eraser 3.4]. */
	const auto level = level_of(access.where);
	const bool irq = level >= LS_HARDIRQ || (access.where & LS_VAL_IRQ_OFF);
	const bool bh = irq || level == LS_SOFTIRQ || (access.where & LS_VAL_BH_OFF);
	context(kIrq, irq);
	context(kBh, bh);
	context(kPreempt, bh || (access.where & LS_WHERE_PREEMPT_OFF));
	context(kRcu, access.where & LS_WHERE_RCU);
	context(kSeqcount, access.where & LS_WHERE_SEQ_READ);
	std::sort(out.begin(), out.end());
	return out;
}

} // namespace lockscope
