// SPDX-License-Identifier: GPL-2.0
#include "report/html/parts.h"

#include "util/text.h"
#include "util/utf8.h"

#include <sstream>

namespace lockscope::html {

std::string Fragment::text() const
{
	/* Elements without content keep their end tag: HTML ignores the slash of <p/>. */
	std::ostringstream out;
	document_.save(out, "",
		       pugi::format_raw | pugi::format_no_declaration |
			       pugi::format_no_empty_element_tags,
		       pugi::encoding_utf8);
	return out.str();
}

pugi::xml_node add(pugi::xml_node parent, const char *tag, const char *cls, std::string_view text)
{
	auto node = parent.append_child(tag);
	if (*cls)
		node.append_attribute("class") = cls;
	if (!text.empty())
		say(node, text);
	return node;
}

namespace {

std::string cleaned(std::string_view text, char separator)
{
	std::vector<std::string> parts = split(text, separator);
	for (auto &part : parts)
		part = plain_line(std::move(part));
	return join(parts, std::string_view(&separator, 1));
}

} // namespace

void say(pugi::xml_node parent, std::string_view text, bool lines)
{
	const std::string clean = lines ? cleaned(text, '\n') : plain_line(std::string(text));
	parent.append_child(pugi::node_pcdata).set_value(clean.c_str());
}

void set(pugi::xml_node node, const char *name, std::string_view value)
{
	node.append_attribute(name) = cleaned(value, '\t').c_str();
}

pugi::xml_node add_table(pugi::xml_node parent, const char *cls,
			 std::initializer_list<const char *> head)
{
	auto table = add(add(parent, "div", "scroll"), "table", cls);
	auto row = add(add(table, "thead"), "tr");
	for (const std::string_view title : head) {
		const bool number = title.starts_with('#');
		set(add(row, "th", number ? "number" : "", title.substr(number ? 1 : 0)), "scope",
		    "col");
	}
	return add(table, "tbody");
}

std::string left_out_words(std::size_t n, std::string_view noun, std::string_view command)
{
	return "No room here for " + counted(n, noun) + " more: " + std::string(command) +
	       " has them all.";
}

std::string script_safe(const std::string &json)
{
	std::string out;
	out.reserve(json.size());
	for (const char c : json)
		if (c == '<')
			out += "\\u003c";
		else
			out += c;
	return out;
}

} // namespace lockscope::html
