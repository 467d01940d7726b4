// SPDX-License-Identifier: GPL-2.0
#include "annotations/binary.h"

#include "util/text.h"

#include <dwarf.h>
#include <elfutils/libdwfl.h>

#include <algorithm>
#include <cstring>
#include <map>
#include <unordered_map>

namespace lockscope::annotations {

namespace {

struct Symbol {
	Dwarf_Addr address;
	std::string name;
};

std::string name_of(Dwarf_Die *die)
{
	Dwarf_Attribute attribute;
	const char *text = dwarf_formstring(dwarf_attr_integrate(die, DW_AT_name, &attribute));
	return text ? text : "";
}

std::uint32_t number(Dwarf_Die *die, unsigned int name)
{
	Dwarf_Attribute attribute;
	Dwarf_Word value = 0;
	if (dwarf_formudata(dwarf_attr_integrate(die, name, &attribute), &value) != 0)
		return 0;
	return static_cast<std::uint32_t>(value);
}

/// Names as in the source tree: paths in debug information begin with the build directory.
std::string relative(const char *path, const std::string &build_dir)
{
	std::string out = path ? path : "";
	if (!build_dir.empty() && out.starts_with(build_dir + "/"))
		out.erase(0, build_dir.size() + 1);
	while (out.starts_with("./"))
		out.erase(0, 2);
	return out;
}

std::string build_dir_of(Dwarf_Die *unit)
{
	Dwarf_Attribute attribute;
	const char *text = dwarf_formstring(dwarf_attr(unit, DW_AT_comp_dir, &attribute));
	return text ? text : "";
}

/// A compiler makes clones NAME.constprop.0 and NAME.isra.0 of a function.
std::string source_name(const std::string &symbol)
{
	return symbol.substr(0, symbol.find('.'));
}

/// Tags that contain code of a function.
bool nests(int tag)
{
	return tag == DW_TAG_inlined_subroutine || tag == DW_TAG_lexical_block;
}

} // namespace

class Binary::Parts {
public:
	struct End {
		void operator()(Dwfl *dwfl) const { dwfl_end(dwfl); }
	};
	std::unique_ptr<Dwfl, End> dwfl;
	Dwfl_Module *module = nullptr;
	Dwarf *dwarf = nullptr;
	Elf *elf = nullptr;
	std::vector<Symbol> symbols;			      ///< functions here, by address
	std::unordered_map<std::string, int> symbols_of_name; ///< how many

	const Symbol *symbol_at(Dwarf_Addr address) const
	{
		auto at = std::upper_bound(
			symbols.begin(), symbols.end(), address,
			[](Dwarf_Addr a, const Symbol &symbol) { return a < symbol.address; });
		return at == symbols.begin() ? nullptr : &*std::prev(at);
	}

	void read_symbols()
	{
		const int n = dwfl_module_getsymtab(module);
		for (int i = 0; i < n; i++) {
			GElf_Sym symbol;
			GElf_Addr address = 0;
			const char *name = dwfl_module_getsym_info(module, i, &symbol, &address,
								   nullptr, nullptr, nullptr);
			if (!name || GELF_ST_TYPE(symbol.st_info) != STT_FUNC ||
			    symbol.st_shndx == SHN_UNDEF)
				continue;
			symbols.push_back({address, name});
			symbols_of_name[name]++;
		}
		std::stable_sort(
			symbols.begin(), symbols.end(),
			[](const Symbol &a, const Symbol &b) { return a.address < b.address; });
	}

	template <typename Each> void each_unit(Each each)
	{
		Dwarf_Off offset = 0, next = 0;
		std::size_t header = 0;
		while (dwarf_nextcu(dwarf, offset, &next, &header, nullptr, nullptr, nullptr) ==
		       0) {
			Dwarf_Die unit;
			if (dwarf_offdie(dwarf, offset + header, &unit)) {
				Dwarf_Attribute attribute;
				Dwarf_Word language = 0;
				dwarf_formudata(dwarf_attr(&unit, DW_AT_language, &attribute),
						&language);
				if (language != DW_LANG_Mips_Assembler)
					each(unit);
			}
			offset = next;
		}
	}

