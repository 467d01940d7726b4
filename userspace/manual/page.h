// SPDX-License-Identifier: GPL-2.0
// A manual page in the man macros of roff. Sections stand in the order of man-pages(7),
// whatever order they are filled in.
#pragma once

#include "util/result.h"

#include <map>
#include <string>
#include <string_view>

namespace lockscope::manual {

/// Text for roff: nothing in it is taken as a request or an escape, lines are wrapped.
std::string roff(std::string_view text);
/// The same for one argument of a macro or a part of a line, not wrapped.
std::string roff_word(std::string_view text);

/// With a capital and a full stop; a name of a file or a variable keeps its first letter.
std::string sentence(std::string text);

struct PageTitle {
	std::string name, section; ///< "lockscope-report", "1"
	std::string date;	   ///< YYYY-MM-DD
};

class Page {
public:
	explicit Page(PageTitle title) : title_(std::move(title)) {}

	/// Roff source for the end of a section. @section in capitals.
	void add(const std::string &section, const std::string &source);
	bool has(const std::string &section) const { return sections_.contains(section); }

	/// Add the sections of a text, each from a line ".SH NAME" on. What comes before the
	/// first is an error, in @path. SYNOPSIS and SEE ALSO replace what there is.
	Status add_text(const std::string &text, const std::string &path);

	std::string text() const;

private:
	PageTitle title_;
	std::map<std::string, std::string> sections_;
};

} // namespace lockscope::manual
