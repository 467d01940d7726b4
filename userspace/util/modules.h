// SPDX-License-Identifier: GPL-2.0
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace lockscope {

/// Name in the kernel, which has underscores, of the module in file @path: "snd_pcm" of
/// ".../snd-pcm.ko", and of ".ko.xz" and ".ko.debug". Empty for other files.
std::string module_name(const std::filesystem::path &path);

/// Letters, digits and underscores.
bool is_module_name(const std::string &name);

/// A line of depmod's list: files relative to the folder of the release.
struct ListedModule {
	std::string path;
	std::vector<std::string> needs; ///< all modules it needs, the deepest dependency last
};

/// What modules.dep in @folder lists; empty without one.
std::vector<ListedModule> listed_modules(const std::filesystem::path &folder);

} // namespace lockscope
