// SPDX-License-Identifier: GPL-2.0
#include "decode/code.h"

#include "util/fd.h"
#include "util/modules.h"

#include <fcntl.h>
#include <gelf.h>
#include <libelf.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <tuple>

namespace lockscope {

namespace {

struct ElfEnd {
	void operator()(Elf *elf) const { elf_end(elf); }
};

struct Section {
	std::uint64_t address;
	const std::uint8_t *bytes; ///< the ELF object's own
	std::size_t size;
};

class ElfCode : public CodeSource {
public:
	explicit ElfCode(Fd fd) : fd_(std::move(fd)) {}

	Status open(const std::string &path)
	{
		elf_version(EV_CURRENT);
		elf_.reset(elf_begin(fd_.get(), ELF_C_READ_MMAP, nullptr));
		GElf_Ehdr header;
		if (!elf_ || elf_kind(elf_.get()) != ELF_K_ELF ||
		    !gelf_getehdr(elf_.get(), &header))
			return Error{0, path + " is not an ELF file",
				     "give a module (.ko) or a vmlinux with symbols",
				     Exit::Environment};
		if (header.e_machine != EM_X86_64)
			return Error{0, path + " is not for x86-64",
				     "only code of x86-64 can be decoded", Exit::Environment};
		Elf_Scn *symbols = nullptr;
		GElf_Shdr symbols_header{};
		/* Sections count from 1. */
		sections_.push_back({});
		for (Elf_Scn *at = elf_nextscn(elf_.get(), nullptr); at;
		     at = elf_nextscn(elf_.get(), at)) {
			GElf_Shdr section;
			sections_.push_back({});
			if (!gelf_getshdr(at, &section))
				continue;
			if (section.sh_type == SHT_SYMTAB) {
				symbols = at;
				symbols_header = section;
			}
			Elf_Data *data = section.sh_type == SHT_PROGBITS &&
							 (section.sh_flags & SHF_EXECINSTR)
						 ? elf_getdata(at, nullptr)
						 : nullptr;
			if (data && data->d_buf)
				sections_.back() = {section.sh_addr,
						    static_cast<const std::uint8_t *>(data->d_buf),
						    data->d_size};
		}
		Elf_Data *table = symbols ? elf_getdata(symbols, nullptr) : nullptr;
		if (!table)
			return Error{0, path + " has no symbols",
				     "give a file that is not stripped", Exit::Environment};
		const std::string name = module_name(path);
		read_symbols(table, symbols_header, header.e_type == ET_REL,
			     name.empty() ? "vmlinux" : name);
		return success();
	}

	Result<std::vector<std::uint8_t>> read(const Function &function) const override
	{
		const Section &section = sections_.at(function.section);
		const auto *begin = section.bytes + (function.address - section.address);
		return std::vector<std::uint8_t>(begin, begin + function.size);
	}

private:
	void read_symbols(Elf_Data *table, const GElf_Shdr &header, bool relocatable,
			  const std::string &module)
	{
		GElf_Sym symbol;
		for (int i = 0; gelf_getsym(table, i, &symbol); i++) {
			const char *name = elf_strptr(elf_.get(), header.sh_link, symbol.st_name);
			if (GELF_ST_TYPE(symbol.st_info) != STT_FUNC || symbol.st_size == 0 ||
			    symbol.st_shndx >= sections_.size() || !name)
				continue;
			const Section &section = sections_[symbol.st_shndx];
			const std::uint64_t address =
				symbol.st_value + (relocatable ? section.address : 0);
			const std::uint64_t offset = address - section.address;
			if (!section.bytes || offset > section.size ||
			    symbol.st_size > section.size - offset)
				continue;
			functions_.push_back(
				{name, module, address, symbol.st_size, symbol.st_shndx});
		}
		std::stable_sort(functions_.begin(), functions_.end(),
				 [](const Function &a, const Function &b) {
					 return std::tie(a.section, a.address) <
						std::tie(b.section, b.address);
				 });
	}

	Fd fd_;
	std::unique_ptr<Elf, ElfEnd> elf_;
	std::vector<Section> sections_; ///< by number; only code sections have bytes
};

} // namespace

Result<std::unique_ptr<CodeSource>> open_elf_code(const std::string &path)
{
	Fd fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
	if (!fd.valid())
		return os_error(errno, "cannot read " + path, "give a module or a vmlinux");
	auto code = std::make_unique<ElfCode>(std::move(fd));
	LS_TRY_STATUS(code->open(path));
	return Result<std::unique_ptr<CodeSource>>(std::move(code));
}

} // namespace lockscope
