// SPDX-License-Identifier: GPL-2.0
/*
 * Filters: reasons to doubt a data race, and races that each may hide.
 *
 *   filter                   applies when                       false negatives
 *   thread-local-allocation  a side runs while the object is    an object published before
 *                            initialised (name or call path),   it is complete
 *                            and not shared yet
 *   unsharing                a side tears the object down: it   frees without unlinking,
 *                            was unlinked before                readers that are still there
 *   initialisation-only      a side ran in init code only       init code that races with
 *                                                               what it started
 *   same-entry-point         both sides are one work function,  two items, timers or lines
 *                            timer or handler, which runs once  with one function
 *                            at a time
 *   conditional-locking      the function that acquires the     the condition itself
 *                            lock for other accesses is on the
 *                            stack here too, without the lock
 *   bit-lock                 both sides' functions change one   atomic bits that are no
 *                            word of the object by atomic       lock; jumps over either
 *                            instructions, before the access    of the two
 *                            in their code and behind it
 *   claimed-by-flag          both sides' callers end by        a flag that some users
 *                            writing a word of the object      of the object ignore
 *                            without a lock, which others
 *                            read and write with one
 *   different-objects        the two sides accessed different   one object of two types
 *                            types of object: the memory was
 *                            freed in between
 *   sequence-counter         the reader is in a read section    a reader that does not
 *                            of a sequence counter, the writer  retry
 *                            in a write section: hidden
 *
 * All but the last demote: severity warning instead of error. What was caught in the act did
 * happen: there only the last one applies. [RELAY 4.3, figures 8-11]
 */
#include "analysis/races/filters.h"

extern "C" {
#include "lockclass/doubts.h"
}

#include <algorithm>
#include <functional>
#include <iterator>
#include <set>

namespace lockscope {

namespace {

class RaceFilters {
public:
	RaceFilters(const Model &model, const AccessIndex &index, Finding &finding)
		: model_(model), index_(index), finding_(finding)
	{
		for (auto number : finding.race->races)
			caught_ = caught_ ||
				  (model.races[number].flags & (LS_RACE_CAUGHT | LS_RACE_CHANGED));
	}

	void apply()
	{
		if (!caught_) {
			on_a_side("thread-local-allocation", &RaceFilters::makes,
				  " runs while the object is made and nobody else knows it");
			on_a_side("unsharing", &RaceFilters::unmakes,
				  " takes the object apart, after it was taken out of reach");
			on_a_side("initialisation-only", &RaceFilters::initialises,
				  " runs in init code only");
			same_entry_point();
			conditional_locking();
			bit_lock();
			claimed_by_flag();
			different_objects();
		}
		sequence_counter();
	}

private:
	using Test = bool (RaceFilters::*)(const Race &, bool second) const;

	const MemoryAccess &access(const Race &race, bool second) const
	{
		return model_.accesses[second ? race.second : race.first];
	}

	bool every_race(const std::function<bool(const Race &)> &test) const
	{
		const auto &races = finding_.race->races;
		return std::all_of(races.begin(), races.end(),
				   [&](std::size_t number) { return test(model_.races[number]); });
	}

	void add(const char *name, bool hidden, std::string why)
	{
		finding_.filters.push_back({name, hidden, std::move(why)});
	}

	/* The side is identified by its function: which side is first differs between races. */
	void on_a_side(const char *name, Test test, const char *what)
	{
		for (const auto &side : finding_.race->sides) {
			const auto &place = model_[model_.accesses[side.access].at];
			const std::string function = function_key(place);
			if (!every_race([&](const Race &race) {
				    for (bool second : {false, true})
					    if (function_key(model_[access(race, second).at]) ==
							function &&
						(this->*test)(race, second))
						    return true;
				    return false;
			    }))
				continue;
			add(name, false, plain_function(place.function) + what);
			return;
		}
	}

	bool object(const MemoryAccess &access) const
	{
		return access.data != kNoData && (model_[access.data].kind == LS_DATA_SLAB ||
						  model_[access.data].kind == LS_DATA_ALLOC);
	}

	std::string function(CodeId frame) const { return plain_function(model_[frame].function); }

	/* Not shared yet, according to the granule's history. */
	bool alone(const Race &race, std::size_t access) const
	{
		return std::any_of(race.history.begin(), race.history.end(),
				   [&](const auto &e) { return e.access == access && e.initial; });
	}

