// SPDX-License-Identifier: GPL-2.0
#include "util/file.h"

#include "util/file_writer.h"
#include "util/text.h"

#include <elf.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/utsname.h>

#include <array>
#include <cerrno>
#include <cstdlib>
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

Result<FileWriter> FileWriter::open(const std::string &path, unsigned mode)
{
	FileWriter out;
	/* A pipe or device is written directly: it cannot be replaced. */
	struct stat status {};
	const bool known = ::stat(path.c_str(), &status) == 0;
	const bool special = known && !S_ISREG(status.st_mode);
	out.path_ = path;
	out.part_ = special ? "" : path + ".part";
	out.fd_ = Fd(::open((special ? path : out.part_).c_str(),
			    O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644));
	if (!out.fd_.valid())
		return out.error(errno);
	if (known && !special)
		mode = status.st_mode & 07777;
	if (mode && !special)
		(void)::fchmod(out.fd_.get(), mode);
	return out;
}

FileWriter::~FileWriter()
{
	if (fd_.valid() && !part_.empty())
		::unlink(part_.c_str());
}

Error FileWriter::error(int code) const
{
	return os_error(code, "cannot write " + path_,
			code == ENOSPC ? "free some space, or choose another place with -o"
				       : "choose another place with -o");
}

Status FileWriter::write(std::string_view data)
{
	while (!data.empty()) {
		const ssize_t n = ::write(fd_.get(), data.data(), data.size());
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return error(errno);
		data.remove_prefix(static_cast<std::size_t>(n));
	}
	return success();
}

Status FileWriter::finish()
{
	if (!part_.empty() && ::rename(part_.c_str(), path_.c_str()) != 0)
		return error(errno);
	fd_ = Fd();
	return success();
}

Status write_file(const std::string &path, const std::string &data, unsigned mode)
{
	auto file = FileWriter::open(path, mode);
	if (!file)
		return file.error();
	LS_TRY_STATUS(file->write(data));
	return file->finish();
}

Status make_folder(const std::string &path)
{
	if (::mkdir(path.c_str(), 0700) == 0 || errno == EEXIST)
		return success();
	return os_error(errno, "cannot make the folder " + path,
			"make it yourself, or choose another place with -o");
}

Status copy_file(const std::string &from, const std::string &to)
{
	const Fd in(::open(from.c_str(), O_RDONLY | O_CLOEXEC));
	const off_t size = in.valid() ? ::lseek(in.get(), 0, SEEK_END) : -1;
	if (size < 0)
		return os_error(errno, "cannot read " + from);
	const Fd out(::open(to.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600));
	if (!out.valid() || ::ftruncate(out.get(), size) != 0)
		return os_error(errno, "cannot write " + to);
	std::string buffer(1u << 20, 0);
	for (off_t at = 0; at < size;) {
		const off_t data = ::lseek(in.get(), at, SEEK_DATA);
		if (data < 0 && errno == ENXIO)
			break;
		at = data < 0 ? at : data;
		const ssize_t n = ::pread(in.get(), buffer.data(), buffer.size(), at);
		if (n <= 0)
			return os_error(n < 0 ? errno : EIO, "cannot read " + from);
		for (ssize_t done = 0; done < n;) {
			const ssize_t put = ::pwrite(out.get(), buffer.data() + done,
						     static_cast<std::size_t>(n - done), at + done);
			if (put < 0 && errno != EINTR)
				return os_error(errno, "cannot write " + to);
			done += put > 0 ? put : 0;
		}
		at += n;
	}
	return success();
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

std::string cache_folder()
{
	const char *cache = std::getenv("XDG_CACHE_HOME"), *home = std::getenv("HOME");
	if (cache && *cache)
		return std::string(cache) + "/lockscope";
	return home && *home ? std::string(home) + "/.cache/lockscope" : "";
}

} // namespace lockscope
