// SPDX-License-Identifier: GPL-2.0
// Where types come from: BTF of the kernel and its modules, debug information of others.
#include "symbolize/btf_types.h"
#include "symbolize/fields.h"
#include "util/file.h"

#include <bpf/btf.h>
#include <bpf/libbpf.h>

#include <algorithm>
#include <cstdarg>
#include <filesystem>

namespace lockscope {

namespace {

int silent(enum libbpf_print_level, const char *, va_list)
{
	return 0;
}

} // namespace

void FieldNames::load()
{
	namespace fs = std::filesystem;
	libbpf_set_print(silent);
	std::error_code error;
	std::vector<std::string> files;
	for (const auto &entry : fs::directory_iterator(dir_, error))
		files.push_back(entry.path().filename());
	/* The kernel's first: the others are based on it. */
	std::sort(files.begin(), files.end(), [](const auto &a, const auto &b) {
		return std::pair(a != "vmlinux", a) < std::pair(b != "vmlinux", b);
	});
	for (const auto &file : files) {
		if (std::find(loaded_.begin(), loaded_.end(), file) != loaded_.end())
			continue;
		const bool base = owned_.empty();
		if (base && file != "vmlinux")
			return;
		loaded_.push_back(file);
		const std::string path = dir_ + "/" + file;
		btf *types = base ? btf__parse(path.c_str(), nullptr)
				  : btf__parse_split(path.c_str(), owned_[0]);
		if (!types || libbpf_get_error(types))
			continue;
		const std::uint32_t first = base ? 1 : btf__type_cnt(owned_[0]);
		owned_.push_back(types);
		for (std::uint32_t id = first; id < btf__type_cnt(types); id++) {
			const btf_type *type = btf__type_by_id(types, id);
			if (btf_is_struct(type) && type->name_off)
				add({types, id, type->size, type_name(types, type),
				     loaded_.size() - 1});
			else if (btf_is_var(type))
				variables_.insert({type_name(types, type), {types, type->type}});
			else if (btf_is_func(type))
				functions_.insert({type_name(types, type), {types, type->type}});
		}
	}
	if (debug_information_)
		load_debug_information();
}

void FieldNames::add(Struct found)
{
	by_name_[found.name].push_back(structs_.size());
	by_size_[found.size].push_back(structs_.size());
	structs_.push_back(std::move(found));
}

/*
 * Modules of the kernel's own tree have BTF, or the kernel has none at all. LockScope's module has
 * locks in static variables alone, and more debug information than most.
 */
void FieldNames::load_debug_information()
{
	namespace fs = std::filesystem;
	std::error_code error;
	for (const auto &entry : fs::directory_iterator(modules_, error)) {
		const std::string module = entry.path().filename();
		if (std::find(loaded_.begin(), loaded_.end(), module) != loaded_.end() ||
		    !inspected_.insert(module).second || module == "lockscope" ||
		    read_line(entry.path() / "taint").find('O') == std::string::npos)
			continue;
		loaded_.push_back(module);
		if (Dwarf *dwarf = debug_information_(module))
			add(module_types(dwarf,
					 [this](const std::string &name, std::uint32_t size) {
						 return is_of_kernel(name, size);
					 }));
	}
}

/* Those of the module added last to loaded_. */
void FieldNames::add(ModuleTypes found)
{
	const std::size_t file = loaded_.size() - 1;
	if (!found.types)
		return;
	owned_.push_back(found.types);
	for (const auto id : found.structs) {
		const btf_type *type = btf__type_by_id(found.types, id);
		add({found.types, id, type->size, type_name(found.types, type), file});
	}
	for (const auto &[name, type, unit] : found.variables) {
		variables_.insert({name, {found.types, type, true}});
		units_[loaded_.back() + ":" + name].push_back(unit);
	}
	for (const auto &[name, type] : found.functions)
		functions_.insert({name, {found.types, type}});
	for (const auto &[function, local] : found.locals)
		locals_.insert({function, {local.first, {found.types, local.second}, file}});
}

} // namespace lockscope
