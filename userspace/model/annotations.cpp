// SPDX-License-Identifier: GPL-2.0
#include "model/annotations.h"

#include "util/file.h"
#include "util/text.h"

#include <charconv>
#include <cstdlib>

namespace lockscope::annotations {

namespace {

constexpr std::string_view kHeader = "lockscope annotations 1";
constexpr const char *kNames[] = {"subclass", "nest-lock", "class", "held", "irq-line"};

template <typename T> bool number(std::string_view text, T &out, int base = 10)
{
	const auto [end, error] =
		std::from_chars(text.data(), text.data() + text.size(), out, base);
	return error == std::errc() && end == text.data() + text.size() && !text.empty();
}

std::string in_hex(std::uint64_t value)
{
	char text[17];
	const auto end = std::to_chars(text, text + sizeof(text), value, 16).ptr;
	return std::string(text, end);
}

class Parser {
public:
	explicit Parser(const std::string &path) : path_(path) {}

	Result<Table> run(std::string_view text)
	{
		bool ended = false;
		while (!text.empty()) {
			const auto end = text.find('\n');
			const auto line = text.substr(0, end);
			text.remove_prefix(end == text.npos ? text.size() : end + 1);
			line_++;
			if (line_ == 1) {
				if (line != kHeader)
					return wrong("it does not begin with \"" +
						     std::string(kHeader) + '"');
				continue;
			}
			if (line.empty() || line[0] == '#')
				continue;
			if (ended)
				return wrong("something stands behind its end");
			fields_ = split(line, '\t');
			const std::string &what = fields_[0];
			bool good = false;
			if (what == "release")
				good = fields_.size() == 2 && !(out_.release = fields_[1]).empty();
			else if (what == "note")
				good = note();
			else if (what == "module")
				good = module();
			else if (what == "call")
				good = call();
			else if (what == "in")
				good = in_function();
			else if (what == "end")
				good = ended = true;
			if (!good)
				return wrong("\"" + what.substr(0, 20) +
					     "\" with other fields than it has");
		}
		if (!ended)
			return wrong("it breaks off");
		if (out_.release.empty())
			return wrong("it names no release");
		return std::move(out_);
	}

private:
	Error wrong(const std::string &why) const
	{
		return Error{0,
			     path_ + ":" + std::to_string(line_) +
				     ": no table of annotations: " + why,
			     "make it again with scripts/annotations RELEASE, or remove it"};
	}

	bool note()
	{
		Note note;
		if (fields_.size() != 7)
			return false;
		std::size_t says = 0;
		while (says < std::size(kNames) && fields_[1] != kNames[says])
			says++;
		if (says == std::size(kNames) || !number(fields_[3], note.line))
			return false;
		note.says = static_cast<Says>(says);
		note.file = fields_[2];
		note.function = fields_[4];
		note.callee = fields_[5];
		note.text = fields_[6];
		out_.notes.push_back(std::move(note));
		return true;
	}

	bool module()
	{
		if (fields_.size() != 3)
			return false;
		auto [at, added] = out_.modules.try_emplace(fields_[1]);
		at->second.build_id = fields_[2];
		module_ = &at->second;
		return added;
	}

	bool call()
	{
		AnnotatedCall call;
		std::uint64_t offset = 0;
		if (fields_.size() < 5 || fields_.size() > 6 || !module_ ||
		    !number(fields_[2], offset, 16) || !number(fields_[3], call.subclass) ||
		    !number(fields_[4], call.note) || call.note >= out_.notes.size() ||
		    call.subclass < kNotConstant)
			return false;
		if (fields_.size() == 6)
			call.via = fields_[5];
		module_->calls[{fields_[1], offset}].push_back(std::move(call));
		return true;
	}