	bool makes(const Race &race, bool second) const
	{
		const auto &side = access(race, second);
		if (!object(side))
			return false;
		/* The allocating function has not returned yet. */
		const Data &data = model_[side.data];
		if (data.kind == LS_DATA_ALLOC)
			for (auto frame : race_stack(model_, race, second))
				if (function(frame) == plain_function(data.name))
					return true;
		return !second && alone(race, race.first) &&
		       ls_name_makes(function(side.at).c_str());
	}

	bool unmakes(const Race &race, bool second) const
	{
		const auto &side = access(race, second);
		if (!object(side))
			return false;
		const auto &stack = race_stack(model_, race, second);
		const std::size_t near = std::min<std::size_t>(stack.size(), LS_NEAR_FRAMES);
		for (std::size_t i = 0; i < near; i++)
			if (ls_name_unmakes(function(stack[i]).c_str()))
				return true;
		return false;
	}

	bool initialises(const Race &race, bool second) const
	{
		return race_context(model_, index_, race, second).init();
	}

	void same_entry_point()
	{
		std::string entry;
		if (every_race([&](const Race &race) {
			    const Context a = race_context(model_, index_, race, false),
					  b = race_context(model_, index_, race, true);
			    entry = a.describe();
			    return a.serialised() && a.kind == b.kind && !a.entry.empty() &&
				   a.entry == b.entry && a.callee == b.callee;
		    }))
			add("same-entry-point", false,
			    "both sides are " + entry + ", which one at a time runs");
	}

	/* Is a function on the stack that acquires a lock for this variable elsewhere? */
	bool left_out(const Race &race, bool second) const
	{
		const auto &side = access(race, second);
		if (!side.guards.empty())
			return false;
		for (auto number : index_.overlapping(side)) {
			const auto &other = model_.accesses[number];
			if (other.at != side.at)
				continue;
			for (const auto &guard : other.guards)
				for (auto frame : race_stack(model_, race, second))
					if (!function(frame).empty() &&
					    function_key(model_[frame]) ==
						    function_key(model_[guard.at]))
						return true;
		}
		return false;
	}

	void conditional_locking()
	{
		if (every_race([&](const Race &race) {
			    return left_out(race, false) || left_out(race, true);
		    }))
			add("conditional-locking", false,
			    "the function that takes the lock at other times chose not to here");
	}

	/*
	 * Words of the object of @side that its function changes atomically both before and
	 * behind the access: test-and-set and clear, as far as known. Probes see such
	 * instructions; compilers do not report those written in assembly.
	 */
	std::set<std::uint32_t> bracketing_words(const MemoryAccess &side) const
	{
		std::set<std::uint32_t> before, behind, words;
		const Code &place = model_[side.at];
		const std::string key = function_key(place);
		if (key.empty() || side.data == kNoData)
			return words;
		for (auto number : index_.of(side.data)) {
			const auto &other = model_.accesses[number];
			if (!(other.op & LS_ACC_ATOMIC) || !other.reads() || !other.writes() ||
			    function_key(model_[other.at]) != key)
				continue;
			const auto word = other.offset / kWordBytes;
			if (model_[other.at].offset < place.offset)
				before.insert(word);
			if (model_[other.at].offset > place.offset)
				behind.insert(word);
		}
		std::set_intersection(before.begin(), before.end(), behind.begin(), behind.end(),
				      std::inserter(words, words.end()));
		return words;
	}

	void bit_lock()
	{
		if (every_race([&](const Race &race) {
			    const auto &a = access(race, false), &b = access(race, true);
			    const auto first = bracketing_words(a), second = bracketing_words(b);
			    return a.data == b.data &&
				   std::any_of(first.begin(), first.end(),
					       [&](auto word) { return second.count(word) != 0; });
		    }))
			add("bit-lock", false,
			    "both sides lie between atomic changes of one word of the object, as a "
			    "bit that is used as a lock has them");
	}

	/* Is the same lock held exclusively in both? */
	static bool under_one_lock(const MemoryAccess &a, const MemoryAccess &b)
	{
		return std::any_of(a.guards.begin(), a.guards.end(), [&](const Guard &guard) {
			return guard.exclusive() &&
			       std::any_of(
				       b.guards.begin(), b.guards.end(), [&](const Guard &other) {
					       return other.exclusive() && other.name == guard.name;
				       });
		});
	}