	template <typename Each> static void each_subprogram(Dwarf_Die &unit, Each each)
	{
		Dwarf_Die die;
		if (dwarf_child(&unit, &die) != 0)
			return;
		do {
			if (dwarf_tag(&die) == DW_TAG_subprogram &&
			    (dwarf_hasattr(&die, DW_AT_low_pc) ||
			     dwarf_hasattr(&die, DW_AT_ranges)))
				each(die);
		} while (dwarf_siblingof(&die, &die) == 0);
	}

	void add_call(std::vector<CodeCall> &out, const std::string &target, Dwarf_Addr after,
		      bool jump)
	{
		const Symbol *symbol = symbol_at(after - 1);
		if (!symbol)
			return;
		CodeCall call;
		call.target = target;
		call.symbol = symbol->name;
		call.offset = after - symbol->address;
		call.address = after;
		call.jump = jump;
		out.push_back(std::move(call));
	}

	/// Of functions in the same section, or of any in a linked file.
	void direct_calls(const std::set<std::string> &targets, std::vector<CodeCall> &out)
	{
		std::unordered_map<Dwarf_Addr, const std::string *> wanted;
		for (const auto &symbol : symbols)
			if (auto at = targets.find(source_name(symbol.name)); at != targets.end())
				wanted[symbol.address] = &*at;
		if (wanted.empty())
			return;
		for (Elf_Scn *section = nullptr; (section = elf_nextscn(elf, section));) {
			GElf_Shdr header;
			if (!gelf_getshdr(section, &header) || !(header.sh_flags & SHF_EXECINSTR) ||
			    header.sh_type != SHT_PROGBITS)
				continue;
			Elf_Data *data = elf_getdata(section, nullptr);
			if (!data || !data->d_buf)
				continue;
			const auto *bytes = static_cast<const unsigned char *>(data->d_buf);
			for (std::size_t i = 0; i + 5 <= data->d_size; i++) {
				if (bytes[i] != 0xe8 && bytes[i] != 0xe9)
					continue;
				std::int32_t distance;
				std::memcpy(&distance, bytes + i + 1, sizeof(distance));
				const Dwarf_Addr after = header.sh_addr + i + 5;
				auto at = wanted.find(after +
						      static_cast<Dwarf_Addr>(
							      static_cast<std::int64_t>(distance)));
				if (at != wanted.end() && distance != 0)
					add_call(out, *at->second, after, bytes[i] == 0xe9);
			}
		}
	}

	/// Calls resolved by the module loader.
	void relocated_calls(const std::set<std::string> &targets, std::vector<CodeCall> &out)
	{
		for (Elf_Scn *section = nullptr; (section = elf_nextscn(elf, section));) {
			GElf_Shdr header, code_header, symbols_header;
			if (!gelf_getshdr(section, &header) || header.sh_type != SHT_RELA)
				continue;
			Elf_Scn *code = elf_getscn(elf, header.sh_info);
			Elf_Scn *table = elf_getscn(elf, header.sh_link);
			if (!code || !table || !gelf_getshdr(code, &code_header) ||
			    !gelf_getshdr(table, &symbols_header) ||
			    !(code_header.sh_flags & SHF_EXECINSTR))
				continue;
			Elf_Data *entries = elf_getdata(section, nullptr);
			Elf_Data *names = elf_getdata(table, nullptr);
			Elf_Data *bytes = elf_rawdata(code, nullptr);
			if (!entries || !names || !bytes || header.sh_entsize == 0)
				continue;
			const int n = static_cast<int>(header.sh_size / header.sh_entsize);
			for (int i = 0; i < n; i++) {
				GElf_Rela rela;
				GElf_Sym symbol;
				if (!gelf_getrela(entries, i, &rela) || rela.r_addend != -4 ||
				    !gelf_getsym(names, static_cast<int>(GELF_R_SYM(rela.r_info)),
						 &symbol))
					continue;
				const char *name =
					elf_strptr(elf, symbols_header.sh_link, symbol.st_name);
				if (!name || rela.r_offset == 0 || rela.r_offset > bytes->d_size)
					continue;
				auto at = targets.find(source_name(name));
				const auto opcode = static_cast<const unsigned char *>(
					bytes->d_buf)[rela.r_offset - 1];
				if (at != targets.end() && (opcode == 0xe8 || opcode == 0xe9))
					add_call(out, *at, code_header.sh_addr + rela.r_offset + 4,
						 opcode == 0xe9);
			}
		}
	}

