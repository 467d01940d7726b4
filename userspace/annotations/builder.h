// SPDX-License-Identifier: GPL-2.0
// Builds a table: annotations in the source, mapped to code by debug information.
#pragma once

#include "annotations/binary.h"
#include "annotations/source.h"
#include "model/annotations.h"

#include <map>
#include <string>
#include <vector>

namespace lockscope::annotations {

/// Result for an annotation in the source.
enum class Fate : std::uint8_t {
	InTable,
	Plain,	     ///< subclass 0, which is the default without an entry
	CompiledOut, ///< its function has no code: an #if, a macro or an unused function
	NoCall,	     ///< its function has code, but no such call in it
	Ambiguous,   ///< two functions of one name have calls at that offset
};
inline constexpr int kFates = 5;

class Builder {
public:
	explicit Builder(const SourceTree &source);

	/// Continue from @table. Before the first add().
	void start(Table table) { table_ = std::move(table); }
	/// Add the vmlinux first: modules call its functions. Entries for another build of the
	/// module are discarded.
	void add(const std::string &module, Binary &binary);

	Table take(const std::string &release);
	Fate fate(std::size_t site) const { return fates_[site]; }
	/// Places in the code, for listing: "module function+0x12 subclass 1".
	const std::vector<std::string> &places(std::size_t site) const { return places_[site]; }

private:
	struct Meaning {
		const Site *site = nullptr; ///< the outermost, where the value is
		std::string text;
		std::string via;		 ///< which of several annotations of the callee
		std::vector<std::size_t> passed; ///< all sites on the path
	};
	bool resolve(const CodeCall &call, Meaning &out) const;
	std::vector<Meaning> meanings(const CodeCall &call) const;
	std::uint32_t note_of(const Site &site, const std::string &text);
	void add_call(const std::string &module, ModuleNotes &to, const CodeCall &call,
		      const Meaning &meaning);
	void doubt_merged();
	void raise(std::size_t site, Fate fate, const std::string &place);

	const SourceTree &source_;
	Table table_;
	std::map<std::string, std::uint32_t> known_notes_;
	std::vector<Fate> fates_;
	std::vector<std::vector<std::string>> places_;
	std::set<std::string> targets_;
};

} // namespace lockscope::annotations