	/* Is the function of @place on @stack, at an earlier address? */
	bool before(const std::vector<CodeId> &stack, const Code &place) const
	{
		const std::string function = function_key(place);
		return !function.empty() &&
		       std::any_of(stack.begin(), stack.end(), [&](CodeId frame) {
			       return function_key(model_[frame]) == function &&
				      model_[frame].offset < place.offset;
		       });
	}

	/*
	 * Words of the object whose unlocked write ends a function that is on the stack of the
	 * side: it releases there what it has claimed.
	 */
	std::set<std::uint32_t> given_back(const Race &race, bool second) const
	{
		const auto &side = access(race, second);
		std::set<std::uint32_t> words;
		for (auto number : index_.of(side.data)) {
			const auto &write = model_.accesses[number];
			if (write.writes() && write.guards.empty() && !write.overlaps(side) &&
			    before(race_stack(model_, race, second), model_[write.at]))
				words.insert(write.offset);
		}
		return words;
	}

	/* Is the word read and then written under one lock, in one function? */
	bool claimed(DataId data, std::uint32_t word) const
	{
		const auto &all = index_.of(data);
		return std::any_of(all.begin(), all.end(), [&](std::size_t number) {
			const auto &read = model_.accesses[number];
			const std::string key = function_key(model_[read.at]);
			if (read.offset != word || !read.reads() || key.empty())
				return false;
			return std::any_of(all.begin(), all.end(), [&](std::size_t other) {
				const auto &write = model_.accesses[other];
				return write.offset == word && write.writes() &&
				       function_key(model_[write.at]) == key &&
				       model_[read.at].offset <= model_[write.at].offset &&
				       under_one_lock(read, write);
			});
		});
	}

	void claimed_by_flag()
	{
		if (every_race([&](const Race &race) {
			    const auto &a = access(race, false), &b = access(race, true);
			    if (!object(a) || a.data != b.data)
				    return false;
			    const auto first = given_back(race, false),
				       second = given_back(race, true);
			    return std::any_of(first.begin(), first.end(), [&](auto word) {
				    return second.count(word) != 0 && claimed(a.data, word);
			    });
		    }))
			add("claimed-by-flag", false,
			    "both sides are within functions that give the object back by writing a "
			    "word of it, which is read and written with a lock held to claim it");
	}

	void different_objects()
	{
		std::string first, second;
		if (every_race([&](const Race &race) {
			    const auto &a = access(race, false), &b = access(race, true);
			    if (!object(a) || !object(b) || a.data == b.data)
				    return false;
			    first = model_[a.data].name;
			    second = model_[b.data].name;
			    return true;
		    }))
			add("different-objects", false,
			    "the memory was an object of " + first + " for one side and of " +
				    second + " for the other: freed in between");
	}

	void sequence_counter()
	{
		if (every_race([&](const Race &race) {
			    const auto *reader = &access(race, false),
				       *writer = &access(race, true);
			    if (reader->writes())
				    std::swap(reader, writer);
			    return !reader->writes() && (reader->where & LS_WHERE_SEQ_READ) &&
				   (writer->where & LS_WHERE_SEQ_WRITE);
		    }))
			add("sequence-counter", true,
			    "the reader checks a sequence counter that the writer counts up, and "
			    "reads again");
	}

	const Model &model_;
	const AccessIndex &index_;
	Finding &finding_;
	bool caught_ = false;
};

} // namespace

Context race_context(const Model &model, const AccessIndex &index, const Race &race, bool second)
{
	const auto &access = model.accesses[second ? race.second : race.first];
	if (race.sides[second].known)
		return context_of(model, access, race.sides[second]);
	/* Older modules only record a task's PID, and not always all of its bits. */
	Context context = context_of(model, access);
	const std::uint32_t pid = second ? race.second_pid : race.first_pid;
	if (pid && pid != context.pid && context.level == LS_TASK) {
		context.pid = pid;
		context.comm = index.comm_of(race.run, pid);
	}
	return context;
}

const std::vector<CodeId> &race_stack(const Model &model, const Race &race, bool second)
{
	const auto &own = race.sides[second].stack;
	return own.empty() ? model.accesses[second ? race.second : race.first].stack : own;
}

void apply_race_filters(const Model &model, const AccessIndex &index, Finding &finding)
{
	RaceFilters(model, index, finding).apply();
}

} // namespace lockscope
