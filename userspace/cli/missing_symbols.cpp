// SPDX-License-Identifier: GPL-2.0
#include "cli/instrument.h"

#include "util/fd.h"

#include <fcntl.h>
#include <gelf.h>
#include <libelf.h>

#include <algorithm>
#include <cerrno>
#include <memory>

namespace lockscope::cli {

namespace {

struct ElfEnd {
	void operator()(Elf *elf) const { elf_end(elf); }
};

} // namespace

void add_exports(std::string_view symvers, std::set<std::string> &known)
{
	/* "CRC\tNAME\tMODULE\tKIND\tNAMESPACE" */
	while (!symvers.empty()) {
		const auto end = std::min(symvers.find('\n'), symvers.size());
		const auto line = symvers.substr(0, end);
		symvers.remove_prefix(std::min(end + 1, symvers.size()));
		const auto first = line.find('\t');
		const auto second = first == line.npos ? first : line.find('\t', first + 1);
		if (second != line.npos)
			known.emplace(line.substr(first + 1, second - first - 1));
	}
}

Result<std::vector<std::string>> missing_symbols(const std::string &path,
						 const std::set<std::string> &known)
{
	Fd fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
	if (!fd.valid())
		return os_error(errno, "cannot read " + path);
	elf_version(EV_CURRENT);
	std::unique_ptr<Elf, ElfEnd> elf(elf_begin(fd.get(), ELF_C_READ, nullptr));
	std::set<std::string> missing;
	bool symbols = false;
	for (Elf_Scn *at = elf ? elf_nextscn(elf.get(), nullptr) : nullptr; at;
	     at = elf_nextscn(elf.get(), at)) {
		GElf_Shdr header;
		Elf_Data *data = elf_getdata(at, nullptr);
		if (!gelf_getshdr(at, &header) || header.sh_type != SHT_SYMTAB || !data)
			continue;
		symbols = true;
		GElf_Sym symbol;
		for (int i = 0; gelf_getsym(data, i, &symbol); i++) {
			const char *name = elf_strptr(elf.get(), header.sh_link, symbol.st_name);
			if (symbol.st_shndx != SHN_UNDEF || !name || !*name ||
			    GELF_ST_BIND(symbol.st_info) != STB_GLOBAL)
				continue;
			if (std::string_view(name).substr(0, 7) != "__tsan_" && !known.count(name))
				missing.insert(name);
		}
	}
	if (!symbols)
		return Error{0, path + " is not a module", "build it anew", Exit::Environment};
	return std::vector<std::string>(missing.begin(), missing.end());
}

} // namespace lockscope::cli
