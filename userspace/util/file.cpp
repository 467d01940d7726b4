// SPDX-License-Identifier: GPL-2.0
#include "util/file.h"

#include "util/fd.h"
#include "util/text.h"

#include <elf.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/utsname.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <filesystem>

namespace lockscope {

Result<std::string> read_file(const std::string &path)
{
	Fd fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
	if (!fd.valid())
		return os_error(errno, "cannot read " + path);
	std::string data;
	std::array<char, 65536> buffer;
	for (;;) {
		ssize_t n = ::read(fd.get(), buffer.data(), buffer.size());
		if (n == 0)
			return data;
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return os_error(errno, "cannot read " + path);
		data.append(buffer.data(), static_cast<std::size_t>(n));
	}
}

std::string read_line(const std::string &path)
{
	auto data = read_file(path);
	if (!data)
		return {};
	return data->substr(0, data->find('\n'));
}

Status write_file(const std::string &path, const std::string &data, unsigned mode)
{
	const char *hint = "choose another place with -o";
	/* A pipe or device is written directly: it cannot be replaced. */
	struct stat status {};
	const bool known = ::stat(path.c_str(), &status) == 0;
	const bool special = known && !S_ISREG(status.st_mode);
	const std::string target = special ? path : path + ".part";
	Fd fd(::open(target.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644));
	if (!fd.valid())
		return os_error(errno, "cannot write " + path, hint);
	if (known && !special)
		mode = status.st_mode & 07777;
	if (mode && !special)
		(void)::fchmod(fd.get(), mode);
	std::size_t done = 0;
	while (done < data.size()) {
		ssize_t n = ::write(fd.get(), data.data() + done, data.size() - done);
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0) {
			const int error = errno;
			if (!special)
				::unlink(target.c_str());
			return os_error(error, "cannot write " + path,
					error == ENOSPC
						? "free some space, or choose another place with -o"
						: hint);
		}
		done += static_cast<std::size_t>(n);
	}
	if (!special && ::rename(target.c_str(), path.c_str()) != 0)
		return os_error(errno, "cannot write " + path, hint);
	return success();
}

Status make_folder(const std::string &path)
{
	if (::mkdir(path.c_str(), 0700) == 0 || errno == EEXIST)
		return success();
	return os_error(errno, "cannot make the folder " + path,
			"make it yourself, or choose another place with -o");
}

bool exists(const std::string &path)
{
	return ::access(path.c_str(), F_OK) == 0;
}

bool is_folder(const std::string &path)
{
	struct stat status {};
	return ::stat(path.c_str(), &status) == 0 && S_ISDIR(status.st_mode);
}

std::string build_id_from_notes(const std::string &notes)
{
	std::size_t at = 0;
	while (notes.size() - at >= sizeof(Elf64_Nhdr)) {
		Elf64_Nhdr header;
		std::memcpy(&header, notes.data() + at, sizeof(header));
		at += sizeof(header);
		const std::size_t name = (std::size_t{header.n_namesz} + 3) & ~std::size_t{3};
		const std::size_t desc = (std::size_t{header.n_descsz} + 3) & ~std::size_t{3};
		if (name > notes.size() - at || desc > notes.size() - at - name)
			return {};
		if (header.n_type == NT_GNU_BUILD_ID && header.n_namesz == 4 &&
		    std::memcmp(notes.data() + at, "GNU", 4) == 0)
			return to_hex(notes.substr(at + name, header.n_descsz));
		at += name + desc;
	}
	return {};
}

std::string kernel_release()
{
	utsname name{};
	return ::uname(&name) == 0 ? name.release : "";
}

std::string boot_id()
{
	return read_line("/proc/sys/kernel/random/boot_id");
}

std::string program_dir()
{
	std::error_code error;
	auto self = std::filesystem::read_symlink("/proc/self/exe", error);
	return error ? "." : self.parent_path().string();
}

} // namespace lockscope
