// SPDX-License-Identifier: GPL-2.0
#include "report/markup.h"

#include "report/html_assets.h"

namespace lockscope::test {

namespace {

const std::set<std::string> kAllowedTags = {
	"a",	 "article", "b",   "code", "details", "div",   "figcaption", "figure",
	"h1",	 "h2",	    "h3",  "h4",   "header",  "li",    "main",	     "nav",
	"ol",	 "p",	    "pre", "rect", "section", "span",  "summary",    "svg",
	"table", "tbody",   "td",  "th",   "thead",   "title", "tr",	     "ul"};
const std::set<std::string> kAllowedAttributes = {
	"aria-label", "class", "data-kind", "data-modules", "data-severity", "data-value", "height",
	"href",	      "id",    "open",	    "role",	    "scope",	     "viewBox",	   "width",
	"x",	      "y"};

bool allowed(const std::string &name)
{
	if (name[0] == '@')
		return kAllowedAttributes.contains(name.substr(1));
	return kAllowedTags.contains(name[0] == '/' ? name.substr(1) : name);
}

} // namespace

std::size_t count_of(const std::string &text, const std::string &part)
{
	std::size_t n = 0;
	for (auto at = text.find(part); at != text.npos; at = text.find(part, at + part.size()))
		n++;
	return n;
}

std::string between(const std::string &text, const std::string &from, const std::string &to)
{
	const auto begin = text.find(from);
	if (begin == text.npos)
		return {};
	const auto end = text.find(to, begin + from.size());
	return text.substr(begin + from.size(), end - begin - from.size());
}

std::string body_of(const std::string &html)
{
	return between(html, "<body>", "<script");
}

std::set<std::string> markup_of(const std::string &body)
{
	std::set<std::string> out;
	for (auto at = body.find('<'); at != body.npos; at = body.find('<', at)) {
		auto end = body.find_first_of(" >", at);
		if (end == body.npos || end == at + 1)
			return {"!" + body.substr(at, 200)};
		out.insert(body.substr(at + 1, end - at - 1));
		while (body[end] == ' ') {
			const auto equals = body.find("=\"", end);
			if (equals == body.npos)
				return {"!" + body.substr(at, 200)};
			out.insert("@" + body.substr(end + 1, equals - end - 1));
			/* A quote within the value is escaped. */
			end = body.find('"', equals + 2);
			if (end++ == body.npos || end == body.size())
				return {"!" + body.substr(at, 200)};
		}
		if (body[end] != '>')
			return {"!" + body.substr(at, 200)};
		at = end;
	}
	return out;
}

std::string foreign_markup(const std::string &html)
{
	const std::string body = body_of(html);
	if (body.empty())
		return "no body";
	for (const auto &name : markup_of(body))
		if (!allowed(name))
			return name;
	for (const char c : body)
		if (static_cast<unsigned char>(c) < 0x20 && c != '\n')
			return "control character " + std::to_string(int{c});
	/* Our own scripts, the data, and nothing else. */
	const std::size_t scripts = html::kLibrary.empty() ? 2 : 3;
	for (const char *tag : {"<script", "</script"})
		if (count_of(html, tag) != scripts)
			return std::to_string(count_of(html, tag)) + " of " + tag;
	return {};
}

} // namespace lockscope::test
