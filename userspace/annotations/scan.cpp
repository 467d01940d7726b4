// SPDX-License-Identifier: GPL-2.0
#include "annotations/scan.h"

#include <algorithm>
#include <cctype>

namespace lockscope::annotations {

namespace {

enum class Kind { Identifier, Number, Punctuation, Text, Directive, End };

struct Token {
	Kind kind = Kind::End;
	std::string_view text;
	std::uint32_t line = 1, column = 1;
};

bool begins_name(char c)
{
	return std::isalpha(static_cast<unsigned char>(c)) || c == '_';
}
bool in_name(char c)
{
	return std::isalnum(static_cast<unsigned char>(c)) || c == '_';
}

class Lexer {
public:
	explicit Lexer(std::string_view text, std::uint32_t line = 1, std::uint32_t column = 1)
		: text_(text), line_(line), column_(column)
	{
	}

	/// @directives: a # at the begin of a line is a directive up to its end.
	Token next(bool directives)
	{
		skip_space();
		Token token{Kind::End, {}, line_, column_};
		if (at_ >= text_.size())
			return token;
		const std::size_t begin = at_;
		const char c = text_[at_];
		if (c == '#' && fresh_ && directives) {
			token.kind = Kind::Directive;
			while (at_ < text_.size() && text_[at_] != '\n') {
				if (comment())
					continue;
				if (spliced())
					step();
				step();
			}
		} else if (begins_name(c)) {
			token.kind = Kind::Identifier;
			while (at_ < text_.size() && in_name(text_[at_]))
				step();
		} else if (std::isdigit(static_cast<unsigned char>(c))) {
			token.kind = Kind::Number;
			while (at_ < text_.size() && (in_name(text_[at_]) || text_[at_] == '.'))
				step();
		} else if (c == '"' || c == '\'') {
			token.kind = Kind::Text;
			step();
			while (at_ < text_.size() && text_[at_] != c && text_[at_] != '\n') {
				if (text_[at_] == '\\')
					step();
				step();
			}
			step();
		} else {
			token.kind = Kind::Punctuation;
			const std::string_view two = text_.substr(at_, 2);
			const bool pair = two == "->" || two == "<<" || two == ">>" ||
					  two == "##" || two == "&&" || two == "||" || two == "==";
			step();
			if (pair)
				step();
		}
		fresh_ = false;
		token.text = text_.substr(begin, at_ - begin);
		return token;
	}

private:
	void step()
	{
		if (at_ >= text_.size())
			return;
		if (text_[at_++] == '\n') {
			line_++;
			column_ = 1;
			fresh_ = true;
		} else {
			column_++;
		}
	}

	bool spliced() const { return text_.substr(at_, 2) == "\\\n"; }

	bool comment()
	{
		const auto two = text_.substr(at_, 2);
		if (two == "/*") {
			const auto end = text_.find("*/", at_ + 2);
			const auto stop = end == text_.npos ? text_.size() : end + 2;
			const bool fresh = fresh_;
			while (at_ < stop)
				step();
			fresh_ = fresh;
			return true;
		}
		if (two == "//") {
			while (at_ < text_.size() && text_[at_] != '\n')
				step();
			return true;
		}
		return false;
	}

	void skip_space()
	{
		while (at_ < text_.size()) {
			if (std::isspace(static_cast<unsigned char>(text_[at_]))) {
				step();
			} else if (spliced()) {
				step();
				step();
			} else if (!comment()) {
				return;
			}
		}
	}

