// SPDX-License-Identifier: GPL-2.0
#include "analysis/rules/hypotheses.h"

#include "util/text.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <set>
#include <tuple>

namespace lockscope {

namespace {

/// Smaller is better: own locks before those of others.
int distance(ls_relation relation)
{
	return relation == LS_REL_SELF	   ? 0
	       : relation == LS_REL_VIA	   ? 1
	       : relation == LS_REL_STATIC ? 2
	       : relation == LS_REL_PERCPU ? 3
					   : 4;
}

} // namespace

std::string Hypothesis::guard() const
{
	return join(terms, all ? " & " : " | ");
}

bool Scales::writes(const AccessEvidence &seen) const
{
	return model_.accesses[seen.accesses.front()].writes();
}

std::optional<Section> Scales::section(const Hypothesis &h, const AccessEvidence &seen) const
{
	Section out;
	for (const auto &term : h.terms) {
		const Protection *found = seen.find(term);
		const bool is = found && (found->exclusive || !h.exclusive || !writes(seen));
		if (is)
			out.push_back(found->taken);
		if (is && !h.all)
			return out;
		if (!is && h.all)
			return std::nullopt;
	}
	if (!h.all)
		return std::nullopt;
	return out;
}

Hypothesis Scales::weighed(Hypothesis h) const
{
	h.support = count_support(model_, all_,
				  [&](const AccessEvidence &seen) { return section(h, seen); });
	std::set<CodeId> taken;
	h.excused = 0;
	h.shared = false;
	for (const auto &seen : all_)
		if (auto places = section(h, seen)) {
			taken.insert(places->begin(), places->end());
			h.shared |= !seen.alone;
		} else {
			h.excused += seen.alone;
		}
	h.standing = sections_.standing(variable_, taken);
	return h;
}

std::vector<Single> Scales::singles(bool writers) const
{
	std::map<std::string, const Protection *> terms;
	for (const auto &seen : all_)
		for (const auto &held : seen.held) {
			auto [at, added] = terms.try_emplace(held.term, &held);
			if (!added && !held.checked)
				at->second = &held;
		}
	std::vector<Single> out;
	for (const auto &[term, protection] : terms) {
		Single single;
		single.h.terms = {term};
		single.h.exclusive = writers && protection->lock;
		single.h.checked = protection->checked;
		single.h = weighed(std::move(single.h));
		single.lock = protection->lock;
		single.distance = distance(protection->relation);
		single.nesting = protection->nesting;
		for (const auto &seen : all_)
			single.where.push_back(section(single.h, seen).has_value());
		out.push_back(std::move(single));
	}
	/* Among equal locks the object's own, then the innermost one, which protects least else. */
	std::stable_sort(out.begin(), out.end(), [](const Single &a, const Single &b) {
		if (a.h.score() != b.h.score())
			return a.h.score() > b.h.score();
		return std::tuple(a.distance, b.nesting) < std::tuple(b.distance, a.nesting);
	});
	return out;
}

Hypothesis Scales::both(const Hypothesis &a, const Hypothesis &b) const
{
	Hypothesis out = a;
	out.terms = {a.terms[0], b.terms[0]};
	std::sort(out.terms.begin(), out.terms.end());
	return weighed(std::move(out));
}

Support Scales::no_lock() const
{
	std::vector<AccessEvidence> shared;
	std::copy_if(all_.begin(), all_.end(), std::back_inserter(shared),
		     [](const AccessEvidence &seen) { return !seen.alone; });
	return count_support(
		model_, shared, [](const AccessEvidence &seen) -> std::optional<Section> {
			const bool any = std::any_of(seen.held.begin(), seen.held.end(),
						     [](const Protection &p) { return p.lock; });
			return any ? std::nullopt : std::optional(Section{});
		});
}

} // namespace lockscope
