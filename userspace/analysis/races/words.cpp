// SPDX-License-Identifier: GPL-2.0
/*
 * Words that are changed without a lock. They race, also when caught in the act; these filters
 * find those that are designed to tolerate it.
 *
 *   filter              applies when                         false negatives
 *   statistics-counter  it is only counted up or down        a count that something relies on
 *   last-store-wins     it is stored repeatedly, as a        a value that goes with others; a
 *                       whole, by code that does not read    pointer to what is freed
 *                       it: a time, a position, a setting
 *
 *   same-constant       both sides store the same constant   a reader that clears it, which is
 *                                                            a race of its own
 *
 * The second demotes to a warning, the others to a note. No lock means none that some code
 * always holds there; locks of the callers do not count.
 */
#include "analysis/races/words.h"

#include "analysis/context.h"

#include <algorithm>
#include <map>
#include <set>

namespace lockscope {

namespace {

/* Maximum distance between the instructions of one `count++`, in bytes. */
constexpr std::uint64_t kPairBytes = 64;
/* Minimum number of stores to one word: words that are only published or set up have fewer. */
constexpr std::uint64_t kManyStores = 64;

/* A line that reads and writes counts; separate lines that test and write do not. */
bool maybe_one_line(const Code &a, const Code &b)
{
	return a.lines.empty() || b.lines.empty() ||
	       (a.lines.front().file == b.lines.front().file &&
		a.lines.front().line == b.lines.front().line);
}

/// Locks of other objects that both sides of the race hold: they raced, so these are different
/// instances, which protect nothing here.
std::set<ClassId> callers_locks(const Model &model, const Race &race)
{
	std::set<ClassId> first, both;
	for (const auto &guard : model.accesses[race.first].guards)
		if (guard.relation == LS_REL_OTHER)
			first.insert(guard.cls);
	for (const auto &guard : model.accesses[race.second].guards)
		if (guard.relation == LS_REL_OTHER && first.count(guard.cls))
			both.insert(guard.cls);
	return both;
}

/// Is the memory protected by a lock, in that some code always holds it? Where the same code
/// runs with and without it, it is the callers' lock. A lock of an unrelated object has to be
/// held at half of all accesses.
bool mostly_guarded(const Model &model, const Race &race, const std::vector<std::size_t> &all)
{
	const auto callers = callers_locks(model, race);
	std::map<CodeId, std::uint64_t> times;
	std::map<ClassId, std::map<CodeId, std::uint64_t>> with;
	std::set<ClassId> related;
	std::uint64_t total = 0;
	for (auto number : all) {
		const auto &access = model.accesses[number];
		const auto count = std::max<std::uint64_t>(access.count, 1);
		std::set<ClassId> held;
		for (const auto &guard : access.guards)
			if ((guard.exclusive() || !access.writes()) && !callers.count(guard.cls)) {
				held.insert(guard.cls);
				if (guard.relation != LS_REL_OTHER)
					related.insert(guard.cls);
			}
		for (auto cls : held)
			with[cls][access.at] += count;
		times[access.at] += count;
		total += count;
	}
	return std::any_of(with.begin(), with.end(), [&](const auto &lock) {
		std::uint64_t always = 0;
		for (const auto &[at, count] : lock.second)
			always += count == times[at] ? count : 0;
		return always > 0 && (related.count(lock.first) || always >= total - always);
	});
}

/// The stores to one word.
struct Stores {
	std::vector<std::size_t> shared;	///< accesses to it while it was shared
	std::set<std::string> storing, reading; ///< functions
	std::uint64_t times = 0;
};

/// Add to @stores all accesses to the word of @named. False when one of them stores anything
/// but the whole word.
bool add_stores(const Model &model, const AccessIndex &index, const MemoryAccess &named,
		Stores &stores)
{
	if (named.size == 0 || named.size > kWordBytes || named.offset % named.size != 0)
		return false;
	for (auto number : index.overlapping(named)) {
		const auto &access = model.accesses[number];
		if (access.writes())
			stores.times += std::max<std::uint64_t>(access.count, 1);
		if (access.alone || in_the_making(model, access))
			continue;
		const std::string function = function_key(model[access.at]);
		if (function.empty() ||
		    (access.writes() &&
		     (access.offset != named.offset || access.size != named.size ||
		      access.op & (LS_ACC_RANGE | LS_ACC_ATOMIC))))
			return false;
		if (access.writes())
			stores.storing.insert(function);
		if (access.reads())
			stores.reading.insert(function);
		stores.shared.push_back(number);
	}
	return true;
}

/// Are all stores to @race's variable plain ones of one whole aligned word, by functions that
/// do not read it? Then any order of them is possible without the race, too.
bool last_store_wins(const Model &model, const AccessIndex &index, const Race &race)
{
	const auto &first = model.accesses[race.first], &second = model.accesses[race.second];
	Stores stores;
	/* In an array the two sides may have different elements. */
	if (first.size != second.size || !add_stores(model, index, first, stores) ||
	    (first.offset != second.offset && !add_stores(model, index, second, stores)))
		return false;
	for (const auto &function : stores.storing)
		if (stores.reading.count(function))
			return false;
	return stores.times >= kManyStores && !mostly_guarded(model, race, stores.shared);
}

} // namespace

bool in_the_making(const Model &model, const MemoryAccess &access)
{
	return access.data != kNoData && model[access.data].kind == LS_DATA_ALLOC &&
	       std::any_of(access.stack.begin(), access.stack.end(), [&](CodeId frame) {
		       return plain_function(model[frame].function) ==
			      plain_function(model[access.data].name);
	       });
}

bool statistics_counter(const Model &model, const AccessIndex &index, const Race &race,
			const std::vector<std::size_t> &all)
{
	bool written = false;
	if (mostly_guarded(model, race, all))
		return false;
	for (auto number : all) {
		const auto &access = model.accesses[number];
		const Code &place = model[access.at];
		const std::string function = function_key(place);
		if (function.empty())
			return false;
		auto pairs = [&](std::size_t other_number) {
			const auto &other = model.accesses[other_number];
			const Code &there = model[other.at];
			const auto distance = std::max(place.offset, there.offset) -
					      std::min(place.offset, there.offset);
			return other.offset == access.offset && other.size == access.size &&
			       function_key(there) == function && distance <= kPairBytes &&
			       maybe_one_line(place, there) &&
			       (access.writes() ? other.reads() : other.writes());
		};
		const bool both = access.reads() && access.writes();
		const bool paired = both || std::any_of(all.begin(), all.end(), pairs);
		if (access.writes() ? !paired : !paired && index.written_in(function) != 0)
			return false;
		written = written || access.writes();
	}
	return written;
}

/// Whichever store is last, the value is the same.
bool same_constant(const Model &model, const Race &race)
{
	const auto &first = model.accesses[race.first], &second = model.accesses[race.second];
	return first.constant && first.constant == second.constant && first.size == second.size;
}

void apply_word_filters(const Model &model, const AccessIndex &index, Finding &finding)
{
	const std::string &name = finding.race->variable.brief;
	const auto &races = finding.race->races;
	if (std::all_of(races.begin(), races.end(), [&](std::size_t number) {
		    return same_constant(model, model.races[number]);
	    }))
		finding.filters.push_back(
			{"same-constant", false,
			 "both sides store " +
				 std::to_string(*model.accesses[model.races[races.front()].first]
							 .constant) +
				 " in " + name,
			 Severity::Note});
	else if (finding.race->statistics)
		finding.filters.push_back(
			{"statistics-counter", false,
			 name + " is only ever counted up or down, with no lock held"});
	else if (std::all_of(races.begin(), races.end(), [&](std::size_t number) {
			 return last_store_wins(model, index, model.races[number]);
		 }))
		finding.filters.push_back({"last-store-wins", false,
					   name + " is stored again and again by code that does "
						  "not read it, with no lock held",
					   Severity::Warning});
}

} // namespace lockscope
