// SPDX-License-Identifier: GPL-2.0
#include "vm/unpacked.h"

#include "util/fd.h"
#include "util/file.h"
#include "vm/initramfs.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

#include <fcntl.h>
#include <gelf.h>
#include <unistd.h>

namespace lockscope::vm {

namespace fs = std::filesystem;

namespace {

constexpr std::size_t kKept = 8;       // of 60 MB each
constexpr GElf_Word kPhys32Entry = 18; // XEN_ELFNOTE_PHYS32_ENTRY

struct Compression {
	std::string_view magic;
	const char *tool;
	bool sized; // the kernel's build has appended the size
};

constexpr std::array kCompressions = {
	Compression{{"\xfd"
		     "7zXZ\0",
		     6},
		    "xz -dc",
		    true},
	Compression{{"\x28\xb5\x2f\xfd", 4}, "zstd -dcq", true},
	Compression{{"\x1f\x8b", 2}, "gzip -dc", false},
};

// Documentation/arch/x86/boot.rst: payload_offset and payload_length, which count from the code
// after the setup sectors. Empty when the image is of another sort.
std::string payload(const fs::path &image)
{
	std::ifstream in(image, std::ios::binary);
	const std::string all{std::istreambuf_iterator<char>(in), {}};
	const auto number = [&all](std::size_t at, int bytes) {
		std::uint32_t value = 0;
		for (int i = 0; i < bytes; i++)
			value |= std::uint32_t{static_cast<unsigned char>(all[at + i])} << 8 * i;
		return std::size_t{value};
	};
	if (all.size() < 0x250 || all.compare(0x202, 4, "HdrS") != 0 || number(0x206, 2) < 0x208)
		return {};
	const std::size_t sectors = number(0x1f1, 1) ? number(0x1f1, 1) : 4;
	const std::size_t begin = (sectors + 1) * 512 + number(0x248, 4);
	const std::size_t length = number(0x24c, 4);
	return begin < all.size() && length <= all.size() - begin ? all.substr(begin, length)
								  : std::string();
}

// True if @to was written as a whole.
bool unpack(const fs::path &image, const std::string &to)
{
	std::string packed = payload(image);
	const auto way = std::find_if(
		kCompressions.begin(), kCompressions.end(),
		[&packed](const Compression &c) { return packed.starts_with(c.magic); });
	if (way == kCompressions.end() || packed.size() < 16)
		return false;
	if (way->sized)
		packed.resize(packed.size() - 4);
	const std::string from = to + ".packed";
	std::ofstream file(from, std::ios::binary);
	file << packed;
	file.close();
	const std::string command = std::string(way->tool) + " < " + shell_quote(from) + " > " +
				    shell_quote(to) + " 2> /dev/null";
	const bool done = file && std::system(command.c_str()) == 0;
	std::error_code ec;
	fs::remove(from, ec);
	return done;
}

bool has_pvh_entry(const std::string &file)
{
	elf_version(EV_CURRENT);
	const Fd fd(open(file.c_str(), O_RDONLY | O_CLOEXEC));
	const std::unique_ptr<Elf, int (*)(Elf *)> elf(elf_begin(fd.get(), ELF_C_READ, nullptr),
						       elf_end);
	std::size_t headers = 0;
	if (!elf || elf_getphdrnum(elf.get(), &headers))
		return false;
	for (std::size_t i = 0; i < headers; i++) {
		GElf_Phdr header;
		if (!gelf_getphdr(elf.get(), static_cast<int>(i), &header) ||
		    header.p_type != PT_NOTE)
			continue;
		Elf_Data *notes =
			elf_getdata_rawchunk(elf.get(), static_cast<std::int64_t>(header.p_offset),
					     header.p_filesz, ELF_T_NHDR);
		GElf_Nhdr note;
		std::size_t name, description;
		for (std::size_t at = 0;
		     notes && (at = gelf_getnote(notes, at, &note, &name, &description)) > 0;)
			if (note.n_type == kPhys32Entry && note.n_namesz == sizeof("Xen") &&
			    !std::memcmp(static_cast<char *>(notes->d_buf) + name, "Xen",
					 sizeof("Xen")))
				return true;
	}
	return false;
}

// Of this very image: its place, size and time are in the name.
std::string name_of(const Kernel &kernel)
{
	std::error_code ec;
	const auto time = fs::last_write_time(kernel.image, ec).time_since_epoch().count();
	const auto size = fs::file_size(kernel.image, ec);
	const std::string key =
		kernel.image.string() + ' ' + std::to_string(time) + ' ' + std::to_string(size);
	return kernel.release + '-' + std::to_string(std::hash<std::string>{}(key));
}

void remove_old(const fs::path &folder)
{
	std::vector<std::pair<fs::file_time_type, fs::path>> files;
	std::error_code ec;
	for (const auto &entry : fs::directory_iterator(folder, ec))
		files.emplace_back(entry.last_write_time(ec), entry.path());
	std::sort(files.rbegin(), files.rend());
	for (std::size_t i = kKept; i < files.size(); i++)
		fs::remove(files[i].second, ec);
}

} // namespace

fs::path unpacked_image(const Kernel &kernel)
{
	const std::string cache = cache_folder();
	// A release is read from a file, so it may be anything.
	if (cache.empty() || kernel.release.find('/') != std::string::npos)
		return {};
	const fs::path folder = fs::path(cache) / "unpacked";
	const fs::path file = folder / name_of(kernel);
	std::error_code ec;
	if (fs::exists(file, ec)) {
		// Those that are in use stay.
		fs::last_write_time(file, fs::file_time_type::clock::now(), ec);
		return fs::file_size(file, ec) > 0 ? file : fs::path();
	}
	fs::create_directories(folder, ec);
	std::string made = folder / ".XXXXXX";
	if (!Fd(mkstemp(made.data())).valid())
		return {};
	const bool done = unpack(kernel.image, made);
	const bool bootable = done && has_pvh_entry(made);
	// An empty file says that this kernel has no such entry.
	if (done && !bootable)
		fs::resize_file(made, 0, ec);
	if (done)
		fs::rename(made, file, ec);
	if (!done || ec) {
		fs::remove(made, ec);
		return {};
	}
	remove_old(folder);
	return bootable ? file : fs::path();
}

} // namespace lockscope::vm
