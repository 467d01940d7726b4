// SPDX-License-Identifier: GPL-2.0
// Console reports as the module prints them: the lines, and the parts of observations that they
// show. The words are those of lockclass/console_words.h and of the table of findings.
#pragma once

#include "analysis/finding.h"
#include "model/model.h"

#include <cstdint>
#include <string>
#include <vector>

namespace lockscope {

/// "WARNING: possible circular locking dependency detected"; empty: the kernel has no words.
const char *console_headline(FindingKind kind);
/// What follows "COMM/PID ".
const char *console_words(FindingKind kind);

class Console {
public:
	/// @stamped: each line begins with a time, as in a log.
	Console(const Model &model, bool stamped) : model_(model), stamped_(stamped) {}

	/// The time of the lines that follow, as printk() has it.
	void at(std::uint64_t time_ns) { time_ns_ = time_ns; }
	/// One line, in the format of printf.
	void line(const char *format, ...) __attribute__((format(printf, 2, 3)));
	void blank() { line("%s", ""); }
	/// Ruler, @warning, release of the run, line.
	void head(const std::string &warning, std::uint32_t run);
	/// "@lead(NAME){KIND}, at: PLACE"
	void lock(const std::string &lead, ClassId cls, CodeId at);
	void frames(const char *indent, const std::vector<CodeId> &stack);
	void backtrace(const std::vector<CodeId> &stack);
	/// What its task holds.
	void held(const Observation &observation);
	/// "COMM/PID @words"
	void who(const Observation &observation, FindingKind kind);
	/// The same with the lock it is about, on one line.
	void who_lock(const Observation &observation, FindingKind kind);

	/// "function+0x1d [module]"
	std::string symbol(CodeId at) const;
	/// The function alone, for headlines.
	std::string function(CodeId at) const;
	std::string name(ClassId cls) const;
	const char *kind(ClassId cls) const;
	/// Before the name, as lockdep did for completions.
	const char *prefix(ClassId cls) const;
	bool awaited(ClassId cls) const;
	bool queue(ClassId cls) const;

	std::string take() { return std::move(out_); }

private:
	const Model &model_;
	bool stamped_;
	std::uint64_t time_ns_ = 0;
	std::string out_;
};

/// Where and how @observation acquired a lock of class @cls.
Held taken_of(const Observation &observation, ClassId cls);
/// Those of Observation::held that another task holds, a bit each.
std::uint64_t owners_of(const Observation &observation);

/// A cycle, an inversion, a deadlock.
void say_order(const Model &model, const Finding &finding, Console &out);
/// A fault that one observation shows.
void say_fault(const Model &model, const Finding &finding, Console &out);
/// A data race, or another finding about accesses.
void say_accesses(const Model &model, const Finding &finding, Console &out);

} // namespace lockscope
