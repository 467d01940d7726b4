// SPDX-License-Identifier: GPL-2.0
#include "decode/lock_sites.h"

#include "kmod/primitives.h"
#include "util/fd.h"

#include <fcntl.h>
#include <gelf.h>
#include <libelf.h>

#include <algorithm>
#include <cerrno>
#include <memory>
#include <set>
#include <string_view>
#include <tuple>

namespace lockscope {

namespace {

constexpr std::uint8_t kCall = 0xe8;

struct Primitive {
	std::string_view function, kind, group, bits;
};

#define LS_ROW(function, kind, group, bits, offset, flags) {#function, #kind, #group, #bits},
constexpr Primitive kPrimitives[] = {LS_PRIMITIVES(LS_ROW)};
#undef LS_ROW

/// Functions that return with a lock, or may.
std::set<std::string_view> acquiring()
{
	std::set<std::string_view> out;
	for (const auto &primitive : kPrimitives) {
		const bool lock = primitive.kind != "WORK" && primitive.kind != "COMPLETION" &&
				  primitive.kind != "WAITQUEUE" && primitive.kind != "NONE";
		const bool takes =
			primitive.group == "ACQUIRE" || primitive.group == "SPIN" ||
			primitive.group == "RESULT" || primitive.group == "FALLIBLE" ||
			primitive.group == "WW" ||
			(primitive.group == "SPECIAL" && primitive.bits == "LS_OP_ACQUIRE");
		if (lock && takes)
			out.insert(primitive.function);
	}
	return out;
}

/// A module's file, mapped.
class ModuleFile {
public:
	explicit ModuleFile(const std::string &path)
		: fd_(::open(path.c_str(), O_RDONLY | O_CLOEXEC))
	{
		elf_version(EV_CURRENT);
		if (fd_.valid())
			elf_.reset(elf_begin(fd_.get(), ELF_C_READ_MMAP, nullptr));
		GElf_Ehdr header;
		if (!elf_ || !gelf_getehdr(elf_.get(), &header) || header.e_type != ET_REL ||
		    header.e_machine != EM_X86_64)
			return;
		for (Elf_Scn *at = next(nullptr); at; at = next(at)) {
			GElf_Shdr section;
			if (gelf_getshdr(at, &section) && section.sh_type == SHT_SYMTAB) {
				symbols_ = elf_getdata(at, nullptr);
				names_ = section.sh_link;
			}
		}
	}

	bool readable() const { return symbols_; }
	Elf_Scn *next(Elf_Scn *at) const { return elf_nextscn(elf_.get(), at); }
	Elf_Scn *section(std::size_t number) const { return elf_getscn(elf_.get(), number); }

	/// nullptr: there is no such symbol.
	const char *symbol(std::size_t number, GElf_Sym &symbol) const
	{
		return gelf_getsym(symbols_, static_cast<int>(number), &symbol)
			       ? elf_strptr(elf_.get(), names_, symbol.st_name)
			       : nullptr;
	}

	std::string_view name_of(const GElf_Shdr &section) const
	{
		std::size_t names = 0;
		const char *found = elf_getshdrstrndx(elf_.get(), &names) == 0
					    ? elf_strptr(elf_.get(), names, section.sh_name)
					    : nullptr;
		return found ? found : "";
	}

private:
	struct End {
		void operator()(Elf *elf) const { elf_end(elf); }
	};
	Fd fd_;
	std::unique_ptr<Elf, End> elf_;
	Elf_Data *symbols_ = nullptr;
	std::size_t names_ = 0;
};

/// The function around @offset of a section.
bool locate(const ModuleFile &file, std::size_t section, std::uint64_t offset, LockSite &site)
{
	GElf_Sym symbol;
	for (std::size_t i = 0; const char *name = file.symbol(i, symbol); i++) {
		if (GELF_ST_TYPE(symbol.st_info) != STT_FUNC || symbol.st_shndx != section ||
		    offset <= symbol.st_value || offset - symbol.st_value > symbol.st_size)
			continue;
		site.function = name;
		site.offset = offset - symbol.st_value;
		return true;
	}
	return false;
}

} // namespace

Result<std::vector<LockSite>> lock_sites(const std::string &path)
{
	const ModuleFile file(path);
	if (!file.readable())
		return Error{0, path + " is no module with symbols", "give the .ko that was built",
			     Exit::Environment};
	const auto wanted = acquiring();
	std::vector<LockSite> out;
	for (Elf_Scn *at = file.next(nullptr); at; at = file.next(at)) {
		GElf_Shdr list, code;
		Elf_Data *entries = nullptr, *bytes = nullptr;
		Elf_Scn *target = nullptr;
		if (!gelf_getshdr(at, &list) || list.sh_type != SHT_RELA ||
		    !(target = file.section(list.sh_info)) || !gelf_getshdr(target, &code) ||
		    !(code.sh_flags & SHF_EXECINSTR) || !(entries = elf_getdata(at, nullptr)) ||
		    !(bytes = elf_rawdata(target, nullptr)) || !bytes->d_buf)
			continue;
		GElf_Rela entry;
		for (int i = 0; gelf_getrela(entries, i, &entry); i++) {
			GElf_Sym symbol;
			const char *name = file.symbol(GELF_R_SYM(entry.r_info), symbol);
			if (!name || symbol.st_shndx != SHN_UNDEF || !wanted.count(name) ||
			    entry.r_offset == 0 || entry.r_offset > bytes->d_size ||
			    static_cast<const std::uint8_t *>(bytes->d_buf)[entry.r_offset - 1] !=
				    kCall)
				continue;
			LockSite site;
			site.primitive = name;
			site.start = file.name_of(code).starts_with(".init");
			if (locate(file, list.sh_info, entry.r_offset + 4, site))
				out.push_back(std::move(site));
		}
	}
	std::sort(out.begin(), out.end(), [](const LockSite &a, const LockSite &b) {
		return std::tie(a.function, a.offset) < std::tie(b.function, b.offset);
	});
	return out;
}

bool is_instrumented(const std::string &path)
{
	const ModuleFile file(path);
	if (!file.readable())
		return false;
	GElf_Sym symbol;
	for (std::size_t i = 0; const char *name = file.symbol(i, symbol); i++)
		if (std::string_view(name).starts_with("__tsan_") && symbol.st_shndx == SHN_UNDEF)
			return true;
	return false;
}

} // namespace lockscope