	bool in_function()
	{
		if (fields_.size() < 3 || !module_)
			return false;
		std::vector<std::uint32_t> notes;
		for (std::size_t i = 2; i < fields_.size(); i++) {
			std::uint32_t note = 0;
			if (!number(fields_[i], note) || note >= out_.notes.size())
				return false;
			notes.push_back(note);
		}
		return module_->in_function.try_emplace(fields_[1], std::move(notes)).second;
	}

	const std::string &path_;
	std::size_t line_ = 0;
	std::vector<std::string> fields_;
	Table out_;
	ModuleNotes *module_ = nullptr;
};

} // namespace

const char *name(Says says)
{
	return kNames[static_cast<std::size_t>(says)];
}

Result<Table> Table::parse(std::string_view text, const std::string &path)
{
	return Parser(path).run(text);
}

std::string Table::print() const
{
	std::string out = std::string(kHeader) + "\n# Made by scripts/annotations.\nrelease\t" +
			  release + '\n';
	for (const auto &note : notes)
		out += std::string("note\t") + name(note.says) + '\t' + note.file + '\t' +
		       std::to_string(note.line) + '\t' + note.function + '\t' + note.callee +
		       '\t' + note.text + '\n';
	for (const auto &[module, of] : modules) {
		out += "module\t" + module + '\t' + of.build_id + '\n';
		for (const auto &[place, calls] : of.calls)
			for (const auto &call : calls)
				out += "call\t" + place.first + '\t' + in_hex(place.second) + '\t' +
				       std::to_string(call.subclass) + '\t' +
				       std::to_string(call.note) +
				       (call.via.empty() ? "" : '\t' + call.via) + '\n';
		for (const auto &[function, said] : of.in_function) {
			out += "in\t" + function;
			for (auto note : said)
				out += '\t' + std::to_string(note);
			out += '\n';
		}
	}
	return out + "end\n";
}

const ModuleNotes *Table::find(const std::string &module, const std::string &build_id) const
{
	auto at = modules.find(module);
	if (at == modules.end() || at->second.build_id.empty() ||
	    build_id.substr(0, kIdDigits) != at->second.build_id)
		return nullptr;
	return &at->second;
}

const AnnotatedCall *Table::call(const std::string &module, const std::string &build_id,
				 const std::string &function, std::uint64_t offset,
				 const AnnotatedCall *inner) const
{
	const ModuleNotes *notes = find(module, build_id);
	if (!notes)
		return nullptr;
	auto at = notes->calls.find({function, offset});
	if (at == notes->calls.end())
		return nullptr;
	for (const auto &call : at->second)
		if (call.via.empty() || (inner && call.via == (*this)[*inner].text))
			return &call;
	return nullptr;
}

Result<std::shared_ptr<const Table>> find_table(const std::string &release)
{
	/* A release comes from a store: it must not be a path. */
	if (release.empty() || release.find('/') != release.npos || release[0] == '.')
		return std::shared_ptr<const Table>();
	std::vector<std::string> places;
	const char *named = std::getenv("LOCKSCOPE_ANNOTATIONS");
	if (named) {
		places.push_back(std::string(named) + '/' + release + ".txt");
	} else {
		const char *cache = std::getenv("XDG_CACHE_HOME"), *home = std::getenv("HOME");
		if (cache && *cache)
			places.push_back(std::string(cache) + "/lockscope/annotations/" + release +
					 ".txt");
		else if (home)
			places.push_back(std::string(home) + "/.cache/lockscope/annotations/" +
					 release + ".txt");
		for (const char *beside :
		     {"/../share/lockscope/annotations/", "/../../userspace/annotations/tables/"})
			places.push_back(program_dir() + beside + release + ".txt");
	}
	for (const auto &place : places) {
		if (!exists(place))
			continue;
		auto text = read_file(place);
		if (!text)
			return text.error();
		auto table = Table::parse(*text, place);
		if (!table)
			return table.error();
		return std::shared_ptr<const Table>(std::make_shared<Table>(std::move(*table)));
	}
	return std::shared_ptr<const Table>();
}

} // namespace lockscope::annotations