	static bool levels_at(Dwarf_Die *parent, Dwarf_Addr pc, std::vector<Dwarf_Die> &out)
	{
		Dwarf_Die die;
		if (dwarf_child(parent, &die) != 0)
			return false;
		do {
			const int tag = dwarf_tag(&die);
			if (!nests(tag) || dwarf_haspc(&die, pc) <= 0)
				continue;
			if (tag == DW_TAG_inlined_subroutine)
				out.push_back(die);
			levels_at(&die, pc, out);
			return true;
		} while (dwarf_siblingof(&die, &die) == 0);
		return false;
	}

	void locate(Dwarf_Die &unit, Dwarf_Die &subprogram, CodeCall &call)
	{
		const Dwarf_Addr pc = call.address - 1;
		Dwarf_Line *line = dwarf_getsrc_die(&unit, pc);
		if (!line)
			return;
		std::vector<Dwarf_Die> chain{subprogram};
		levels_at(&subprogram, pc, chain);
		const std::string build_dir = build_dir_of(&unit);
		Dwarf_Files *files = nullptr;
		dwarf_getsrcfiles(&unit, &files, nullptr);
		int at_line = 0, at_column = 0;
		dwarf_lineno(line, &at_line);
		dwarf_linecol(line, &at_column);
		Level level;
		level.file = relative(dwarf_linesrc(line, nullptr, nullptr), build_dir);
		level.line = static_cast<std::uint32_t>(at_line);
		level.column = static_cast<std::uint32_t>(at_column);
		call.levels.clear();
		for (auto die = chain.rbegin(); die != chain.rend(); ++die) {
			level.function = name_of(&*die);
			level.inlined = dwarf_tag(&*die) == DW_TAG_inlined_subroutine;
			call.levels.push_back(level);
			const auto file = number(&*die, DW_AT_call_file);
			level.file = files ? relative(dwarf_filesrc(files, file, nullptr, nullptr),
						      build_dir)
					   : "";
			level.line = number(&*die, DW_AT_call_line);
			level.column = number(&*die, DW_AT_call_column);
		}
	}

	void find_inlined(Dwarf_Die *parent, const std::function<void(Dwarf_Die *)> &each)
	{
		Dwarf_Die die;
		if (dwarf_child(parent, &die) != 0)
			return;
		do {
			const int tag = dwarf_tag(&die);
			if (!nests(tag))
				continue;
			if (tag == DW_TAG_inlined_subroutine)
				each(&die);
			find_inlined(&die, each);
		} while (dwarf_siblingof(&die, &die) == 0);
	}

