// SPDX-License-Identifier: GPL-2.0
// Sections of an HTML report, and how their elements are made.
#pragma once

#include "report/html/html.h"

#include "analysis/orders/lockgraph.h"

#include <pugixml.hpp>

#include <cstddef>
#include <functional>
#include <string>
#include <string_view>

namespace lockscope {
struct ModuleReport;
} // namespace lockscope

namespace lockscope::html {

/*
 * Bytes for each part; the graph's data has what they leave of kMostHtmlBytes: with style, scripts
 * and the library that draws it at least 800,000 bytes, some 9,500 orders.
 */
inline constexpr std::size_t kCardBytes = 850000;  ///< findings in full
inline constexpr std::size_t kBriefBytes = 250000; ///< findings by title, where those are full
inline constexpr std::size_t kOrderBytes = 60000;  ///< orders of findings as a table
inline constexpr std::size_t kRuleBytes = 220000;
inline constexpr std::size_t kStatBytes = 200000;
inline constexpr std::size_t kModuleBytes = 50000;

/// Room for rows or cards. Those that do not fit are counted; after several in a row no further
/// ones need be made.
class Room {
public:
	explicit Room(std::size_t bytes) : bytes_(bytes) {}

	/// Does a text of @size bytes fit? Then it has its place.
	bool take(std::size_t size)
	{
		if (size > bytes_) {
			misses_++;
			left_out_++;
			return false;
		}
		bytes_ -= size;
		misses_ = 0;
		return true;
	}
	/// Is there hope for another one? If not it is counted.
	bool open()
	{
		const bool hope = misses_ < kMostMisses;
		left_out_ += !hope;
		return hope;
	}
	std::size_t bytes() const { return bytes_; }
	std::size_t left_out() const { return left_out_; }

private:
	static constexpr std::size_t kMostMisses = 100;
	std::size_t bytes_, misses_ = 0, left_out_ = 0;
};

/// Elements that become text. pugixml escapes what has a meaning.
class Fragment {
public:
	pugi::xml_node root() { return document_; }
	std::string text() const;

private:
	pugi::xml_document document_;
};

/// A new last element of @parent; @cls is its class attribute, @text its content.
pugi::xml_node add(pugi::xml_node parent, const char *tag, const char *cls = "",
		   std::string_view text = {});
/// Appends @text: control characters and what is no UTF-8 replaced, but for line feeds where
/// @lines.
void say(pugi::xml_node parent, std::string_view text, bool lines = false);
/// Sets an attribute, cleaned in the same way; tabs may separate its parts.
void set(pugi::xml_node node, const char *name, std::string_view value);
/// A table in a box that scrolls by itself; its body. Titles that begin with # are of numbers.
pugi::xml_node add_table(pugi::xml_node parent, const char *cls,
			 std::initializer_list<const char *> head);
/// What stands before a table that has no room for all of its rows.
std::string left_out_words(std::size_t n, std::string_view noun, std::string_view command);

/// As content of <script type="application/json">, which no name in it can end.
std::string script_safe(const std::string &json);

/// What is known and unknown about the runs; @first: they are incomplete.
std::string run_section(const Model &model, const Analysis &analysis, bool first);
std::string findings_section(const Model &model, const Analysis &analysis,
			     const ReportOptions &options);
/// The table of the graph's bad edges; its data is JSON for the script.
std::string graph_section(const Model &model, const LockGraph &graph, const Analysis &analysis,
			  const ReportOptions &options);
/// Its data in at most @room bytes, orders of findings first; @part: not null, only of its locks.
std::string graph_json(const Model &model, const LockGraph &graph, const Analysis &analysis,
		       const ReportOptions &options, std::size_t room, const GraphPart *part);
std::string rules_section(const Model &model);
std::string stat_section(const StatReport &stat);
/// Empty where a recording was about none.
std::string modules_section(const Model &model, const std::vector<ModuleReport> &modules);

/// A card; without its body only what it is, for lack of room.
std::string full_card(const Model &model, const Finding &finding, std::size_t rank, bool open);
std::string brief_card(const Model &model, const Finding &finding, std::size_t rank);
/// Both sides of it, with stacks and locks.
void add_sides(pugi::xml_node parent, const Model &model, const Finding &finding);
/// A stack trace, innermost first; @what is said at its first frame.
void add_stack_of(pugi::xml_node parent, const Model &model, const std::vector<CodeId> &stack,
		  const std::string &what);

} // namespace lockscope::html
