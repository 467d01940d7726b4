// SPDX-License-Identifier: GPL-2.0
// ELF core files: /proc/vmcore of kdump, dump-guest-memory of QEMU.
#include "recover/formats.h"

#include <gelf.h>

#include <algorithm>
#include <cstring>

namespace lockscope::recover {

namespace {

class ElfMemory final : public PhysicalMemory {
public:
	struct Segment {
		std::uint64_t physical, bytes, offset;
	};
	ElfMemory(std::shared_ptr<const Fd> fd, std::vector<Segment> segments)
		: fd_(std::move(fd)), segments_(std::move(segments))
	{
	}

	bool read(std::uint64_t at, void *to, std::size_t n) const override
	{
		auto *out = static_cast<char *>(to);
		while (n) {
			auto next = std::upper_bound(
				segments_.begin(), segments_.end(), at,
				[](std::uint64_t a, const Segment &s) { return a < s.physical; });
			if (next == segments_.begin())
				return false;
			const Segment &s = *std::prev(next);
			if (at - s.physical >= s.bytes)
				return false;
			const auto part = static_cast<std::size_t>(
				std::min<std::uint64_t>(n, s.bytes - (at - s.physical)));
			if (!read_at(fd_->get(), s.offset + (at - s.physical), out, part))
				return false;
			out += part;
			at += part;
			n -= part;
		}
		return true;
	}

	std::vector<Range> ranges() const override
	{
		std::vector<Range> out;
		for (const auto &s : segments_)
			out.push_back({s.physical, s.physical + s.bytes});
		return out;
	}

private:
	std::shared_ptr<const Fd> fd_;
	std::vector<Segment> segments_; ///< by address, without overlap
};

struct EndElf {
	void operator()(Elf *elf) const { elf_end(elf); }
};

} // namespace

bool is_elf(const char *magic)
{
	return std::memcmp(magic, ELFMAG, SELFMAG) == 0;
}

Result<std::unique_ptr<PhysicalMemory>> elf_memory(std::shared_ptr<const Fd> fd,
						   const std::string &path)
{
	const auto bad = [&](const char *why) {
		return Error{0, path + " is an ELF file without a machine's memory: " + why,
			     "give the vmcore that kdump wrote, or what QEMU's "
			     "dump-guest-memory wrote",
			     Exit::Environment};
	};
	elf_version(EV_CURRENT);
	const std::unique_ptr<Elf, EndElf> elf(elf_begin(fd->get(), ELF_C_READ, nullptr));
	GElf_Ehdr header;
	std::size_t count = 0;
	if (!elf || elf_kind(elf.get()) != ELF_K_ELF || !gelf_getehdr(elf.get(), &header) ||
	    elf_getphdrnum(elf.get(), &count) != 0)
		return bad("its headers are damaged");
	if (header.e_type != ET_CORE || header.e_machine != EM_X86_64)
		return bad("it is no core file of x86-64");
	std::vector<ElfMemory::Segment> segments;
	for (std::size_t i = 0; i < count; i++) {
		GElf_Phdr p;
		if (!gelf_getphdr(elf.get(), static_cast<int>(i), &p))
			return bad("its headers are damaged");
		/* Beyond 52 bits there is no physical memory; sums do not wrap then. */
		constexpr std::uint64_t kMost = std::uint64_t{1} << 52;
		if (p.p_type == PT_LOAD && p.p_filesz && p.p_paddr < kMost && p.p_filesz < kMost &&
		    p.p_offset < kMost)
			segments.push_back({p.p_paddr, p.p_filesz, p.p_offset});
	}
	std::stable_sort(segments.begin(), segments.end(),
			 [](const auto &a, const auto &b) { return a.physical < b.physical; });
	/* kdump lists the kernel's text a second time: the first one with an address is enough. */
	for (std::size_t i = 1; i < segments.size(); i++) {
		auto &s = segments[i];
		const auto &before = segments[i - 1];
		const std::uint64_t end = std::max(before.physical + before.bytes, s.physical);
		const std::uint64_t cut = std::min(end - s.physical, s.bytes);
		s.physical += cut;
		s.offset += cut;
		s.bytes -= cut;
		if (!s.bytes)
			segments.erase(segments.begin() + static_cast<std::ptrdiff_t>(i--));
	}
	if (segments.empty())
		return bad("it has no segment");
	return std::unique_ptr<PhysicalMemory>(
		std::make_unique<ElfMemory>(std::move(fd), std::move(segments)));
}

} // namespace lockscope::recover
