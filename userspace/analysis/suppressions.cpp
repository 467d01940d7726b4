// SPDX-License-Identifier: GPL-2.0
#include "analysis/suppressions.h"

#include "analysis/findings.h"
#include "analysis/rank.h"
#include "analysis/selection.h"
#include "util/date.h"
#include "util/text.h"

#include <algorithm>

namespace lockscope {

namespace {

constexpr const char *kHint =
	"an entry is: id=DIGITS or kind=KIND class=\"PATTERN\", then reason=\"TEXT\" and, if "
	"wanted, until=YYYY-MM-DD";

Error wrong(std::string what)
{
	return Error{0, std::move(what), kHint, Exit::Environment};
}

bool control(char c)
{
	return static_cast<unsigned char>(c) < 0x20 || c == 0x7f;
}

bool blank(char c)
{
	return c == ' ' || c == '\t';
}

/// Parses the words of one line.
class Line {
public:
	explicit Line(std::string_view text) : text_(text) {}

	bool done()
	{
		while (at_ < text_.size() && blank(text_[at_]))
			at_++;
		return at_ == text_.size() || text_[at_] == '#';
	}

	/// Up to '='.
	Result<std::string> key()
	{
		const std::size_t begin = at_;
		while (at_ < text_.size() && text_[at_] != '=' && !blank(text_[at_]))
			at_++;
		const std::string key(text_.substr(begin, at_ - begin));
		if (at_ == text_.size() || text_[at_] != '=' || key.empty())
			return wrong("\"" + key + "\" is not of the form key=value");
		at_++;
		return key;
	}

	/// A word, or text in quotes with \" and \\ in it.
	Result<std::string> value()
	{
		std::string out;
		if (at_ == text_.size() || text_[at_] != '"') {
			while (at_ < text_.size() && !blank(text_[at_]) && text_[at_] != '"')
				out += text_[at_++];
			if (at_ < text_.size() && text_[at_] == '"')
				return wrong("a quote inside a word");
			return out;
		}
		for (at_++; at_ < text_.size(); at_++) {
			if (text_[at_] == '"') {
				at_++;
				if (at_ < text_.size() && !blank(text_[at_]))
					return wrong("no blank after a closing quote");
				return out;
			}
			if (text_[at_] == '\\' && ++at_ == text_.size())
				break;
			out += text_[at_];
		}
		return wrong("a quote that does not end");
	}

private:
	std::string_view text_;
	std::size_t at_ = 0;
};

Result<Suppression> parse_line(std::string_view text)
{
	Suppression entry;
	std::vector<std::string> seen;
	if (std::any_of(text.begin(), text.end(), [](char c) { return control(c) && !blank(c); }))
		return wrong("a control character");
	for (Line line(text); !line.done();) {
		auto key = line.key();
		if (!key)
			return key.error();
		auto value = line.value();
		if (!value)
			return value.error();
		if (std::find(seen.begin(), seen.end(), *key) != seen.end())
			return wrong(*key + " is given twice");
		seen.push_back(*key);
		if (value->empty())
			return wrong(*key + " is empty");
		if (*key == "id") {
			entry.id = *value;
		} else if (*key == "kind") {
			entry.kind = parse_kind(*value);
			if (!entry.kind)
				return wrong("unknown kind " + *value);
		} else if (*key == "class") {
			entry.cls = *value;
		} else if (*key == "reason") {
			entry.reason = *value;
		} else if (*key == "until") {
			entry.until = *value;
		} else {
			return wrong("unknown key " + *key);
		}
	}
	LS_TRY_STATUS(check_suppression(entry));
	return entry;
}

std::string quoted(const std::string &text)
{
	std::string out = "\"";
	for (char c : text) {
		if (c == '"' || c == '\\')
			out += '\\';
		out += c;
	}
	return out + "\"";
}

bool matches(const Model &model, const Finding &finding, const Suppression &entry)
{
	if (!entry.id.empty())
		return finding.id == entry.id;
	return (!entry.kind || finding.kind == *entry.kind) &&
	       (entry.cls.empty() || is_about(model, finding, entry.cls));
}

} // namespace

Result<std::vector<Suppression>> parse_suppressions(std::string_view text, const std::string &name)
{
	std::vector<Suppression> out;
	const auto lines = split(text, '\n');
	for (std::size_t i = 0; i < lines.size(); i++) {
		std::string_view line = lines[i];
		if (line.ends_with('\r'))
			line.remove_suffix(1);
		if (Line(line).done())
			continue;
		auto entry = parse_line(line);
		if (!entry) {
			Error error = entry.error();
			error.what = name + ":" + std::to_string(i + 1) + ": " + error.what;
			return error;
		}
		entry->line = i + 1;
		out.push_back(std::move(*entry));
	}
	return out;
}

Status check_suppression(const Suppression &entry)
{
	if (!entry.id.empty() && !is_finding_id(entry.id))
		return wrong("id " + entry.id + " is not 16 hex digits");
	if (!entry.id.empty() && (entry.kind || !entry.cls.empty()))
		return wrong("an id names one finding: no kind or class beside it");
	if (entry.id.empty() && !entry.kind && entry.cls.empty())
		return wrong("neither id nor kind nor class");
	if (entry.reason.empty())
		return wrong("no reason");
	if (!entry.until.empty() && !is_date(entry.until))
		return wrong("until " + entry.until + " is not a date, YYYY-MM-DD");
	for (const auto *text : {&entry.reason, &entry.cls})
		if (std::any_of(text->begin(), text->end(), control))
			return wrong("a control character");
	return success();
}

std::string format_suppression(const Suppression &entry)
{
	std::string out;
	if (!entry.id.empty())
		out += "id=" + entry.id + " ";
	if (entry.kind)
		out += std::string("kind=") + name(*entry.kind) + " ";
	if (!entry.cls.empty())
		out += "class=" + quoted(entry.cls) + " ";
	out += "reason=" + quoted(entry.reason);
	return entry.until.empty() ? out : out + " until=" + entry.until;
}

std::string describe(const Suppression &entry)
{
	if (!entry.id.empty())
		return "id " + entry.id;
	const std::string kind = entry.kind ? name(*entry.kind) : "anything";
	return entry.cls.empty() ? "every " + kind : kind + " of " + entry.cls;
}

void apply_suppressions(const Model &model, Analysis &analysis,
			const std::vector<Suppression> &entries, const std::string &day)
{
	auto &report = analysis.suppressions;
	bool ranked = false;
	for (const auto &entry : entries) {
		/* Dates in this format sort as text. */
		if (!entry.until.empty() && entry.until < day) {
			report.expired.push_back(entry);
			continue;
		}
		bool used = false;
		for (auto &finding : analysis.findings) {
			if (!matches(model, finding, entry))
				continue;
			used = true;
			if (finding.suppressed())
				continue;
			finding.filters.push_back(
				{kSuppressed, true,
				 entry.reason +
					 (entry.until.empty() ? "" : ", until " + entry.until)});
			rank_finding(model, finding);
			ranked = true;
		}
		if (used)
			report.used++;
		else
			report.unused.push_back(entry);
	}
	if (ranked)
		sort_findings(analysis.findings);
}

} // namespace lockscope
