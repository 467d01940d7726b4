// SPDX-License-Identifier: GPL-2.0
#include "annotations/evaluate.h"

#include <cctype>
#include <cstdlib>
#include <string_view>

namespace lockscope::annotations {

namespace {

constexpr int kMostNesting = 32;

class Expression {
public:
	Expression(const std::string &text, const ValueOf &value) : text_(text), value_(value) {}

	std::optional<long> whole()
	{
		auto out = binary(0, 0);
		space();
		return at_ == text_.size() ? out : std::nullopt;
	}

private:
	/// Weakest first.
	static constexpr std::string_view kOperators[] = {"|", "^", "&", "<<", ">>", "+", "-", "*"};
	static constexpr int kStrength[] = {0, 1, 2, 3, 3, 4, 4, 5};

	std::optional<long> binary(int strength, int nesting)
	{
		auto left = unary(nesting);
		while (left) {
			space();
			const auto rest = std::string_view(text_).substr(at_);
			std::size_t i = 0;
			while (i < std::size(kOperators) &&
			       (kStrength[i] < strength || !rest.starts_with(kOperators[i]) ||
				rest.substr(0, 2) == "||" || rest.substr(0, 2) == "&&"))
				i++;
			if (i == std::size(kOperators))
				return left;
			at_ += kOperators[i].size();
			auto right = binary(kStrength[i] + 1, nesting);
			if (!right)
				return right;
			left = apply(kOperators[i], *left, *right);
		}
		return left;
	}

	/* Of unsigned numbers, so that no text makes it overflow. */
	static std::optional<long> apply(std::string_view op, long a, long b)
	{
		const auto x = static_cast<unsigned long>(a), y = static_cast<unsigned long>(b);
		if (op == "<<" || op == ">>") {
			if (y > 63)
				return std::nullopt;
			return static_cast<long>(op == "<<" ? x << y : x >> y);
		}
		switch (op[0]) {
		case '|':
			return static_cast<long>(x | y);
		case '^':
			return static_cast<long>(x ^ y);
		case '&':
			return static_cast<long>(x & y);
		case '+':
			return static_cast<long>(x + y);
		case '-':
			return static_cast<long>(x - y);
		default:
			return static_cast<long>(x * y);
		}
	}

	std::optional<long> unary(int nesting)
	{
		space();
		if (at_ >= text_.size() || nesting > kMostNesting)
			return std::nullopt;
		const char c = text_[at_];
		if (c == '-' || c == '~' || c == '!' || c == '+') {
			at_++;
			auto inner = unary(nesting + 1);
			if (!inner)
				return inner;
			const auto x = static_cast<unsigned long>(*inner);
			return static_cast<long>(c == '-'   ? 0 - x
						 : c == '~' ? ~x
						 : c == '!' ? !x
							    : x);
		}
		if (c == '(') {
			at_++;
			auto inner = binary(0, nesting + 1);
			space();
			if (!inner || at_ >= text_.size() || text_[at_] != ')')
				return std::nullopt;
			at_++;
			return inner;
		}
		const auto begin = at_;
		while (at_ < text_.size() &&
		       (std::isalnum(static_cast<unsigned char>(text_[at_])) || text_[at_] == '_'))
			at_++;
		const std::string word = text_.substr(begin, at_ - begin);
		if (word.empty())
			return std::nullopt;
		if (!std::isdigit(static_cast<unsigned char>(word[0])))
			return value_(word, arguments());
		char *end = nullptr;
		const auto number = std::strtoul(word.c_str(), &end, 0);
		while (*end == 'u' || *end == 'U' || *end == 'l' || *end == 'L')
			end++;
		return *end ? std::nullopt : std::optional(static_cast<long>(number));
	}

	/// The arguments in parentheses after a name.
	std::vector<std::string> arguments()
	{
		std::vector<std::string> out;
		if (at_ >= text_.size() || text_[at_] != '(')
			return out;
		std::size_t begin = ++at_;
		for (int depth = 1; at_ < text_.size(); at_++) {
			const char c = text_[at_];
			depth += (c == '(') - (c == ')');
			if (depth != 0 && (c != ',' || depth != 1))
				continue;
			out.push_back(text_.substr(begin, at_ - begin));
			begin = at_ + 1;
			if (depth == 0) {
				at_++;
				break;
			}
		}
		return out;
	}

	void space()
	{
		while (at_ < text_.size() && text_[at_] == ' ')
			at_++;
	}

	const std::string &text_;
	const ValueOf &value_;
	std::size_t at_ = 0;
};

} // namespace

std::optional<long> evaluate(const std::string &text, const ValueOf &value)
{
	return Expression(text, value).whole();
}

} // namespace lockscope::annotations
