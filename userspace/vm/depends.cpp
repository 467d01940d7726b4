// SPDX-License-Identifier: GPL-2.0
#include "vm/depends.h"

#include "util/modules.h"

#include <algorithm>
#include <fstream>
#include <map>
#include <sstream>

#include <fnmatch.h>

namespace fs = std::filesystem;

namespace lockscope::vm {
namespace {

// modprobe(8): dashes and underscores are the same in names and aliases.
std::string with_underscores(std::string name)
{
	std::replace(name.begin(), name.end(), '-', '_');
	return name;
}

// modprobe.d(5), softdep: words after "pre:" until "post:". Words before either are ignored,
// as kmod does.
std::vector<std::string> softdep_pre(std::istream &words)
{
	std::vector<std::string> names;
	bool pre = false;
	for (std::string word; words >> word;) {
		if (word == "pre:" || word == "post:")
			pre = word == "pre:";
		else if (pre)
			names.push_back(word);
	}
	return names;
}

// Values of all "KEY=VALUE" of .modinfo, which is a sequence of zero-terminated strings.
std::vector<std::string> modinfo(const std::string &content, const std::string &key)
{
	const std::string mark = std::string(1, '\0') + key + "=";
	std::vector<std::string> values;
	for (std::size_t at = content.find(mark); at != content.npos;
	     at = content.find(mark, at + 1))
		values.emplace_back(content.c_str() + at + mark.size());
	return values;
}

class Closure {
public:
	Closure(const fs::path &folder, const std::set<std::string> &given)
		: folder_(folder), given_(given)
	{
		for (ListedModule &module : listed_modules(folder)) {
			std::string name = module_name(module.path);
			listed_.insert_or_assign(std::move(name), std::move(module));
		}
		std::ifstream softdeps(folder / "modules.softdep");
		for (std::string line; std::getline(softdeps, line);) {
			std::istringstream words(line);
			std::string command, name;
			if (words >> command >> name && command == "softdep")
				for (std::string &pre : softdep_pre(words))
					soft_[with_underscores(name)].push_back(std::move(pre));
		}
	}

	// False when there is nothing of this name.
	bool add(const std::string &name, bool soft)
	{
		const std::string plain = with_underscores(name);
		if (given_.count(plain))
			return true;
		if (listed_.count(plain)) {
			load(plain, soft);
			return true;
		}
		const std::vector<std::string> of_alias = modules_of_alias(plain);
		for (const std::string &module : of_alias)
			load(module, true);
		return !of_alias.empty() || is_built_in(plain);
	}

	std::vector<NeededModule> ordered;

private:
	void load(const std::string &name, bool soft)
	{
		const auto found = listed_.find(name);
		if (found == listed_.end() || given_.count(name))
			return;
		// Entered before what it needs, so that a circle of soft dependencies ends.
		const auto [place, is_new] = seen_.try_emplace(name, soft);
		if (!is_new) {
			if (place->second && !soft)
				harden(found->second);
			return;
		}
		if (const auto pre = soft_.find(name); pre != soft_.end())
			for (const std::string &other : pre->second)
				add(other, true);
		const auto &needs = found->second.needs;
		for (auto need = needs.rbegin(); need != needs.rend(); ++need)
			load(module_name(*need), soft);
		ordered.push_back({folder_ / found->second.path, seen_[name]});
	}

	// A module that was only asked for is needed after all.
	void harden(const ListedModule &module)
	{
		std::vector<std::string> files = module.needs;
		files.push_back(module.path);
		for (const std::string &file : files) {
			seen_[module_name(file)] = false;
			for (NeededModule &entry : ordered)
				if (entry.path == folder_ / file)
					entry.soft = false;
		}
	}

	std::vector<std::string> modules_of_alias(const std::string &plain) const
	{
		std::vector<std::string> found;
		std::ifstream in(folder_ / "modules.alias");
		for (std::string line; std::getline(in, line);) {
			std::istringstream words(line);
			std::string command, pattern, module;
			if (words >> command >> pattern >> module && command == "alias" &&
			    fnmatch(with_underscores(pattern).c_str(), plain.c_str(), 0) == 0)
				found.push_back(with_underscores(module));
		}
		return found;
	}

