// SPDX-License-Identifier: GPL-2.0
// Two lists of findings compared by their ids, which are the same on every boot and build.
#pragma once

#include "analysis/findings.h"
#include "model/verdict.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <unordered_map>
#include <vector>

namespace lockscope {

/// What is compared of a finding.
struct Entry {
	std::string id = {}, kind = {}, title = {};
	Severity severity = Severity::Note;
	std::optional<Severity> unrefuted = {}; ///< of a refuted one, see verdicts.h
	Confidence confidence = Confidence::Possible;
	std::optional<VerdictResult> verdict = {};
	/// Why it is not shown: a filter that proves it harmless, or a suppression; empty: shown.
	std::string hidden = {};
	/// Locks by comparable_name(), and the variable if it has one.
	std::vector<std::string> locks = {};
	std::string variable = {};
};

/// What a run used.
struct Used {
	std::set<std::string> locks, variables; ///< acquired; accessed
};

/// The findings of a store, a report or a baseline, best rank first.
class Listing {
public:
	std::string file;
	const char *form = "store"; ///< "store", "report" or "baseline"
	std::string release;	    ///< of the kernel
	std::size_t runs = 0;
	std::uint64_t acquisitions = 0;
	std::vector<std::string> incomplete = {}; ///< why it is, one sentence each
	/// Findings that the report it comes from did not list, by --limit and the like.
	std::size_t left_out = 0;
	std::optional<Used> used = {}; ///< of a store

	/// Of two with one id the worse one is kept.
	void add(Entry entry);
	const std::vector<Entry> &entries() const { return entries_; }
	/// nullptr when there is none.
	const Entry *find(const std::string &id) const;
	/// Number of entries that are shown.
	std::size_t shown() const;

private:
	std::vector<Entry> entries_;
	std::unordered_map<std::string, std::size_t> by_id_;
};

/// The name of a lock class or a variable without an offset that the next build may change.
std::string comparable_name(const std::string &name);

/// All findings of @analysis, hidden ones included, and what its runs used.
Listing listing_of(const Model &model, const Analysis &analysis);

/// In the order in which they are listed.
enum class ChangeState { New, Worse, Gone, Better, Unchanged };
inline constexpr std::size_t kChangeStates = 5;
/// "new", "worse", "gone", "better", "unchanged"
const char *name(ChangeState state);

/// One finding in both lists, or in one of them. One that is hidden counts as not shown: shown
/// now it is worse, hidden now it is better, and not compared when it is hidden in one list and
/// missing in the other.
struct Change {
	ChangeState state = ChangeState::Unchanged;
	Entry before, now;		 ///< of one that is new, or gone, both are the same
	std::vector<std::string> what;	 ///< "severity warning, now error"
	std::size_t names = 0;		 ///< of one that is gone: its locks, and its variable
	std::optional<std::size_t> used; ///< how many of them the new runs used, if that is known
};

struct Comparison {
	std::vector<Change> changes; ///< by state, then as ranked
	std::size_t count[kChangeStates] = {};

	/// Is there something new or worse that is at least as severe as @level?
	bool any(Severity level) const;
};

/// Worse: severity or confidence rose, or a verdict confirmed it. Better: one of them fell, and
/// none rose.
Comparison compare(const Listing &old, const Listing &now);

} // namespace lockscope
