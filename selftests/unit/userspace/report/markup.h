// SPDX-License-Identifier: GPL-2.0
// What an HTML report may consist of, whatever the names in it are. For tests and fuzzers.
#pragma once

#include <cstddef>
#include <set>
#include <string>

namespace lockscope::test {

std::size_t count_of(const std::string &text, const std::string &part);
/// What stands between the first @from and the next @to; empty without them.
std::string between(const std::string &text, const std::string &from, const std::string &to);

/// The body, without scripts and data.
std::string body_of(const std::string &html);

/// Tags and the names of their attributes, as "@name", each once, of a body; "!", and the text
/// from there, where a tag is malformed.
std::set<std::string> markup_of(const std::string &body);

/// The first thing in the report that no name may bring about: an unknown tag or attribute, a
/// control character, a script that is not ours. Empty: there is none.
std::string foreign_markup(const std::string &html);

} // namespace lockscope::test