	bool is_built_in(const std::string &plain) const
	{
		std::ifstream in(folder_ / "modules.builtin");
		for (std::string line; std::getline(in, line);)
			if (module_name(line) == plain)
				return true;
		return false;
	}

	fs::path folder_;
	const std::set<std::string> &given_;
	std::map<std::string, ListedModule> listed_;
	std::map<std::string, std::vector<std::string>> soft_;
	std::map<std::string, bool> seen_; // and whether it is soft
};

// File of the kernel's module that exports @symbol; empty when none does.
std::string exporter(const fs::path &folder, const std::string &symbol)
{
	std::ifstream in(folder / "modules.symbols");
	std::string command, alias, module;
	for (std::string line; std::getline(in, line);) {
		std::istringstream words(line);
		if (!(words >> command >> alias >> module) || alias != "symbol:" + symbol)
			continue;
		for (const ListedModule &listed : listed_modules(folder))
			if (module_name(listed.path) == with_underscores(module))
				return folder / listed.path;
	}
	return {};
}

// The same from the Module.symvers (CRC, symbol, module, kind) of an external module's build.
std::string external_exporter(const fs::path &folder, const std::string &symbol)
{
	std::ifstream in(folder / "Module.symvers");
	for (std::string line; std::getline(in, line);) {
		std::istringstream words(line);
		std::string crc, name, module;
		if (words >> crc >> name >> module && name == symbol) {
			const fs::path file = module + ".ko";
			return file.is_absolute() ? file : folder / file;
		}
	}
	return {};
}

} // namespace

ModuleNeeds module_needs(const std::string &ko_content)
{
	ModuleNeeds needs;
	for (const std::string &value : modinfo(ko_content, "depends")) {
		std::istringstream list(value);
		for (std::string name; std::getline(list, name, ',');)
			if (!name.empty())
				needs.hard.push_back(name);
	}
	for (const std::string &value : modinfo(ko_content, "softdep")) {
		std::istringstream words(value);
		for (std::string &name : softdep_pre(words))
			needs.soft.push_back(std::move(name));
	}
	return needs;
}

std::vector<NeededModule> module_closure(const Kernel &kernel, const ModuleNeeds &needs,
					 const std::set<std::string> &given,
					 std::vector<std::string> &missing)
{
	if (kernel.modules.empty())
		return {};
	Closure closure(kernel.modules, given);
	for (const std::string &name : needs.soft)
		closure.add(name, true);
	for (const std::string &name : needs.hard)
		if (!closure.add(name, false))
			missing.push_back(name);
	return std::move(closure.ordered);
}

std::string refusal_hint(const Kernel &kernel, const std::string &said,
			 const std::vector<fs::path> &modules)
{
	for (const char *words : {"version magic", "disagrees about version"})
		if (said.find(words) != said.npos)
			return "build the module for kernel " + kernel.release +
			       ", or name its kernel with --kernel";
	const std::string mark = "Unknown symbol ";
	const std::size_t at = said.find(mark);
	if (at == said.npos)
		return {};
	std::string symbol;
	std::istringstream(said.substr(at + mark.size())) >> symbol;
	std::string file = exporter(kernel.modules, symbol);
	for (auto module = modules.begin(); file.empty() && module != modules.end(); ++module) {
		const fs::path folder = fs::absolute(*module).parent_path();
		for (const fs::path &place : {folder, folder.parent_path()})
			if (file.empty())
				file = external_exporter(place, symbol);
	}
	if (file.empty())
		return "no module of kernel " + kernel.release + " exports " + symbol +
		       "; name the one that does with --module before this one";
	return symbol + " is exported by " + module_name(file) + ": put --module " + file +
	       " before this one";
}

} // namespace lockscope::vm
