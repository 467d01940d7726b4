// SPDX-License-Identifier: GPL-2.0
/*
 * Readers without the lock that the writer holds. They race, also when caught in the act;
 * these filters find those that are designed to tolerate it.
 *
 *   filter            applies when                           false negatives
 *   wait-condition    a task that is about to sleep tests:   a value that is used after
 *                     it tests again when it is woken        the wait, and has changed by then
 *   checked-again     the reader's function, or what it      what is done without a second
 *                     calls, reads it again with the lock    read on some other path
 *   lockless-read     one word, read and not written back;   a value that has to stay, or to
 *                     the writers agree on a lock, and       go with others; a pointer to what
 *                     other readers do not hold it           is freed
 *
 * The first demotes to a note, the others to a warning. Not where a value can tear, and
 * not where most other readers hold the lock: then this one is the exception.
 */
#include "analysis/races/readers.h"

#include "analysis/races/words.h"

#include <algorithm>
#include <set>

namespace lockscope {

namespace {

constexpr char kWaitCondition[] = "wait-condition";
constexpr char kCheckedAgain[] = "checked-again";
constexpr char kLocklessRead[] = "lockless-read";

/* Share of the reading functions that hold the lock, if more than one: it is expected then. */
constexpr double kMostReaders = 0.5;

/* Also by class: the relation of a lock to the object is not always found. */
bool holds(const MemoryAccess &access, const Guard &lock)
{
	return std::any_of(access.guards.begin(), access.guards.end(), [&](const Guard &guard) {
		return guard.name == lock.name || (guard.cls == lock.cls && guard.cls != kNoClass);
	});
}

bool one_line(const Code &a, const Code &b)
{
	return !a.lines.empty() && !b.lines.empty() &&
	       a.lines.front().file == b.lines.front().file &&
	       a.lines.front().line == b.lines.front().line;
}

class ReaderFilters {
public:
	ReaderFilters(const Model &model, const AccessIndex &index, Finding &finding)
		: model_(model), index_(index), finding_(finding)
	{
	}

	void apply()
	{
		bool waits = true, again = true, lockless = true;
		std::string check_lock, lock;
		for (auto number : finding_.race->races) {
			const Race &race = model_.races[number];
			const auto *reader = &model_.accesses[race.first],
				   *writer = &model_.accesses[race.second];
			if (reader->writes())
				std::swap(reader, writer);
			if (reader->writes() || !writer->writes())
				return;
			const auto all = index_.overlapping(*reader);
			waits = waits && in_wait(*reader, all);
			const Guard *checked =
				again ? lock_of_check(*reader, *writer, all) : nullptr;
			again = checked != nullptr;
			const Guard *left_out =
				lockless ? lock_left_out(*reader, *writer, all) : nullptr;
			lockless = left_out != nullptr;
			if (checked)
				check_lock = checked->name;
			if (left_out)
				lock = left_out->name;
		}
		if (waits)
			add(kWaitCondition, Severity::Note,
			    "the reader waits for it, and looks again when it is woken");
		if (again)
			add(kCheckedAgain, Severity::Warning,
			    "the reader looks again with " + check_lock + " held");
		else if (lockless && !waits)
			add(kLocklessRead, Severity::Warning,
			    "one word, which writers change with " + lock +
				    " held and readers read without");
	}

private:
	void add(const char *name, Severity most, std::string why)
	{
		finding_.filters.push_back({name, false, std::move(why), most});
	}

	/* A wait macro tests its condition twice: before it begins, and after that. */
	bool in_wait(const MemoryAccess &reader, const std::vector<std::size_t> &all) const
	{
		if (reader.where & LS_WHERE_WAITING)
			return true;
		const std::string function = function_key(model_[reader.at]);
		return !function.empty() &&
		       std::any_of(all.begin(), all.end(), [&](std::size_t number) {
			       const auto &other = model_.accesses[number];
			       return (other.where & LS_WHERE_WAITING) && !other.writes() &&
				      function_key(model_[other.at]) == function &&
				      one_line(model_[other.at], model_[reader.at]);
		       });
	}

