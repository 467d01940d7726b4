// SPDX-License-Identifier: GPL-2.0
#include "symbolize/lines.h"

#include "symbolize/debug_files.h"
#include "symbolize/dwarf_dies.h"

#include "decode/access.h"
#include "util/file.h"
#include "util/modules.h"
#include "util/text.h"

#include <dwarf.h>
#include <elfutils/libdwfl.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <span>
#include <unordered_map>

namespace lockscope {

namespace fs = std::filesystem;

std::string source_path(const std::string &path, const std::string &build_dir)
{
	fs::path clean = fs::path(path).lexically_normal();
	if (clean.is_relative())
		return clean.string();
	if (!build_dir.empty()) {
		auto inside = clean.lexically_relative(fs::path(build_dir).lexically_normal());
		if (!inside.empty() && *inside.begin() != "..")
			return inside.string();
	}
	return (clean.parent_path().filename() / clean.filename()).string();
}

/// One module's or the kernel's file with its debug information.
class LineFinder::File {
public:
	static std::unique_ptr<File> open(const std::string &path, const std::string &build_id)
	{
		auto file = std::unique_ptr<File>(new File);
		file->dwfl_.reset(dwfl_begin(&callbacks));
		if (!file->dwfl_)
			return nullptr;
		file->module_ = dwfl_report_offline(file->dwfl_.get(), "", path.c_str(), -1);
		if (!file->module_ || dwfl_report_end(file->dwfl_.get(), nullptr, nullptr) != 0)
			return nullptr;
		const unsigned char *bits = nullptr;
		GElf_Addr at = 0;
		const int size = dwfl_module_build_id(file->module_, &bits, &at);
		if (size <= 0 || to_hex({reinterpret_cast<const char *>(bits),
					 static_cast<std::size_t>(size)}) != build_id)
			return nullptr;
		Dwarf_Addr bias = 0;
		file->dwarf_ = dwfl_module_getdwarf(file->module_, &bias);
		if (!file->dwarf_)
			return nullptr;
		file->read_symbols();
		return file;
	}

	std::optional<std::uint64_t> stored(const std::string &function, std::uint64_t offset,
					    std::uint32_t size)
	{
		auto at = functions_.find(function);
		if (at == functions_.end() || at->second.size() != 1 ||
		    offset >= at->second.front().size)
			return std::nullopt;
		const auto code = code_at(at->second.front().address + offset);
		const std::uint64_t rest = at->second.front().size - offset;
		const auto constant = stored_constant(
			code.first(std::min<std::uint64_t>(code.size(), rest)), size);
		/* Addresses are not in the file: two different ones would look the same there. */
		const std::uint32_t bytes = std::min(size, 4u);
		if (!constant ||
		    relocated(at->second.front().address + offset + constant->end - bytes, bytes))
			return std::nullopt;
		return constant->value;
	}

	Dwarf *dwarf() const { return dwarf_; }

	std::vector<SourceLine> find(const std::string &function, std::uint64_t offset)
	{
		auto at = functions_.find(function);
		if (at == functions_.end() || offset == 0)
			return {};
		std::vector<Dwarf_Addr> places;
		for (const auto &body : at->second)
			if (at->second.size() == 1 || offset <= body.size)
				places.push_back(body.address + offset);
		/* Of several candidates, those behind a call are more likely. */
		const auto calls =
			std::stable_partition(places.begin(), places.end(), [&](Dwarf_Addr place) {
				return follows_call(place);
			});
		if (calls != places.begin())
			places.erase(calls, places.end());
		std::vector<SourceLine> lines;
		for (const auto place : places) {
			/* The call is the instruction before the return address. */
			auto found = lines_at(place - 1);
			if (place != places.front() && found != lines)
				return {}; /* ambiguous */
			lines = std::move(found);
		}
		return lines;
	}

private:
	struct End {
		void operator()(Dwfl *dwfl) const { dwfl_end(dwfl); }
	};

