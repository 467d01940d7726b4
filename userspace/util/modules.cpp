// SPDX-License-Identifier: GPL-2.0
#include "util/modules.h"

#include <algorithm>
#include <cctype>
#include <fstream>
#include <sstream>

namespace lockscope {

std::string module_name(const std::filesystem::path &path)
{
	std::string name = path.filename().string();
	const auto end = name.find(".ko");
	if (end == name.npos || (end + 3 != name.size() && name[end + 3] != '.'))
		return {};
	name.resize(end);
	std::replace(name.begin(), name.end(), '-', '_');
	return name;
}

bool is_module_name(const std::string &name)
{
	return !name.empty() && std::all_of(name.begin(), name.end(), [](unsigned char c) {
		return c == '_' || (c < 0x80 && std::isalnum(c));
	});
}

std::vector<ListedModule> listed_modules(const std::filesystem::path &folder)
{
	std::vector<ListedModule> all;
	std::ifstream in(folder / "modules.dep");
	for (std::string line; std::getline(in, line);) {
		const auto colon = line.find(':');
		if (colon == line.npos)
			continue;
		ListedModule module{line.substr(0, colon), {}};
		std::istringstream rest(line.substr(colon + 1));
		for (std::string needed; rest >> needed;)
			module.needs.push_back(needed);
		all.push_back(std::move(module));
	}
	return all;
}

} // namespace lockscope