	/*
	 * Locks that the writer holds exclusively and the reader does not hold. Innermost
	 * first: the nearest to the access is the likeliest guard.
	 */
	std::vector<const Guard *> between(const MemoryAccess &reader,
					   const MemoryAccess &writer) const
	{
		std::vector<const Guard *> out;
		for (auto guard = writer.guards.rbegin(); guard != writer.guards.rend(); ++guard)
			if (guard->exclusive() && !holds(reader, *guard))
				out.push_back(&*guard);
		return out;
	}

	/* Is the lock always held there, or never? Otherwise it depends on the callers. */
	bool always(CodeId at, const Guard &lock, bool held,
		    const std::vector<std::size_t> &all) const
	{
		return std::all_of(all.begin(), all.end(), [&](std::size_t number) {
			const auto &access = model_.accesses[number];
			return access.at != at || holds(access, lock) == held;
		});
	}

	const Guard *lock_of_check(const MemoryAccess &reader, const MemoryAccess &writer,
				   const std::vector<std::size_t> &all) const
	{
		const std::string function = function_key(model_[reader.at]);
		if (function.empty())
			return nullptr;
		for (const Guard *lock : between(reader, writer))
			for (auto number : all) {
				const auto &other = model_.accesses[number];
				if (!other.reads() || other.at == reader.at ||
				    !holds(other, *lock) || !always(other.at, *lock, true, all) ||
				    !always(reader.at, *lock, false, all))
					continue;
				if (std::any_of(other.stack.begin(), other.stack.end(),
						[&](CodeId frame) {
							return function_key(model_[frame]) ==
							       function;
						}))
					return lock;
			}
		return nullptr;
	}

	bool one_word(const MemoryAccess &a, const MemoryAccess &b) const
	{
		return a.size == b.size && a.offset == b.offset && a.size <= kWordBytes &&
		       a.size != 0 && a.offset % a.size == 0 && !((a.op | b.op) & LS_ACC_RANGE);
	}

	const Guard *lock_left_out(const MemoryAccess &reader, const MemoryAccess &writer,
				   const std::vector<std::size_t> &all) const
	{
		const std::string function = function_key(model_[reader.at]);
		if (function.empty() || !one_word(reader, writer))
			return nullptr;
		/* A reader that writes afterwards decides on a stale value. */
		for (auto number : all) {
			const auto &other = model_.accesses[number];
			if (other.writes() && function_key(model_[other.at]) == function)
				return nullptr;
		}
		for (const Guard *lock : between(reader, writer))
			if (agreed(*lock, reader, all))
				return lock;
		return nullptr;
	}

	/* Do all writers hold @lock, and most of the readers' functions not? */
	bool agreed(const Guard &lock, const MemoryAccess &reader,
		    const std::vector<std::size_t> &all) const
	{
		std::set<std::string> with, without;
		for (auto number : all) {
			const auto &access = model_.accesses[number];
			if (access.alone || in_the_making(model_, access))
				continue;
			if (access.writes()) {
				if (!holds(access, lock))
					return false;
				continue;
			}
			const std::string function = function_key(model_[access.at]);
			if (access.at != reader.at && !function.empty())
				(holds(access, lock) ? with : without).insert(function);
		}
		without.insert(function_key(model_[reader.at]));
		return with.size() < 2 ||
		       static_cast<double>(with.size()) <
			       kMostReaders * static_cast<double>(with.size() + without.size());
	}

	const Model &model_;
	const AccessIndex &index_;
	Finding &finding_;
};

} // namespace

void apply_reader_filters(const Model &model, const AccessIndex &index, Finding &finding)
{
	ReaderFilters(model, index, finding).apply();
}

bool about_harm(const Filter &filter)
{
	return filter.name == kWaitCondition || filter.name == kCheckedAgain ||
	       filter.name == kLocklessRead || filter.name == "statistics-counter" ||
	       filter.name == "last-store-wins" || filter.name == "same-constant";
}

} // namespace lockscope
