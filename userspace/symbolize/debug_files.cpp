// SPDX-License-Identifier: GPL-2.0
#include "symbolize/debug_files.h"

#include "util/fd.h"
#include "util/file.h"
#include "util/text.h"

#include <elfutils/libdwelf.h>
#include <fcntl.h>
#include <gelf.h>

#include <memory>
#include <regex>
#include <string_view>

namespace lockscope {

namespace {

struct ElfEnd {
	void operator()(Elf *elf) const { elf_end(elf); }
};

/// An ELF file that is open for reading; null for any other.
class ElfFile {
public:
	explicit ElfFile(const std::string &path) : fd_(::open(path.c_str(), O_RDONLY | O_CLOEXEC))
	{
		elf_version(EV_CURRENT);
		if (fd_.valid())
			elf_.reset(elf_begin(fd_.get(), ELF_C_READ_MMAP, nullptr));
	}

	std::string build_id() const
	{
		const void *bits = nullptr;
		const ssize_t size = elf_ ? dwelf_elf_gnu_build_id(elf_.get(), &bits) : 0;
		return size <= 0 ? ""
				 : to_hex({static_cast<const char *>(bits),
					   static_cast<std::size_t>(size)});
	}

	bool has_section(std::string_view name) const
	{
		std::size_t names = 0;
		if (!elf_ || elf_getshdrstrndx(elf_.get(), &names) != 0)
			return false;
		GElf_Shdr header;
		for (Elf_Scn *at = elf_nextscn(elf_.get(), nullptr); at;
		     at = elf_nextscn(elf_.get(), at))
			if (gelf_getshdr(at, &header) && header.sh_type != SHT_NOBITS)
				if (const char *found =
					    elf_strptr(elf_.get(), names, header.sh_name);
				    found && name == found)
					return true;
		return false;
	}

private:
	Fd fd_;
	std::unique_ptr<Elf, ElfEnd> elf_;
};

} // namespace

std::vector<std::string> debug_packages(const std::string &release)
{
	/* Debian: 6.1.0-56-amd64, 6.1.0-56-rt-amd64, 6.12.95+deb12-cloud-amd64. */
	static const std::regex debian("[0-9]+\\.[0-9]+\\.[0-9]+"
				       "(-[0-9]+|-0\\.deb[0-9]+\\.[0-9]+|\\+deb[0-9]+u?[0-9]*)"
				       "-((cloud|rt)-)?(amd64|arm64)");
	/* Ubuntu: 5.15.0-91-generic. */
	static const std::regex ubuntu("[0-9]+\\.[0-9]+\\.[0-9]+-[0-9]+-[a-z][a-z0-9-]*");
	if (std::regex_match(release, debian))
		return {"linux-image-" + release + "-dbg"};
	if (std::regex_match(release, ubuntu))
		return {"linux-image-unsigned-" + release + "-dbgsym",
			"linux-image-" + release + "-dbgsym"};
	return {};
}

std::string fetched_symbols()
{
	const std::string cache = cache_folder();
	return cache.empty() ? "" : cache + "/symbols";
}

std::string fetched_file(const std::string &build_id)
{
	const std::string folder = fetched_symbols();
	/* It may come from a store: no path but that of a file in the folder. */
	const bool digits = build_id.size() > 2 &&
			    build_id.find_first_not_of("0123456789abcdef") == build_id.npos;
	if (folder.empty() || !digits)
		return {};
	return folder + "/.build-id/" + build_id.substr(0, 2) + "/" + build_id.substr(2) + ".debug";
}

std::string packaged_list(const std::string &release)
{
	return fetched_symbols() + "/" + release + ".modules";
}

std::vector<std::string> packaged_modules(const std::string &release)
{
	/* A release from a store is no path. */
	if (fetched_symbols().empty() || debug_packages(release).empty())
		return {};
	auto text = read_file(packaged_list(release));
	return text ? split(*text, '\n') : std::vector<std::string>{};
}

std::string elf_build_id(const std::string &path)
{
	return ElfFile(path).build_id();
}

bool describes(const std::string &path, const std::string &build_id)
{
	const ElfFile file(path);
	return !build_id.empty() && file.build_id() == build_id && file.has_section(".debug_info");
}

} // namespace lockscope