	static const Dwfl_Callbacks callbacks;
};

static int no_debuginfo(Dwfl_Module *, void **, const char *, Dwarf_Addr, const char *,
			const char *, GElf_Word, char **)
{
	return -1;
}

const Dwfl_Callbacks Binary::Parts::callbacks = {dwfl_build_id_find_elf, no_debuginfo,
						 dwfl_offline_section_address, nullptr};

Binary::Binary(std::unique_ptr<Parts> parts) : parts_(std::move(parts)) {}
Binary::Binary(Binary &&) noexcept = default;
Binary::~Binary() = default;

Result<Binary> Binary::open(const std::string &path)
{
	const auto failed = [&](const char *what) {
		return Error{0, path + ": " + what,
			     "a file with debug information of Debian's kernel packages is needed"};
	};
	Binary out{std::make_unique<Parts>()};
	Parts &parts = *out.parts_;
	parts.dwfl.reset(dwfl_begin(&Parts::callbacks));
	if (parts.dwfl)
		parts.module = dwfl_report_offline(parts.dwfl.get(), "", path.c_str(), -1);
	if (!parts.module || dwfl_report_end(parts.dwfl.get(), nullptr, nullptr) != 0)
		return failed("no ELF file that can be read");
	const unsigned char *bits = nullptr;
	GElf_Addr at = 0;
	const int size = dwfl_module_build_id(parts.module, &bits, &at);
	if (size > 0)
		out.build_id_ = to_hex(
			{reinterpret_cast<const char *>(bits), static_cast<std::size_t>(size)});
	Dwarf_Addr bias = 0;
	parts.dwarf = dwfl_module_getdwarf(parts.module, &bias);
	if (!parts.dwarf)
		return failed("no debug information");
	parts.elf = dwfl_module_getelf(parts.module, &bias);
	if (!parts.elf || bias != 0)
		return failed("its code cannot be read");
	parts.read_symbols();
	return out;
}

std::set<std::string> Binary::files()
{
	std::set<std::string> out;
	parts_->each_unit([&](Dwarf_Die &unit) {
		const std::string build_dir = build_dir_of(&unit);
		Dwarf_Files *files = nullptr;
		std::size_t n = 0;
		if (dwarf_getsrcfiles(&unit, &files, &n) != 0)
			return;
		for (std::size_t i = 0; i < n; i++)
			if (const char *path = dwarf_filesrc(files, i, nullptr, nullptr))
				out.insert(relative(path, build_dir));
	});
	return out;
}

std::vector<CodeCall> Binary::calls(const std::set<std::string> &targets)
{
	std::vector<CodeCall> found;
	parts_->direct_calls(targets, found);
	parts_->relocated_calls(targets, found);
	std::sort(found.begin(), found.end(),
		  [](const CodeCall &a, const CodeCall &b) { return a.address < b.address; });
	found.erase(std::unique(found.begin(), found.end(),
				[](const CodeCall &a, const CodeCall &b) {
					return a.address == b.address;
				}),
		    found.end());
	std::map<std::pair<std::string, std::uint64_t>, int> places;
	for (const auto &call : found)
		places[{call.symbol, call.offset}]++;
	for (auto &call : found)
		call.ambiguous = places[{call.symbol, call.offset}] > 1;
	if (found.empty())
		return found;
	const auto first_after = [&](Dwarf_Addr address) {
		return std::upper_bound(
			found.begin(), found.end(), address,
			[](Dwarf_Addr a, const CodeCall &call) { return a < call.address; });
	};
	parts_->each_unit([&](Dwarf_Die &unit) {
		Parts::each_subprogram(unit, [&](Dwarf_Die &subprogram) {
			Dwarf_Addr base = 0, begin = 0, end = 0;
			for (std::ptrdiff_t i = 0;
			     (i = dwarf_ranges(&subprogram, i, &base, &begin, &end)) > 0;)
				for (auto call = first_after(begin);
				     call != found.end() && call->address <= end; ++call)
					parts_->locate(unit, subprogram, *call);
		});
	});
	return found;
}

void Binary::functions(const std::function<bool(const std::string &, std::uint32_t)> &wanted,
		       const std::function<void(const CodeFunction &)> &out)
{
	parts_->each_unit([&](Dwarf_Die &unit) {
		const std::string build_dir = build_dir_of(&unit);
		std::unordered_map<Dwarf_Off, CodeFunction>
			known; /* by origin; no line: not wanted */
		const auto look = [&](Dwarf_Die *die) -> const CodeFunction & {
			Dwarf_Die origin = *die;
			for (int i = 0; i < 4; i++) {
				Dwarf_Attribute attribute;
				if (!dwarf_attr(&origin, DW_AT_abstract_origin, &attribute) ||
				    !dwarf_formref_die(&attribute, &origin))
					break;
			}
			auto [at, added] = known.try_emplace(dwarf_dieoffset(&origin));
			if (!added)
				return at->second;
			CodeFunction &function = at->second;
			const char *file = dwarf_decl_file(&origin);
			int line = 0;
			dwarf_decl_line(&origin, &line);
			function.file = relative(file, build_dir);
			if (wanted(function.file, static_cast<std::uint32_t>(line))) {
				function.line = static_cast<std::uint32_t>(line);
				function.name = name_of(&origin);
			}
			return function;
		};
		Parts::each_subprogram(unit, [&](Dwarf_Die &subprogram) {
			const auto add = [&](Dwarf_Die *die) {
				CodeFunction function = look(die);
				if (function.line == 0)
					return;
				Dwarf_Addr base = 0, begin = 0, end = 0;
				std::set<std::string> symbols;
				for (std::ptrdiff_t i = 0;
				     (i = dwarf_ranges(die, i, &base, &begin, &end)) > 0;)
					if (const auto *symbol = parts_->symbol_at(begin))
						symbols.insert(symbol->name);
				for (const auto &symbol : symbols) {
					function.symbol = symbol;
					out(function);
				}
			};
			add(&subprogram);
			parts_->find_inlined(&subprogram, add);
		});
	});
}

} // namespace lockscope::annotations