	void read_symbols()
	{
		const int n = dwfl_module_getsymtab(module_);
		for (int i = 0; i < n; i++) {
			GElf_Sym symbol;
			GElf_Addr address = 0;
			const char *name = dwfl_module_getsym_info(module_, i, &symbol, &address,
								   nullptr, nullptr, nullptr);
			if (!name || GELF_ST_TYPE(symbol.st_info) != STT_FUNC ||
			    symbol.st_shndx == SHN_UNDEF)
				continue;
			auto &bodies = functions_[name];
			if (std::none_of(bodies.begin(), bodies.end(),
					 [&](const Body &body) { return body.address == address; }))
				bodies.push_back({address, symbol.st_size});
		}
	}

	/* Code of its section from @address on. */
	std::span<const std::uint8_t> code_at(GElf_Addr address)
	{
		GElf_Addr at = address, bias = 0;
		Elf_Scn *section = dwfl_module_address_section(module_, &at, &bias);
		Elf_Data *data = section ? elf_rawdata(section, nullptr) : nullptr;
		if (!data || at >= data->d_size)
			return {};
		return {static_cast<const std::uint8_t *>(data->d_buf) + at, data->d_size - at};
	}

	/* Does the loader fill in any of the @bytes at @address, four at a time? */
	bool relocated(GElf_Addr address, std::uint32_t bytes)
	{
		GElf_Addr at = address, bias = 0;
		Elf_Scn *section = dwfl_module_address_section(module_, &at, &bias);
		Elf *elf = dwfl_module_getelf(module_, &bias);
		if (!section || !elf)
			return true;
		const std::size_t index = elf_ndxscn(section);
		for (Elf_Scn *list = elf_nextscn(elf, nullptr); list;
		     list = elf_nextscn(elf, list)) {
			GElf_Shdr header;
			GElf_Rela entry;
			Elf_Data *data = nullptr;
			if (!gelf_getshdr(list, &header) || header.sh_type != SHT_RELA ||
			    header.sh_info != index || !(data = elf_getdata(list, nullptr)))
				continue;
			for (int i = 0; gelf_getrela(data, i, &entry); i++)
				if (entry.r_offset + 4 > at && entry.r_offset < at + bytes)
					return true;
		}
		return false;
	}

	/* Is the instruction before @address a direct call? */
	bool follows_call(GElf_Addr address)
	{
		constexpr GElf_Addr length = 5;
		const auto code = code_at(address - length);
		return !code.empty() && code.front() == 0xe8;
	}

	/* Functions of a unit by the addresses of their code. */
	struct Range {
		Dwarf_Addr begin = 0, end = 0;
		Dwarf_Die function{};
	};
	const std::vector<Range> &functions_of(Dwarf_Die *unit)
	{
		auto [at, added] = units_.try_emplace(dwarf_dieoffset(unit));
		Dwarf_Die die;
		if (!added || dwarf_child(unit, &die) != 0)
			return at->second;
		do {
			if (dwarf_tag(&die) != DW_TAG_subprogram)
				continue;
			Dwarf_Addr base = 0, begin = 0, end = 0;
			for (std::ptrdiff_t next = 0;
			     (next = dwarf_ranges(&die, next, &base, &begin, &end)) > 0;)
				at->second.push_back({begin, end, die});
		} while (dwarf_siblingof(&die, &die) == 0);
		std::sort(at->second.begin(), at->second.end(),
			  [](const Range &a, const Range &b) { return a.begin < b.begin; });
		return at->second;
	}