	std::string_view text_;
	std::size_t at_ = 0;
	std::uint32_t line_, column_;
	bool fresh_ = true; ///< no token on this line yet
};

bool keyword(std::string_view name)
{
	static const std::string_view known[] = {"if",	   "for",    "while",	      "switch",
						 "return", "sizeof", "__attribute__", "defined",
						 "typeof", "do",     "else"};
	return std::find(std::begin(known), std::end(known), name) != std::end(known);
}

void append(std::string &out, const Token &token)
{
	if (!out.empty() && in_name(out.back()) && in_name(token.text.front()))
		out += ' ';
	out += token.text;
}

using Tokens = std::vector<Token>;

/// Index after the parenthesis that closes the one at @open; collects the arguments.
std::size_t arguments_of(const Tokens &tokens, std::size_t open, std::vector<std::string> &out)
{
	int depth = 0;
	std::string text;
	std::size_t i = open;
	for (; i < tokens.size(); i++) {
		const auto &token = tokens[i];
		const bool single = token.kind == Kind::Punctuation && token.text.size() == 1;
		const char c = single ? token.text[0] : 0;
		if (c == '(' || c == '[' || c == '{') {
			if (depth++ == 0)
				continue;
		} else if (c == ')' || c == ']' || c == '}') {
			if (--depth == 0)
				break;
		} else if (c == ',' && depth == 1) {
			out.push_back(text);
			text.clear();
			continue;
		}
		append(text, token);
	}
	if (!out.empty() || !text.empty())
		out.push_back(text);
	return i;
}

bool is(const Token &token, char c)
{
	return token.kind == Kind::Punctuation && token.text.size() == 1 && token.text[0] == c;
}

void find_calls(const Tokens &tokens, std::size_t begin, std::size_t end,
		const std::function<bool(std::string_view)> &wanted, std::vector<Call> &out)
{
	for (std::size_t i = begin; i + 1 < end; i++) {
		if (tokens[i].kind != Kind::Identifier || !is(tokens[i + 1], '(') ||
		    !wanted(tokens[i].text))
			continue;
		if (i > begin && (tokens[i - 1].text == "->" || is(tokens[i - 1], '.')))
			continue; /* access to a member of that name */
		Call call{std::string(tokens[i].text), tokens[i].line, tokens[i].column, 0, {}};
		const std::size_t close = arguments_of(tokens, i + 1, call.arguments);
		call.last_line = tokens[std::min(close, tokens.size() - 1)].line;
		out.push_back(std::move(call));
	}
}

/// The last identifier of a declaration: "int subclass", "struct foo *a[]".
std::string parameter_name(const std::string &text)
{
	auto end = text.size();
	if (auto array = text.find('['); array != text.npos)
		end = array;
	if (auto pointer = text.find("(*"); pointer != text.npos)
		end = text.find(')', pointer) == text.npos ? end : text.find(')', pointer);
	while (end > 0 && !in_name(text[end - 1]))
		end--;
	auto begin = end;
	while (begin > 0 && in_name(text[begin - 1]))
		begin--;
	return text.substr(begin, end - begin);
}

class Scanner {
public:
	Scanner(std::string_view text, const std::function<bool(std::string_view)> &wanted)
		: wanted_(wanted), lexer_(text)
	{
	}

	FileContent run()
	{
		for (;;) {
			Token token = lexer_.next(true);
			if (token.kind == Kind::End)
				break;
			if (token.kind == Kind::Directive) {
				directive(token);
				continue;
			}
			/* Each branch of an #if may open a brace; a function ends with a brace
			 * in the first column. */
			if (is(token, '}') && token.column == 1) {
				end_block(token);
				continue;
			}
			tokens_.push_back(token);
			if (is(token, '{')) {
				if (depth_++ == 0)
					open_ = tokens_.size() - 1;
			} else if (is(token, '}')) {
				if (depth_ > 0 && --depth_ == 0) {
					tokens_.pop_back();
					end_block(token);
				}
			} else if (is(token, ';') && depth_ == 0) {
				end_statement();
			}
		}
		return std::move(out_);
	}

private:
	/// The first name with parentheses on the outermost level is the function's, except
	/// for attributes such as __printf(1, 2) in front of it. Nothing for a struct.
	bool head(std::size_t end, Definition &found, std::size_t &open)
	{
		int depth = 0;
		bool any = false, attribute = false;
		for (std::size_t i = 0; i < end; i++) {
			if (is(tokens_[i], '=') && depth == 0)
				return false;
			if (is(tokens_[i], '(') && depth++ == 0 && i > 0 &&
			    tokens_[i - 1].kind == Kind::Identifier &&
			    !keyword(tokens_[i - 1].text)) {
				const bool now = tokens_[i - 1].text.starts_with("__");
				if (any && (!attribute || now))
					continue;
				found.name = tokens_[i - 1].text;
				found.line = tokens_[i - 1].line;
				open = i;
				any = true;
				attribute = now;
			} else if (is(tokens_[i], ')')) {
				depth--;
			}
		}
		if (!any)
			return false;
		for (std::size_t i = 0; i + 1 < open; i++)
			found.is_static |= tokens_[i].text == "static";
		return true;
	}

	void parameters(std::size_t open, Definition &found)
	{
		std::vector<std::string> declared;
		arguments_of(tokens_, open, declared);
		for (const auto &text : declared)
			found.parameters.push_back(parameter_name(text));
	}

	void end_block(const Token &close)
	{
		depth_ = 0;
		Definition found;
		std::size_t open = 0;
		if (open_ < tokens_.size() && head(open_, found, open)) {
			found.body = true;
			found.last_line = close.line;
			find_calls(tokens_, open_, tokens_.size(), wanted_, found.calls);
			if (!found.calls.empty() || wanted_(found.name)) {
				parameters(open, found);
				out_.definitions.push_back(std::move(found));
			}
			tokens_.clear();
		} else {
			enumerators();
			/* "struct foo { ... } name;" ends with the semicolon. */
			tokens_.clear();
		}
		open_ = kNone;
	}

	void end_statement()
	{
		Definition found;
		std::size_t open = 0;
		if (head(tokens_.size(), found, open) && wanted_(found.name)) {
			parameters(open, found);
			found.last_line = tokens_.back().line;
			out_.definitions.push_back(std::move(found));
		}
		tokens_.clear();
	}

