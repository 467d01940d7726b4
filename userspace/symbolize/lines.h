// SPDX-License-Identifier: GPL-2.0
// Source lines and inlined functions, from debug information.
#pragma once

#include "model/model.h"
#include "symbolize/types.h"

#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace lockscope {

/// Where a guest has the modules that it was booted with, see vm/guest-init.sh.
inline constexpr const char *kGuestModules = "/run/lockscope-vm/modules";

/// Finds the files of modules and the kernel by name, checks their build id and reads their
/// debug information.
class LineFinder {
public:
	/// @dirs, folders or modules' files, are searched before the default places:
	/// out/kmod/RELEASE next to the programs, modules that a guest was booted with, what
	/// depmod has listed, below /usr/lib/debug and in /lib/modules, folders of modules from
	/// elsewhere there, and what lockscope symbols fetched. They are looked for when a file
	/// is needed first.
	LineFinder(std::string release, std::vector<std::string> dirs);
	~LineFinder();
	LineFinder(const LineFinder &) = delete;

	/// Lines of the call that returns to @function + @offset, innermost inlined function
	/// first, the function itself last. Empty without debug information, or if several
	/// functions have that name and neither the call nor identical lines decide.
	std::vector<SourceLine> find(const std::string &module, const std::string &build_id,
				     const std::string &function, std::uint64_t offset);

	/// The constant of @size bytes that the code behind the call which returns to
	/// @function + @offset stores, see stored_constant(). nullopt if several functions
	/// have that name.
	std::optional<std::uint64_t> stored(const std::string &module, const std::string &build_id,
					    const std::string &function, std::uint64_t offset,
					    std::uint32_t size);

	/// The file that has the debug information of that module; empty when there is none.
	std::string file(const std::string &module, const std::string &build_id);

	/// A file of that build without debug information; empty when there is none.
	std::string stripped(const std::string &module, const std::string &build_id);

	/// The debug information of that module; nullptr when there is none. Valid as long as
	/// this object.
	Dwarf *dwarf(const std::string &module, const std::string &build_id);

	/// Types of the variables of that module; empty without debug information. Valid as
	/// long as this object.
	const VariableTypes &types(const std::string &module, const std::string &build_id);

private:
	class File;
	void list_files();
	void add_files(const std::filesystem::path &folder);
	void add_file(const std::filesystem::path &path);
	/// Where it may be; not all of these exist.
	std::vector<std::string> places(const std::string &module, const std::string &build_id);
	File *file_for(const std::string &module, const std::string &build_id);

	std::string release_;
	std::vector<std::string> dirs_;
	bool listed_ = false;
	std::multimap<std::string, std::string> paths_; ///< module name -> file
	std::map<std::pair<std::string, std::string>, std::unique_ptr<File>>
		files_; ///< by module and build id
	std::map<File *, VariableTypes> types_;
};

/// A path as in the kernel sources: relative to the source tree, or the file with its folder
/// if it is outside.
std::string source_path(const std::string &path, const std::string &build_dir);

} // namespace lockscope