	/*
	 * The function at @pc and what is nested in it there, innermost last: as nested in the code,
	 * not in the source. dwarf_getscopes() walks over the whole unit for each address.
	 */
	std::vector<Dwarf_Die> scopes_at(Dwarf_Die *unit, Dwarf_Addr pc)
	{
		const auto &functions = functions_of(unit);
		auto after = std::upper_bound(
			functions.begin(), functions.end(), pc,
			[](Dwarf_Addr at, const Range &range) { return at < range.begin; });
		if (after == functions.begin() || pc >= std::prev(after)->end)
			return {};
		std::vector<Dwarf_Die> scopes = {std::prev(after)->function};
		Dwarf_Die die;
		for (bool found = true; found;) {
			found = false;
			if (dwarf_child(&scopes.back(), &die) != 0)
				break;
			do {
				const int tag = dwarf_tag(&die);
				found = (tag == DW_TAG_inlined_subroutine ||
					 tag == DW_TAG_lexical_block) &&
					dwarf_haspc(&die, pc) > 0;
			} while (!found && dwarf_siblingof(&die, &die) == 0);
			if (found)
				scopes.push_back(die);
		}
		return scopes;
	}

	std::vector<SourceLine> lines_at(Dwarf_Addr address)
	{
		SourceLine innermost;
		Dwarf_Addr bias = 0;
		Dwarf_Die *unit = dwfl_module_addrdie(module_, address, &bias);
		Dwfl_Line *line = dwfl_module_getsrc(module_, address);
		if (!unit || !line)
			return {};
		const std::string build_dir = die_text(unit, DW_AT_comp_dir);
		int number = 0;
		const char *file = dwfl_lineinfo(line, nullptr, &number, nullptr, nullptr, nullptr);
		SourceLine here;
		here.file = file ? source_path(file, build_dir) : "";
		here.line = static_cast<std::uint32_t>(std::max(number, 0));

		auto scopes = scopes_at(unit, address - bias);
		Dwarf_Files *files = nullptr;
		dwarf_getsrcfiles(unit, &files, nullptr);
		std::vector<SourceLine> out;
		for (auto scope = scopes.rbegin(); scope != scopes.rend(); ++scope) {
			Dwarf_Die *die = &*scope;
			const int tag = dwarf_tag(die);
			if (tag != DW_TAG_inlined_subroutine && tag != DW_TAG_subprogram)
				continue;
			here.function = die_text(die, DW_AT_name);
			here.inlined = tag == DW_TAG_inlined_subroutine;
			out.push_back(here);
			if (!here.inlined)
				return out;
			const char *caller =
				files ? dwarf_filesrc(files, die_number(die, DW_AT_call_file),
						      nullptr, nullptr)
				      : nullptr;
			here.file = caller ? source_path(caller, build_dir) : "";
			here.line = static_cast<std::uint32_t>(die_number(die, DW_AT_call_line));
		}
		return {};
	}

	static int no_debuginfo(Dwfl_Module *, void **, const char *, Dwarf_Addr, const char *,
				const char *, GElf_Word, char **)
	{
		/* Only the file itself: no search on the network. */
		return -1;
	}

