// SPDX-License-Identifier: GPL-2.0
#include "recover/memory.h"

#include "recover/formats.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

namespace lockscope::recover {

namespace {

constexpr std::uint64_t kGiB = 1u << 30, kHoleEnd = 4 * kGiB;

/// One file: physical addresses from @below on begin at 4 GiB.
class BareMemory final : public PhysicalMemory {
public:
	BareMemory(std::shared_ptr<const Fd> fd, std::uint64_t size, std::uint64_t below)
		: fd_(std::move(fd)), size_(size), below_(std::min(size, below))
	{
	}

	bool read(std::uint64_t at, void *to, std::size_t n) const override
	{
		if (at >= kHoleEnd && size_ > below_)
			at = at - kHoleEnd + below_;
		else if (at >= below_ || n > below_ - at)
			return false;
		return at <= size_ && n <= size_ - at && read_at(fd_->get(), at, to, n);
	}

	std::vector<Range> ranges() const override
	{
		std::vector<Range> out;
		for (std::uint64_t at = 0; at < size_;) {
			const off_t data = ::lseek(fd_->get(), static_cast<off_t>(at), SEEK_DATA);
			if (data < 0 && errno == ENXIO)
				break;
			/* Not every file system knows its holes. */
			std::uint64_t begin = data < 0 ? at : static_cast<std::uint64_t>(data);
			const off_t hole =
				::lseek(fd_->get(), static_cast<off_t>(begin), SEEK_HOLE);
			const std::uint64_t end =
				hole < 0 ? size_
					 : std::min<std::uint64_t>(
						   size_, static_cast<std::uint64_t>(hole));
			if (end <= begin)
				break;
			at = end;
			begin &= ~std::uint64_t{0xfff};
			if (begin < below_)
				out.push_back({begin, std::min(end, below_)});
			if (end > below_) {
				const std::uint64_t from = std::max(begin, below_);
				out.push_back({from - below_ + kHoleEnd, end - below_ + kHoleEnd});
			}
		}
		return out;
	}

private:
	std::shared_ptr<const Fd> fd_;
	std::uint64_t size_, below_;
};

class MemoryInBytes final : public PhysicalMemory {
public:
	explicit MemoryInBytes(std::string bytes) : bytes_(std::move(bytes)) {}

	bool read(std::uint64_t at, void *to, std::size_t n) const override
	{
		if (at > bytes_.size() || n > bytes_.size() - at)
			return false;
		std::memcpy(to, bytes_.data() + at, n);
		return true;
	}

	std::vector<Range> ranges() const override { return {{0, bytes_.size()}}; }

private:
	std::string bytes_;
};

/*
 * Memory up to here is below the hole, for a guest that has more [QEMU, hw/i386/pc_piix.c,
 * pc_q35.c]: pc, q35. Those with less have none below 4 GiB.
 */
constexpr std::uint64_t kMostWithoutHole = 0xe0000000, kBelowOfPc = 3 * kGiB,
			kMostWithoutHoleOfQ35 = 0xb0000000, kBelowOfQ35 = 2 * kGiB;

std::vector<std::unique_ptr<PhysicalMemory>> bare_memory(const std::shared_ptr<const Fd> &fd,
							 std::uint64_t size)
{
	std::vector<std::uint64_t> below;
	if (size > kMostWithoutHole)
		below.push_back(kBelowOfPc);
	else
		below.push_back(size);
	if (size >= kMostWithoutHoleOfQ35)
		below.push_back(kBelowOfQ35);
	if (size > kMostWithoutHole)
		below.push_back(size);
	std::vector<std::unique_ptr<PhysicalMemory>> out;
	for (const auto most : below)
		out.push_back(std::make_unique<BareMemory>(fd, size, most));
	return out;
}

} // namespace

bool read_at(int fd, std::uint64_t at, void *to, std::size_t n)
{
	auto *out = static_cast<char *>(to);
	while (n) {
		const ssize_t got = ::pread(fd, out, n, static_cast<off_t>(at));
		if (got < 0 && errno == EINTR)
			continue;
		if (got <= 0)
			return false;
		out += got;
		at += static_cast<std::uint64_t>(got);
		n -= static_cast<std::size_t>(got);
	}
	return true;
}

std::unique_ptr<PhysicalMemory> memory_in(std::string bytes)
{
	return std::make_unique<MemoryInBytes>(std::move(bytes));
}

Result<std::vector<std::unique_ptr<PhysicalMemory>>> open_memory(const std::string &path)
{
	auto fd = std::make_shared<const Fd>(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
	struct stat status {};
	if (!fd->valid() || ::fstat(fd->get(), &status) != 0)
		return os_error(errno, "cannot open " + path);
	if (!S_ISREG(status.st_mode))
		return Error{0, path + " is no regular file",
			     "give a file with a machine's memory: a guest's, or a vmcore",
			     Exit::Environment};
	const auto size = static_cast<std::uint64_t>(status.st_size);
	char magic[16] = {};
	(void)read_at(fd->get(), 0, magic, std::min<std::uint64_t>(size, sizeof(magic)));
	if (is_elf(magic)) {
		auto memory = elf_memory(fd, path);
		if (!memory)
			return memory.error();
		std::vector<std::unique_ptr<PhysicalMemory>> out;
		out.push_back(std::move(*memory));
		return out;
	}
	return bare_memory(fd, size);
}

} // namespace lockscope::recover
