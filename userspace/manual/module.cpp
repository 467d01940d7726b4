// SPDX-License-Identifier: GPL-2.0
#include "manual/module.h"

#include "util/file.h"

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <regex>
#include <sstream>

namespace fs = std::filesystem;

namespace lockscope::manual {

namespace {

/// The value that a variable begins with; a zero is not written down in C.
std::string initial_value(const std::string &variable, const std::string &type,
			  const std::string &all)
{
	const std::string assigned = variable + " = ";
	for (auto at = all.find(assigned); at != all.npos; at = all.find(assigned, at + 1)) {
		/* Assignments within functions are indented; a definition has its type before. */
		const auto line = at ? all.rfind('\n', at - 1) : all.npos;
		const auto begin = line == all.npos ? 0 : line + 1;
		if (all[begin] == '\t' || at == begin || std::isalnum(all[at - 1]) ||
		    all[at - 1] == '_')
			continue;
		std::string value = all.substr(at + assigned.size());
		value.resize(std::min(value.find_first_of(";,\n"), value.size()));
		std::erase(value, '"');
		return type != "bool" ? value : value == "true" ? "1" : "0";
	}
	return type == "charp" ? "none" : "0";
}

/// One text of all sources below @folder, in a fixed order; empty when there is none.
std::string all_sources(const fs::path &folder)
{
	std::vector<std::string> paths;
	std::error_code ignored;
	for (auto at = fs::recursive_directory_iterator(folder, ignored);
	     at != fs::recursive_directory_iterator(); at.increment(ignored))
		if (at->path().extension() == ".c")
			paths.push_back(at->path());
	std::sort(paths.begin(), paths.end());
	std::string out;
	for (const auto &path : paths)
		if (auto text = read_file(path))
			out += *text + "\n";
	return out;
}

} // namespace

Result<std::vector<ModuleParameter>> module_parameters(const std::string &source,
						       const std::string &all)
{
	static const std::regex declared(
		R"(module_param(_named)?\((\w+), (?:(\w+), )?(\w+), 0([0-7]{3})\);)");
	std::vector<ModuleParameter> out;
	std::istringstream in(source);
	std::string line;
	while (std::getline(in, line)) {
		std::smatch match;
		if (!line.starts_with("module_param") || !std::regex_match(line, match, declared))
			continue;
		const std::string name = match[2], type = match[4];
		const std::string head = "MODULE_PARM_DESC(" + name + ", \"";
		const auto about = source.find(head);
		const auto end =
			about == source.npos ? about : source.find('"', about + head.size());
		if (end == source.npos)
			return usage_error("the module's parameter " + name + " is not described",
					   "add MODULE_PARM_DESC(" + name + ", \"...\")");
		const std::string variable = match[1].length() ? match[3].str() : name;
		out.push_back(
			{name, type, source.substr(about + head.size(), end - about - head.size()),
			 initial_value(variable, type, all), (match[5].str()[0] - '0') % 4 >= 2});
	}
	return out;
}

std::vector<std::string> debugfs_files(const std::string &source)
{
	const std::string head = "debugfs_create_file(\"";
	std::vector<std::string> out;
	for (auto at = source.find(head); at != source.npos; at = source.find(head, at + 1)) {
		const auto begin = at + head.size();
		out.push_back(source.substr(begin, source.find('"', begin) - begin));
	}
	return out;
}

Result<Page> module_page(const std::string &folder, const std::string &text, const PageTitle &title)
{
	Page page(title);
	const std::string all = all_sources(folder);
	auto parameters = module_parameters(all, all);
	if (!parameters)
		return parameters.error();
	if (parameters->empty())
		return usage_error("no parameters of the module in " + folder,
				   "name the folder kmod/");
	for (const auto &parameter : *parameters) {
		std::string about = sentence(parameter.about);
		if (about.find("default") == std::string::npos)
			about += " Default: " + parameter.standard + ".";
		if (parameter.writable)
			about += " May be changed while the module is loaded.";
		page.add("PARAMETERS", ".TP\n\\fB" + roff_word(parameter.name) + "\\fR (" +
					       parameter.type + ")\n" + roff(about));
	}
	for (const auto &file : debugfs_files(all))
		if (text.find("\n.I " + file + "\n") == std::string::npos)
			return usage_error("lockscope.4 does not describe " + file + " of debugfs",
					   "add it to its section FILES, after .TP and .I " + file);
	if (auto status = page.add_text(text, "lockscope.4"); !status)
		return status.error();
	return page;
}

} // namespace lockscope::manual