	static const Dwfl_Callbacks callbacks;
	std::unique_ptr<Dwfl, End> dwfl_;
	Dwfl_Module *module_ = nullptr;
	Dwarf *dwarf_ = nullptr; ///< belongs to dwfl_
	/* Static functions may share a name, and those of a header have a body in each unit. */
	struct Body {
		GElf_Addr address = 0, size = 0;
	};
	std::unordered_map<std::string, std::vector<Body>> functions_;
	std::unordered_map<Dwarf_Off, std::vector<Range>> units_;
};

const Dwfl_Callbacks LineFinder::File::callbacks = {dwfl_build_id_find_elf,
						    LineFinder::File::no_debuginfo,
						    dwfl_offline_section_address, nullptr};

LineFinder::LineFinder(std::string release, std::vector<std::string> dirs)
	: release_(std::move(release)), dirs_(std::move(dirs))
{
}

void LineFinder::list_files()
{
	listed_ = true;
	for (const auto &place : dirs_) {
		add_file(place);
		add_files(place);
	}
	add_files(program_dir() + "/../kmod/" + release_);
	add_files(kGuestModules);
	const std::string installed = "/lib/modules/" + release_,
			  debug = "/usr/lib/debug" + installed;
	/* A walk over thousands of files takes seconds where files are slow, as in a guest. */
	const auto listed = listed_modules(installed);
	for (const auto &module : listed) {
		const auto name = module_name(module.path);
		const auto plain = module.path.substr(0, module.path.find(".ko") + 3);
		paths_.emplace(name, debug + "/" + plain + ".debug");
		paths_.emplace(name, debug + "/" + plain);
		if (plain == module.path)
			paths_.emplace(name, installed + "/" + plain);
	}
	if (listed.empty()) {
		add_files(debug);
		add_files(installed);
	} else {
		/* depmod may not have run since a module was put there. */
		add_files(installed + "/updates");
		add_files(installed + "/extra");
	}
	paths_.emplace("vmlinux", "/usr/lib/debug/boot/vmlinux-" + release_);
	paths_.emplace("vmlinux", "/usr/lib/debug/lib/modules/" + release_ + "/vmlinux");
}

/* Modules in the files below @folder. */
void LineFinder::add_files(const fs::path &folder)
{
	std::error_code error;
	auto walk = fs::recursive_directory_iterator(
		folder, fs::directory_options::skip_permission_denied, error);
	while (!error && walk != fs::recursive_directory_iterator()) {
		add_file(walk->path());
		walk.increment(error);
	}
}

/* Compressed modules of a distribution have no debug information. */
void LineFinder::add_file(const fs::path &path)
{
	if (path.extension() == ".ko" || path.extension() == ".debug")
		if (const auto name = module_name(path); !name.empty())
			paths_.emplace(name, path.string());
}

LineFinder::~LineFinder() = default;

LineFinder::File *LineFinder::file_for(const std::string &module, const std::string &build_id)
{
	auto [at, added] = files_.try_emplace({module, build_id});
	if (added)
		for (const auto &path : places(module, build_id))
			if (!at->second && exists(path))
				at->second = File::open(path, build_id);
	return at->second.get();
}

std::vector<std::string> LineFinder::places(const std::string &module, const std::string &build_id)
{
	if (!listed_)
		list_files();
	std::vector<std::string> out;
	auto [first, last] = paths_.equal_range(module);
	for (auto path = first; path != last; ++path)
		out.push_back(path->second);
	if (auto fetched = fetched_file(build_id); !fetched.empty())
		out.push_back(std::move(fetched));
	return out;
}

std::string LineFinder::file(const std::string &module, const std::string &build_id)
{
	for (const auto &path : places(module, build_id))
		if (describes(path, build_id))
			return path;
	return {};
}

std::string LineFinder::stripped(const std::string &module, const std::string &build_id)
{
	for (const auto &path : places(module, build_id))
		if (elf_build_id(path) == build_id && !describes(path, build_id))
			return path;
	return {};
}

Dwarf *LineFinder::dwarf(const std::string &module, const std::string &build_id)
{
	File *file = build_id.empty() ? nullptr : file_for(module, build_id);
	return file ? file->dwarf() : nullptr;
}

const VariableTypes &LineFinder::types(const std::string &module, const std::string &build_id)
{
	File *file = build_id.empty() ? nullptr : file_for(module, build_id);
	return types_.try_emplace(file, file ? file->dwarf() : nullptr).first->second;
}

std::optional<std::uint64_t> LineFinder::stored(const std::string &module,
						const std::string &build_id,
						const std::string &function, std::uint64_t offset,
						std::uint32_t size)
{
	File *file = build_id.empty() ? nullptr : file_for(module, build_id);
	return file ? file->stored(function, offset, size) : std::nullopt;
}

std::vector<SourceLine> LineFinder::find(const std::string &module, const std::string &build_id,
					 const std::string &function, std::uint64_t offset)
{
	File *file = build_id.empty() ? nullptr : file_for(module, build_id);
	return file ? file->find(function, offset) : std::vector<SourceLine>{};
}

} // namespace lockscope