	void enumerators()
	{
		if (open_ >= tokens_.size() || open_ == 0)
			return;
		const bool is_enum = tokens_[0].text == "enum" ||
				     (open_ >= 1 && tokens_[open_ - 1].text == "enum") ||
				     (open_ >= 2 && tokens_[open_ - 2].text == "enum");
		if (!is_enum)
			return;
		std::string after;
		for (std::size_t i = open_ + 1; i < tokens_.size();) {
			if (tokens_[i].kind != Kind::Identifier) {
				i++;
				continue;
			}
			Constant constant{std::string(tokens_[i].text), {}, after, {}};
			int depth = 0;
			bool value = false;
			for (i++; i < tokens_.size(); i++) {
				if (is(tokens_[i], '('))
					depth++;
				else if (is(tokens_[i], ')'))
					depth--;
				else if (is(tokens_[i], ',') && depth == 0)
					break;
				if (value)
					append(constant.text, tokens_[i]);
				value |= is(tokens_[i], '=') && depth == 0;
			}
			after = constant.name;
			out_.constants.push_back(std::move(constant));
		}
	}

	void directive(const Token &line)
	{
		Lexer lexer(line.text.substr(1), line.line, line.column + 1);
		Token word = lexer.next(false);
		if (word.text != "define")
			return;
		const Token name = lexer.next(false);
		if (name.kind != Kind::Identifier)
			return;
		const char *after = name.text.data() + name.text.size();
		const bool arguments = after < line.text.data() + line.text.size() && *after == '(';
		Tokens tokens;
		for (Token token = lexer.next(false); token.kind != Kind::End;
		     token = lexer.next(false))
			tokens.push_back(token);
		if (!arguments) {
			constant(name, tokens, 0, {});
			return;
		}
		Definition found;
		found.name = name.text;
		found.line = name.line;
		found.macro = found.body = true;
		const std::size_t close = arguments_of(tokens, 0, found.parameters);
		find_calls(tokens, std::min(close + 1, tokens.size()), tokens.size(), wanted_,
			   found.calls);
		found.last_line = tokens.empty() ? name.line : tokens.back().line;
		constant(name, tokens, close + 1, found.parameters);
		if (!found.calls.empty() || wanted_(found.name))
			out_.definitions.push_back(std::move(found));
	}

	void constant(const Token &name, const Tokens &tokens, std::size_t from,
		      const std::vector<std::string> &parameters)
	{
		Constant constant{std::string(name.text), {}, {}, parameters};
		for (std::size_t i = from; i < tokens.size(); i++) {
			append(constant.text, tokens[i]);
			if (constant.text.size() > kLongestConstant)
				return;
		}
		if (!constant.text.empty())
			out_.constants.push_back(std::move(constant));
	}

	static constexpr std::size_t kLongestConstant = 80;
	static constexpr std::size_t kNone = ~std::size_t{0};
	const std::function<bool(std::string_view)> &wanted_;
	Lexer lexer_;
	Tokens tokens_;
	std::size_t open_ = kNone;
	int depth_ = 0;
	FileContent out_;
};

} // namespace

FileContent scan(std::string_view text, const std::function<bool(std::string_view)> &wanted)
{
	return Scanner(text, wanted).run();
}

std::string substitute(const std::string &text, const std::vector<std::string> &parameters,
		       const std::vector<std::string> &arguments)
{
	std::string out;
	for (std::size_t i = 0; i < text.size();) {
		if (!begins_name(text[i])) {
			/* The letters in "1u" and "0x1f" are no identifiers. */
			const bool digit = in_name(text[i]);
			do
				out += text[i++];
			while (digit && i < text.size() && in_name(text[i]));
			continue;
		}
		auto end = i;
		while (end < text.size() && in_name(text[end]))
			end++;
		const std::string name = text.substr(i, end - i);
		const bool member = (i >= 1 && text[i - 1] == '.') ||
				    (i >= 2 && text.compare(i - 2, 2, "->") == 0);
		auto at = std::find(parameters.begin(), parameters.end(), name);
		const auto n = static_cast<std::size_t>(at - parameters.begin());
		if (member || at == parameters.end() || n >= arguments.size()) {
			out += name;
		} else if (std::all_of(arguments[n].begin(), arguments[n].end(), in_name) ||
			   (i == 0 && end == text.size())) {
			out += arguments[n];
		} else {
			out += '(' + arguments[n] + ')';
		}
		i = end;
	}
	return out;
}

bool mentions(const std::string &text, const std::vector<std::string> &names)
{
	static const std::string mark = "\1";
	const std::vector<std::string> marks(names.size(), mark);
	return substitute(text, names, marks).find(mark[0]) != text.npos;
}

} // namespace lockscope::annotations
