// SPDX-License-Identifier: GPL-2.0
// What authors said about locks, by place in the code of one kernel release. Made by
// scripts/annotations; the format stands in docs/annotations.md.
#pragma once

#include "util/result.h"

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <tuple>
#include <unordered_map>
#include <vector>

namespace lockscope::annotations {

/// Types of annotations.
enum class Says : std::uint8_t {
	Subclass, ///< acquired with that subclass: *_nested()
	NestLock, ///< a held lock orders it: *_nest_lock()
	Class,	  ///< lockdep_set_class() and its like
	Held,	  ///< lockdep_assert_held() and its like
	IrqLine,  ///< one interrupt line is disabled: disable_irq_nosync_lockdep()
};
const char *name(Says says);

/// An annotation in the source.
struct Note {
	Says says = Says::Subclass;
	std::string callee;   ///< "inode_lock_nested"
	std::string text;     ///< subclass, nest lock or lock, as written
	std::string function; ///< in the source
	std::string file;
	std::uint32_t line = 0;
	bool operator==(const Note &) const = default;
};

inline constexpr long kNotConstant = -1;

/// An annotated call in the binary.
struct AnnotatedCall {
	std::uint32_t note = 0;	      ///< in Table::notes
	long subclass = kNotConstant; ///< of Says::Subclass
	/// For a function that acquires several locks: the text of its note that this is
	/// about. Else empty.
	std::string via;
	bool operator==(const AnnotatedCall &) const = default;
};

/// Digits of a build id in the table.
inline constexpr std::size_t kIdDigits = 12;

/// Without calls and functions: a module without annotations.
struct ModuleNotes {
	std::string build_id; ///< its first digits
	/// By function and offset of the return address.
	std::map<std::pair<std::string, std::uint64_t>, std::vector<AnnotatedCall>> calls;
	/// Annotations in a function or in those inlined into it.
	std::map<std::string, std::vector<std::uint32_t>> in_function;
};

struct Table {
	std::string release;
	std::vector<Note> notes;
	std::map<std::string, ModuleNotes> modules;

	/// @path names the text in errors.
	static Result<Table> parse(std::string_view text, const std::string &path);
	std::string print() const;

	/// Notes of the module with that build id; null for another build.
	const ModuleNotes *find(const std::string &module, const std::string &build_id) const;
	/// The annotation of the call that returns to @function + @offset, about the lock that
	/// @inner in the called function is about. Null if there is none.
	const AnnotatedCall *call(const std::string &module, const std::string &build_id,
				  const std::string &function, std::uint64_t offset,
				  const AnnotatedCall *inner = nullptr) const;
	const Note &operator[](const AnnotatedCall &call) const { return notes[call.note]; }
};

/// The table of a release: in $LOCKSCOPE_ANNOTATIONS, next to the programs, or in the cache.
/// Null if there is none.
Result<std::shared_ptr<const Table>> find_table(const std::string &release);

} // namespace lockscope::annotations
